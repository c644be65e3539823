"""The blocking client makes the same calls with the same endings, and never leaves one running."""

import inspect
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import anyio
import pytest
from pydantic import BaseModel

from commitgate import client as asynchronous
from commitgate import sync
from commitgate.effect import EffectContext
from commitgate.errors import MisuseError
from commitgate.gate.rules import RuleViolation
from commitgate.ledger import MemoryLedger
from commitgate.outcome import Cancelled, Committed, Invalid
from commitgate.preview import Item, Preview
from commitgate.sync import Client
from commitgate.testing import ScriptedBackend, Step


class Pay(BaseModel):
    amount: int
    to: str


GOOD: list[Step] = [{"text": '{"amount":1'}, {"text": '00,"to":"bob"}'}, {"finish": "stop"}]
HALF: list[Step] = [{"text": '{"amount":1'}, {"wait": None}]


def client_with(backend: ScriptedBackend, ledger: MemoryLedger | None = None) -> Client:
    return Client(backends={"scripted": backend}, ledger=ledger or MemoryLedger())


def test_call_gives_the_value() -> None:
    with client_with(ScriptedBackend(GOOD)) as client:
        outcome = client.generate_structured("scripted", Pay, prompt="pay")
    assert isinstance(outcome, Committed)
    assert outcome.value == Pay(amount=100, to="bob")


def test_plain_effect_and_rule_run_and_are_replayed() -> None:
    backend, made = ScriptedBackend(GOOD), list[int]()

    def pay(value: Pay, context: EffectContext) -> str:
        made.append(value.amount)
        return f"paid {value.amount}"

    def positive(value: Pay) -> RuleViolation | None:
        return None if value.amount > 0 else RuleViolation("positive", "the amount must be > 0", "/amount")

    with client_with(backend) as client:
        outcomes = [
            client.generate_structured(
                "scripted", Pay, prompt="pay", effect=pay, rules=[positive], operation_key="invoice-7"
            )
            for _ in range(2)
        ]
    assert [isinstance(outcome, Committed) and (outcome.result, outcome.is_replayed) for outcome in outcomes] == [
        ("paid 100", False),
        ("paid 100", True),
    ]
    assert (made, len(backend.requests)) == ([100], 1)


def test_stream_shows_previews_and_then_its_outcome() -> None:
    with (
        client_with(ScriptedBackend(GOOD)) as client,
        client.stream_structured("scripted", Pay, prompt="pay") as run,
    ):
        previews = list(run)
        assert run.is_done
        outcome = run.outcome()
        assert run.outcome() is outcome
    assert isinstance(previews[-1], Preview)
    assert previews[-1].value == {"amount": 100, "to": "bob"}
    assert run.outcome() is outcome
    assert outcome.name == "committed"


def test_items_and_latest_are_followed_at_ones_own_pace() -> None:
    script: list[Step] = [{"text": "[1,2"}, {"text": ",3]"}, {"finish": "stop"}]
    with (
        client_with(ScriptedBackend(script)) as client,
        client.stream_structured("scripted", list[int], prompt="count") as run,
    ):
        items = list(run.items())
        *_, last = run.latest()
    assert [isinstance(item, Item) and item.value for item in items] == [1, 2, 3]
    assert isinstance(last, Preview)
    assert last.value == [1, 2, 3]


def test_dropped_run_is_told_and_does_not_keep_the_client_from_ending() -> None:
    backend = ScriptedBackend(HALF)
    with (
        pytest.warns(ResourceWarning, match=r"test_blocking_client\.py:\d+ was dropped"),
        client_with(backend) as client,
    ):
        next(client.stream_structured("scripted", Pay, prompt="pay").__enter__())
    assert backend.open_streams == 0


def test_cancel_from_another_thread_ends_iteration() -> None:
    backend = ScriptedBackend(HALF)
    with client_with(backend) as client, client.stream_structured("scripted", Pay, prompt="pay") as run:
        for _ in run:
            threading.Thread(target=run.cancel).start()
        assert isinstance(run.outcome(), Cancelled)
        run.cancel()
    assert backend.open_streams == 0


def test_cancel_inside_a_rule_hands_over_no_value() -> None:
    runs: list[sync.StructuredRun[Any, Any]] = []
    with (
        client_with(ScriptedBackend(GOOD)) as client,
        client.stream_structured("scripted", Pay, prompt="pay", rules=[lambda value: runs[0].cancel()]) as run,
    ):
        runs.append(run)
        assert isinstance(run.outcome(), Cancelled)


def test_leaving_early_cancels() -> None:
    backend = ScriptedBackend(HALF)
    with client_with(backend) as client:
        with client.stream_structured("scripted", Pay, prompt="pay") as run:
            next(run)
        assert (backend.open_streams, run.is_done) == (0, True)
        assert isinstance(run.outcome(), Cancelled)


def test_error_in_the_block_cancels_and_passes_bare() -> None:
    backend, runs = ScriptedBackend(HALF), list[sync.StructuredRun[Any, Any]]()

    def program() -> None:
        with client_with(backend) as client, client.stream_structured("scripted", Pay, prompt="pay") as run:
            runs.append(run)
            next(run)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        program()
    assert (backend.open_streams, runs[0].is_done) == (0, True)


class Interrupt:
    """Press Ctrl-C as soon as somebody waits for this."""

    async def wait(self) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        await anyio.sleep_forever()


@pytest.mark.parametrize("script", [[{"wait": Interrupt()}], [*GOOD[:2], {"wait": Interrupt()}]], ids=["open", "whole"])
@pytest.mark.parametrize("is_streamed", [False, True])
def test_interrupt_ends_the_call_and_goes_on(script: list[Step], is_streamed: bool) -> None:
    backend, ledger = ScriptedBackend(script), MemoryLedger()
    client = client_with(backend, ledger)

    def ask() -> None:
        if is_streamed:
            with client.stream_structured("scripted", Pay, prompt="pay", operation_key="k") as run:
                list(run)
        else:
            client.generate_structured("scripted", Pay, prompt="pay", operation_key="k")

    with client:
        with pytest.raises(KeyboardInterrupt):
            ask()
        assert backend.open_streams == 0
    (row,) = anyio.run(ledger.list)
    assert (row.state.name, row.reason) == ("RELEASED", "cancelled")


def test_one_client_serves_many_threads() -> None:
    with client_with(ScriptedBackend(GOOD)) as client, ThreadPoolExecutor(4) as threads:
        asks = [threads.submit(client.generate_structured, "scripted", Pay, prompt="pay") for _ in range(8)]
        assert {ask.result().name for ask in asks} == {"committed"}


def test_client_ends_its_thread() -> None:
    before = set(threading.enumerate())
    with client_with(ScriptedBackend(GOOD)) as client:
        client.generate_structured("scripted", Pay, prompt="pay")
    for thread in set(threading.enumerate()) - before:
        thread.join(timeout=60)
    assert set(threading.enumerate()) <= before


def test_call_from_a_rule_of_the_same_client_is_refused() -> None:
    with client_with(ScriptedBackend(GOOD)) as client:
        rule: Callable[[Pay], Any] = lambda value: client.generate_structured("scripted", Pay, prompt="pay")  # noqa: E731
        outcome = client.generate_structured("scripted", Pay, prompt="pay", rules=[rule])
    assert isinstance(outcome, Invalid)
    assert outcome.failures[0].code == "rule_error"


@pytest.mark.anyio
async def test_event_loop_is_not_blocked() -> None:
    client = client_with(ScriptedBackend(GOOD))
    with pytest.raises(MisuseError, match="event loop"):
        client.__enter__()


def test_event_loop_in_another_thread_may_use_it() -> None:
    async def program(client: Client) -> str:
        outcome = await anyio.to_thread.run_sync(lambda: client.generate_structured("scripted", Pay, prompt="pay"))
        return outcome.name

    with client_with(ScriptedBackend(GOOD)) as client:
        assert anyio.run(program, client) == "committed"


def test_use_out_of_order_is_refused() -> None:
    client = client_with(ScriptedBackend(GOOD))
    with pytest.raises(MisuseError, match="enter the client first"):
        client.generate_structured("scripted", Pay, prompt="pay")
    with client:
        with pytest.raises(MisuseError, match="entered already"):
            client.__enter__()
        run = client.stream_structured("scripted", Pay, prompt="pay")
        for use in (run.outcome, run.__next__):
            with pytest.raises(MisuseError, match="enter the run first"):
                use()
        with run, pytest.raises(MisuseError, match="entered once"):
            run.__enter__()
    with pytest.raises(MisuseError, match="enter the client first"):
        client.stream_structured("scripted", Pay, prompt="pay")


def test_misuse_is_told_at_once() -> None:
    with client_with(ScriptedBackend(GOOD)) as client, pytest.raises(MisuseError, match="operation_key"):
        client.stream_structured("scripted", Pay, prompt="pay", effect=lambda value, context: None)


ARGUMENTS = [name for name in inspect.signature(sync.Client.stream_structured).parameters if name != "self"]


@pytest.mark.parametrize("name", ["stream_structured", "generate_structured"])
def test_every_argument_is_handed_on(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    given, seen = {argument: object() for argument in ARGUMENTS}, list[dict[str, object]]()

    def record(self: object, model: object, schema: object, **options: object) -> object:
        seen.append({"model": model, "schema": schema, **options})
        return object()

    async def record_and_wait(self: object, model: object, schema: object, **options: object) -> object:
        return record(self, model, schema, **options)

    monkeypatch.setattr(asynchronous.Client, name, record if name == "stream_structured" else record_and_wait)
    with client_with(ScriptedBackend(GOOD)) as client:
        call: Callable[..., object] = getattr(client, name)
        call(given.pop("model"), given.pop("schema"), **given)
    (options,) = seen
    assert {key: options[key] for key in given} == given
    assert options.keys() == set(ARGUMENTS)


def public(kind: type[object]) -> dict[str, Any]:
    return {name: value for name, value in vars(kind).items() if not name.startswith("_")}


PAIRS = [(asynchronous.Client, sync.Client), (asynchronous.StructuredRun, sync.StructuredRun)]


@pytest.mark.parametrize(("kind", "blocking"), PAIRS, ids=["client", "run"])
def test_both_faces_have_the_same_parts(kind: type[object], blocking: type[object]) -> None:
    assert public(kind).keys() == public(blocking).keys()
    for name, part in public(blocking).items():
        assert inspect.getdoc(part), name


@pytest.mark.parametrize(
    ("kind", "blocking", "name"),
    [
        (kind, blocking, name)
        for kind, blocking in PAIRS
        for name in [*(["__init__"] if kind is asynchronous.Client else []), *public(kind)]
        if callable(vars(kind)[name])
    ],
)
def test_both_faces_take_the_same_arguments(kind: type[object], blocking: type[object], name: str) -> None:
    wanted, found = (inspect.signature(vars(each)[name]) for each in (kind, blocking))
    assert list(found.parameters.values()) == list(wanted.parameters.values())
    if name not in ("items", "latest"):
        assert found.return_annotation == wanted.return_annotation


def test_observers_are_told_of_blocking_calls() -> None:
    from commitgate.trace import TraceRecorder

    recorder = TraceRecorder()
    backend = ScriptedBackend([{"text": '{"n": 12}'}, {"finish": "stop"}])
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    with Client(backends={"script": backend}, observers=[recorder]) as client:
        client.generate_structured("script/m", schema, prompt="How many?")
    assert [trace.outcome for trace in recorder.traces] == ["committed"]

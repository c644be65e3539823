"""The blocking client runs tools as the other one does."""

import inspect
from typing import Any

import pytest
from till import Till, answering, backend_of, calling, piece

from commitgate import sync
from commitgate.errors import MisuseError
from commitgate.ledger import MemoryLedger
from commitgate.outcome import Cancelled, Committed
from commitgate.sync.tool_run import ToolRun as BlockingRun
from commitgate.sync.tools_face import ToolsFace as BlockingFace
from commitgate.testing import ScriptedBackend
from commitgate.tools import CallEnded, ToolRun
from commitgate.tools.face import ToolsFace


def client_of(backend: ScriptedBackend) -> sync.Client:
    return sync.Client(backends={"scripted": backend}, ledger=MemoryLedger())


def test_run_and_its_resume() -> None:
    till = Till()
    backend = backend_of(calling(("pay", '{"amount":1}')), answering())
    with client_of(backend) as client:
        for _ in range(2):
            outcome = client.run_tools("scripted", tools=till.both(), prompt="pay", operation_key="k")
            assert isinstance(outcome, Committed)
            assert outcome.value == "Done."
    assert till.paid == [(1, "me")]


def test_stream_shows_calls_and_gives_the_outcome() -> None:
    till = Till()
    backend = backend_of(calling(("pay", '{"amount":1}')), answering())
    with (
        client_of(backend) as client,
        client.stream_tools("scripted", tools=till.both(), prompt="pay", operation_key="k") as run,
    ):
        ended = [item for item in run if isinstance(item, CallEnded)]
        outcome = run.outcome()
    assert isinstance(outcome, Committed)
    assert [item.result.result for item in ended] == [each.result for each in run.calls] == ["paid 1"]
    assert run.is_done


def test_stream_can_be_cancelled() -> None:
    with (
        client_of(ScriptedBackend([{"wait": None}])) as client,
        client.stream_tools("scripted", tools=Till().both(), prompt="pay", operation_key="k") as run,
    ):
        run.cancel()
        assert isinstance(run.outcome(), Cancelled)


def test_run_is_entered_first() -> None:
    with client_of(backend_of(answering())) as client:
        run = client.stream_tools("scripted", tools=Till().both(), prompt="pay", operation_key="k")
        with pytest.raises(MisuseError, match="enter the run first"):
            run.outcome()


def test_one_turn_and_one_call() -> None:
    till = Till()
    tools = till.both()
    with client_of(backend_of(calling(("pay", '{"amount":1}')))) as client:
        turn = client.next_turn("scripted", tools=tools, prompt="pay", operation_key="k").unwrap()
        result = client.run_call(turn.calls[0], tools=tools, operation_key="k")
    assert result.result == "paid 1"


def public(kind: type[object]) -> dict[str, Any]:
    return {name: value for name, value in vars(kind).items() if not name.startswith("_")}


PAIRS = [(ToolsFace, BlockingFace), (ToolRun, BlockingRun)]


@pytest.mark.parametrize(("kind", "blocking"), PAIRS, ids=["client", "run"])
def test_both_faces_have_the_same_parts_and_arguments(kind: type[object], blocking: type[object]) -> None:
    assert public(kind).keys() == public(blocking).keys()
    for name, part in public(blocking).items():
        assert inspect.getdoc(part), name
        if callable(part):
            wanted, found = inspect.signature(vars(kind)[name]), inspect.signature(part)
            assert list(found.parameters.values()) == list(wanted.parameters.values())
            assert found.return_annotation == wanted.return_annotation


def test_dropped_run_is_told_and_does_not_keep_the_client_from_ending() -> None:
    backend = ScriptedBackend([piece(0, '{"amount":1', name="pay"), {"wait": None}])
    with (
        pytest.warns(ResourceWarning, match=r"test_blocking_tools\.py:\d+ was dropped"),
        client_of(backend) as client,
    ):
        next(client.stream_tools("scripted", tools=[Till().tool()], prompt="p", operation_key="k").__enter__())
    assert backend.open_streams == 0

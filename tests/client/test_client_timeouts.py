"""Our own limits end a call as timed out, with the phase that ran out.

The event loop's time jumps, so building and compiling take none of it, on however busy a machine. Where a rule holds
the event loop up, no other time than the real one passes.
"""

import time
from contextlib import suppress
from typing import Any

import anyio
import pytest
from scripts import GOOD, PAYMENT, STOP, Pay, Payments, client_with

from commitgate.backends.base import RefusalDelta, TextDelta, Usage
from commitgate.effect import EffectContext
from commitgate.ledger import MemoryLedger, State
from commitgate.outcome import Committed, InDoubt, Outcome, TimedOut, Violated
from commitgate.retry import Retry
from commitgate.run.patience import HIDDEN_READ_S, TRAILING_READ_S, Deadline, Patience
from commitgate.testing import ScriptedBackend, Step, fake_time
from commitgate.timeouts import Timeouts

pytestmark = pytest.mark.anyio

NEVER: Step = {"wait": None}
UNLIMITED = {"first_event_s": None, "idle_s": None, "progress_s": None, "total_s": None}
LIMIT_S = 5.0

real_time = pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"])


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, object]]:
    return fake_time(request.param)


def phase_of(deadline: Deadline) -> tuple[str | None, float | None]:
    return None if deadline.ending is None else deadline.ending.phase, deadline.at


async def test_first_event_has_a_limit_of_its_own() -> None:
    patience = Patience(Timeouts(first_event_s=5, idle_s=1, progress_s=None), now=100)
    assert phase_of(patience.deadline) == ("first_event", 105)
    patience.note(Usage(1, 0), now=103)
    assert phase_of(patience.deadline) == ("idle", 104)


@pytest.mark.parametrize(
    ("event", "is_content"),
    [(TextDelta(b" \n\t\r"), False), (Usage(1, 1), False), (TextDelta(b" x"), True), (RefusalDelta("no"), True)],
    ids=["white space", "counts", "text", "refusal"],
)
async def test_progress_is_content_and_nothing_else(event: Any, is_content: bool) -> None:
    patience = Patience(Timeouts(first_event_s=None, idle_s=50, progress_s=10), now=100)
    patience.note(event, now=108)
    assert phase_of(patience.deadline) == ("progress", 118 if is_content else 110)


async def test_nearest_limit_counts() -> None:
    patience = Patience(Timeouts(first_event_s=50, idle_s=5, progress_s=10), now=0)
    assert phase_of(patience.deadline) == ("progress", 10)
    patience.note(TextDelta(b"x"), now=9)
    assert phase_of(patience.deadline) == ("idle", 14)


async def test_no_limit_waits_for_ever() -> None:
    patience = Patience(Timeouts(**UNLIMITED), now=0)
    assert phase_of(patience.deadline) == (None, None)
    patience.note(TextDelta(b"x"), now=1)
    assert phase_of(patience.deadline) == (None, None)


async def test_reading_on_is_bounded_once_and_ends_no_call() -> None:
    patience = Patience(Timeouts(**UNLIMITED), now=0)
    patience.read_on(2, now=10)
    patience.read_on(2, now=11)
    assert phase_of(patience.deadline) == (None, 12)


async def ask(script: list[Step], **options: Any) -> tuple[Outcome[Any, Any], ScriptedBackend]:
    backend = ScriptedBackend(script)
    async with client_with(backend) as client:
        outcome = await client.generate_structured("scripted", Pay, prompt="x", **options)
    assert backend.open_streams == 0
    return outcome, backend


@pytest.mark.parametrize(
    ("script", "phase"),
    [
        ([NEVER], "first_event"),
        ([{"text": "{"}, NEVER], "idle"),
        ([{"text": PAYMENT}, NEVER], "idle"),
        ([{"text": "{"}, {"usage": [1, 1]}, NEVER], "progress"),
        ([NEVER], "total"),
        ([{"text": "{"}, NEVER], "total"),
    ],
)
async def test_silence_ends_in_the_phase_that_ran_out(script: list[Step], phase: str) -> None:
    timeouts = Timeouts(**{**UNLIMITED, f"{phase}_s": LIMIT_S})
    start = anyio.current_time()
    outcome, _ = await ask(script, timeouts=timeouts, retry=Retry(attempts=1))
    assert isinstance(outcome, TimedOut)
    assert (outcome.phase, outcome.limit_s) == (phase, LIMIT_S)
    assert anyio.current_time() - start == pytest.approx(LIMIT_S)
    assert outcome.partial_text == "".join(str(step.get("text", "")) for step in script)


async def test_timed_out_call_gives_its_key_back() -> None:
    ledger, payments = MemoryLedger(), Payments()
    options: Any = {"prompt": "x", "effect": payments, "operation_key": "k"}
    async with client_with(ScriptedBackend([NEVER]), ledger) as client:
        outcome = await client.generate_structured("scripted", Pay, timeouts=Timeouts(total_s=LIMIT_S), **options)
        assert isinstance(outcome, TimedOut)
    async with client_with(ScriptedBackend(GOOD), ledger) as client:
        assert isinstance(await client.generate_structured("scripted", Pay, **options), Committed)
    assert len(payments.made) == 1


async def test_total_covers_the_rules() -> None:
    async def endless(payment: Pay) -> None:
        await anyio.sleep_forever()

    outcome, _ = await ask(GOOD, rules=[endless], timeouts=Timeouts(total_s=LIMIT_S))
    assert isinstance(outcome, TimedOut)
    assert outcome.phase == "total"


def too_slow(payment: Pay) -> None:
    time.sleep(0.06)


async def deaf(payment: Pay) -> None:
    with suppress(BaseException):
        await anyio.sleep_forever()


async def check_nothing_started(rule: Any, total_s: float, *, has_effect: bool) -> None:
    ledger, payments = MemoryLedger(), Payments()
    options: Any = {"effect": payments if has_effect else None, "operation_key": "k"}
    async with client_with(ScriptedBackend(GOOD), ledger) as client:
        outcome = await client.generate_structured(
            "scripted", Pay, prompt="x", rules=[rule], timeouts=Timeouts(total_s=total_s), **options
        )
    assert isinstance(outcome, TimedOut)
    assert (outcome.phase, outcome.receipt.value_digest) == ("total", None)
    assert payments.made == []
    (row,) = await ledger.list()
    assert (row.state, row.reason) == (State.RELEASED, "timed_out")


@pytest.mark.parametrize("has_effect", [True, False])
async def test_total_that_ran_out_while_a_rule_kept_its_cancellation_starts_no_effect(has_effect: bool) -> None:
    await check_nothing_started(deaf, LIMIT_S, has_effect=has_effect)


@real_time
@pytest.mark.parametrize("has_effect", [True, False])
async def test_total_that_ran_out_while_a_rule_held_the_event_loop_up_starts_no_effect(
    has_effect: bool, anyio_backend: str
) -> None:
    await check_nothing_started(too_slow, 0.05, has_effect=has_effect)


@real_time
async def test_total_that_ran_out_while_judging_hands_over_no_value_without_a_key_either(anyio_backend: str) -> None:
    outcome, _ = await ask(GOOD, rules=[too_slow], timeouts=Timeouts(total_s=0.05))
    assert isinstance(outcome, TimedOut)


async def test_effect_past_the_total_is_in_doubt() -> None:
    async def endless(payment: Pay, context: EffectContext) -> None:
        await anyio.sleep_forever()

    outcome, _ = await ask(GOOD, effect=endless, operation_key="k", timeouts=Timeouts(total_s=LIMIT_S))
    assert isinstance(outcome, InDoubt)


async def test_finish_that_was_read_counts_although_the_line_stays_open() -> None:
    start = anyio.current_time()
    outcome, _ = await ask([*GOOD, NEVER], timeouts=Timeouts(**UNLIMITED))
    assert isinstance(outcome, Committed)
    assert anyio.current_time() - start == pytest.approx(TRAILING_READ_S)


async def test_counts_after_the_finish_reach_the_receipt() -> None:
    outcome, _ = await ask([*GOOD, {"usage": [7, 9]}])
    assert (outcome.receipt.usage.input_tokens, outcome.receipt.usage.output_tokens) == (7, 9)


async def test_hidden_text_is_not_waited_on_for_long() -> None:
    start = anyio.current_time()
    outcome, _ = await ask([{"text": "Sure! "}, NEVER, STOP], timeouts=Timeouts(**UNLIMITED))
    assert isinstance(outcome, Violated)
    assert anyio.current_time() - start == pytest.approx(HIDDEN_READ_S)

"""The gate's table: each ending, whatever the chunking."""

import pytest
from gate_play import PAYMENT, chunked, gate_of, play

from commitgate.backends.base import (
    ConnectionLost,
    DeadEndReached,
    Event,
    Fault,
    Finish,
    FinishReason,
    RefusalDelta,
    TextDelta,
    Usage,
)
from commitgate.errors import MisuseError
from commitgate.gate.gate import HIDDEN_BYTES, REFUSAL_CHARACTERS
from commitgate.gate.states import TRANSITIONS, Ruling, Signal, State
from commitgate.gate.verdict import Outside, Whole
from commitgate.outcome import (
    DeadEnd,
    Disconnected,
    Filtered,
    Refused,
    Truncated,
    Unavailable,
    Violated,
)

PROSE = b"Sure! Here it is"
WRONG = b'{"amount":"100","to":"bob"}'


def text(data: bytes) -> TextDelta:
    return TextDelta(data)


def finish(reason: FinishReason, native: str = "native") -> Finish:
    return Finish(reason, native)


STOP = finish(FinishReason.STOP)
LENGTH = finish(FinishReason.LENGTH)
FILTER = finish(FinishReason.CONTENT_FILTER)
REFUSAL = finish(FinishReason.REFUSAL)
ABORT = finish(FinishReason.CANCELLED)
UNKNOWN = finish(FinishReason.UNKNOWN)
FAULT = Fault("overload", "busy", status=529)
NO_TOKEN = DeadEndReached("tokenizer", 3, "a character")
NO = RefusalDelta("I will not")

CASES: list[tuple[str, list[Event], type]] = [
    ("whole and stop", [text(PAYMENT), STOP], Whole),
    ("whole, white space around, stop", [text(b" \n" + PAYMENT + b"\n "), STOP], Whole),
    ("whole, stop, counts", [text(PAYMENT), STOP, Usage(1, 2)], Whole),
    ("whole, stop, line breaks", [text(PAYMENT), STOP, ConnectionLost()], Whole),
    ("whole, stop, taken back", [text(PAYMENT), STOP, FAULT], Unavailable),
    ("whole and bare end", [text(PAYMENT)], Disconnected),
    ("whole and length", [text(PAYMENT), LENGTH], Truncated),
    ("whole and filter", [text(PAYMENT), FILTER], Filtered),
    ("whole and refusal word", [text(PAYMENT), REFUSAL], Refused),
    ("whole and provider abort", [text(PAYMENT), ABORT], Disconnected),
    ("whole and unknown word", [text(PAYMENT), UNKNOWN], Unavailable),
    ("whole and fault", [text(PAYMENT), FAULT], Unavailable),
    ("whole and refusal in words", [text(PAYMENT), NO, STOP], Refused),
    ("whole and dead end", [text(PAYMENT), NO_TOKEN], DeadEnd),
    ("open and bare end", [text(PAYMENT[:9])], Disconnected),
    ("open and stop", [text(PAYMENT[:-1]), STOP], Violated),
    ("open and length", [text(PAYMENT[:9]), LENGTH], Truncated),
    ("open and filter", [text(PAYMENT[:9]), FILTER], Filtered),
    ("open and dead end", [text(PAYMENT[:9]), NO_TOKEN], DeadEnd),
    ("open and fault", [text(PAYMENT[:9]), FAULT], Unavailable),
    ("nothing and bare end", [], Disconnected),
    ("nothing and stop", [STOP], Violated),
    ("nothing and length", [LENGTH], Truncated),
    ("counts alone", [Usage(1, 0)], Disconnected),
    ("prose and bare end", [text(PROSE)], Violated),
    ("prose and stop", [text(PROSE), STOP], Outside),
    ("prose and length", [text(PROSE), LENGTH], Violated),
    ("prose and refusal word", [text(PROSE), REFUSAL], Refused),
    ("prose and filter", [text(PROSE), FILTER], Filtered),
    ("prose and fault", [text(PROSE), FAULT], Unavailable),
    ("prose and unknown word", [text(PROSE), UNKNOWN], Unavailable),
    ("prose and refusal in words", [text(PROSE), NO, STOP], Refused),
    ("prose and abort", [text(PROSE), ABORT], Violated),
    ("prose, counts, stop", [text(PROSE), Usage(1, 1), STOP], Outside),
    ("prose and dead end", [text(PROSE), NO_TOKEN], Violated),
    ("outside the contract and stop", [text(WRONG), STOP], Outside),
    ("outside the contract and bare end", [text(WRONG)], Violated),
    ("refusal and stop", [NO, STOP], Refused),
    ("refusal and length", [NO, LENGTH], Refused),
    ("refusal and filter", [NO, FILTER], Refused),
    ("refusal and abort", [NO, ABORT], Refused),
    ("refusal and refusal word", [NO, NO, REFUSAL], Refused),
    ("refusal and bare end", [NO, Usage(1, 1)], Refused),
    ("refusal and fault", [NO, FAULT], Unavailable),
    ("refusal and dead end", [NO, NO_TOKEN], Refused),
    ("refusal and unknown word", [NO, UNKNOWN], Unavailable),
    ("refusal with text beside it", [NO, text(PAYMENT), STOP], Refused),
    ("text after the finish", [text(PAYMENT), STOP, text(b" ")], Unavailable),
    ("refusal after the finish", [text(PAYMENT), STOP, NO], Unavailable),
    ("second finish", [text(PAYMENT), STOP, LENGTH], Unavailable),
    ("dead end after the finish", [text(PAYMENT), STOP, NO_TOKEN], Unavailable),
]


@pytest.mark.parametrize("size", [None, 1, 3], ids=["whole", "bytes", "threes"])
@pytest.mark.parametrize(("events", "wanted"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_ending_does_not_depend_on_the_chunking(events: list[Event], wanted: type, size: int | None) -> None:
    verdict, _ = play(chunked(events, size))
    assert type(verdict) is wanted


@pytest.mark.parametrize("tail", [b"x", b"{", b',"more":1}', b"\x00", b"\xff"])
@pytest.mark.parametrize("size", [None, 1])
def test_bytes_after_the_value_are_violations_at_their_place(tail: bytes, size: int | None) -> None:
    verdict, shown = play(chunked([text(PAYMENT + tail), LENGTH], size))
    assert isinstance(verdict, Violated)
    assert (verdict.kind, verdict.position) == ("not_json", len(PAYMENT))
    assert shown == PAYMENT


@pytest.mark.parametrize("size", [None, 1])
def test_json_outside_the_contract_is_told_from_text_that_is_no_json(size: int | None) -> None:
    outside, shown = play(chunked([text(WRONG)], size))
    assert isinstance(outside, Violated)
    assert (outside.kind, outside.position) == ("constraint", WRONG.index(b'"100'))
    assert shown == WRONG[: outside.position]
    prose, _ = play(chunked([text(PROSE)], size))
    assert isinstance(prose, Violated)
    assert (prose.kind, prose.position) == ("not_json", 0)


@pytest.mark.parametrize(
    ("answer", "kind", "position"),
    [
        (b'{"a":1e401}', "limit", 9),
        (b'{"a":-0.5E+1000}', "limit", 14),
        (b"[" + b"9" * 1_001 + b"]", "limit", 1_001),
        (b"0." + b"0" * 1_000, "limit", 1_001),
        (b"[" * 65 + b"]" * 65, "limit", 64),
        (b'[1,{"a":' * 33 + b"0" + b"}]" * 33, "limit", 8 * 32),
        (b'{"a":1,"a":2}', "constraint", 9),
        (b'[{"b":1,"\\u0062":2}]', "constraint", 15),
        (b'{"a":01}', "not_json", 6),
        (b'"\\1"', "not_json", 2),
        (b"true1", "not_json", 4),
        (b"[1[", "not_json", 2),
        (b'"\\ud800"', "not_json", 7),
        (b'[1"', "not_json", 2),
        (b"-1.e5", "not_json", 3),
    ],
)
@pytest.mark.parametrize("size", [None, 1])
def test_json_beyond_our_bounds_is_told_from_text_that_is_no_json(
    answer: bytes, kind: str, position: int, size: int | None
) -> None:
    verdict, shown = play(chunked([text(answer)], size), gate_of(True))
    assert isinstance(verdict, Violated)
    assert (verdict.kind, verdict.position) == (kind, position)
    assert shown == answer[:position]


def test_prose_with_a_refusing_finish_is_the_refusals_text() -> None:
    verdict, shown = play([text(PROSE), REFUSAL])
    assert isinstance(verdict, Refused)
    assert verdict.text == PROSE.decode()
    assert shown == b""


def test_outside_keeps_all_of_the_text() -> None:
    verdict, _ = play(chunked([text(WRONG), STOP], 1))
    assert isinstance(verdict, Outside)
    assert verdict.text == WRONG


@pytest.mark.parametrize(
    ("hidden", "wanted"), [(HIDDEN_BYTES - 1, Refused), (HIDDEN_BYTES, Refused), (HIDDEN_BYTES + 1, Violated)]
)
@pytest.mark.parametrize("size", [None, 1])
def test_hidden_text_is_read_on_to_its_limit_and_no_further(hidden: int, wanted: type, size: int | None) -> None:
    verdict, _ = play(chunked([text(b"x" * hidden), REFUSAL], size))
    assert type(verdict) is wanted


def test_endless_refusal_ends_the_call() -> None:
    gate = gate_of()
    gate.feed(RefusalDelta("n" * REFUSAL_CHARACTERS))
    assert gate.state is State.REFUSING
    gate.feed(RefusalDelta("n"))
    assert gate.state is State.ENDED
    assert isinstance(gate.verdict, Refused)
    assert len(gate.verdict.text) == REFUSAL_CHARACTERS


@pytest.mark.parametrize(("limit", "wanted"), [(26, Whole), (25, Whole), (24, Violated)])
@pytest.mark.parametrize("size", [None, 1])
def test_text_longer_than_the_limit_is_a_violation(limit: int, wanted: type, size: int | None) -> None:
    verdict, shown = play(chunked([text(PAYMENT), STOP], size), gate_of(text_bytes=limit))
    if wanted is Whole:
        assert type(verdict) is Whole
        return
    assert isinstance(verdict, Outside)
    assert (verdict.violation.kind, verdict.violation.position) == ("limit", limit)
    assert shown == PAYMENT[:limit]


def test_truncation_by_the_context_says_so() -> None:
    verdict, _ = play([text(PAYMENT), finish(FinishReason.LENGTH, "model_context_window_exceeded")])
    assert isinstance(verdict, Truncated)
    assert verdict.kind == "context"


def test_fault_is_handed_on_whole() -> None:
    verdict, _ = play([Fault("rate_limit", "slow down", status=429, code="rpm", retry_after_s=2.5)])
    assert isinstance(verdict, Unavailable)
    assert (verdict.kind, verdict.status, verdict.code, verdict.retry_after_s) == ("rate_limit", 429, "rpm", 2.5)


def test_unknown_finish_has_a_kind_of_its_own() -> None:
    verdict, _ = play([text(PAYMENT), UNKNOWN])
    assert isinstance(verdict, Unavailable)
    assert verdict.kind == "unknown_finish"


def test_event_after_the_end_raises_and_changes_nothing() -> None:
    gate = gate_of()
    gate.feed(text(PAYMENT))
    gate.close()
    before = gate.verdict, gate.evidence.text, gate.evidence.finish
    for late in (text(b" "), STOP, FAULT, NO, NO_TOKEN, Usage(9, 9)):
        with pytest.raises(MisuseError):
            gate.feed(late)
    with pytest.raises(MisuseError):
        gate.close()
    assert (gate.verdict, gate.evidence.text, gate.evidence.finish) == before
    assert gate.evidence.usage == Usage()


def test_only_a_stop_in_an_accept_state_leads_to_whole() -> None:
    leading = {place for place, transition in TRANSITIONS.items() if transition.ruling is Ruling.WHOLE}
    assert leading == {(State.HELD, Signal.STOP)}


def test_every_state_but_the_last_takes_the_end_of_the_stream() -> None:
    assert {state for state in State if (state, Signal.CLOSE) not in TRANSITIONS} == {State.ENDED}
    assert not any(state is State.ENDED for state, _ in TRANSITIONS)

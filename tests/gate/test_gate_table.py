"""Every event in every state of the gate, told by what a caller sees; the table itself is not asked.

The words say what follows: a state, and the verdict as it then stands.
"""

import pytest
from gate_play import PAY, PAYMENT, gate_of

from commitgate.automaton import compile
from commitgate.backends.base import (
    ConnectionLost,
    DeadEndReached,
    Event,
    Fault,
    Finish,
    FinishReason,
    Notice,
    Ping,
    RefusalDelta,
    TextDelta,
    Usage,
)
from commitgate.errors import MisuseError
from commitgate.gate.gate import HIDDEN_BYTES, REFUSAL_CHARACTERS, Gate
from commitgate.gate.states import State
from commitgate.gate.verdict import Evidence, Outside, Verdict, Whole
from commitgate.gate.white_space import WHITE_SPACE_RUN_BYTES
from commitgate.limits import Limits
from commitgate.outcome import DeadEnd, Disconnected, Filtered, Refused, Truncated, Unavailable, Violated

HEAD, TAIL = PAYMENT[:-1], PAYMENT[-1:]
PROSE = b"Sure"

BEFORE: dict[str, list[Event]] = {
    "receiving": [TextDelta(HEAD)],
    "held": [TextDelta(PAYMENT)],
    "hiding": [TextDelta(PROSE)],
    "refusing": [RefusalDelta("no")],
    "finished": [TextDelta(PAYMENT), Finish(FinishReason.STOP, "stop")],
}

EVENTS: dict[str, "Event | None"] = {
    "text": TextDelta(TAIL),
    "space": TextDelta(b" "),
    "prose": TextDelta(b"x"),
    "refusal": RefusalDelta("!"),
    "usage": Usage(3, 4),
    "ping": Ping(),
    "notice": Notice("missing_done"),
    "stop": Finish(FinishReason.STOP, "stop"),
    "length": Finish(FinishReason.LENGTH, "length"),
    "context": Finish(FinishReason.LENGTH, "CONTEXT_window"),
    "paused": Finish(FinishReason.PAUSED, "pause_turn"),
    "filter": Finish(FinishReason.CONTENT_FILTER, "safety"),
    "decline": Finish(FinishReason.REFUSAL, "refusal"),
    "malformed": Finish(FinishReason.MALFORMED, "malformed"),
    "abort": Finish(FinishReason.CANCELLED, "cancelled"),
    "unknown": Finish(FinishReason.UNKNOWN, "eos_maybe"),
    "fault": Fault("overload", "busy", status=529, code="full", retry_after_s=2.0, request_id="r"),
    "dead end": DeadEndReached("schema", 7, "a comma"),
    "lost": ConnectionLost(),
    "close": None,
}

FOLLOWS = {
    "receiving": """text: held -; space: receiving -; prose: hiding -; refusal: refusing -; usage: receiving -;
        ping: receiving -; notice: receiving -; stop: finished unfinished; length: finished max_tokens;
        context: finished context; paused: finished paused; filter: finished filtered; decline: finished refused text;
        malformed: finished malformed; abort: finished aborted; unknown: finished unknown; fault: ended fault;
        dead end: ended dead end; lost: ended lost; close: ended disconnected""",
    "held": """text: hiding -; space: held -; prose: hiding -; refusal: refusing -; usage: held -; ping: held -;
        notice: held -; stop: finished whole; length: finished max_tokens; context: finished context;
        paused: finished paused; filter: finished filtered; decline: finished refused text;
        malformed: finished malformed; abort: finished aborted; unknown: finished unknown; fault: ended fault;
        dead end: ended dead end; lost: ended lost; close: ended disconnected""",
    "hiding": """text: hiding -; space: hiding -; prose: hiding -; refusal: refusing -; usage: hiding -; ping: hiding -;
        notice: hiding -; stop: finished outside; length: finished violated; context: finished violated;
        paused: finished violated; filter: finished filtered; decline: finished refused text;
        malformed: finished violated; abort: finished violated; unknown: finished unknown; fault: ended fault;
        dead end: ended violated; lost: ended violated; close: ended violated""",
    "refusing": """text: refusing -; space: refusing -; prose: refusing -; refusal: refusing -; usage: refusing -;
        ping: refusing -; notice: refusing -; stop: finished refused words; length: finished refused words;
        context: finished refused words; paused: finished refused words; filter: finished refused words;
        decline: finished refused words; malformed: finished refused words; abort: finished refused words;
        unknown: finished unknown; fault: ended fault; dead end: ended refused words; lost: ended refused words;
        close: ended refused words""",
    "finished": """text: ended late; space: ended late; prose: ended late; refusal: ended late; usage: finished whole;
        ping: finished whole; notice: finished whole; stop: ended late; length: ended late; context: ended late;
        paused: ended late; filter: ended late; decline: ended late; malformed: ended late; abort: ended late;
        unknown: ended late; fault: ended fault; dead end: ended late; lost: ended whole; close: ended whole""",
}
CASES = [
    (before, *(word.strip() for word in case.split(":")))
    for before, cases in FOLLOWS.items()
    for case in cases.split(";")
]


def facts(verdict: Verdict | None, *names: str) -> tuple[object, ...]:
    return tuple(getattr(verdict, name) for name in names)


def is_as(word: str, verdict: Verdict | None, text: bytes) -> bool:
    """Return whether a verdict is what a word of the table means, after that text."""
    match word:
        case "-":
            return verdict is None
        case "whole":
            return type(verdict) is Whole and verdict.text == text
        case "outside":
            return type(verdict) is Outside and verdict.text == text and is_as("violated", verdict.violation, text)
        case "violated":
            return type(verdict) is Violated and facts(verdict, "kind", "position") == ("not_json", 0)
        case "unfinished":
            return type(verdict) is Violated and facts(verdict, "kind", "position") == ("not_accepting", len(text))
        case "malformed":
            return type(verdict) is Violated and facts(verdict, "kind", "position") == ("server_malformed", len(text))
        case "max_tokens" | "context" | "paused":
            return type(verdict) is Truncated and verdict.kind == word
        case "filtered":
            return type(verdict) is Filtered
        case "refused text":
            return type(verdict) is Refused and verdict.text == text.decode()
        case "refused words":
            return type(verdict) is Refused and verdict.text in ("no", "no!")
        case "disconnected" | "aborted" | "lost":
            kind = "ended" if word == "disconnected" else word
            return type(verdict) is Disconnected and verdict.kind == kind
        case "unknown" | "late":
            return type(verdict) is Unavailable and verdict.kind == (
                "unknown_finish" if word == "unknown" else "protocol"
            )
        case "fault":
            wanted = ("overload", "busy", 529, "full", 2.0, "r")
            names = ("kind", "message", "status", "code", "retry_after_s", "request_id")
            return type(verdict) is Unavailable and facts(verdict, *names) == wanted
        case _:
            wanted = ("schema", 7, "a comma")
            return type(verdict) is DeadEnd and facts(verdict, "cause", "prefix_tokens", "explanation") == wanted


def gate_before(before: str) -> Gate:
    gate = gate_of()
    for event in BEFORE[before]:
        gate.feed(event)
    assert gate.state is State[before.upper()]
    return gate


def test_every_event_in_every_state_is_in_the_table() -> None:
    assert {case[:2] for case in CASES} == {(before, event) for before in BEFORE for event in EVENTS}


@pytest.mark.parametrize(("before", "event", "wanted"), CASES, ids=[f"{case[0]}, {case[1]}" for case in CASES])
def test_event_leads_where_it_must(before: str, event: str, wanted: str) -> None:
    gate = gate_before(before)
    given, text = EVENTS[event], gate.evidence.text
    if given is None:
        gate.close()
    else:
        gate.feed(given)
    state, word = wanted.split(" ", 1)
    assert gate.state is State[state.upper()]
    assert is_as(word, gate.verdict, text), gate.verdict
    if gate.state is State.ENDED:
        for late in EVENTS.values():
            with pytest.raises(MisuseError):
                gate.close() if late is None else gate.feed(late)


def test_gate_of_a_language_with_the_empty_text_begins_held() -> None:
    class Anything:
        is_accepting = True
        position = 0

        def feed(self, data: bytes) -> bool:
            self.position += len(data)
            return True

        def explain(self) -> str:
            return ""

    gate = Gate(Anything(), json_acceptor=Anything, text_bytes=10, key_bytes=10)
    assert gate.state is State.HELD
    assert gate_of().state is State.RECEIVING


def test_gate_tells_what_it_saw() -> None:
    gate = gate_before("receiving")
    gate.feed(Usage(1, 2))
    gate.feed(Usage(3, 4))
    gate.feed(Notice("missing_done"))
    gate.feed(Finish(FinishReason.LENGTH, "max"))
    evidence = gate.evidence
    assert (evidence.usage, evidence.finish, evidence.text) == (Usage(3, 4), Finish(FinishReason.LENGTH, "max"), HEAD)
    assert evidence.notices == {"missing_done"}
    assert not evidence.is_line_lost
    gate.feed(ConnectionLost())
    assert evidence.is_line_lost
    assert gate_before("receiving").evidence.notices == set()


def test_first_finish_stays_when_a_second_comes() -> None:
    gate = gate_before("finished")
    gate.feed(Finish(FinishReason.LENGTH, "length"))
    assert gate.evidence.finish == Finish(FinishReason.STOP, "stop")


def test_first_breach_stays_when_more_is_hidden() -> None:
    gate = gate_before("hiding")
    first = gate.evidence.violation
    gate.feed(TextDelta(b"}" * 9))
    assert gate.evidence.violation is first
    assert gate.evidence.text == PROSE + b"}" * 9


@pytest.mark.parametrize("before", ["held", "hiding", "receiving"])
def test_gate_accepts_only_what_it_holds(before: str) -> None:
    assert gate_before(before).is_accepting is (before == "held")


def test_whole_value_with_more_behind_it_is_accepted_no_more() -> None:
    gate = gate_before("held")
    gate.feed(TextDelta(b" x"))
    assert not gate.is_accepting


@pytest.mark.parametrize("name", ["passed", "hidden", "refusal"])
def test_repr_of_the_evidence_shows_no_text(name: str) -> None:
    value: object = "canary4711" if name == "refusal" else bytearray(b"canary4711")
    assert "canary" not in repr(Evidence(**{name: value}))


def test_repr_of_a_verdict_shows_no_text() -> None:
    gate = gate_before("hiding")
    gate.feed(Finish(FinishReason.STOP, "stop"))
    assert "Sure" not in repr(gate.verdict)
    assert "Sure" not in repr(Whole(b"Sure"))


@pytest.mark.parametrize("size", [HIDDEN_BYTES - 1, HIDDEN_BYTES, HIDDEN_BYTES + 1])
@pytest.mark.parametrize("first", [1, 100, HIDDEN_BYTES, 2 * HIDDEN_BYTES])
def test_hidden_text_is_kept_to_its_limit(size: int, first: int) -> None:
    gate = gate_of()
    data = b"x" * size
    for piece in (data[:first], data[first:]):
        if piece:
            gate.feed(TextDelta(piece))
    assert len(gate.evidence.hidden) == min(size, HIDDEN_BYTES)
    assert gate.state is (State.ENDED if size > HIDDEN_BYTES else State.HIDING)
    assert is_as("violated" if size > HIDDEN_BYTES else "-", gate.verdict, b"")


@pytest.mark.parametrize("size", [REFUSAL_CHARACTERS - 1, REFUSAL_CHARACTERS, REFUSAL_CHARACTERS + 1])
@pytest.mark.parametrize("before", ["receiving", "hiding"])
def test_refusal_is_kept_to_its_limit(size: int, before: str) -> None:
    gate = gate_before(before)
    gate.feed(RefusalDelta("n"))
    gate.feed(RefusalDelta("o" * (size - 1)))
    assert len(gate.evidence.refusal) == min(size, REFUSAL_CHARACTERS)
    assert gate.state is (State.ENDED if size > REFUSAL_CHARACTERS else State.REFUSING)
    assert isinstance(gate.verdict, Refused) is (size > REFUSAL_CHARACTERS)


def test_first_words_of_a_refusal_longer_than_kept_are_read_on() -> None:
    gate = gate_of()
    gate.feed(RefusalDelta("n" * (REFUSAL_CHARACTERS + 1)))
    assert gate.state is State.REFUSING
    gate.close()
    assert facts(gate.verdict, "text") == ("n" * REFUSAL_CHARACTERS,)


def test_text_beside_a_refusal_is_not_shown_and_not_kept() -> None:
    gate = gate_before("refusing")
    assert gate.feed(TextDelta(PAYMENT)) == b""
    assert gate.evidence.text == b""


@pytest.mark.parametrize("size", [1, 7, None])
def test_limit_of_the_text_ends_what_is_shown(size: int | None) -> None:
    gate = gate_of(text_bytes=10)
    pieces = [PAYMENT] if size is None else [PAYMENT[at : at + size] for at in range(0, len(PAYMENT), size)]
    shown = b"".join(gate.feed(TextDelta(piece)) for piece in pieces)
    assert shown == PAYMENT[:10]
    assert (gate.state, gate.evidence.text) == (State.HIDING, PAYMENT)
    gate.close()
    assert facts(gate.verdict, "kind", "position") == ("limit", 10)


def test_run_of_white_space_that_breaks_its_limit_is_a_breach_at_its_place_within_a_chunk() -> None:
    gate = gate_of()
    spaces = b" " * WHITE_SPACE_RUN_BYTES
    assert gate.feed(TextDelta(b"{" + spaces + b'  "amount"')) == b"{" + spaces
    assert gate.evidence.hidden == b'  "amount"'
    gate.close()
    assert facts(gate.verdict, "kind", "position") == ("whitespace", 1 + WHITE_SPACE_RUN_BYTES)


@pytest.mark.parametrize("space", [b" ", b"\t", b"\n", b"\r"])
def test_run_of_white_space_counts_on_over_chunks_and_ends_with_any_other_byte(space: bytes) -> None:
    half, inside = space * (WHITE_SPACE_RUN_BYTES // 2), b" " * (2 * WHITE_SPACE_RUN_BYTES)
    gate = gate_of(True)
    for piece in (half, half, b"[", half, half, b"1", half, half, b",", half, half, b'"', inside, b'"', half):
        assert gate.feed(TextDelta(piece)) == piece
    assert gate.feed(TextDelta(half)) == half
    assert gate.feed(TextDelta(space)) == b""
    assert gate.state is State.HIDING


@pytest.mark.parametrize("text", [rb'"\"', rb'"\\\"', rb'"\\\\\"'])
def test_escaped_quote_does_not_end_a_string_for_the_measure_of_white_space(text: bytes) -> None:
    spaces = b" " * (2 * WHITE_SPACE_RUN_BYTES)
    for pieces in ([text + spaces + b'"'], [bytes((byte,)) for byte in text + spaces + b'"']):
        gate = gate_of(True)
        assert b"".join(gate.feed(TextDelta(piece)) for piece in pieces) == text + spaces + b'"'
        assert gate.state is State.HELD


@pytest.mark.parametrize("text", [rb'"\\"', rb'"a"', rb'""', rb'"\u0022"', rb'"\\\\"'])
def test_quote_after_an_escape_ends_a_string_for_the_measure_of_white_space(text: bytes) -> None:
    spaces = b" " * WHITE_SPACE_RUN_BYTES
    for pieces in ([text + spaces + b" "], [bytes((byte,)) for byte in text + spaces + b" "]):
        gate = gate_of(True)
        assert b"".join(gate.feed(TextDelta(piece)) for piece in pieces) == text + spaces
        assert gate.state is State.HIDING


def test_limits_are_those_of_the_docs() -> None:
    assert (HIDDEN_BYTES, REFUSAL_CHARACTERS, WHITE_SPACE_RUN_BYTES) == (4_096, 65_536, 1_024)


@pytest.mark.parametrize("event", ["text", "prose"])
@pytest.mark.parametrize("before", ["hiding", "refusing", "finished"])
def test_nothing_is_shown_once_text_is_hidden_or_over(before: str, event: str) -> None:
    given = EVENTS[event]
    assert given is not None
    assert gate_before(before).feed(given) == b""


@pytest.mark.parametrize("size", [WHITE_SPACE_RUN_BYTES, WHITE_SPACE_RUN_BYTES + 1])
def test_value_before_too_much_white_space_is_accepted_no_more(size: int) -> None:
    gate = gate_before("held")
    gate.feed(TextDelta(b" " * size))
    assert gate.is_accepting is (size == WHITE_SPACE_RUN_BYTES)


@pytest.mark.parametrize(
    ("text", "kind", "position"),
    [
        (b'{"a":' * 65, "limit", 5 * 64),
        (b"[" * 65, "limit", 64),
        (b'"a\x01"', "not_json", 2),
        (b'{"a":1,"a":2}', "constraint", 9),
        (b'{"a":1,"a\n":2}', "not_json", 9),
    ],
)
@pytest.mark.parametrize("size", [None, 1])
def test_impossible_byte_is_told_by_what_it_breaks(text: bytes, kind: str, position: int, size: int | None) -> None:
    gate = gate_of(True)
    for piece in [text] if size is None else [bytes((byte,)) for byte in text]:
        gate.feed(TextDelta(piece))
    gate.close()
    assert facts(gate.verdict, "kind", "position") == (kind, position)


@pytest.mark.parametrize(
    ("text", "kind", "position"),
    [
        (b'{"kkkkkkkk":1}', "held", 0),
        (b'{"kkkkkkkkk":1}', "limit", 11),
        (b'["kkkkkkkkkkkkkkkk",{"kkkkkkkkkk', "limit", 31),
        (b'{"a":"kkkkkkkkkkkkkkkk\n', "not_json", 22),
    ],
)
def test_key_longer_than_allowed_is_a_limit(text: bytes, kind: str, position: int) -> None:
    plain = compile(True)
    automaton = compile(True, limits=Limits(key_bytes=9))
    gate = Gate(automaton.acceptor(), json_acceptor=plain.acceptor, text_bytes=1_000, key_bytes=9)
    gate.feed(TextDelta(text))
    if kind == "held":
        assert gate.state is State.HELD
        return
    gate.close()
    assert facts(gate.verdict, "kind", "position") == (kind, position)


def test_more_hidden_text_than_is_kept_is_a_violation_in_one_event_and_in_two() -> None:
    for pieces in ((b"x" * (HIDDEN_BYTES + 2),), (b"x", b"x" * (HIDDEN_BYTES + 1))):
        gate = gate_of()
        for piece in pieces:
            gate.feed(TextDelta(piece))
        assert gate.state is State.ENDED
        assert isinstance(gate.verdict, Violated)


def test_more_of_a_refusal_than_is_kept_ends_as_refused() -> None:
    gate = gate_of()
    gate.feed(RefusalDelta("n"))
    gate.feed(RefusalDelta("o" * REFUSAL_CHARACTERS))
    assert gate.state is State.ENDED
    assert isinstance(gate.verdict, Refused)


LONG_TEXTS = {
    "type": "array",
    "items": {
        "anyOf": [{"type": "string", "maxLength": 20}, {"type": "object", "propertyNames": {"maxLength": 8}}],
    },
}


@pytest.mark.parametrize(
    "text",
    [
        b'["' + b"a" * 21,  # a value longer than a key may be
        b'[{"' + b"k" * 9,  # a key that the contract forbids, of the longest size allowed
        b'["' + b"a" * 20 + b'",{"' + b"k" * 9,  # the same, far behind
    ],
)
def test_text_that_the_contract_forbids_is_no_matter_of_the_keys_size(text: bytes) -> None:
    gate = Gate(compile(LONG_TEXTS).acceptor(), json_acceptor=compile(True).acceptor, text_bytes=1_000, key_bytes=9)
    gate.feed(TextDelta(text))
    gate.close()
    assert facts(gate.verdict, "kind", "position") == ("constraint", len(text) - 1)


@pytest.mark.parametrize(
    ("schema", "text", "position"),
    [
        ({"items": {"maxLength": 12}}, b'["","kkkkkkkkkkkkkkkk', 17),
        (PAY, b'{"x', 2),
        (PAY, b'{"amount":1,"x', 13),
        ({"properties": {"kkkkkkkkA": True}, "additionalProperties": False, "type": "object"}, b'{"kkkkkkkkB', 10),
    ],
)
def test_string_that_the_contract_forbids_is_no_key_too_long(schema: object, text: bytes, position: int) -> None:
    plain = compile(True)
    gate = Gate(compile(schema).acceptor(), json_acceptor=plain.acceptor, text_bytes=1_000, key_bytes=9)
    gate.feed(TextDelta(text))
    gate.close()
    assert facts(gate.verdict, "kind", "position") == ("constraint", position)


def test_refusing_prose_that_is_not_utf8_is_shown_as_far_as_it_can_be() -> None:
    gate = gate_of()
    gate.feed(TextDelta(b"n\xff"))
    gate.feed(Finish(FinishReason.REFUSAL, "refusal"))
    assert facts(gate.verdict, "text") == ("n\ufffd",)

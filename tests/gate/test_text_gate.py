"""Of a text that is no JSON the automaton alone says what is wrong, and the value is the text itself."""

import anyio
import pytest
from gate_play import chunked, play

from commitgate import AnyJson, Choices, Contract, Edge, Grammar, Layer, Machine, Regex, RuleViolation
from commitgate.automaton import compile
from commitgate.backends.base import Event, Finish, FinishReason, TextDelta
from commitgate.gate.check_context import CheckContext
from commitgate.gate.checks import Checks
from commitgate.gate.gate import Gate
from commitgate.gate.judge import Chosen, Judge
from commitgate.gate.layer_states import Stage
from commitgate.gate.stored_value import load
from commitgate.gate.verdict import Outside, Whole
from commitgate.gate.white_space import WHITE_SPACE_RUN_BYTES
from commitgate.languages import TextSource
from commitgate.outcome import Invalid, Receipt, Truncated, Violated

CODE = Regex("[A-Z]{2}-[0-9]+")
STOP = Finish(FinishReason.STOP, "stop")
SIZES = [None, 1, 2, 3, 7]


def gate_of(source: TextSource, *, text_bytes: int = 1_000_000, refusal: bool = False) -> Gate:
    automaton = compile(Contract.of(source, refusal=refusal))
    return Gate(automaton.acceptor(), json_acceptor=None, text_bytes=text_bytes, key_bytes=16_384)


def events_of(text: str | bytes, size: int | None, finish: FinishReason = FinishReason.STOP) -> list[Event]:
    data = text.encode() if isinstance(text, str) else text
    return [*chunked([TextDelta(data)], size), Finish(finish, finish.value)]


def judge_of(source: TextSource, *, must_keep: bool = False) -> Judge[str]:
    return Judge(Contract.of(source), clock=lambda: 0.0, must_keep=must_keep)


def ran(judge: Judge[str]) -> dict[Layer, bool]:
    return {record.layer: record.ran for record in judge.records}


@pytest.mark.parametrize("size", SIZES)
def test_text_in_an_accept_state_is_whole(size: int | None) -> None:
    verdict, shown = play(events_of("AB-12", size), gate_of(CODE))
    assert isinstance(verdict, Whole)
    assert shown == verdict.text == b"AB-12"


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    ("text", "position"),
    [("AB-x", 3), ("ab-1", 0), ("[1]", 0), ('"AB-1"', 0), ("AB-1\n", 4), ("AB-1 ", 4), (b"AB\xff", 2), ("AB-é", 3)],
)
def test_byte_outside_breaks_the_constraint_and_never_json(text: str | bytes, position: int, size: int | None) -> None:
    verdict, shown = play(events_of(text, size), gate_of(CODE))
    assert isinstance(verdict, Outside)
    assert (verdict.violation.kind, verdict.violation.position) == ("constraint", position)
    assert verdict.violation.explanation.startswith("expected ")
    assert len(shown) == position


@pytest.mark.parametrize(
    ("source", "text", "explanation"),
    [
        (CODE, "AB-x", "expected a character of 0-9"),
        (CODE, "AB-1x", "expected a character of 0-9 or the end of the text"),
        (Choices(["yes", "no", "no way"]), "nope", "expected ' way' or the end of the text"),
        (Grammar('root ::= "a" (" b" | "c"? "d"?)'), "ax", "expected ' b' or 'c' or 'd' or the end of the text"),
        (
            Grammar("start: SIGNED_NUMBER\n%import common.SIGNED_NUMBER", "lark"),
            "x",
            "expected a character of + - or a character of 0-9 or '.'",
        ),
        (
            Machine(start="a", accepting=["b"], edges=[Edge("a", "x", "b"), Edge("b", {"type": "null"}, "b")]),
            "x[",
            "expected white space or 'null' or the end of the text",
        ),
    ],
)
def test_what_may_come_next_is_told_once_and_the_end_last(source: TextSource, text: str, explanation: str) -> None:
    verdict, _ = play(events_of(text, None), gate_of(source))
    assert isinstance(verdict, Outside)
    told = verdict.violation.explanation
    assert told.startswith(explanation)
    ways = told.removeprefix("expected ").split(" or ")
    assert len(set(ways)) == len(ways)


def test_words_of_the_model_are_in_no_explanation() -> None:
    text = "AB-1 canary"
    verdict, _ = play(events_of(text, 1), gate_of(CODE))
    assert isinstance(verdict, Outside)
    assert "canary" not in f"{verdict.violation!r}{verdict.violation.summary()}"


@pytest.mark.parametrize("text", ["", "A", "AB-"])
def test_stop_before_an_accept_state_is_a_violation(text: str) -> None:
    verdict, _ = play(events_of(text, None), gate_of(CODE))
    assert isinstance(verdict, Violated)
    assert (verdict.kind, verdict.position) == ("not_accepting", len(text))


def test_whole_text_under_another_finish_is_not_whole() -> None:
    verdict, _ = play(events_of("AB-12", 1, FinishReason.LENGTH), gate_of(CODE))
    assert isinstance(verdict, Truncated)


@pytest.mark.parametrize("size", [None, 1_000])
def test_white_space_that_the_language_allows_is_never_too_much(size: int | None) -> None:
    text = "a" + " \n" * WHITE_SPACE_RUN_BYTES + "b"
    verdict, _ = play(events_of(text, size), gate_of(Regex(r"a[ \n]*b")))
    assert isinstance(verdict, Whole)


def test_size_of_the_answer_is_bounded_all_the_same() -> None:
    verdict, shown = play(events_of(" " * 11, 1), gate_of(Regex(" *"), text_bytes=10))
    assert isinstance(verdict, Outside)
    assert (verdict.violation.kind, len(shown)) == ("limit", 10)


def test_empty_text_is_whole_where_the_language_has_it() -> None:
    verdict, _ = play(events_of("", None), gate_of(Choices(["", "x"])))
    assert verdict == Whole(b"")


def test_text_or_a_refusal_is_whole() -> None:
    for text in ("AB-1", '{"refusal": "no"}'):
        verdict, _ = play(events_of(text, 1), gate_of(CODE, refusal=True))
        assert isinstance(verdict, Whole)


def test_value_is_the_text_and_neither_parse_nor_schema_applies() -> None:
    judge = judge_of(CODE)
    assert judge.choose(b"AB-12") == Chosen("AB-12", b'"AB-12"')
    assert ran(judge) == {Layer.PARSE: False, Layer.SCHEMA: False, Layer.TYPE: True}
    assert [record.passed for record in judge.records] == [None, None, True]


@pytest.mark.parametrize("text", ["1", "true", '"x"', "{}", "null", "1e400", ' "', "\u20ac\U0001f600", "\x00", "\x1b["])
def test_text_that_looks_like_json_stays_a_text(text: str) -> None:
    chosen = judge_of(Regex("(?s:.*)"), must_keep=True).choose(text.encode())
    assert isinstance(chosen, Chosen)
    assert chosen.value == text
    loaded = load(Contract.of(Regex("(?s:.*)")), chosen.value_json)
    assert not isinstance(loaded, tuple)
    assert loaded.value == text


def test_text_outside_keeps_its_violation() -> None:
    judge = judge_of(CODE)
    violation = Violated(kind="constraint", position=0, explanation="expected A", receipt=Receipt())
    assert judge.explain(Outside(b'{"a":1}', violation)) is violation
    assert ran(judge) == {Layer.PARSE: False, Layer.SCHEMA: False}


def test_no_step_leads_from_a_text_outside_to_a_value() -> None:
    judge = judge_of(CODE)
    judge.explain(Outside(b"x", Violated(kind="constraint", position=0, explanation="", receipt=Receipt())))
    assert judge._way.stage is Stage.REFUSED  # pyright: ignore[reportPrivateUsage] - where it stands is not told


def test_bytes_that_are_no_utf8_make_no_value() -> None:
    invalid = judge_of(CODE).choose(b"AB-\xff")
    assert isinstance(invalid, Invalid)
    assert (invalid.layer, invalid.failures[0].code) == (Layer.TYPE, "not_utf8")
    assert invalid.failures[0].data == {"position": 3}


def test_rules_are_asked_about_the_text() -> None:
    judge = judge_of(Grammar('root ::= [a-z]+ "\\n"?'))
    chosen = judge.choose(b"abc\n")
    assert isinstance(chosen, Chosen)
    seen = list[str]()

    def rule(text: str) -> RuleViolation:
        seen.append(text)
        return RuleViolation("too_short", "four letters")

    context = CheckContext(principal=None, is_replay=False, contract_name="grammar")

    async def ask() -> Invalid:
        ending = await judge.deliberate(chosen.value, Checks[str].of(rules=[rule]), context)
        assert isinstance(ending, Invalid)
        return ending

    assert anyio.run(ask).layer is Layer.RULES
    assert seen == ["abc\n"]


@pytest.mark.parametrize("stored", [b"1", b"null", b'{"a":1}', b'["AB-1"]'])
def test_stored_value_that_is_no_text_is_not_loaded(stored: bytes) -> None:
    failures = load(Contract.of(CODE), stored)
    assert isinstance(failures, tuple)
    assert failures[0].code == "not_a_text"


def test_any_json_is_json() -> None:
    judge = Judge(Contract.of(AnyJson(nesting=2)), clock=lambda: 0.0)
    assert isinstance(judge.choose(b"[[1]]"), Chosen)
    invalid = judge.choose(b"[[[1]]]")
    assert isinstance(invalid, Invalid)
    assert invalid.failures[0].code == "nesting"

"""The laws of the adversarial set see what breaks them, and nothing else."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from commitgate import (
    Committed,
    CompileFailed,
    Contract,
    Disconnected,
    Invalid,
    Layer,
    Outcome,
    Receipt,
    Truncated,
    Unsupported,
    Violated,
)
from commitgate.backends.base import (
    ConnectionLost,
    Fault,
    Finish,
    FinishReason,
    Ping,
    SentEvent,
    StepTaken,
    TextDelta,
    Usage,
)
from commitgate.difference import Difference
from commitgate.errors import MisuseError
from commitgate.evaluation.adversarial import AdversarialReport, CheckResult, Ratchet, checks, hold, report_lines
from commitgate.evaluation.adversarial.check import all_of, failed, passed, skipped
from commitgate.evaluation.adversarial.judge import TextJudge, ValueJudge, alike
from commitgate.evaluation.adversarial.laws import of_effects, of_endings, of_layer, of_nothing_committed, of_value
from commitgate.evaluation.adversarial.place import Place, PlaceFinder
from commitgate.evaluation.adversarial.ratchet import MAX_RATCHET_BYTES, SHIPPED
from commitgate.evaluation.adversarial.stream_law import StreamLaw
from commitgate.evaluation.adversarial.tamper import AtPlace, Crumbled, Doubled, End, Tamper

SCHEMA: Any = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
JUDGE = ValueJudge(schema=SCHEMA, expected={"n": 1})
STOP = Finish(FinishReason.STOP, "stop")
RECEIPT = Receipt()


def committed(value: Any, text: str | None = None) -> Outcome[object, object]:
    return Committed(value=value, text=json.dumps(value) if text is None else text, receipt=RECEIPT)


def invalid(layer: Layer, *differences: Difference) -> Outcome[object, object]:
    return Invalid(layer=layer, failures=(), receipt=Receipt(differences=differences))


def violated() -> Outcome[object, object]:
    return Violated(kind="constraint", position=0, explanation="", receipt=RECEIPT)


@pytest.mark.parametrize(
    ("value", "text", "words"),
    [
        ({"n": 1}, None, ""),
        ({"n": 2}, None, "another one"),
        ({"n": True}, None, "another one"),
        ({"n": 1}, '{"n": 1', "no JSON"),
        ({"n": 1}, '{"n": 1, "n": 1}', "no JSON"),
        ({"n": 1}, '{"n": NaN}', "no JSON"),
        ({"n": 2}, '{"n": 1}', "handed over"),
    ],
)
def test_committed_value_is_judged_by_its_text_and_by_itself(value: Any, text: str | None, words: str) -> None:
    found = of_value(committed(value, text), JUDGE, is_forced=True)
    assert found.verdict == ("failed" if words else "passed")
    assert words in found.reason


def test_committed_value_that_breaks_its_schema_is_seen_where_nothing_is_forced() -> None:
    judge = ValueJudge(schema=SCHEMA)
    assert of_value(committed({"n": 7}), judge, is_forced=False).verdict == "passed"
    assert of_value(committed({"n": "7"}), judge, is_forced=False).verdict == "failed"


def test_numbers_are_judged_exactly() -> None:
    judge = ValueJudge(schema={"const": 0.1}, expected=0.1)
    assert not judge.wrong(Decimal("0.1"), "0.1")
    assert judge.wrong(Decimal("0.1000000000000000055"), "0.1000000000000000055")
    assert alike(Decimal("1.0"), 1)
    assert not alike(True, 1)


def test_committed_text_is_one_of_its_language() -> None:
    judge = TextJudge(is_right=lambda text: text == "ab")
    assert of_value(committed("ab", "ab"), judge, is_forced=True).verdict == "passed"
    assert of_value(committed("abc", "abc"), judge, is_forced=True).verdict == "failed"
    assert of_value(committed("ab", "abc"), judge, is_forced=True).verdict == "failed"


def test_text_in_another_shape_than_the_value_is_not_held_against_it() -> None:
    wrapped = Receipt(differences=(Difference(kind="wrapped", pointer="", keyword="choices", reason="no form"),))
    judge = TextJudge(is_right=lambda text: text == "ab")
    right = Committed(value="ab", text='{"choice": "ab"}', receipt=wrapped)
    assert of_value(right, judge, is_forced=True).verdict == "passed"
    assert of_value(Committed(value="b", text="", receipt=wrapped), judge, is_forced=True).verdict == "failed"
    assert of_value(Committed(value={"n": 1}, text="", receipt=wrapped), JUDGE, is_forced=True).verdict == "passed"
    assert of_value(Committed(value={"n": 2}, text="", receipt=wrapped), JUDGE, is_forced=True).verdict == "failed"


def test_what_breaks_the_constraint_is_the_backends_fault_unless_nobody_asked_it() -> None:
    gap = Difference(kind="checked", pointer="", keyword="uniqueItems", reason="not enforced")
    assert of_value(violated(), JUDGE, is_forced=True).verdict == "failed"
    assert of_value(invalid(Layer.SCHEMA), JUDGE, is_forced=True).verdict == "failed"
    assert of_value(invalid(Layer.SCHEMA, gap), JUDGE, is_forced=True).verdict == "passed"
    part_checked = Contract.json_schema({"type": "array", "uniqueItems": True, "maxItems": 2})
    assert of_value(invalid(Layer.SCHEMA), JUDGE, part_checked, is_forced=False).verdict == "passed"


def test_forced_value_that_did_not_come_is_a_failure_and_a_free_one_tells_nothing() -> None:
    cut = Truncated(receipt=RECEIPT)
    assert of_value(cut, JUDGE, is_forced=True).verdict == "failed"
    assert of_value(cut, JUDGE, is_forced=False).verdict == "skipped"
    unasked = Unsupported(keyword="not", pointer="", reason="", receipt=RECEIPT)
    assert of_value(unasked, JUDGE, is_forced=True).verdict == "skipped"
    unmade = CompileFailed(pointer="", keyword=None, reason="", receipt=RECEIPT)
    assert of_value(unmade, JUDGE, is_forced=True).verdict == "failed"


def test_commit_despite_a_cut_is_a_failure() -> None:
    cut = Disconnected(kind="lost", receipt=RECEIPT)
    assert of_endings(cut, ("disconnected (lost)",)).verdict == "passed"
    assert of_endings(cut, ("disconnected (ended)",)).verdict == "failed"
    assert of_endings(committed({"n": 1}), ("disconnected (lost)",)).verdict == "failed"
    assert of_nothing_committed(committed({"n": 1})).verdict == "failed"
    assert of_nothing_committed(cut).verdict == "passed"


@pytest.mark.parametrize("effects", [[], ["a", "b"]])
def test_effects_too_many_and_too_few_are_failures(effects: list[str]) -> None:
    assert of_effects(committed({"n": 1}), effects, 1).verdict == "failed"
    assert of_effects(committed({"n": 1}), ["a"], 1).verdict == "passed"


def test_another_layer_than_the_one_that_had_to_refuse_is_a_failure() -> None:
    assert of_layer(invalid(Layer.RULES), Layer.RULES).verdict == "passed"
    for outcome in (invalid(Layer.EVIDENCE), invalid(Layer.SCHEMA), violated(), committed({"n": 1})):
        assert of_layer(outcome, Layer.RULES).verdict == "failed"


def test_what_is_broken_wins_over_what_tells_nothing() -> None:
    assert all_of(passed(), skipped("s"), failed("f")).reason == "f"
    assert all_of(passed(), skipped("s"), passed()).reason == "s"
    assert all_of(passed("a"), passed("b")).ending == "b"


@pytest.mark.parametrize(
    ("events", "words"),
    [
        ([TextDelta(b"a"), STOP, Usage(1, 1), Ping(), ConnectionLost()], ""),
        ([TextDelta(b"a"), STOP, TextDelta(b"b")], "TextDelta followed the finish"),
        ([STOP, STOP], "Finish followed the finish"),
        ([Fault("server", ""), Usage(1, 1)], "Usage followed the last event"),
        ([TextDelta(b"")], "without a byte"),
        ([StepTaken(kind="drawn", token_ids=(), data=b"", text_bytes=0, vocabulary_tokens=1, state="")], "steps"),
    ],
)
def test_order_of_events_is_held(events: list[SentEvent], words: str) -> None:
    law = StreamLaw()
    for event in events:
        law.take(event)
    assert (words in law.broken) if words else not law.broken


def test_every_place_is_found_where_it_is() -> None:
    text = '{"k": "a\\n\\u0041é", "l": [12, true]}'.encode()
    finder = PlaceFinder()
    found: dict[Place, bytes] = {}
    for number, byte in enumerate(text):
        place = finder.feed(byte)
        if place is not None:
            found.setdefault(place, text[: number + 1])
    assert found == {
        Place.OPENED: b"{",
        Place.IN_KEY: b'{"k',
        Place.AFTER_KEY: b'{"k"',
        Place.AFTER_COLON: b'{"k":',
        Place.IN_STRING: b'{"k": "a',
        Place.IN_ESCAPE: b'{"k": "a\\',
        Place.IN_HEX: b'{"k": "a\\n\\u',
        Place.IN_CHARACTER: b'{"k": "a\\n\\u0041\xc3',
        Place.AFTER_COMMA: '{"k": "a\\n\\u0041é",'.encode(),
        Place.IN_NUMBER: '{"k": "a\\n\\u0041é", "l": [1'.encode(),
        Place.IN_WORD: '{"k": "a\\n\\u0041é", "l": [12, t'.encode(),
        Place.WHOLE: text,
    }


def test_root_text_is_whole_at_its_quote_and_a_root_number_never() -> None:
    finder = PlaceFinder()
    assert [finder.feed(byte) for byte in b'"a"'][-1] is Place.WHOLE
    finder = PlaceFinder()
    assert {finder.feed(byte) for byte in b"123"} == {Place.IN_NUMBER}


def moves(tamper: Tamper, *events: SentEvent) -> list[object]:
    return [move for event in events for move in tamper.take(event)]


def test_cut_passes_what_came_before_and_nothing_after() -> None:
    tamper = AtPlace(Place.AFTER_COLON, ConnectionLost(), End())
    found = moves(tamper, TextDelta(b'{"a'), TextDelta(b'": 1'), TextDelta(b"}"), STOP)
    assert found == [TextDelta(b'{"a'), TextDelta(b'":'), ConnectionLost(), End()]
    assert tamper.has_fired


def test_what_is_put_in_loses_nothing() -> None:
    tamper = AtPlace(Place.AFTER_COLON, TextDelta(b"x"), goes_on=True)
    assert moves(tamper, TextDelta(b'{"a": 1}'), STOP) == [
        TextDelta(b'{"a":'),
        TextDelta(b"x"),
        TextDelta(b" 1}"),
        STOP,
    ]


def test_place_that_never_comes_changes_nothing() -> None:
    tamper = AtPlace(Place.IN_ESCAPE, End())
    assert moves(tamper, TextDelta(b"{}"), STOP) == [TextDelta(b"{}"), STOP]
    assert not tamper.has_fired


def test_text_is_crumbled_and_doubled() -> None:
    assert moves(Crumbled(), TextDelta(b"{}"), STOP) == [TextDelta(b"{"), TextDelta(b"}"), STOP]
    assert moves(Doubled(), TextDelta(b"{}"), STOP) == [TextDelta(b"{}"), TextDelta(b"{}"), STOP]


def test_checks_have_names_of_their_own_and_say_what_they_do() -> None:
    found = checks()
    assert len({each.id for each in found}) == len(found)
    assert {each.group for each in found} == {"values", "streams", "changes", "content", "hostile"}
    assert all(each.about and each.law and each.id == f"{each.group}/{each.name}" for each in found)


def test_only_takes_groups_and_single_checks_and_refuses_what_is_neither() -> None:
    found = checks(["hostile", "values/null"])
    assert {each.group for each in found} == {"hostile", "values"}
    assert [each.id for each in found if each.group == "values"] == ["values/null"]
    with pytest.raises(MisuseError, match="no check and no group"):
        checks(["values/nil"])


def report(**verdicts: Any) -> AdversarialReport:
    results = tuple(
        CheckResult(id=f"values/{name}", group="values", about=name, law="it holds", verdict=verdict, reason="")
        for name, verdict in verdicts.items()
    )
    return AdversarialReport(backend="b", model="b/m", results=results)


def test_ratchet_sees_what_is_lost_and_what_is_gained(tmp_path: Path) -> None:
    place = tmp_path / "ratchet.json"
    first = hold(report(one="passed", two="failed"), place, update=True)
    assert (first.is_known, first.lost, first.gained) == (False, (), ("values/one",))
    second = hold(report(one="skipped", two="passed"), place)
    assert [each.id for each in second.lost] == ["values/one"]
    assert second.gained == ("values/two",)
    assert not second.is_kept


def test_ratchet_keeps_what_was_not_tried_and_drops_what_failed_when_updated(tmp_path: Path) -> None:
    place = tmp_path / "ratchet.json"
    hold(report(one="passed", two="passed"), place, update=True)
    hold(report(two="failed", three="passed"), place, update=True)
    assert Ratchet.read(place).passed == {"b": frozenset({"values/one", "values/three"})}
    other = AdversarialReport(backend="other", model="o/m")
    assert hold(other, place, update=True).is_kept
    assert Ratchet.read(place).passed["b"] == frozenset({"values/one", "values/three"})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "no JSON"),
        ("[" * 100_000, "no JSON"),
        ("[]", "must be an object"),
        ('{"commitgate_adversarial_ratchet": 2, "backends": {}}', "must be an object"),
        ('{"commitgate_adversarial_ratchet": true, "backends": {}}', "must be an object"),
        ('{"commitgate_adversarial_ratchet": 1}', '"backends"'),
        ('{"commitgate_adversarial_ratchet": 1, "backends": {"b": {"passed": [1]}}}', "list of texts, for b"),
        ('{"commitgate_adversarial_ratchet": 1, "backends": {"\\u001b[2J": 1}}', "list of texts, for a backend"),
        (" " * (MAX_RATCHET_BYTES + 1), "at most"),
    ],
)
def test_file_that_is_no_ratchet_is_told(tmp_path: Path, text: str, words: str) -> None:
    place = tmp_path / "ratchet.json"
    place.write_text(text, encoding="utf-8")
    with pytest.raises(MisuseError, match=words):
        hold(report(one="passed"), place)


def test_ratchet_that_is_not_there_is_told_unless_it_is_made(tmp_path: Path) -> None:
    place = tmp_path / "ratchet.json"
    with pytest.raises(MisuseError, match="not there"):
        hold(report(one="passed"), place)
    with pytest.raises(MisuseError, match="cannot be written"):
        hold(report(one="passed"), tmp_path / "none" / "ratchet.json", update=True)
    with pytest.raises(MisuseError, match="of the release"):
        hold(report(one="passed"), update=True)
    with pytest.raises(MisuseError, match="not whole"):
        hold(AdversarialReport(backend="b", model="m", problems=("it was stopped",)), place, update=True)
    assert list(tmp_path.iterdir()) == []


def test_shipped_ratchet_names_checks_that_there_are() -> None:
    known = {each.id for each in checks()}
    shipped = Ratchet.read(SHIPPED)
    assert {"local", "commitgate_chat"} <= set(shipped.passed)
    assert set().union(*shipped.passed.values()) <= known


def test_lines_are_harmless_and_tell_counts_failures_and_what_was_lost() -> None:
    found = report(one="failed", two="skipped", three="passed")
    found = AdversarialReport(backend="b", model="b/\x1b[2J", results=found.results, problems=("it was stopped",))
    ratchet = Ratchet({"b": frozenset({"values/one"})})
    text = "\n".join(report_lines(found, ratchet.held(found)))
    assert "\x1b" not in text
    assert "values/one: one. Law: it holds" in text
    assert "not whole: it was stopped" in text
    assert "lost values/one" in text
    assert "values/three" in text
    assert not found.has_passed
    assert found.to_json()["counts"] == {"values": {"passed": 1, "failed": 1, "skipped": 1}}

"""Check that an answer which is cut, lost or interrupted at any place is not committed, and a whole one is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from commitgate.backends.base import (
    ConnectionLost,
    Fault,
    Finish,
    FinishReason,
    Notice,
    Ping,
    RefusalDelta,
    TextDelta,
    Usage,
)
from commitgate.evaluation.adversarial.check import Check, Found, Run, all_of, skipped
from commitgate.evaluation.adversarial.judge import ValueJudge
from commitgate.evaluation.adversarial.laws import of_effects, of_endings, of_value
from commitgate.evaluation.adversarial.place import Place
from commitgate.evaluation.adversarial.stage import Scene, Stage, json_contract
from commitgate.evaluation.adversarial.tamper import AtPlace, Crumbled, Doubled, End, Move, Tamper
from commitgate.json_value import JsonObject, JsonValue

ANSWER: JsonValue = {"a key": "line\nsöß 🦀", "list": [12345, True, None], "inner": {"x": 67}}
"""A value in which every place can be met."""

FORCING: JsonObject = {"const": ANSWER}
"""A schema under which nothing but ``ANSWER`` is legal."""

PROMPT = "Answer."

_TOKENS = 120
_ROOT_NUMBER: JsonObject = {"type": "integer", "minimum": 0, "maximum": 999_999}
_NEVER = "the answer has no such place here"
_STOP = Finish(FinishReason.STOP, "stop")

_PLACES: Mapping[Place, str] = {
    Place.START: "before anything",
    Place.OPENED: "behind the first bracket",
    Place.IN_KEY: "in a key",
    Place.AFTER_KEY: "behind a key",
    Place.AFTER_COLON: "behind a colon",
    Place.IN_STRING: "in a text",
    Place.IN_ESCAPE: "behind a backslash",
    Place.IN_CHARACTER: "in the middle of a character",
    Place.IN_NUMBER: "behind a digit",
    Place.IN_WORD: "in a word like true",
    Place.AFTER_COMMA: "behind a comma",
    Place.WHOLE: "behind the whole object",
    Place.UNFINISHED: "in place of the finish",
}

_ENDS: Mapping[str, tuple[str, Sequence[Move], str]] = {
    "ended": ("the stream ends cleanly", (End(),), "disconnected (ended)"),
    "lost": ("the line breaks", (ConnectionLost(), End()), "disconnected (lost)"),
}

_WORDS: Sequence[tuple[str, FinishReason, str]] = (
    ("length", FinishReason.LENGTH, "truncated"),
    ("filter", FinishReason.CONTENT_FILTER, "filtered"),
    ("refusal", FinishReason.REFUSAL, "refused"),
    ("paused", FinishReason.PAUSED, "truncated (paused)"),
    ("malformed", FinishReason.MALFORMED, "violated"),
    ("cancelled", FinishReason.CANCELLED, "disconnected (aborted)"),
    ("unknown", FinishReason.UNKNOWN, "unavailable (unknown_finish)"),
)

_TROUBLES: Sequence[tuple[str, str, Callable[[], Tamper], str]] = (
    ("words_before", "words before the answer", lambda: _add(Place.START, "Sure! Here it is: "), "violated"),
    ("words_behind", "words behind the answer", lambda: _add(Place.UNFINISHED, " I hope this helps."), "violated"),
    ("mark_before", "a mark of byte order before the answer", lambda: _add(Place.START, "\ufeff"), "violated"),
    (
        "second_object",
        "a second object behind the first",
        lambda: _add(Place.UNFINISHED, '{"admin": true}'),
        "violated",
    ),
    ("sent_twice", "the whole answer twice", Doubled, "violated"),
    ("brackets_more", "a bracket too many", lambda: _add(Place.UNFINISHED, "}"), "violated"),
    ("words_inside", "words in the middle", lambda: _add(Place.AFTER_COLON, "really "), "violated"),
    ("broken_character", "bytes that are no UTF-8", lambda: _add(Place.IN_STRING, b"\xc3\x28"), "violated"),
    ("escaped_half", "half of a surrogate pair", lambda: _add(Place.IN_STRING, "\\ud83e"), "violated"),
    ("declined", "words of a refusal in the middle", lambda: _move(Place.AFTER_COLON, RefusalDelta("No.")), "refused"),
    (
        "failed",
        "a failure of the server behind the whole object",
        lambda: AtPlace(Place.WHOLE, Fault("server", "injected"), End()),
        "unavailable (server)",
    ),
)

_HARMLESS: Sequence[tuple[str, str, Callable[[], Tamper]]] = (
    ("nothing_done", "nothing is done to the answer", Tamper),
    ("byte_by_byte", "the text comes byte by byte", Crumbled),
    ("signs_of_life", "signs of life and counts in the middle", lambda: _move(Place.IN_STRING, Ping(), Usage(1, 1))),
    ("finished_ended", "the stream ends behind the finish", lambda: AtPlace(Place.FINISHED, End())),
    ("finished_lost", "the line breaks behind the finish", lambda: AtPlace(Place.FINISHED, ConnectionLost(), End())),
    ("finished_junk", "no end marker, and junk", lambda: AtPlace(Place.FINISHED, Notice("junk_after_finish"), End())),
)


def cut_checks() -> Iterator[Check]:
    """Yield the checks of answers that are cut or interrupted."""
    nothing = "nothing is committed, and the ending says what happened"
    for place, where in _PLACES.items():
        for name, (what, moves, ending) in _ENDS.items():
            run = _ends(lambda place=place, moves=moves: AtPlace(place, *moves), ending)
            yield _check(f"{name}_{place}", f"{what} {where}", nothing, run)
    for place in (Place.OPENED, Place.IN_KEY, Place.IN_STRING, Place.IN_ESCAPE, Place.IN_NUMBER, Place.AFTER_COMMA):
        run = _ends(lambda place=place: AtPlace(place, _STOP, End()), "violated")
        yield _check(f"stopped_{place}", f"the word for a whole answer comes {_PLACES[place]}", nothing, run)
    for name, reason, ending in _WORDS:
        for place in (Place.IN_STRING, Place.UNFINISHED):
            finish = Finish(reason, f"injected_{name}")
            run = _ends(lambda place=place, finish=finish: AtPlace(place, finish, End()), ending)
            yield _check(f"word_{name}_{place}", f"the finish {name} comes {_PLACES[place]}", nothing, run)
    for name, about, make, ending in _TROUBLES:
        yield _check(name, about, nothing, _ends(make, ending))
    for name, about, make in _HARMLESS:
        yield _check(name, about, "the value is committed", _ends(make, "committed"))
    for name, (what, moves, ending) in _ENDS.items():
        run = _of_number(lambda moves=moves: AtPlace(Place.IN_NUMBER, *moves), ending)
        yield _check(f"{name}_root_number", f"{what} behind a digit of a number at the root", nothing, run)


def _check(name: str, about: str, law: str, run: Run) -> Check:
    return Check(name=name, group="streams", about=about, law=law, run=run)


def _add(place: Place, text: str | bytes) -> Tamper:
    return _move(place, TextDelta(text.encode() if isinstance(text, str) else text))


def _move(place: Place, *moves: Move) -> Tamper:
    return AtPlace(place, *moves, goes_on=True)


def _ends(make: Callable[[], Tamper], ending: str) -> Run:
    async def run(scene: Scene) -> Found:
        tamper = make()
        async with scene.stage(tamper) as stage:
            return await _ended(stage, FORCING, tamper, ending)

    return run


def _of_number(make: Callable[[], Tamper], ending: str) -> Run:
    async def run(scene: Scene) -> Found:
        tamper = make()
        async with scene.stage(tamper) as stage:
            return await _ended(stage, _ROOT_NUMBER, tamper, ending)

    return run


async def _ended(stage: Stage, schema: JsonObject, tamper: Tamper, ending: str) -> Found:
    contract = await json_contract(schema)
    outcome = await stage.ask(contract, PROMPT, max_tokens=_TOKENS, acts=True)
    if ending == "committed":
        judge = ValueJudge(schema=schema, expected=ANSWER)
        found = of_value(outcome, judge, contract, is_forced=True)
    else:
        found = of_endings(outcome, (ending,))
    found = all_of(of_effects(outcome, stage.effects, int(found.ending == "committed")), found)
    # Not so where the answer never came to that place, whatever else became of it.
    return found if tamper.has_fired or type(tamper) is Tamper else skipped(_NEVER, found.ending)


__all__ = ["ANSWER", "FORCING", "PROMPT", "cut_checks"]

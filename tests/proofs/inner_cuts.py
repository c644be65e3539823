"""Cut texts inside numbers, literals, escapes, surrogate pairs and UTF-8 sequences.

A cut lexeme is no value, and no preview shows it: a number or literal is absent until it is whole, a string ends before
the character that is not whole. What must be shown is known from how the text was built, not from reading it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from random import Random

from proofs.cuts import CHUNKINGS, ENDINGS, MOST_FAULTS, STOP, Check, chunks, gates_of, play
from proofs.documents import units
from proofs.part import PROOFS, Result, Row, modules_of, total

from commitgate.backends.base import Event, TextDelta
from commitgate.gate.verdict import Whole
from commitgate.json_value import JsonValue
from commitgate.outcome import Violated
from commitgate.preview import PreviewReader

CUTS = 12_000
CUTS_A_UNIT = 600
ENDS = ("bare end", "length", "filter", "fault server")
KINDS = ("number", "literal", "escape", "surrogate pair", "UTF-8")
WEIGHTS = (1, 3, 5, 1, 5)

CHARACTERS = "é߿ࠀ€\ufffd\U00010000😀\U0010ffff"
FRAMES: tuple[Callable[[int], tuple[str, JsonValue, str]], ...] = (
    lambda n: (f"[{n}, ", [n], "]"),
    lambda n: (f'{{"{n}":', {}, "}"),
    lambda n: (f'[{n},"a",{{"b":[', [n, "a", {"b": []}], "]}]"),
    lambda n: (f' {{"é" : [null , {n},', {"é": [None, n]}, ' ] , "z":0}'),
)
"""What stands before a lexeme, what of it is shown, and what stands after it; the number tells texts apart."""


@dataclass(frozen=True, slots=True)
class InnerCut:
    """Hold a text that is cut inside a lexeme.

    Attributes:
        kind: what is cut.
        before: the text up to the lexeme.
        lexeme: its part before the cut, at least one byte.
        rest: what is missing.
        shown: what a preview must show.
    """

    kind: str
    before: bytes
    lexeme: bytes
    rest: bytes
    shown: JsonValue


def inner_cuts() -> Iterator[InnerCut]:
    """Yield cuts without end, the same each time and none of them twice."""
    draw, seen = Random("inner cuts"), set[tuple[bytes, bytes]]()
    while True:
        number, kind = draw.randint(0, 999), draw.choices(KINDS, WEIGHTS)[0]
        for cut in _cuts_of(draw, kind, number, draw.choice(FRAMES)(number)):
            if (text := (cut.before + cut.lexeme, cut.rest)) not in seen:
                seen.add(text)
                yield cut


def _cuts_of(draw: Random, kind: str, number: int, frame: tuple[str, JsonValue, str]) -> Iterator[InnerCut]:
    before, shown, after = frame
    if kind in ("number", "literal"):
        lexeme = _number(draw) if kind == "number" else draw.choice((b"true", b"false", b"null"))
        # A number is over only with the byte after it, so the cut may also stand behind its last digit.
        for at in range(1, len(lexeme) + (kind == "number")):
            yield InnerCut(kind, before.encode(), lexeme[:at], lexeme[at:] + after.encode(), shown)
        return
    text = "".join(draw.choices("ab \\/", k=draw.randint(0, 4)))
    character = _character(draw, kind)
    opening = f'{before}"' + text.replace("\\", "\\\\")
    for at in range(1, len(character)):
        rest = character[at:] + b'"' + after.encode()
        yield InnerCut(kind, opening.encode(), character[:at], rest, _with_text(shown, text, str(number)))


def _number(draw: Random) -> bytes:
    digits = "".join(draw.choices("0123456789", k=draw.randint(0, 18)))
    text = draw.choice(("", "-")) + draw.choice("123456789") + digits
    if draw.random() < 0.5:
        text += "." + "".join(draw.choices("0123456789", k=draw.randint(1, 12)))
    if draw.random() < 0.4:
        text += draw.choice("eE") + draw.choice(("", "+", "-")) + str(draw.randint(0, 400))
    return text.encode()


def _character(draw: Random, kind: str) -> bytes:
    match kind:
        case "escape":
            return draw.choice(
                (*(f"\\{letter}" for letter in '"\\/bfnrt'), f"\\u{draw.randint(0, 0xD7FF):04x}")
            ).encode()
        case "surrogate pair":
            high, low = units(chr(draw.randint(0x10000, 0x10FFFF)))
            return f"\\u{high:04X}\\u{low:04x}".encode()
        case _:
            return draw.choice(CHARACTERS).encode()


def _with_text(shown: JsonValue, text: str, key: str) -> JsonValue:
    """Return what is shown before a string, with the beginning of the string at its place."""
    match shown:
        case {"b": [*_]}:
            return {"b": [text]}
        case {"é": [*items]}:
            return {"é": [*items, text]}
        case {}:
            return {key: text}
        case [number, "a", inner]:
            return [number, "a", _with_text(inner, text, key)]
        case [number]:
            return [number, text]
        case _:
            raise AssertionError("no frame shows that")


class InnerCuts:
    """Cut inside lexemes, before gate and reader."""

    name = "inner-cuts"

    def units(self, *, short: bool) -> Sequence[str]:
        return [f"{at}-{at + CUTS_A_UNIT}" for at in range(0, CUTS_A_UNIT if short else CUTS, CUTS_A_UNIT)]

    def sources(self, unit: str) -> Iterable[Path]:
        names = ("inner_cuts.py", "cuts.py", "documents.py")
        return [*modules_of("automaton", "gate", "preview"), *(PROOFS / name for name in names)]

    def run(self, unit: str) -> Result:
        first, end = map(int, unit.split("-"))
        counts = dict.fromkeys((*KINDS, "streams", "values", "wrong endings", "wrong previews"), 0)
        faults: list[str] = []
        make = gates_of(True)
        for cut in islice(inner_cuts(), first, end):
            counts[cut.kind] += 1
            text = cut.before + cut.lexeme
            for chunking in CHUNKINGS:
                pieces = chunks(text, chunking, repr(text))
                where = f"{text!r}, {chunking}"
                if not _previews_are_right(pieces, cut):
                    counts["wrong previews"] += 1
                    faults.append(f"{where}: a preview shows what is cut")
                for name in (*ENDS, "stop"):
                    counts["streams"] += 1
                    deltas: list[Event] = [TextDelta(piece) for piece in pieces]
                    events, is_right = ENDINGS[name] if name in ENDINGS else ([STOP], _unfinished(len(text)))
                    verdict, _ = play(make(), [*deltas, *events])
                    if isinstance(verdict, Whole):
                        counts["values"] += 1
                        faults.append(f"{where}, {name}: a value")
                    elif not is_right(verdict):
                        counts["wrong endings"] += 1
                        faults.append(f"{where}, {name}: {verdict!r}")
        return Result(counts=counts, faults=faults[:MOST_FAULTS])

    def summarise(self, results: Mapping[str, Result]) -> Sequence[Row]:
        counts = total(results)
        size = ", ".join(f"{counts[kind]:,} {kind}" for kind in KINDS)
        cuts = sum(counts[kind] for kind in KINDS)
        return [
            Row(
                promise="a stream cut inside a lexeme is no value",
                measured=f"{counts['values']} values and {counts['wrong endings']} wrong endings in "
                f"{counts['streams']:,} streams of {cuts:,} cuts ({size})",
                held=counts["values"] + counts["wrong endings"] == 0,
            ),
            Row(
                promise="no preview shows a cut lexeme",
                measured=f"{counts['wrong previews']} wrong in {cuts * len(CHUNKINGS):,} texts, each read to its end",
                held=counts["wrong previews"] == 0,
            ),
        ]


def _unfinished(position: int) -> Check:
    return lambda verdict: (
        isinstance(verdict, Violated) and (verdict.kind, verdict.position) == ("not_accepting", position)
    )


def _previews_are_right(pieces: Sequence[bytes], cut: InnerCut) -> bool:
    """Check the previews before and after the end; what was shown on the way only ever grows to these."""
    reader = PreviewReader()
    last = [reader.feed(piece) for piece in pieces][-1]
    return all(repr(preview.value) == repr(cut.shown) for preview in (last, reader.finish()))


INNER_CUTS = InnerCuts()

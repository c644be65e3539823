"""Cut documents at every byte, in three chunkings, and let the stream end there in every way there is.

Nothing may become a value but the whole text with the provider's word for it, and each ending must be the right one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import get_args

from automaton.oracle import Oracle
from proofs.documents import Document, document, is_json
from proofs.part import PROOFS, Result, Row, modules_of, total

from commitgate.automaton import Acceptor, compile
from commitgate.backends.base import (
    ConnectionLost,
    DeadEndReached,
    Event,
    Fault,
    FaultKind,
    Finish,
    FinishReason,
    RefusalDelta,
    TextDelta,
)
from commitgate.gate.gate import Gate
from commitgate.gate.states import State
from commitgate.gate.verdict import Verdict, Whole
from commitgate.outcome import DeadEnd, Disconnected, Filtered, Refused, Truncated, Unavailable, Unsupported, Violated

DOCUMENTS = 300
DOCUMENTS_A_UNIT = 5
CHUNKINGS = ("whole", "bytes", "random")
MOST_FAULTS = 20

Check = Callable[[Verdict], bool]

STOP = Finish(FinishReason.STOP, "stop")


def _is(wanted: type, /, **facts: object) -> Check:
    return lambda verdict: (
        type(verdict) is wanted and all(getattr(verdict, name) == found for name, found in facts.items())
    )


def _finish(reason: FinishReason, native: str) -> list[Event]:
    return [Finish(reason, native)]


ENDINGS: dict[str, tuple[list[Event], Check]] = {
    "bare end": ([], _is(Disconnected, kind="ended")),
    "length": (_finish(FinishReason.LENGTH, "length"), _is(Truncated, kind="max_tokens")),
    "context": (_finish(FinishReason.LENGTH, "context_window_exceeded"), _is(Truncated, kind="context")),
    "paused": (_finish(FinishReason.PAUSED, "pause"), _is(Truncated, kind="paused")),
    "malformed": (_finish(FinishReason.MALFORMED, "malformed"), _is(Violated, kind="server_malformed")),
    "line lost": ([ConnectionLost()], _is(Disconnected, kind="lost")),
    "filter": (_finish(FinishReason.CONTENT_FILTER, "content_filter"), _is(Filtered)),
    "refusing finish": (_finish(FinishReason.REFUSAL, "refusal"), _is(Refused)),
    "refusing words": ([RefusalDelta("I will not")], _is(Refused, text="I will not")),
    "refusing words and stop": ([RefusalDelta("No"), STOP], _is(Refused, text="No")),
    "cancelled": (_finish(FinishReason.CANCELLED, "cancelled"), _is(Disconnected, kind="aborted")),
    "unknown word": (_finish(FinishReason.UNKNOWN, "eos_maybe"), _is(Unavailable, kind="unknown_finish")),
    "dead end": ([DeadEndReached("tokenizer", 3, "a digit")], _is(DeadEnd, cause="tokenizer", prefix_tokens=3)),
    **{
        f"fault {kind}": (
            [Fault(kind, "scripted", status=500)],
            _is(Unsupported) if kind == "constraint" else _is(Unavailable, kind=kind, status=500),
        )
        for kind in get_args(FaultKind)
    },
}
"""Every way to end but the word stop, which alone may lead to a value."""


def gates_of(schema: object) -> Callable[[], Gate]:
    """Return what makes fresh gates of a schema; its automaton is compiled once."""
    automaton, plain = compile(schema), compile(True)

    def plain_acceptor() -> Acceptor:
        return plain.acceptor()

    return lambda: Gate(automaton.acceptor(), json_acceptor=plain_acceptor, text_bytes=1_000_000, key_bytes=16_384)


def chunks(text: bytes, chunking: str, seed: str) -> list[bytes]:
    """Cut a text as a chunking says."""
    if chunking == "whole":
        return [text] if text else []
    if chunking == "bytes":
        return [text[at : at + 1] for at in range(len(text))]
    draw, found, at = Random(seed), list[bytes](), 0
    while at < len(text):
        size = draw.choice((1, 2, 3, 5, 8, 13, 40))
        found.append(text[at : at + size])
        at += size
    return found


def play(gate: Gate, events: Iterable[Event]) -> tuple[Verdict, bytes]:
    """Feed events and the end; return the verdict and what passed."""
    shown = b""
    for event in events:
        if gate.state is State.ENDED:
            break
        shown += gate.feed(event)
    if gate.state is not State.ENDED:
        gate.close()
    assert gate.verdict is not None, "a closed gate has ruled"
    return gate.verdict, shown


def stopped(cut: bytes, *, is_whole: bool) -> Check:
    """Return what a stop after ``cut`` must lead to.

    A cut that is a whole value by itself (a number at the root, white space after the last brace) is one: the provider
    said that this is all, and no reader could know better.
    """
    return _is(Whole, text=cut) if is_whole else _is(Violated, kind="not_accepting", position=len(cut))


class Cuts:
    """Cut generated documents before a bare gate."""

    name = "cuts"

    def units(self, *, short: bool) -> Sequence[str]:
        last = 10 if short else DOCUMENTS
        return [f"{first}-{first + DOCUMENTS_A_UNIT}" for first in range(0, last, DOCUMENTS_A_UNIT)]

    def sources(self, unit: str) -> Iterable[Path]:
        return [*modules_of("automaton", "gate"), PROOFS / "cuts.py", PROOFS / "documents.py"]

    def run(self, unit: str) -> Result:
        first, end = map(int, unit.split("-"))
        counts = dict.fromkeys(("documents", "bytes", "cuts", "values from cut streams", "wrong endings"), 0)
        faults: list[str] = []
        for seed in range(first, end):
            found = document(seed)
            counts["documents"] += 1
            counts["bytes"] += len(found.text)
            _cut(found, counts, faults)
        return Result(counts=counts, faults=faults[:MOST_FAULTS])

    def summarise(self, results: Mapping[str, Result]) -> Sequence[Row]:
        counts = total(results)
        size = f"{counts['cuts']:,} cut streams of {counts['documents']:,} documents ({counts['bytes']:,} bytes)"
        return [
            Row(
                promise="a stream cut at any byte is no value",
                measured=f"{counts['values from cut streams']} values in {size}, {len(CHUNKINGS)} chunkings",
                held=counts["values from cut streams"] == 0,
            ),
            Row(
                promise="each has the right ending",
                measured=f"{counts['wrong endings']} wrong, {len(ENDINGS) + 1} ways to end at each byte",
                held=counts["wrong endings"] == 0,
            ),
        ]


def _cut(found: Document, counts: dict[str, int], faults: list[str]) -> None:
    make, oracle = gates_of(found.schema), Oracle(found.schema)
    for length in range(len(found.text) + 1):
        cut = found.text[:length]
        is_whole = length == len(found.text) or (is_json(cut) and oracle.is_valid(cut))
        for chunking in CHUNKINGS:
            pieces: list[Event] = [TextDelta(piece) for piece in chunks(cut, chunking, f"{found.name} {length}")]
            for name, (events, is_right) in ENDINGS.items():
                verdict, shown = play(make(), [*pieces, *events])
                counts["cuts"] += 1
                counts["values from cut streams"] += isinstance(verdict, Whole)
                if not is_right(verdict) or shown != cut:
                    counts["wrong endings"] += 1
                    faults.append(f"{found.name}, byte {length}, {chunking}, {name}: {verdict!r}")
            verdict, shown = play(make(), [*pieces, STOP])
            counts["cuts"] += not is_whole
            counts["values from cut streams"] += not is_whole and isinstance(verdict, Whole)
            if not stopped(cut, is_whole=is_whole)(verdict) or shown != cut:
                counts["wrong endings"] += 1
                faults.append(f"{found.name}, byte {length}, {chunking}, stop: {verdict!r}")


CUTS = Cuts()

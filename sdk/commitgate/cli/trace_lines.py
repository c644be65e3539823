"""Sum a trace up in a few lines for a terminal."""

from __future__ import annotations

from typing import Final

from commitgate.harmless import harmless
from commitgate.trace import Trace, TracePiece, is_illegal_wish

_SHOWN_WISHES: Final = 5
_SHOWN_CHARACTERS: Final = 60


def trace_lines(trace: Trace) -> list[str]:
    """Return what a person wants to know first, as plain harmless text."""
    pieces = [(number, piece) for request in trace.requests for number, piece in enumerate(request.pieces, 1)]
    steps = [(number, piece) for number, piece in pieces if piece.step is not None]
    lines = [*_wish_lines(steps), *_mass_line(pieces), _ending_line(trace)]
    if len(trace.requests) > 1:
        lines.insert(0, f"{len(trace.requests)} requests; steps are counted within each")
    if trace.is_cut:
        lines.append("the last pieces were left out: there were too many")
    return lines


def _wish_lines(steps: list[tuple[int, TracePiece]]) -> list[str]:
    if not steps:
        return ["this backend tells no steps: the page shows what arrived, and when"]
    wishes = [(number, piece) for number, piece in steps if piece.step is not None and is_illegal_wish(piece.step)]
    if not wishes:
        return [f"at each of {len(steps):,} steps the model's own first choice was allowed"]
    word = "step" if len(steps) == 1 else "steps"
    lines = [f"at {len(wishes):,} of {len(steps):,} {word} the model wanted something that the contract forbids"]
    # The strongest wishes, in the order of the text.
    strongest = sorted(wishes, key=lambda found: -_likeliest(found[1]))[:_SHOWN_WISHES]
    lines += [_wish_line(number, piece) for number, piece in sorted(strongest, key=lambda found: found[0])]
    if len(wishes) > len(strongest):
        lines.append(f"  and {len(wishes) - len(strongest):,} more")
    return lines


def _likeliest(piece: TracePiece) -> float:
    return max((choice.probability for choice in piece.step.choices), default=0.0) if piece.step is not None else 0.0


def _wish_line(number: int, piece: TracePiece) -> str:
    assert piece.step is not None, "only steps have wishes"
    best = max(piece.step.choices, key=lambda choice: choice.probability)
    wanted = "to end" if best.data is None else _quoted(best.data)
    wrote = "ended" if piece.step.kind == "stop" else f"wrote {_quoted(piece.data)}" if piece.data else "wrote nothing"
    return f"  step {number}: wanted {wanted} ({_percent(best.probability)}), {wrote}"


def _mass_line(pieces: list[tuple[int, TracePiece]]) -> list[str]:
    known = [(piece.legal_mass, number) for number, piece in pieces if piece.legal_mass is not None]
    if not known:
        return []
    least, number = min(known)
    mean = sum(mass for mass, _ in known) / len(known)
    return [f"lowest legal mass {_percent(least)} at step {number}; mean {_percent(mean)}"]


def _ending_line(trace: Trace) -> str:
    if trace.outcome is not None:
        return harmless(f"{trace.outcome}: {trace.summary}")
    return harmless(f"it raised {trace.error}") if trace.error is not None else "it has not ended"


def _quoted(data: bytes) -> str:
    text = data.decode(errors="backslashreplace")
    shown = text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"
    return harmless(f'"{shown}"')


def _percent(share: float) -> str:
    if 0 < share < 0.0001:
        return "< 0.01 %"
    return f"{share:.2%}".replace("%", " %") if share < 0.01 else f"{share:.1%}".replace("%", " %")


__all__ = ["trace_lines"]

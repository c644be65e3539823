"""Draw measured values as a small SVG that reads on light and on dark pages and is the same for the same values.

A plot has blocks, a block has lines, and a line is one engine's values over a common axis. The axis is logarithmic
where values lie far apart; else it starts at zero, and lines become bars.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

WIDTH = 760
_LABELS = 236
_RIGHT = 24
_TOP = 46
_LINE = 17
_BLOCK = 24
_AXIS = 30

# Most decades that bars from zero can show, as a factor: shorter ones could not be told from each other.
_FAR_APART = 30.0

# Readable on both grounds, and told apart by those who do not see all colours (after Okabe and Ito).
_COLOURS = ("#1f83d6", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#999999", "#b8a800")

_STYLE = """
 svg { background: #ffffff; font: 12px system-ui, sans-serif; }
 text { fill: #24292f; } .quiet { fill: #57606a; } .grid { stroke: #d0d7de; } .hole { fill: #ffffff; }
 @media (prefers-color-scheme: dark) {
  svg { background: #0d1117; } text { fill: #e6edf3; } .quiet { fill: #9198a1; } .grid { stroke: #30363d; }
  .hole { fill: #0d1117; }
 }
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """Hold one engine's values, by name in the order in which they are marked."""

    who: str
    values: dict[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Hold lines that are to be compared, under a heading that may be empty."""

    heading: str
    lines: Sequence[Line]


@dataclass(frozen=True, slots=True)
class _Axis:
    """Place values between the labels and the right edge."""

    low: float
    high: float
    is_logarithmic: bool

    def x(self, value: float) -> float:
        span = WIDTH - _LABELS - _RIGHT
        if not self.is_logarithmic:
            return _LABELS + span * value / self.high
        part = math.log10(max(value, self.low) / self.low) / math.log10(self.high / self.low)
        return _LABELS + span * part

    def ticks(self) -> list[float]:
        if self.is_logarithmic:
            decades = range(round(math.log10(self.low)), round(math.log10(self.high)) + 1)
            return [10.0**decade for decade in decades]
        return [self.high * part / 4 for part in range(5)]


def plot(title: str, unit: str, blocks: Sequence[Block]) -> str:
    """Return the SVG of some blocks; its text ends with a line break.

    Args:
        title: what is shown.
        unit: of all values.
        blocks: at least one value in all of them; values are above zero, others are left out.
    """
    names = list(dict.fromkeys(name for block in blocks for line in block.lines for name in line.values))
    axis = _axis_of(
        [value for block in blocks for line in block.lines for value in line.values.values()], is_single=len(names) == 1
    )
    engines = list(dict.fromkeys(line.who for block in blocks for line in block.lines))
    colours = {who: _COLOURS[number % len(_COLOURS)] for number, who in enumerate(engines)}
    height = _TOP + sum(_BLOCK * bool(block.heading) + _LINE * len(block.lines) for block in blocks) + _AXIS
    inner = [
        f'<text x="12" y="18" font-weight="bold">{escape(title)}</text>',
        f'<text x="12" y="35" class="quiet">{escape(_legend(names, unit, axis))}</text>',
        *_grid(axis, height),
        *_body(blocks, axis, colours, names),
    ]
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{WIDTH}" height="{height}" '
        f'viewBox="0 0 {WIDTH} {height}">'
    )
    return "\n".join([head, f"<title>{escape(title)}</title>", f"<style>{_STYLE}</style>", *inner, "</svg>", ""])


def _axis_of(values: Sequence[float], *, is_single: bool) -> _Axis:
    shown = [value for value in values if value > 0]
    if not shown:
        raise ValueError("there is nothing to draw")
    if is_single or max(shown) <= _FAR_APART * min(shown):
        return _Axis(0.0, _round_up(max(shown)), False)
    low, high = math.floor(math.log10(min(shown))), math.ceil(math.log10(max(shown)))
    return _Axis(10.0**low, 10.0 ** max(high, low + 1), True)


def _round_up(value: float) -> float:
    """Return a number at or above a value whose quarters are short to write."""
    unit = 10.0 ** math.floor(math.log10(value))
    return next(unit * part for part in (1, 1.2, 1.6, 2, 2.4, 3.2, 4, 6, 8, 10, 12) if unit * part >= value * 0.9999)


def _legend(names: Sequence[str], unit: str, axis: _Axis) -> str:
    marks = "●" + "|" * (len(names) - 2) + "○" * (len(names) > 1)
    told = ", ".join(f"{mark} {name}" for mark, name in zip(marks, names, strict=True))
    return f"{told}; {unit}, {'logarithmic' if axis.is_logarithmic else 'from zero'}"


def _grid(axis: _Axis, height: int) -> Iterator[str]:
    bottom = height - _AXIS + 6
    ticks = axis.ticks()
    for tick in ticks:
        x = axis.x(tick)
        anchor = "end" if tick == ticks[-1] else "middle"
        yield f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP - 4}" y2="{bottom}"/>'
        yield (
            f'<text class="quiet" x="{x:.1f}" y="{bottom + 15}" text-anchor="{anchor}">{escape(_short(tick))}</text>'
        )


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.4g}"


def _body(blocks: Sequence[Block], axis: _Axis, colours: dict[str, str], names: Sequence[str]) -> Iterator[str]:
    y = _TOP
    for block in blocks:
        if block.heading:
            y += _BLOCK
            yield f'<text x="12" y="{y - 6}" font-style="italic">{escape(block.heading)}</text>'
        for line in block.lines:
            y += _LINE
            yield f'<text x="{_LABELS - 10}" y="{y - 4}" text-anchor="end">{escape(line.who)}</text>'
            yield from _marks(line, axis, colours[line.who], y - 8, names)


def _marks(line: Line, axis: _Axis, colour: str, y: int, names: Sequence[str]) -> Iterator[str]:
    """Draw a line's values: a stroke over all, and a mark for each."""
    shown = {name: axis.x(value) for name, value in line.values.items() if value > 0}
    if not shown:
        return
    left = min(shown.values()) if axis.is_logarithmic else axis.x(0)
    right = max(shown.values())
    yield f'<line x1="{left:.1f}" x2="{right:.1f}" y1="{y}" y2="{y}" stroke="{colour}" stroke-width="3"/>'
    for name, x in shown.items():
        if name == names[0]:
            yield f'<circle cx="{x:.1f}" cy="{y}" r="4.5" fill="{colour}"/>'
        elif name == names[-1]:
            yield f'<circle class="hole" cx="{x:.1f}" cy="{y}" r="4" stroke="{colour}" stroke-width="2"/>'
        else:
            yield f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{y - 5}" y2="{y + 5}" stroke="{colour}" stroke-width="2.5"/>'


__all__ = ["WIDTH", "Block", "Line", "plot"]

"""Write what the commands found: bounded, and so that nothing in it steers the terminal."""

from __future__ import annotations

from collections.abc import Iterable

from rich.text import Text

from commitgate.cli.console import ResultConsole
from commitgate.cli.drawing import draw_value
from commitgate.gate.strict_parse import PARSER_NESTING, Parsed, strict_parse
from commitgate.harmless import harmless

_MOST_LINES = 200
"""Most lines of one payload that are shown."""

_MOST_CHARACTERS = 2_000
"""Most characters of one line that are shown."""

_MOST_DRAWN_BYTES = 262_144
"""Largest payload that is drawn as JSON; of a larger one the beginning is shown as it is stored."""

CUT_MARK = "…"


def write_lines(lines: Iterable[Text | str]) -> None:
    """Write lines to stdout; a string is written plain."""
    console = ResultConsole()
    for line in lines:
        console.print(Text(line) if isinstance(line, str) else line)


def clipped(text: str, most: int = _MOST_CHARACTERS) -> str:
    """Return the beginning of a text from anywhere, with a mark where it goes on; every character is harmless."""
    shown = harmless(text[: most + 1])
    return shown if len(text) <= most and len(shown) <= most else shown[:most] + CUT_MARK


def payload_lines(payload: bytes) -> tuple[list[Text], bool]:
    """Return the lines of a stored payload, and whether they are all of it.

    Args:
        payload: JSON; shown as it is where it is none.
    """
    if len(payload) > _MOST_DRAWN_BYTES:
        return [Text(clipped(payload[: 4 * _MOST_CHARACTERS].decode(errors="backslashreplace")))], False
    parsed = strict_parse(payload, nesting=PARSER_NESTING)
    if isinstance(parsed, Parsed):
        lines = draw_value(parsed.value, {""})
    else:
        lines = [Text(payload.decode(errors="backslashreplace"))]
    is_whole = len(lines) <= _MOST_LINES and all(len(line) <= _MOST_CHARACTERS for line in lines)
    shown = [_cut(line) for line in lines[:_MOST_LINES]]
    return shown, is_whole


def _cut(line: Text) -> Text:
    # The lines of a value are harmless already, and harmless text stays as it is.
    if len(line) <= _MOST_CHARACTERS and line.plain.isprintable():
        return line
    return Text(clipped(line.plain))


__all__ = ["clipped", "payload_lines", "write_lines"]

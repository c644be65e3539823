"""Read the blocks and commands out of every page: the README, what lies beside it, and all of ``docs``."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
_FENCED = re.compile(r"^ {0,3}```(?P<language>[\w+-]*)[^\n]*\n(?P<text>.*?)^ {0,3}```$", re.MULTILINE | re.DOTALL)
_INDENTED = re.compile(r"(?:^|\n)\n((?: {4}[^\n]*(?:\n|$))+)")
_INLINE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_PROGRAM = re.compile(r"^(?:[A-Z_]+=\S+ )*(?:\.venv/bin/|python -m )?commitgate ")


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block.

    Attributes:
        page: the page it stands in, below the root of the repository.
        number: counts the blocks of the page, from 0.
        language: the word behind its fence.
        text: what stands in it.
    """

    page: str
    number: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}#{self.number}"


def read_blocks() -> list[Block]:
    """Return every fenced block of every page."""
    return [
        Block(_name(path), number, found["language"], found["text"])
        for path in PAGES
        for number, found in enumerate(_FENCED.finditer(path.read_text(encoding="utf-8")))
    ]


def read_commands() -> list[tuple[str, str]]:
    """Return every line of a shell that calls the program, with the page it stands in."""
    return [(_name(path), line) for path in PAGES for line in _shell_lines(path) if _PROGRAM.match(line)]


def read_mentions() -> list[tuple[str, str]]:
    """Return every command that a page names within its text, with the page."""
    return [
        (_name(path), words)
        for path in PAGES
        for words in _INLINE.findall(_without_blocks(path))
        if _PROGRAM.match(f"{words} ") and words != "commitgate"
    ]


def words_of(line: str) -> list[str]:
    """Return the arguments that a line of a shell gives to the program."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;<>")
    lexer.whitespace_split = True
    words = list(lexer)
    start = next(number for number, word in enumerate(words) if word.rpartition("/")[2] == "commitgate")
    ends = [number for number, word in enumerate(words) if set(word) <= set("|&;<>") and word]
    return words[start + 1 : min([each for each in ends if each > start], default=len(words))]


def _shell_lines(path: Path) -> Iterator[str]:
    """Yield the lines of what a page shows of a shell; what goes on in the next line is one."""
    text = path.read_text(encoding="utf-8")
    shown = [found["text"] for found in _FENCED.finditer(text) if found["language"] in ("sh", "bash", "console")]
    shown += [re.sub(r"^ {4}", "", block, flags=re.MULTILINE) for block in _INDENTED.findall(_FENCED.sub("", text))]
    for block in shown:
        yield from (line.strip() for line in block.replace("\\\n", " ").splitlines())


def _without_blocks(path: Path) -> str:
    return _FENCED.sub("", path.read_text(encoding="utf-8"))


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


__all__ = ["PAGES", "ROOT", "Block", "read_blocks", "read_commands", "read_mentions", "words_of"]

"""Keep account of how far each keyword at each place of a schema is enforced."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from commitgate.automaton.json_schema.keywords import Level


@dataclass(frozen=True, slots=True)
class SupportRow:
    """Say how far one keyword at one place is enforced.

    Attributes:
        keyword: the keyword.
        pointer: JSON pointer of the schema that holds it; ``uri#pointer`` where that lies in another document.
        level: ``decoded`` (by the automaton), ``checked`` (by the schema layer after generation) or ``annotation``
            (it constrains nothing: an unknown format, formats that were asked for as annotations, a word that is no
            keyword of the draft). A keyword that nothing can enforce raises and has no row.
        reason: why it is not decoded; empty where it is.
    """

    keyword: str
    pointer: str
    level: Level
    reason: str = ""


class SupportTable:
    """Hold one row for each constraining keyword at each place."""

    def __init__(self) -> None:
        self._rows: dict[tuple[str, str], SupportRow | None] = {}  # None where decoded, as most are
        self._ignored: dict[tuple[str, str], SupportRow] = {}
        self._marked: set[str] = set()

    @property
    def rows(self) -> tuple[SupportRow, ...]:
        """Return all rows, in the order in which the schema was read; those of words that are ignored come last."""
        rows = (row or SupportRow(*key, "decoded") for key, row in self._rows.items())
        return (*rows, *self._ignored.values())

    def add(self, keywords: Iterable[str], place: str) -> None:
        """Note keywords at a place, decoded until something else is found."""
        for keyword in keywords:
            self._rows[keyword, place] = None

    def ignore(self, word: str, place: str, reason: str) -> None:
        """Note a word at a place that constrains nothing, though it looks like a keyword."""
        self._ignored[word, place] = SupportRow(word, place, "annotation", reason)

    def has(self, *keywords: str) -> bool:
        """Return whether one of the keywords stands somewhere."""
        return any(keyword in keywords for keyword, _ in self._rows)

    def has_at(self, keyword: str, place: str) -> bool:
        """Return whether a keyword stands at a place."""
        return (keyword, place) in self._rows

    def mark(self, keyword: str, place: str, reason: str, level: Level = "checked") -> None:
        """Record that a keyword at a place is not decoded, but checked after generation, or only an annotation."""
        if self._rows.get((keyword, place)) is None:
            self._rows[keyword, place] = SupportRow(keyword, place, level, reason)

    def mark_keyword(self, keyword: str, reason: str) -> None:
        """Record that a keyword is not decoded, wherever it stands."""
        for name, place in list(self._rows):
            if name == keyword:
                self.mark(keyword, place, reason)

    def mark_below(self, place: str, reason: str) -> None:
        """Record that nothing at a place, nor below it, is sure to be decoded."""
        if place in self._marked:
            return
        self._marked.add(place)
        start = place + "/"
        for keyword, pointer in list(self._rows):
            if pointer == place or pointer.startswith(start):
                self.mark(keyword, pointer, reason)


__all__ = ["SupportRow", "SupportTable"]

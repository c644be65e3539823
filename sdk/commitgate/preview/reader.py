"""Read a growing JSON text for display: strict to the byte, in chunks cut anywhere, in time linear in the text.

The lexer judges every byte and hands on whole tokens; ijson turns those into events; the builder appends them to a tree
that all previews share. The text of an open string goes past ijson, straight into the tree. Where the text is cut never
matters: a preview depends on the bytes so far and on nothing else. Nothing is completed, repaired or filled in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from commitgate.errors import MisuseError
from commitgate.json_value import JsonObject, JsonSchema
from commitgate.preview.atomic import Places
from commitgate.preview.builder import TreeBuilder
from commitgate.preview.characters import decode_units
from commitgate.preview.events import EventSource
from commitgate.preview.lexer import Lexer
from commitgate.preview.preview import Preview
from commitgate.preview.state import ReaderState


class HasSchema(Protocol):
    """Stand for a contract: all that a reader wants of it is its JSON Schema, and what that refers to."""

    @property
    def schema(self) -> JsonSchema:
        """Return the JSON Schema."""
        ...

    @property
    def documents(self) -> Mapping[str, JsonSchema]:
        """Return further schemas by absolute URI, which references may name."""
        ...


class PreviewReader:
    """Read one text, and show it while it grows.

    Args:
        contract_or_schema: tells which strings are one of a fixed set (enum, const, discriminator): these are held
            until they are closed. It judges nothing. None holds no string.
        max_depth: most containers inside each other, at least 1.
        atomic_paths: more strings to hold: keys joined by ``/``, ``*`` for any item of an array.

    Raises:
        MisuseError: ``max_depth`` is less than 1.
    """

    __slots__ = ("_builder", "_clock", "_events", "_is_finished", "_lexer")

    def __init__(
        self,
        contract_or_schema: HasSchema | JsonObject | bool | None = None,
        *,
        max_depth: int = 64,
        atomic_paths: Iterable[str] = (),
    ) -> None:
        if max_depth < 1:
            raise MisuseError(f"max_depth must be at least 1, found {max_depth}")
        schema, documents = contract_or_schema, None
        if schema is not None and not isinstance(schema, bool | dict):
            schema, documents = schema.schema, schema.documents
        self._lexer = Lexer(max_depth)
        self._events = EventSource()
        self._builder = TreeBuilder(Places.of(schema, atomic_paths, documents))
        self._clock = 0
        self._is_finished = False

    @property
    def state(self) -> ReaderState:
        """Return where the text stands."""
        state = self._lexer.state
        return ReaderState.INCOMPLETE if self._is_finished and state is ReaderState.OPEN else state

    @property
    def position(self) -> int:
        """Return how many bytes were passed; where the text is invalid, the offset of the first impossible byte."""
        return self._lexer.position

    def feed(self, data: bytes) -> Preview:
        """Take in more of the text and return what can be shown. Nothing is read once the text is invalid.

        Args:
            data: any number of bytes, cut anywhere.

        Raises:
            MisuseError: the text was finished.
        """
        if self._is_finished:
            raise MisuseError("the text is finished: make a new PreviewReader for another one")
        if data and not self._lexer.state.is_invalid:
            self._advance(data)
        return self._preview()

    def finish(self) -> Preview:
        """Take in the end of the text: what is open becomes incomplete. May be called again."""
        if not self._is_finished:
            self._is_finished = True
            self._clock += 1
            number = self._lexer.finish()
            if number:
                self._builder.apply(self._events.feed(number), self._clock)
        return self._preview()

    def _advance(self, data: bytes) -> None:
        self._clock += 1
        scan = self._lexer.feed(data)
        self._builder.extend_text(decode_units(scan.closing), self._clock)
        if scan.tokens:
            duplicate = self._builder.apply(self._events.feed(scan.tokens), self._clock)
            if duplicate is not None:
                # Its closing quote comes before anything that the lexer may have refused.
                self._lexer.fail(ReaderState.INVALID_DUPLICATE_KEY, scan.key_ends[duplicate])
                return
        if scan.opening is not None and self._builder.open_text(decode_units(scan.opening), self._clock):
            self._lexer.stream()

    def _preview(self) -> Preview:
        return Preview(
            state=self.state, text_bytes=self.position, _document=self._builder.document, _moment=self._clock
        )


__all__ = ["HasSchema", "PreviewReader"]

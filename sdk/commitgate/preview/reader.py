"""Read a growing JSON text for display: strict to the byte, in chunks cut anywhere, in time linear in the text.

The lexer judges every byte and says how far the whole tokens go, and the characters of a string that is open. That is
all that is done while a text is fed. When a preview is read, ijson turns the whole tokens into events and the builder
turns these into values; the text of an open string goes past ijson. Where the text is cut never matters: a preview
depends on the bytes so far and on nothing else. Nothing is completed, repaired or filled in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from commitgate.argument import wrong_kind
from commitgate.backends.text_join import TextJoiner
from commitgate.errors import MisuseError
from commitgate.json_value import JsonObject, JsonSchema
from commitgate.preview.atomic import Places
from commitgate.preview.document import Document, Moment
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

    __slots__ = ("_document", "_is_finished", "_is_root_held", "_joiner", "_lexer")

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
        self._joiner = TextJoiner()
        places = Places.of(schema, atomic_paths, documents)
        self._document = Document(self._lexer.text, places)
        self._is_root_held = places is not None and places.is_atomic
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

    def feed(self, data: bytes | str) -> Preview:
        """Take in more of the text and return what can be shown. Nothing is read once the text is invalid.

        Args:
            data: any number of bytes, cut anywhere, or of characters. Text may end between the halves of a surrogate
                pair; the next text joins them.

        Raises:
            MisuseError: the text was finished, or ``data`` is neither bytes nor text.
        """
        if self._is_finished:
            raise MisuseError("the text is finished: make a new PreviewReader for another one")
        if isinstance(data, str):
            data = self._joiner.feed(data)
        elif not isinstance(data, bytes | bytearray | memoryview):  # pyright: ignore[reportUnnecessaryIsInstance] - callers may not check types
            raise wrong_kind("data", "bytes or str", data)
        if data and self._lexer.fault is None:
            self._lexer.feed(data)
        return self._preview()

    def finish(self) -> Preview:
        """Take in the end of the text: what is open becomes incomplete. May be called again."""
        if not self._is_finished:
            self._is_finished = True
            self._lexer.finish()
        return self._preview()

    def _preview(self) -> Preview:
        lexer, open_text = self._lexer, self._lexer.open_text
        is_held = self._is_root_held and not lexer.is_nested and open_text is not None
        moment = Moment(self._document, lexer.tokens_to, open_text, has_value=lexer.has_root and not is_held)
        return Preview(state=self.state, text_bytes=lexer.position, moment=moment)


__all__ = ["HasSchema", "PreviewReader"]

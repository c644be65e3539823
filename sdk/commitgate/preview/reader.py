"""Read a growing text for display: strict to the byte, in chunks cut anywhere, in time linear in the text.

Of JSON the lexer judges every byte and says how far the whole tokens go, and the characters of a string that is open.
That is all that is done while a text is fed. When a preview is read, ijson turns the whole tokens into events and the
builder turns these into values; the text of an open string goes past ijson. A text that is no JSON is shown as the
characters that have come. Where the text is cut never matters: a preview depends on the bytes so far and on nothing
else. Nothing is completed, repaired or filled in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from commitgate.argument import wrong_kind
from commitgate.backends.text_join import TextJoiner
from commitgate.errors import MisuseError
from commitgate.json_value import JsonObject, JsonSchema
from commitgate.languages import AnyJson, Choices, Language, TextSource
from commitgate.preview.atomic import Places
from commitgate.preview.json_growth import JsonGrowth
from commitgate.preview.preview import Preview
from commitgate.preview.state import ReaderState
from commitgate.preview.text_growth import TextGrowth


class HasSchema(Protocol):
    """Stand for a contract: all that a reader wants of it is its JSON Schema, and what that refers to.

    Its ``text``, where it has one that is not None, says that the answer is no JSON, as ``Contract.text`` does.
    """

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
            until they are closed; and whether the answer is JSON at all. Of a pattern, grammar or machine, or a
            contract of one, the text so far is shown as a ``str``; one of several choices is held until its end. It
            judges nothing. None holds no string.
        max_depth: most containers inside each other, at least 1.
        atomic_paths: more strings to hold: keys joined by ``/``, ``*`` for any item of an array, empty for the root.

    Raises:
        MisuseError: ``max_depth`` is less than 1.
    """

    __slots__ = ("_growth", "_is_finished", "_joiner")

    def __init__(
        self,
        contract_or_schema: HasSchema | TextSource | AnyJson | JsonObject | bool | None = None,
        *,
        max_depth: int = 64,
        atomic_paths: Iterable[str] = (),
    ) -> None:
        if max_depth < 1:
            raise MisuseError(f"max_depth must be at least 1, found {max_depth}")
        self._growth = _growth(contract_or_schema, max_depth, atomic_paths)
        self._joiner = TextJoiner()
        self._is_finished = False

    @property
    def state(self) -> ReaderState:
        """Return where the text stands."""
        state = self._growth.state
        return ReaderState.INCOMPLETE if self._is_finished and state is ReaderState.OPEN else state

    @property
    def position(self) -> int:
        """Return how many bytes were passed; where the text is invalid, the offset of the first impossible byte."""
        return self._growth.position

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
        if data:
            self._growth.feed(data)
        return self._preview()

    def finish(self) -> Preview:
        """Take in the end of the text: what is open becomes incomplete. May be called again."""
        if not self._is_finished:
            self._is_finished = True
            self._growth.finish()
        return self._preview()

    def _preview(self) -> Preview:
        growth = self._growth
        return Preview(state=self.state, text_bytes=growth.position, moment=growth.moment())


def _growth(
    given: HasSchema | TextSource | AnyJson | JsonObject | bool | None, max_depth: int, atomic_paths: Iterable[str]
) -> JsonGrowth | TextGrowth:
    schema: JsonSchema | None = None
    documents: Mapping[str, JsonSchema] | None = None
    text: object = None
    match given:
        case None | bool() | dict():
            schema = given
        case AnyJson():
            pass
        case Language():
            text = given
        case _:
            schema, documents, text = given.schema, given.documents, getattr(given, "text", None)
    if text is None:
        return JsonGrowth(Places.of(schema, atomic_paths, documents), max_depth)
    return TextGrowth(is_held=isinstance(text, Choices) or "" in atomic_paths)


__all__ = ["HasSchema", "PreviewReader"]

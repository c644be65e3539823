"""Put the engines that show growing JSON behind one face, each in the way that its own library uses it.

A peer that is not installed is left out. Each engine gets the text in chunks and, after each chunk, gives what its user
would see then.
"""

from __future__ import annotations

import codecs
import importlib
import importlib.metadata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pydantic
from typing_extensions import TypedDict

from commitgate.preview import PreviewReader

Step = Callable[[bytes], Any]
"""Takes a chunk and gives what is to be seen. Whatever it raises tells its user that the text is refused."""

NOTHING = object()
"""What a step gives while there is nothing to see."""


class Row(pydantic.BaseModel):
    """One record of the stream of rows."""

    id: int
    name: str
    ok: bool
    price: float
    tags: list[str]


class Rows(pydantic.BaseModel):
    """The stream of rows."""

    rows: list[Row]


class Text(pydantic.BaseModel):
    """The stream of one string."""

    text: str


class Anything(pydantic.BaseModel, extra="allow"):
    """An object of which nothing is known."""


class Kind(pydantic.BaseModel, extra="allow"):
    """The union's tag in the case that has one."""

    kind: str


class Unit(pydantic.BaseModel):
    """The member with a default."""

    note: str
    unit: str = "EUR"


class RowDict(TypedDict):
    """One record, as a dictionary: what pydantic validates in part."""

    id: int
    name: str
    ok: bool
    price: float
    tags: list[str]


class RowsDict(TypedDict):
    """The stream of rows."""

    rows: list[RowDict]


class TextDict(TypedDict):
    """The stream of one string."""

    text: str


@pydantic.with_config(pydantic.ConfigDict(extra="allow"))
class AnythingDict(TypedDict):
    """An object of which nothing is known; a dictionary type has no defaults either."""


MODELS: dict[str, tuple[type[pydantic.BaseModel], Any]] = {
    "rows": (Rows, RowsDict),
    "one string": (Text, TextDict),
    "tag of a union": (Kind, AnythingDict),
    "default of a member that has not come": (Unit, AnythingDict),
}
"""Types by the name of a stream or case: a model, and a dictionary type. The others are objects of any members."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """Stand for one engine.

    Attributes:
        name: as printed.
        package: what has to be installed; None for the project itself.
        start: makes the engine ready for one text of a named type; takes a case's options too, where there is a case.
        takes_objects_alone: the library's results are objects, other roots are none of its business.
    """

    name: str
    package: str | None
    start: Callable[[str, Mapping[str, Any]], Step]
    takes_objects_alone: bool = False

    @property
    def version(self) -> str | None:
        """Return the version that is installed, or None."""
        try:
            return importlib.metadata.version(self.package or "commitgate")
        except importlib.metadata.PackageNotFoundError:
            return None


def start_feeding(_: str, __: Mapping[str, Any]) -> Step:
    """Feed the reader; read no value."""
    return PreviewReader().feed


def start_reading(_: str, case: Mapping[str, Any]) -> Step:
    """Feed the reader and read the value after each chunk."""
    reader = PreviewReader(case.get("schema"), max_depth=case.get("max_depth", 64))

    def step(chunk: bytes) -> Any:
        preview = reader.feed(chunk)
        if preview.state.is_invalid:
            raise ValueError(preview.state)
        return preview.value if preview.has_value else NOTHING

    return step


def start_jiter(_: str, __: Mapping[str, Any]) -> Step:
    """Parse the whole buffer with each chunk: the package's own way to parse in part."""
    jiter = importlib.import_module("jiter")
    buffer = bytearray()

    def step(chunk: bytes) -> Any:
        buffer.extend(chunk)
        return jiter.from_json(bytes(buffer), partial_mode="trailing-strings")

    return step


def start_partial_json_parser(_: str, __: Mapping[str, Any]) -> Step:
    """Complete and parse the whole buffer with each chunk."""
    loads = importlib.import_module("partial_json_parser").loads
    decode, text = codecs.getincrementaldecoder("utf-8")().decode, ""

    def step(chunk: bytes) -> Any:
        nonlocal text
        text += decode(chunk)
        return loads(text)

    return step


def start_instructor(name: str, _: Mapping[str, Any]) -> Step:
    """Drive the generator behind ``create_partial``: it strips control characters, parses, and builds a model."""
    partial = importlib.import_module("instructor.dsl.partial").Partial
    model = MODELS.get(name, (Anything, None))[0]
    decode = codecs.getincrementaldecoder("utf-8")().decode
    waiting: list[str] = []

    def chunks() -> Iterator[str]:
        while True:
            yield waiting.pop()

    objects = partial[model].model_from_chunks(chunks())

    def step(chunk: bytes) -> Any:
        waiting.append(decode(chunk))
        return next(objects)

    return step


def start_pydantic_ai(name: str, _: Mapping[str, Any]) -> Step:
    """Validate the whole buffer in part with each chunk; where that fails, the last result stays in sight."""
    processor_type = importlib.import_module("pydantic_ai._output").ObjectOutputProcessor
    processor = processor_type(MODELS.get(name, (None, AnythingDict))[1])
    decode, text, last = codecs.getincrementaldecoder("utf-8")().decode, "", NOTHING

    def step(chunk: bytes) -> Any:
        nonlocal text, last
        text += decode(chunk)
        try:
            last = processor.validate(text, allow_partial=True)
        except pydantic.ValidationError:
            return last
        return last

    return step


ENGINES = [
    Engine(name="commitgate, feed", package=None, start=start_feeding),
    Engine(name="commitgate, feed and read", package=None, start=start_reading),
    Engine(name="jiter", package="jiter", start=start_jiter),
    Engine(name="partial-json-parser", package="partial-json-parser", start=start_partial_json_parser),
    Engine(name="instructor", package="instructor", start=start_instructor, takes_objects_alone=True),
    Engine(name="pydantic-ai", package="pydantic-ai-slim", start=start_pydantic_ai, takes_objects_alone=True),
]

__all__ = ["ENGINES", "NOTHING", "Engine", "Step"]

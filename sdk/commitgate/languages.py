"""Name what an answer may be that is no JSON Schema: a pattern, a grammar, one of several texts, a machine's walk.

These are plain descriptions; give them wherever a schema is taken. What is wrong with their content is found when a
contract is made of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, Literal, TypeAlias, assert_never, cast, get_args

from typing_extensions import TypeVar

from commitgate.argument import check_choice, check_kind, wrong_kind
from commitgate.errors import MisuseError
from commitgate.json_value import JsonObject, JsonValue
from commitgate.same_json import same_json

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from commitgate.contract import Contract

K = TypeVar("K")
V_co = TypeVar("V_co", covariant=True, default=object)

Syntax: TypeAlias = Literal["gbnf", "lark"]
JsonRoot: TypeAlias = Literal["any", "object"]

MOST_ANY_NESTING = 200
"""Deepest nesting that ``AnyJson`` may allow: no JSON that nests deeper is ever parsed."""


class Language(Generic[V_co]):
    """Be the base of what an answer may be that is no schema and no type; the parameter is the type of its value."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Regex(Language[str]):
    """Ask for a text that a regular expression matches from its first character to its last.

    Args:
        pattern: the expression (docs/text-contracts.md says which notation).
        flags: letters out of ``i`` (either case), ``m`` (``^`` and ``$`` at lines) and ``s`` (the dot takes line ends).
    """

    pattern: str = field(repr=False)
    flags: str = ""

    def __post_init__(self) -> None:
        check_kind("pattern", self.pattern, str, "a str")
        check_kind("flags", self.flags, str, "a str")


@dataclass(frozen=True, slots=True)
class Grammar(Language[str]):
    """Ask for a text of a context-free grammar.

    Args:
        text: the grammar.
        syntax: its notation: ``gbnf`` as llama.cpp reads it, or ``lark``.
        start: the rule that a whole text is made of; None takes ``root`` of GBNF, ``start`` of Lark.
    """

    text: str = field(repr=False)
    syntax: Syntax = "gbnf"
    start: str | None = None

    def __post_init__(self) -> None:
        check_kind("text", self.text, str, "a str")
        check_choice("syntax", self.syntax, get_args(Syntax))
        if self.start is not None:
            check_kind("start", self.start, str, "a str or None")


def _all_of(name: str, given: object, kind: type[K], wanted: str, each: str) -> tuple[K, ...]:
    """Return the items of an argument, all of one kind; read once, since it may be an iterator.

    Raises:
        MisuseError: it is no collection of items, or one of them is of another kind.
    """
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise wrong_kind(name, wanted, given)
    found = tuple(cast("Iterable[K]", given))
    for index, item in enumerate(found):
        check_kind(f"{name}[{index}]", item, kind, each)
    return found


@dataclass(frozen=True, slots=True, init=False)
class Choices(Language[str]):
    """Ask for one of several texts, word for word.

    Args:
        texts: the texts, at least one; one that stands twice counts once.
    """

    texts: tuple[str, ...] = field(repr=False)

    def __init__(self, texts: Iterable[str]) -> None:
        object.__setattr__(self, "texts", _all_of("texts", texts, str, "a list of str", "a str"))


@dataclass(frozen=True, slots=True)
class Edge:
    """Lead from one state of a machine to another by a text. Two are equal where they lead there by the same.

    Args:
        source: the state before the text.
        on: the text: a str stands for itself; else whatever a contract can be made of, such as ``Regex("[0-9]+")`` or
            a JSON Schema, or a contract that is all language: no checks, style or refusal, no keyword that is only
            checked.
        target: the state behind it.
    """

    source: str
    on: EdgeText = field(repr=False, hash=False)  # a schema is a dict, which has no hash and may change
    target: str

    def __post_init__(self) -> None:
        check_kind("source", self.source, str, "a str")
        check_kind("target", self.target, str, "a str")

    def __eq__(self, other: object) -> bool:
        """Say whether the other is an edge between the same states by the same text."""
        if not isinstance(other, Edge):
            return NotImplemented
        return (self.source, self.target) == (other.source, other.target) and same_json(self.on, other.on)


@dataclass(frozen=True, slots=True, init=False)
class Machine(Language[str]):
    """Ask for a text that leads a state machine from its start to an accepting state.

    Args:
        start: the state before the first byte.
        accepting: the states in which the text may end, at least one.
        edges: the ways between states. From one state several may begin alike.
    """

    start: str
    accepting: tuple[str, ...]
    edges: tuple[Edge, ...] = field(repr=False)

    def __init__(self, *, start: str, accepting: Sequence[str], edges: Iterable[Edge]) -> None:
        check_kind("start", start, str, "a str")
        names = _all_of("accepting", accepting, str, "a list of names of states", "a str")
        ways = _all_of("edges", edges, Edge, "a list of Edge", "an Edge")
        object.__setattr__(self, "start", start)
        object.__setattr__(self, "accepting", names)
        object.__setattr__(self, "edges", ways)


@dataclass(frozen=True, slots=True)
class AnyJson(Language[JsonValue]):
    """Ask for any JSON at all: what servers call JSON mode.

    Args:
        nesting: deepest nesting of arrays and objects, 1 to 200. Where a contract is given ``Limits`` too, the smaller
            of both bounds holds.
        root: ``object`` for objects alone, as most servers mean it.
    """

    nesting: int = 16
    root: JsonRoot = "any"

    def __post_init__(self) -> None:
        given = cast("object", self.nesting)
        if type(given) is not int or not 1 <= given <= MOST_ANY_NESTING:
            found = given if isinstance(given, int | float) else type(given).__name__
            raise MisuseError(f"nesting must be an int from 1 to {MOST_ANY_NESTING}, found {found}")
        check_choice("root", self.root, get_args(JsonRoot))


TextSource: TypeAlias = Regex | Grammar | Choices | Machine
"""What makes a contract whose value is text."""

TextKind: TypeAlias = Literal["regex", "grammar", "choices", "machine"]


def kind_of_text(source: TextSource) -> TextKind:
    """Return the word by which errors, support rows and receipts name what a text is made from."""
    match source:
        case Regex():
            return "regex"
        case Grammar():
            return "grammar"
        case Choices():
            return "choices"
        case Machine():
            return "machine"
        case _:
            assert_never(source)


EdgeText: TypeAlias = (
    "str | TextSource | AnyJson | Contract[object] | type[object] | TypeAdapter[object] | JsonObject | bool"
)
"""What may stand on an edge of a machine."""


__all__ = [
    "MOST_ANY_NESTING",
    "AnyJson",
    "Choices",
    "Edge",
    "EdgeText",
    "Grammar",
    "JsonRoot",
    "Language",
    "Machine",
    "Regex",
    "Syntax",
    "TextKind",
    "TextSource",
    "kind_of_text",
]

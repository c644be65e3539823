"""Read the fields of one line of a case file, and note every fault with its place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TypeVar

from commitgate.backends.base import Message, Sampling
from commitgate.errors import MisuseError
from commitgate.evaluation.case import Case
from commitgate.evaluation.suite_check import faults_of_case
from commitgate.harmless import harmless
from commitgate.json_value import JsonObject, JsonValue
from commitgate.pointer import child
from commitgate.run.conversation import PromptSchema

T = TypeVar("T")

CASE_FIELDS = (
    "id",
    "prompt",
    "messages",
    "expected",
    "known",
    "visible",
    "principal",
    "is_rightful",
    "endings",
    "contract",
    "tags",
)
"""What a line of a case may have."""

MAX_SHOWN_NAME = 64
"""Most characters of an unknown field's name that a fault shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """Hold what the header puts before every conversation.

    Attributes:
        system: the system message; None for none.
        shown: pairs of what a user asked and what was answered.
    """

    system: str | None = None
    shown: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    def before(self, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        """Return the whole conversation. A case that has a system message of its own keeps it in place of this one."""
        own = messages[:1] if messages and messages[0].role == "system" else ()
        head = own or (() if self.system is None else (Message("system", self.system),))
        pairs = [
            Message(role, text) for pair in self.shown for role, text in zip(("user", "assistant"), pair, strict=True)
        ]
        return (*head, *pairs, *messages[len(own) :])


class Fields:
    """Take the fields of one object, one after another.

    Args:
        value: the object.
        line: its line in the file, from 1.
        faults: where to note what is wrong.
    """

    def __init__(self, value: JsonObject, line: int, faults: list[str]) -> None:
        self._value = value
        self._line = line
        self._faults = faults

    def fault(self, pointer: str, words: str) -> None:
        """Note a fault."""
        self._faults.append(f"line {self._line}{', ' + pointer if pointer else ''}: {words}")

    def allow(self, names: tuple[str, ...]) -> None:
        """Note every field that means nothing: a misspelled one would be passed over without a word."""
        for name in self._value:
            if name not in names:
                short = harmless(name)[:MAX_SHOWN_NAME]
                self.fault(child("", short), f"unknown field; the known ones are {', '.join(names)}")

    def has(self, name: str) -> bool:
        """Say whether a field is there."""
        return name in self._value

    def raw(self, name: str) -> JsonValue:
        """Return a field as it stands; None where it is absent."""
        return self._value.get(name)

    def text(self, name: str) -> str | None:
        """Return a text; None where it is absent or none."""
        return self._of(name, lambda value: isinstance(value, str), "a text")  # pyright: ignore[reportReturnType] - looked at

    def flag(self, name: str) -> bool | None:
        """Return true or false; None where it is absent, null or neither."""
        found = self._of(name, lambda value: value is None or isinstance(value, bool), "true, false or null")
        return found if isinstance(found, bool) else None

    def items(self, name: str) -> list[JsonValue]:
        """Return a list; an empty one where it is absent or none."""
        found = self._of(name, lambda value: isinstance(value, list), "a list")
        return found if isinstance(found, list) else []

    def members(self, name: str) -> JsonObject:
        """Return an object; an empty one where it is absent or none."""
        found = self._of(name, lambda value: isinstance(value, dict), "an object")
        return found if isinstance(found, dict) else {}

    def names(self, name: str, otherwise: tuple[str, ...]) -> tuple[str, ...]:
        """Return a list of texts; ``otherwise`` where it is absent."""
        if not self.has(name):
            return otherwise
        found: list[str] = []
        for index, item in enumerate(self.items(name)):
            if isinstance(item, str):
                found.append(item)
            else:
                self.fault(child("", name, index), f"must be a text, found {kind_of(item)}")
        return tuple(found)

    def _of(self, name: str, fits: Callable[[JsonValue], bool], wanted: str) -> JsonValue:
        if not self.has(name):
            return None
        value = self._value[name]
        if fits(value):
            return value
        self.fault(child("", name), f"must be {wanted}, found {kind_of(value)}")
        return None


def read_case(value: JsonObject, line: int, opening: Opening, faults: list[str]) -> Case | None:
    """Return the case of a line; None where it has a fault, which is noted."""
    before = len(faults)
    fields = Fields(value, line, faults)
    fields.allow(CASE_FIELDS)
    if not fields.has("id"):
        fields.fault("/id", "is missing")
    own = _messages(fields)
    case = Case(
        id=fields.text("id") or "",
        messages=opening.before(own),
        expected=fields.members("expected"),
        known=_places(fields, "known"),
        visible=_places(fields, "visible"),
        principal=fields.raw("principal"),
        is_rightful=fields.flag("is_rightful"),
        endings=fields.names("endings", ("committed",)),
        contract=fields.text("contract"),
        tags=fields.names("tags", ()),
    )
    if len(faults) > before:
        return None
    for fault in faults_of_case(case):
        pointer, _, words = fault.partition(": ")
        fields.fault(pointer, words)
    return case if len(faults) == before else None


def read_sampling(fields: Fields) -> Sampling:
    """Return how tokens are drawn, as the header says."""
    given = fields.members("sampling")
    plain = {name: float(value) if isinstance(value, Decimal) else value for name, value in given.items()}
    names = ("temperature", "top_k", "top_p", "seed", "max_tokens")
    for name in plain:
        if name not in names:
            fields.fault(child("/sampling", harmless(name)[:MAX_SHOWN_NAME]), f"unknown; known are {', '.join(names)}")
    try:
        return Sampling(**{name: value for name, value in plain.items() if name in names})  # pyright: ignore[reportArgumentType] - it checks them itself
    except MisuseError as error:
        fields.fault("/sampling", str(error))
        return Sampling()


def read_prompt_schema(fields: Fields) -> PromptSchema | None:
    """Return whether the model is shown its schema, as the header says."""
    match fields.raw("prompt_schema"):
        case "append":
            return "append"
        case "none":
            return "none"
        case None:
            return None
        case _:
            fields.fault("/prompt_schema", "must be 'append' or 'none'")
            return None


def read_opening(fields: Fields) -> Opening:
    """Return what the header puts before every conversation."""
    pairs: list[tuple[str, str]] = []
    for index, pair in enumerate(fields.items("shown")):
        match pair:
            case [str(asked), str(answered)] if asked.strip() and answered.strip():
                pairs.append((asked, answered))
            case _:
                fields.fault(child("/shown", index), "must be a pair of texts: what was asked, and the answer")
    system = fields.text("system")
    if system is not None and not system.strip():
        fields.fault("/system", "is blank; leave it out instead")
        system = None
    return Opening(system=system, shown=tuple(pairs))


def kind_of(value: JsonValue) -> str:
    """Return what sort of JSON a value is, in words, for a message that must not show it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    kinds: Mapping[type, str] = {str: "a text", list: "a list", dict: "an object"}
    return kinds.get(type(value), "a number")


def _messages(fields: Fields) -> tuple[Message, ...]:
    if fields.has("prompt") == fields.has("messages"):
        fields.fault("/prompt", "a case has prompt or messages, one of them")
        return ()
    if fields.has("prompt"):
        words = fields.text("prompt")
        return () if words is None else _message(fields, "/prompt", "user", words)
    found: list[Message] = []
    for index, item in enumerate(fields.items("messages")):
        match item:
            case {"role": str(role), "content": str(content), **rest} if not rest:
                found += _message(fields, child("/messages", index), role, content)
            case _:
                fields.fault(child("/messages", index), "must be an object of role and content, both texts")
    return tuple(found)


def _message(fields: Fields, pointer: str, role: str, words: str) -> tuple[Message, ...]:
    try:
        return (Message(role, words),)  # pyright: ignore[reportArgumentType] - it checks the role itself
    except MisuseError as error:
        fields.fault(pointer, str(error))
        return ()


def _places(fields: Fields, name: str) -> dict[str, tuple[JsonValue, ...]]:
    found: dict[str, tuple[JsonValue, ...]] = {}
    for place, values in fields.members(name).items():
        if isinstance(values, list):
            found[place] = tuple(values)
        else:
            fields.fault(
                child(f"/{name}", harmless(place)[:MAX_SHOWN_NAME]), f"must be a list, found {kind_of(values)}"
            )
    return found


__all__ = [
    "CASE_FIELDS",
    "MAX_SHOWN_NAME",
    "Fields",
    "Opening",
    "kind_of",
    "read_case",
    "read_opening",
    "read_prompt_schema",
    "read_sampling",
]

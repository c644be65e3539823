"""Hold a schema document: well-formedness, size, and the places that pointers and references name.

Source: RFC 6901 (JSON pointers, and their URI fragment form in section 6), JSON Schema 2020-12 core.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import TypeAlias
from urllib.parse import unquote

from commitgate.automaton.json_schema.keywords import DRAFT, KNOWN_FORMATS, Holds, Kind, Level, keyword
from commitgate.automaton.numbers import MAX_EXPONENT
from commitgate.errors import LimitExceededError, SchemaError, UnsupportedError
from commitgate.json_value import JsonValue
from commitgate.limits import Limits

Schema: TypeAlias = "bool | dict[str, JsonValue]"


@dataclass(frozen=True, slots=True)
class SupportRow:
    """Say how far one keyword at one place is enforced.

    Attributes:
        keyword: the keyword.
        pointer: JSON pointer of the schema that holds it.
        level: ``decoded`` (by the automaton), ``checked`` (by the schema layer after generation) or ``rejected``.
        reason: why it is not decoded; empty where it is.
    """

    keyword: str
    pointer: str
    level: Level
    reason: str = ""


def escape_token(token: str) -> str:
    """Return one reference token in the form that a JSON pointer holds (RFC 6901 section 3)."""
    return token.replace("~", "~0").replace("/", "~1")


def child(pointer: str, *tokens: str | int) -> str:
    """Return the pointer of a descendant."""
    return pointer + "".join("/" + escape_token(str(token)) for token in tokens)


class SchemaDocument:
    """Hold one schema whose every place was looked at and found enforceable.

    Args:
        root: the schema, as ``json.loads`` gives it.
        limits: bounds on its size.

    Raises:
        SchemaError: it is not JSON, or a keyword's value has the wrong form.
        UnsupportedError: it uses a keyword that cannot be enforced.
        LimitExceededError: it is larger than a limit.
    """

    def __init__(self, root: JsonValue, limits: Limits) -> None:
        self.limits = limits
        self.text = _serialise(root, limits)
        self.root = _as_schema(root, "")
        self.support: list[SupportRow] = []
        self._schemas: dict[str, Schema] = {}
        self._properties = 0
        for pointer, schema in _places(self.root, ""):
            self._look_at(pointer, schema)

    def at(self, pointer: str) -> Schema:
        """Return the schema at a place that ``resolve`` or ``child`` gave."""
        return self._schemas[pointer]

    def resolve(self, reference: str, pointer: str) -> str:
        """Return the place that a ``$ref`` at ``pointer`` names.

        Raises:
            UnsupportedError: it leaves the document or is not a JSON pointer.
            SchemaError: it names no schema.
        """
        if reference != "#" and not reference.startswith("#/"):
            raise _unsupported(
                "$ref", pointer, "only references into the same document, such as '#/$defs/name', are read"
            )
        target = unquote(reference[1:])
        if target not in self._schemas:
            self._adopt(target, pointer)
        return target

    def value_at(self, pointer: str) -> JsonValue:
        """Return the JSON value at a place.

        Raises:
            KeyError: there is none.
        """
        value: JsonValue = self.root
        for raw in pointer.split("/")[1:]:
            token = raw.replace("~1", "/").replace("~0", "~")
            if isinstance(value, dict):
                value = value[token]
            elif isinstance(value, list) and token.isascii() and token.isdigit() and int(token) < len(value):
                value = value[int(token)]
            else:
                raise KeyError(pointer)
        return value

    def _adopt(self, target: str, pointer: str) -> None:
        """Take in a schema that lies where no keyword holds one; references may reach it all the same."""
        try:
            value = self.value_at(target)
        except KeyError:
            raise SchemaError(
                f"$ref at {pointer or 'the root'} names nothing in the document; correct it",
                pointer=pointer,
                keyword="$ref",
            ) from None
        for place, schema in _places(_as_schema(value, target), target):
            if place not in self._schemas:
                self._look_at(place, schema)

    def _look_at(self, pointer: str, schema: Schema) -> None:
        self._schemas[pointer] = schema
        if isinstance(schema, bool):
            return
        for name, value in schema.items():
            known = keyword(name)
            _check_form(name, value, pointer)
            if name == "$schema" and isinstance(value, str) and value.rstrip("#") != DRAFT:
                raise _unsupported(name, pointer, f"only the draft 2020-12 ({DRAFT}) is read")
            if name == "$id" and pointer:
                raise _unsupported(name, pointer, "references inside it would change their base; leave it out")
            if name == "format" and value not in KNOWN_FORMATS:
                continue
            if known.level == "rejected":
                raise _unsupported(name, pointer, known.advice)
            if known.kind is Kind.ASSERTION:
                self.support.append(SupportRow(name, pointer, known.level))
        self._count(pointer, schema)

    def _count(self, pointer: str, schema: dict[str, JsonValue]) -> None:
        limits = self.limits
        properties, values = schema.get("properties"), schema.get("enum")
        self._properties += len(properties) if isinstance(properties, dict) else 0
        if self._properties > limits.properties:
            raise _too_large("properties", limits.properties, self._properties, pointer, "properties")
        if isinstance(values, list) and len(values) > limits.enum_values:
            raise _too_large("enum_values", limits.enum_values, len(values), pointer, "enum")


def _unsupported(name: str, pointer: str, reason: str) -> UnsupportedError:
    where = pointer or "the root"
    return UnsupportedError(
        f"{name} at {where} cannot be enforced: {reason}", pointer=pointer, keyword=name, reason=reason
    )


def _too_large(limit_name: str, limit: int, found: int, pointer: str, name: str | None = None) -> LimitExceededError:
    return LimitExceededError(
        f"the schema exceeds Limits.{limit_name} = {limit} at {pointer or 'the root'}; make it smaller or raise the limit",
        limit_name=limit_name,
        limit=limit,
        found=found,
        pointer=pointer,
        keyword=name,
    )


def _serialise(root: JsonValue, limits: Limits) -> bytes:
    """Return the schema as compact JSON, after checking that it is JSON at all and how deep it nests."""
    _check_json(root, limits)
    text = json.dumps(_plain(root), ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    if len(text) > limits.schema_bytes:
        raise _too_large("schema_bytes", limits.schema_bytes, len(text), "")
    return text


def _plain(value: JsonValue) -> JsonValue:
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return value


def _check_json(root: JsonValue, limits: Limits) -> None:
    stack: list[tuple[object, str, int]] = [(root, "", 0)]
    while stack:
        value, pointer, depth = stack.pop()
        if depth > limits.schema_nesting:
            raise _too_large("schema_nesting", limits.schema_nesting, depth, pointer)
        if isinstance(value, dict):
            entries: dict[object, object] = value
            for key, item in entries.items():
                if not isinstance(key, str):
                    raise SchemaError(f"a key at {pointer or 'the root'} is not a string", pointer=pointer)
                _check_text(key, pointer)
                stack.append((item, child(pointer, key), depth + 1))
        elif isinstance(value, list):
            items: list[object] = value
            stack.extend((item, child(pointer, index), depth + 1) for index, item in enumerate(items))
        elif isinstance(value, float | int | Decimal) and not isinstance(value, bool):
            _check_number(value, pointer)
        elif isinstance(value, str):
            _check_text(value, pointer)
        elif not (value is None or isinstance(value, bool)):
            raise SchemaError(
                f"the value at {pointer or 'the root'} is a {type(value).__name__}, which is not JSON; "
                "pass plain dicts, lists, strings, numbers, booleans and None",
                pointer=pointer,
            )


def _check_text(text: str, pointer: str) -> None:
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        raise SchemaError(
            f"a string at {pointer or 'the root'} holds half a surrogate pair, which no UTF-8 text can; correct it",
            pointer=pointer,
        )


def _check_number(value: float | Decimal, pointer: str) -> None:
    number = exact(value)
    if not number.is_finite():
        raise SchemaError(
            f"the number at {pointer or 'the root'} is not finite, which JSON cannot hold", pointer=pointer
        )
    if number and abs(number.adjusted()) > MAX_EXPONENT:
        raise SchemaError(
            f"the number at {pointer or 'the root'} lies beyond 10 to the {MAX_EXPONENT}; write a smaller one",
            pointer=pointer,
        )


def exact(value: float | Decimal) -> Decimal:
    """Return a schema's number as a decimal, a float as its shortest spelling means it."""
    try:
        return Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    except InvalidOperation:  # pragma: no cover - repr of a float is always a decimal
        raise SchemaError("a number in the schema cannot be read") from None


def _as_schema(value: object, pointer: str) -> Schema:
    if isinstance(value, bool):
        return value
    if isinstance(value, dict):
        entries: dict[str, JsonValue] = value
        return entries
    raise SchemaError(
        f"a schema must be an object or a boolean; found {_kind_of(value)} at {pointer or 'the root'}", pointer=pointer
    )


def _kind_of(value: object) -> str:
    if value is None:
        return "null"
    names = {bool: "a boolean", str: "a string", list: "an array", dict: "an object"}
    return names.get(type(value), "a number")


def subschemas(schema: dict[str, JsonValue], pointer: str) -> Iterator[tuple[str, JsonValue]]:
    """Yield the place and value of each schema that the keywords of ``schema`` hold directly."""
    for name, value in schema.items():
        holds = keyword(name).holds
        if holds is Holds.SCHEMA:
            yield child(pointer, name), value
        elif holds is Holds.LIST and isinstance(value, list):
            for index, item in enumerate(value):
                yield child(pointer, name, index), item
        elif holds is Holds.MAP and isinstance(value, dict):
            for key, item in value.items():
                yield child(pointer, name, key), item


def _places(root: Schema, pointer: str) -> Iterator[tuple[str, Schema]]:
    stack: list[tuple[str, Schema]] = [(pointer, root)]
    while stack:
        place, schema = stack.pop()
        yield place, schema
        if isinstance(schema, dict):
            held = [(inner, _as_schema(value, inner)) for inner, value in subschemas(schema, place)]
            stack.extend(reversed(held))


_TYPES = ("null", "boolean", "integer", "number", "string", "array", "object")


def _is_size(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return False
    return value >= 0 and value == int(value)


def _is_texts(value: object) -> bool:
    if not isinstance(value, list):
        return False
    items: list[object] = value
    return all(isinstance(item, str) for item in items) and len(set(map(str, items))) == len(items)


def _is_type(value: object) -> bool:
    return value in _TYPES if isinstance(value, str) else bool(value) and _is_texts(value) and _all_types(value)


def _all_types(value: object) -> bool:
    return isinstance(value, list) and all(item in _TYPES for item in value)  # pyright: ignore[reportUnknownVariableType]


_FORMS = {
    "type": (_is_type, "one of " + ", ".join(_TYPES) + ", or a list of them"),
    "enum": (lambda value: isinstance(value, list), "an array"),
    "required": (_is_texts, "an array of distinct strings"),
    "minItems": (_is_size, "an integer >= 0"),
    "maxItems": (_is_size, "an integer >= 0"),
    "minLength": (_is_size, "an integer >= 0"),
    "maxLength": (_is_size, "an integer >= 0"),
    "properties": (lambda value: isinstance(value, dict), "an object of schemas"),
    "$defs": (lambda value: isinstance(value, dict), "an object of schemas"),
    "definitions": (lambda value: isinstance(value, dict), "an object of schemas"),
    "anyOf": (lambda value: isinstance(value, list) and bool(value), "an array of at least one schema"),
    "prefixItems": (lambda value: isinstance(value, list) and bool(value), "an array of at least one schema"),
    "items": (
        lambda value: not isinstance(value, list),
        "one schema; for schemas by position write prefixItems",
    ),
    "$ref": (lambda value: isinstance(value, str), "a string"),
    "$schema": (lambda value: isinstance(value, str), "a string"),
}


def _check_form(name: str, value: JsonValue, pointer: str) -> None:
    form = _FORMS.get(name)
    if form is not None and not form[0](value):
        raise SchemaError(
            f"{name} at {pointer or 'the root'} must be {form[1]}; found {_kind_of(value)} of another form",
            pointer=pointer,
            keyword=name,
        )


__all__ = ["Schema", "SchemaDocument", "SupportRow", "child", "escape_token", "exact", "subschemas"]

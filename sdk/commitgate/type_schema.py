"""Write the JSON Schema of a Python type so that the texts it allows are those from which the type can be made.

pydantic's own schemas are wider in places: they say what a type may be read from, or nothing about what its validator
asks beyond the schema. A text written under such a schema would fail at the type layer by chance, so the schema is
narrowed where it can be, and the type refused where it cannot. ``WithJsonSchema`` is the way around both.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from decimal import Decimal
from enum import Enum
from math import isfinite
from typing import TypeAlias, cast

from pydantic import ByteSize
from pydantic.errors import PydanticInvalidForJsonSchema
from pydantic.json_schema import GenerateJsonSchema, JsonRef, JsonSchemaMode, JsonSchemaValue
from pydantic_core import core_schema

from commitgate import type_texts
from commitgate.untrusted_text import UNTRUSTED

KEY_FORMATS = frozenset({None, "binary", "date", "ipv4", "uuid"})
"""Formats of keys in which every value has one spelling, or can be held to one."""

MAX_KEYS = 1_000
"""Most whole numbers between the bounds of a key; they are listed."""

MAX_DECIMAL_DIGITS = 38
"""Most ``max_digits`` of a decimal that are told apart; each is an alternative."""

CoreSchemaOrField: TypeAlias = (
    core_schema.CoreSchema
    | core_schema.ModelField
    | core_schema.DataclassField
    | core_schema.TypedDictField
    | core_schema.ComputedField
)

_SHOWN = 80
"""Most characters of a reference that are shown."""

_BOUNDS = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"}


class RefusedTypeError(PydanticInvalidForJsonSchema):
    """Raised when no schema says which texts a type can be read from.

    Attributes:
        place: the field in which the type stands, behind its class's name; empty where it is none of a field.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.place = ""
        self._owner = ""
        self._inner: CoreSchemaOrField | None = None

    def pass_through(self, schema: CoreSchemaOrField) -> None:
        """Note a schema around the one that was refused; the innermost field is the place."""
        if self._owner:
            return
        if self.place:
            owner: object = schema.get("cls")
            if isinstance(owner, type):
                self._owner = owner.__name__
                self.place = f"{self._owner}.{self.place}"
            return
        fields: object = schema.get("fields")
        if isinstance(fields, dict):
            named = cast("dict[str, object]", fields).items()
            self.place = next((name for name, field in named if field is self._inner), "")
        elif isinstance(fields, list) and self._inner is not None:
            self.place = str(self._inner.get("name", ""))
        self._inner = schema
        if self.place and "cls" in schema:
            self.pass_through(schema)


class SteeringSchema(GenerateJsonSchema):
    """Generate schemas for models that write JSON, in pydantic's validation mode."""

    _looked_at: set[str]

    def generate(self, schema: core_schema.CoreSchema, mode: JsonSchemaMode = "validation") -> JsonSchemaValue:
        """Generate the schema of a whole type."""
        self._looked_at = set()
        return super().generate(schema, mode)

    def generate_inner(self, schema: CoreSchemaOrField) -> JsonSchemaValue:
        """Narrow the formats that only pydantic knows, and tell where a type stands that is refused."""
        try:
            found = self._narrowed(schema)
            self._check_references(found)
            return found
        except RefusedTypeError as error:
            error.pass_through(schema)
            raise

    def handle_invalid_for_json_schema(self, schema: CoreSchemaOrField, error_info: str) -> JsonSchemaValue:
        """Refuse what pydantic has no schema for, in words that name no class of its own."""
        owner: object = schema.get("cls")
        what = f"instances of {owner.__name__}" if isinstance(owner, type) else f"a {schema['type']}"
        raise _refused(f"pydantic writes no schema for {what}")

    def _check_references(self, found: JsonSchemaValue) -> None:
        """Check that every reference leads to a definition of pydantic's own: it looks all of them up among those.

        Raises:
            RefusedTypeError: one leads elsewhere, as in a schema that the caller wrote.
        """
        if "$ref" in found and not isinstance(found["$ref"], str):
            raise _refused("the $ref of its own schema is no string")
        waiting: list[object] = [found]
        while waiting:
            value = waiting.pop()
            if isinstance(value, list):
                waiting += cast("list[object]", value)
            if not isinstance(value, dict):
                continue
            members = cast("dict[str, object]", value)
            reference = members.get("$ref")  # no string where it is the name of a property
            if isinstance(reference, str):
                waiting.append(self._definition(reference))
            # What pydantic looks for references in: examples may be anything.
            waiting += (item for key, item in members.items() if key != "examples" or not isinstance(item, list))

    def _definition(self, reference: str) -> object:
        """Return what a reference leads to; None where that was looked at, is being made, or is another document."""
        name = self.json_to_defs_refs.get(JsonRef(reference))
        if name is None and not reference.startswith(("http://", "https://")):
            shown = ascii(reference[:_SHOWN])
            raise _refused(
                f"its own schema refers to {shown}, and within a type only what pydantic defines itself can be "
                "referred to; write it out there"
            )
        if name is None or name in self._looked_at or name not in self.definitions:
            return None
        self._looked_at.add(name)
        return self.definitions[name]

    def _narrowed(self, schema: CoreSchemaOrField) -> JsonSchemaValue:
        found = super().generate_inner(schema)
        name = found.get("format")
        if not isinstance(name, str):
            return found
        if name == "uri" and "maxLength" in found:
            # The parser adds a slash and spells an apostrophe with three characters; the value's length is what counts.
            return _also({**found, "maxLength": max(found["maxLength"] - 1, 0)}, {"pattern": type_texts.UNQUOTED})
        if name in type_texts.TEXT_IN_BASE64 and _is_text(schema):
            return {"type": "string", "pattern": type_texts.TEXT_IN_BASE64[name]}
        if name in type_texts.REFUSED and schema["type"] != "str":
            raise _refused(type_texts.REFUSED[name])
        known = type_texts.NARROWED.get(name)
        if known is None:
            return found
        rest = {key: value for key, value in found.items() if key not in ("type", "format")}
        return {**rest, **known}

    def decimal_schema(self, schema: core_schema.DecimalSchema) -> JsonSchemaValue:
        """Write a decimal as a number: as a string, most texts are no decimal."""
        found: JsonSchemaValue = {"type": "number"}
        for name, keyword in (*_BOUNDS.items(), ("multiple_of", "multipleOf")):
            bound = cast("Decimal | float | None", schema.get(name))
            if bound is not None and isfinite(bound):
                found[keyword] = _exact(Decimal(str(bound)))
        digits, places = schema.get("max_digits"), schema.get("decimal_places")
        if digits is None:
            return found if places is None else _also(found, _digits(None, places))
        if digits > MAX_DECIMAL_DIGITS:
            raise _refused(f"max_digits above {MAX_DECIMAL_DIGITS} cannot be written as a schema")
        if places is not None:
            return _also(found, _digits(max(digits - places, 0), places))
        return {**found, "anyOf": [_digits(digits - places, places) for places in range(digits + 1)]}

    def fraction_schema(self, schema: core_schema.FractionSchema) -> JsonSchemaValue:
        """Write a fraction as a number, or as numerator and denominator where nothing bounds it."""
        number, text = super().fraction_schema(schema)["anyOf"]
        if any(schema.get(name) is not None for name in _BOUNDS):
            return number
        return {"anyOf": [number, {**text, "pattern": type_texts.FRACTION}]}

    def chain_schema(self, schema: core_schema.ChainSchema) -> JsonSchemaValue:
        """Refuse a pattern on untrusted text, which pydantic would look for in a ``str``."""
        if _is_untrusted(schema["steps"][0]):
            raise _refused("pydantic looks for a pattern in a str alone")
        return super().chain_schema(schema)

    def complex_schema(self, schema: core_schema.ComplexSchema) -> JsonSchemaValue:
        """Refuse complex numbers: JSON has none, and most texts spell none."""
        raise _refused("complex numbers have no JSON form; use two numbers")

    def literal_schema(self, schema: core_schema.LiteralSchema) -> JsonSchemaValue:
        """Refuse members of an enum in a Literal, which no JSON text can make."""
        if any(isinstance(value, Enum) for value in schema["expected"]):
            raise _refused("a Literal of enum members cannot be read from JSON; use their values")
        return super().literal_schema(schema)

    def json_schema(self, schema: core_schema.JsonSchema) -> JsonSchemaValue:
        """Refuse JSON within a string, which no schema describes."""
        raise _refused("JSON within a string cannot be written as a schema; use the type itself")

    def str_schema(self, schema: core_schema.StringSchema) -> JsonSchemaValue:
        """Let nothing be stripped where the rest must still be long enough, or match."""
        found = super().str_schema(schema)
        if schema.get("pattern") == ByteSize.byte_string_pattern:
            return {**found, "pattern": type_texts.BYTE_SIZE}
        least = schema.get("min_length") or 0
        if schema.get("strip_whitespace") and (least or "pattern" in found):
            pattern = type_texts.STRIPPED if least else type_texts.STRIPPED_OR_EMPTY
            return _also(found, {"pattern": pattern})
        return found

    def bytes_schema(self, schema: core_schema.BytesSchema) -> JsonSchemaValue:
        """Hold bytes to the encoding from which they are read, and to ASCII where they are counted."""
        found = super().bytes_schema(schema)
        encoding = self._config.val_json_bytes
        if encoding != "utf8":
            if "minLength" in found or "maxLength" in found:
                raise _refused("lengths of encoded bytes cannot be written as a schema")
            pattern = type_texts.BASE64_URL if encoding == "base64" else type_texts.HEXADECIMAL
            return {"type": "string", "pattern": pattern}
        return {**found, "pattern": type_texts.ASCII} if "maxLength" in found else found

    def date_schema(self, schema: core_schema.DateSchema) -> JsonSchemaValue:
        """Write bounds on a date, which are bounds on its text."""
        _refuse_now(schema)
        found = _also(super().date_schema(schema), {"pattern": type_texts.DATE})
        for name in _BOUNDS:
            bound = cast("date | None", schema.get(name))
            if bound is not None:
                found = _also(found, {"pattern": _beyond(bound.isoformat(), name)})
        return found

    def time_schema(self, schema: core_schema.TimeSchema) -> JsonSchemaValue:
        """Leave out leap seconds, which Python's clock does not have."""
        _refuse_bounds(schema, "a time")
        if schema.get("tz_constraint") == "naive":
            return {"type": "string", "pattern": type_texts.NAIVE_TIME}
        return _also(super().time_schema(schema), {"pattern": type_texts.TIME})

    def datetime_schema(self, schema: core_schema.DatetimeSchema) -> JsonSchemaValue:
        """Leave out leap seconds and the year 0, which Python does not have."""
        _refuse_now(schema)
        _refuse_bounds(schema, "a moment")
        zone = schema.get("tz_constraint")
        if isinstance(zone, int):
            raise _refused("a fixed time zone cannot be written as a schema")
        if zone == "naive":
            return {"type": "string", "pattern": type_texts.NAIVE_DATE_TIME}
        return _also(super().datetime_schema(schema), {"pattern": type_texts.DATE_TIME})

    def timedelta_schema(self, schema: core_schema.TimedeltaSchema) -> JsonSchemaValue:
        """Hold durations to what Python can hold; they have no sign."""
        above, nothing = schema.get("gt"), timedelta(0)
        bounds = {**schema, "ge": _unless_below(schema.get("ge")), "gt": _unless_below(above)}
        _refuse_bounds(bounds, "a duration")
        found = _also(super().timedelta_schema(schema), {"pattern": type_texts.DURATION})
        return _also(found, {"pattern": type_texts.LONGER_THAN_NOTHING}) if above == nothing else found

    def url_schema(self, schema: core_schema.UrlSchema) -> JsonSchemaValue:
        """Hold URLs to the schemes that the type takes, and to hosts that its parser takes."""
        return _also(super().url_schema(schema), {"pattern": type_texts.url(schema.get("allowed_schemes"))})

    def multi_host_url_schema(self, schema: core_schema.MultiHostUrlSchema) -> JsonSchemaValue:
        """Write one host: what stands for it may have several."""
        found = {**super().multi_host_url_schema(schema), "format": "uri"}
        return _also(found, {"pattern": type_texts.url(schema.get("allowed_schemes"))})

    def dict_schema(self, schema: core_schema.DictSchema) -> JsonSchemaValue:
        """Hold keys to texts that make keys of the type, one text for each."""
        return self._keyed(super().dict_schema(schema), schema.get("keys_schema"))

    def ordered_dict_schema(self, schema: core_schema.OrderedDictSchema) -> JsonSchemaValue:
        """Hold keys as those of a dict."""
        return self._keyed(super().ordered_dict_schema(schema), schema.get("keys_schema"))

    def counter_schema(self, schema: core_schema.CounterSchema) -> JsonSchemaValue:
        """Hold keys as those of a dict."""
        return self._keyed(super().counter_schema(schema), schema.get("keys_schema"))

    def _keyed(self, found: JsonSchemaValue, keys: core_schema.CoreSchema | None) -> JsonSchemaValue:
        if keys is None:
            return found
        if keys["type"] == "literal" and any(not isinstance(value, str) for value in keys["expected"]):
            raise _refused("values of a Literal that are no strings cannot be read from keys")
        names = self._names(self.generate_inner(keys))
        values = found.pop("patternProperties", None)
        if isinstance(values, dict):
            found["additionalProperties"] = next(iter(cast("dict[str, JsonSchemaValue]", values).values()))
        return {**found, "propertyNames": names} if names else found

    def _names(self, keys: JsonSchemaValue) -> JsonSchemaValue:
        """Return the schema of the texts from which a key is made; empty for any text."""
        if isinstance(keys.get("$ref"), str):
            held = self.get_schema_from_definitions(JsonRef(keys["$ref"]))
            if held is not None and held.get("type") != "string":
                return self._names(held)
            return keys
        match keys.get("type"):
            case None if not keys:
                return {}
            case "string" if keys.get("format") in KEY_FORMATS:
                is_plain = keys.keys() <= {"type", "title", "description"}
                lower = {"pattern": type_texts.LOWER_CASE} if keys.get("format") == "uuid" else {}
                return {} if is_plain else _also(keys, lower) if lower else keys
            case "integer":
                return _integer_names(keys)
            case "boolean":
                return {"enum": ["false", "true"]}
            case "number" if keys.keys() <= {"type", "title"}:
                return {"type": "string", "pattern": type_texts.DECIMAL_KEY}
            case _:
                raise _refused("keys of this type have more than one spelling, or bounds; use str keys")


def _integer_names(keys: JsonSchemaValue) -> JsonSchemaValue:
    values = keys.get("enum", [keys["const"]] if "const" in keys else None)
    if values is None and not keys.keys() & {*_BOUNDS.values(), "multipleOf"}:
        return {"type": "string", "pattern": type_texts.INTEGER_KEY}
    if values is None:
        low = keys.get("minimum", keys.get("exclusiveMinimum", -1) + 1 if "exclusiveMinimum" in keys else None)
        high = keys.get("maximum", keys.get("exclusiveMaximum", 1) - 1 if "exclusiveMaximum" in keys else None)
        if low is None or high is None or high - low >= MAX_KEYS:
            raise _refused(f"bounded keys are listed, so both bounds are needed, at most {MAX_KEYS} numbers apart")
        values = range(low, high + 1, 1)
        values = [value for value in values if value % keys.get("multipleOf", 1) == 0]
    return {"enum": [str(value) for value in values]}


def _digits(whole: int | None, places: int) -> JsonSchemaValue:
    """Return the numbers with so many digits at most before and behind the point."""
    found: JsonSchemaValue = {"multipleOf": _exact(Decimal(1).scaleb(-places))}
    if whole is not None:
        limit = 10**whole
        found |= {"exclusiveMinimum": -limit, "exclusiveMaximum": limit}
    return found


def _also(found: JsonSchemaValue, further: JsonSchemaValue) -> JsonSchemaValue:
    """Return a schema that asks for more, its keywords beside the others where these leave room."""
    if not found.keys() & further.keys():
        return {**found, **further}
    others = found.get("allOf", [])
    return found if further in others else {**found, "allOf": [*others, further]}


def _exact(number: Decimal) -> int | float | Decimal:
    """Return a number as JSON writes it, with all its digits."""
    if number == number.to_integral_value():
        return int(number)
    return float(number) if Decimal(repr(float(number))) == number else number


def _beyond(bound: str, name: str) -> str:
    """Return the pattern of dates on one side of another; as texts, they are in the order of time."""
    is_above = name in ("ge", "gt")
    found = [bound] if name in ("ge", "le") else []
    for index, digit in enumerate(bound):
        others = "".join(other for other in "0123456789" if (other > digit if is_above else other < digit))
        if digit != "-" and others:
            found.append(f"{bound[:index]}[{others}]")
    return f"^(?:{'|'.join(found)})" if found else "^[^0-9]"


def _unless_below(bound: timedelta | None) -> timedelta | None:
    """Return a lower bound of durations; None where every text of one is above it."""
    return None if bound is None or bound <= timedelta(0) else bound


def _is_text(schema: CoreSchemaOrField) -> bool:
    inner = schema.get("schema")
    return isinstance(inner, dict) and cast("Mapping[str, object]", inner).get("type") == "str"


def _is_untrusted(schema: CoreSchemaOrField) -> bool:
    """Say whether a schema is that of untrusted text, with bounds or without."""
    found: object = schema
    while isinstance(found, dict):
        node = cast("dict[str, object]", found)
        notes = node.get("metadata")
        if isinstance(notes, dict) and UNTRUSTED in notes:
            return True
        found = node.get("schema")
    return False


def _refuse_bounds(schema: Mapping[str, object], what: str) -> None:
    if any(schema.get(name) is not None for name in _BOUNDS):
        raise _refused(f"bounds on {what} cannot be written as a schema; check them in a rule")


def _refuse_now(schema: Mapping[str, object]) -> None:
    if schema.get("now_op") is not None:
        raise _refused("what is past or future depends on the clock; check it in a rule")


def _refused(reason: str) -> RefusedTypeError:
    return RefusedTypeError(reason)


__all__ = ["RefusedTypeError", "SteeringSchema"]

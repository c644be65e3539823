"""Read the keywords that speak of single values: types, listed values, numbers and strings.

Source: JSON Schema drafts 4 to 2020-12 validation. ``enum`` and ``const`` compare by value, numbers mathematically.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING

from commitgate.automaton.formats import FORMATS, format_is_exact, format_language
from commitgate.automaton.json_schema.drafts import Draft
from commitgate.automaton.json_schema.language import (
    ANY_ARRAYS,
    ANY_BOOLEAN,
    ANY_NUMBERS,
    ANY_OBJECTS,
    ANY_STRINGS,
    EVERYTHING,
    NOTHING,
    Language,
    all_but,
    joined,
)
from commitgate.automaton.json_schema.nodes import Exactly, Scalar
from commitgate.automaton.json_schema.plain_json import exact
from commitgate.automaton.json_schema.shapes import (
    ArrayShape,
    NumberShape,
    ObjectShape,
    Property,
    StringShape,
)
from commitgate.automaton.number_set import ANY_INTEGER, ANY_NUMBER, NumberSet
from commitgate.automaton.text_language import TextLanguage, of_lengths
from commitgate.json_value import JsonValue
from commitgate.pointer import child

if TYPE_CHECKING:
    from commitgate.automaton.json_schema.meaning import Keywords, Meaning, Reader


def size_of(schema: Keywords, name: str) -> int | None:
    """Return a keyword's value as a size; None where it is not there."""
    value = schema.get(name)
    return int(value) if isinstance(value, int | float | Decimal) else None


def exact_value(value: JsonValue, pointer: str) -> Language:
    """Return the language of one JSON value, which lies at ``pointer``."""
    if isinstance(value, list):
        prefix = tuple((Exactly(child(pointer, index)),) for index in range(len(value)))
        return Language(arrays=(ArrayShape(prefix, least=len(value), most=len(value)),))
    if isinstance(value, dict):
        properties = tuple(Property(name, (Exactly(child(pointer, name)),)) for name in value)
        return Language(objects=(ObjectShape(properties, (), tuple(value)),))
    return one_scalar(exact(value) if isinstance(value, int | float) and not isinstance(value, bool) else value)


def one_scalar(value: Scalar) -> Language:
    """Return the language of one scalar."""
    match value:
        case None:
            return Language(has_null=True)
        case bool():
            return Language(booleans=frozenset({value}))
        case str():
            return Language(strings=(StringShape(values=(value,)),))
        case _:
            numbers = NumberSet.of_values([value])
            return Language(numbers=(NumberShape(numbers),) if numbers else ())


def _type(meaning: Meaning, schema: Keywords, place: str) -> Language:
    value, is_draft_4 = schema["type"], meaning.document.draft_at(place) is Draft.DRAFT_4
    known = _BY_TYPE_IN_DRAFT_4 if is_draft_4 else _BY_TYPE
    return joined(known[str(name)] for name in value) if isinstance(value, list) else known[str(value)]


def _enum(meaning: Meaning, schema: Keywords, place: str) -> Language:
    values = schema["enum"]
    assert isinstance(values, list)
    if not meaning.fits_branches(sum(isinstance(value, list | dict) for value in values)):
        return meaning.check("enum", place, "its arrays and objects are more than Limits.branches")
    return any_value((value, child(place, "enum", index)) for index, value in enumerate(values))


def _const(meaning: Meaning, schema: Keywords, place: str) -> Language:
    del meaning
    return exact_value(schema["const"], child(place, "const"))


def any_value(values: Iterable[tuple[JsonValue, str]]) -> Language:
    """Return the union of single values, scalars gathered first so that a long enum is one shape."""
    has_null, booleans = False, set[bool]()
    numbers: dict[Decimal, None] = {}
    strings: dict[str, None] = {}
    structured = NOTHING
    for value, pointer in values:
        if value is None:
            has_null = True
        elif isinstance(value, bool):
            booleans.add(value)
        elif isinstance(value, str):
            strings[value] = None
        elif isinstance(value, int | float | Decimal):
            numbers[exact(value)] = None
        else:
            structured = structured.join(exact_value(value, pointer))
    listed = NumberSet.of_values(numbers)
    return Language(
        has_null,
        frozenset(booleans),
        (NumberShape(listed),) if listed else (),
        (StringShape(values=tuple(strings)),) if strings else (),
        structured.arrays,
        structured.objects,
    )


def _bounds(meaning: Meaning, schema: Keywords, place: str) -> Language:
    is_draft_4 = meaning.document.draft_at(place) is Draft.DRAFT_4
    found: NumberSet | None = ANY_NUMBER
    for name, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        bound, beyond = _number(schema, name), None if is_draft_4 else _number(schema, exclusive)
        is_open = is_draft_4 and schema.get(exclusive) is True
        for value, opened in ((bound, is_open), (beyond, True)):
            if value is not None and found is not None:
                half = _above(value, opened) if name == "minimum" else _below(value, opened)
                found = None if half is None else found.meet(half)
    return _of_numbers(found)


def _above(bound: Decimal, is_open: bool) -> NumberSet | None:
    return NumberSet.between(bound, is_low_open=is_open)


def _below(bound: Decimal, is_open: bool) -> NumberSet | None:
    return NumberSet.between(high=bound, is_high_open=is_open)


def _multiple_of(meaning: Meaning, schema: Keywords, place: str) -> Language:
    del meaning, place
    return _of_numbers(NumberSet.between(divisor=_number(schema, "multipleOf")))


def _of_numbers(numbers: NumberSet | None) -> Language:
    return all_but(numbers=() if numbers is None else (NumberShape(numbers),))


def _number(schema: Keywords, name: str) -> Decimal | None:
    value = schema.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    return exact(value)


def _lengths(meaning: Meaning, schema: Keywords, place: str) -> Language:
    del meaning, place
    least, most = size_of(schema, "minLength") or 0, size_of(schema, "maxLength")
    if most is not None and most < least:
        return _of_texts(None)
    return _of_texts(of_lengths(least, most))


def _pattern(meaning: Meaning, schema: Keywords, place: str) -> Language:
    pattern = schema["pattern"]
    assert isinstance(pattern, str)
    return _of_texts(meaning.language_of_pattern(pattern, place, "pattern"))


def _format(meaning: Meaning, schema: Keywords, place: str) -> Language:
    name = schema["format"]
    assert isinstance(name, str)
    if not meaning.asserts_formats or name not in FORMATS:
        reason = "formats are annotations here" if name in FORMATS else "the format is not known"
        meaning.document.support.mark("format", place, reason, "annotation")
        return EVERYTHING
    language = format_language(name)
    if language is None:
        return meaning.check("format", place, "the format is not a regular language")
    if not format_is_exact(name):
        meaning.check("format", place, "the format is narrower than any regular language that is known for it")
        return replace(_of_texts(language), is_exact=False)
    return _of_texts(language)


def _of_texts(texts: TextLanguage | None) -> Language:
    return all_but(strings=() if texts is None else (StringShape(texts),))


_BY_TYPE = {
    "null": Language(has_null=True),
    "boolean": Language(booleans=ANY_BOOLEAN),
    "integer": Language(numbers=(NumberShape(ANY_INTEGER),)),
    "number": Language(numbers=ANY_NUMBERS),
    "string": Language(strings=ANY_STRINGS),
    "array": Language(arrays=ANY_ARRAYS),
    "object": Language(objects=ANY_OBJECTS),
}
_BY_TYPE_IN_DRAFT_4 = {**_BY_TYPE, "integer": Language(numbers=(NumberShape(ANY_INTEGER, is_literal=True),))}

SCALAR_READERS: tuple[tuple[frozenset[str], Reader], ...] = (
    (frozenset({"type"}), _type),
    (frozenset({"enum"}), _enum),
    (frozenset({"const"}), _const),
    (frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}), _bounds),
    (frozenset({"multipleOf"}), _multiple_of),
    (frozenset({"minLength", "maxLength"}), _lengths),
    (frozenset({"pattern"}), _pattern),
    (frozenset({"format"}), _format),
)

__all__ = ["SCALAR_READERS", "any_value", "exact_value", "one_scalar", "size_of"]

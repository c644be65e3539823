"""Mend what is said of single values: types, constants, texts and numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from math import ceil, floor
from types import MappingProxyType
from typing import cast

from commitgate.backends.translation.conjunction import value_key
from commitgate.backends.translation.disjoint import type_of
from commitgate.backends.translation.fitting import Fitting, Mend, Offence
from commitgate.backends.translation.schema_graph import WORDS_OF, Node, kind_of
from commitgate.json_value import JsonValue

_COMMON = frozenset({"type", "enum", "const"})
_LENGTHS = ("minLength", "maxLength")
_CLASSES = {"d": "0-9", "w": "A-Za-z0-9_"}


def _split_types(fitting: Fitting, offence: Offence) -> None:
    """Say several types as branches, each with the keywords that are about it."""
    node = offence.node
    types = list(cast("list[str]", node.plain["type"]))
    if "number" in types:
        types = [each for each in types if each != "integer"]
    known = frozenset[str]().union(_COMMON, *WORDS_OF.values())
    if not node.said <= known:
        fitting.widen(node, offence.case, "type")
        return
    changed = Node(node.origin, plain=node.notes)
    branches = [each for each in (_of_type(node, name) for name in types) if not each.is_false]
    if len(branches) == 1:
        only = branches[0]
        only.plain.update(changed.plain)
        changed = only
    elif branches:
        changed.many["anyOf"] = branches
    else:
        changed.is_false = True
    node.become(changed)
    fitting.note("rewritten", node, "type", f"{fitting.words.happens(offence.case)}; said as branches of anyOf")


def _of_type(node: Node, type_name: str) -> Node:
    """Return what a node says of values of one type."""
    found = node.copy()
    found.drop(*(word for word in node.words() if word not in WORDS_OF[kind_of(type_name)]))
    found.plain["type"] = type_name
    for word in ("enum", "const"):
        if word not in node.plain:
            continue
        value = node.plain[word]
        values = value if word == "enum" and isinstance(value, list) else [value]
        kept: list[JsonValue] = [each for each in values if _is_of(each, type_name)]
        found.is_false |= not kept
        found.plain[word] = kept if word == "enum" else value
    return found


def _is_of(value: JsonValue, type_name: str) -> bool:
    kind = type_of(value)
    if type_name == "integer" and kind == "number":
        return Decimal(str(value)) % 1 == 0
    return kind == type_name


def _as_enum(fitting: Fitting, offence: Offence) -> None:
    node = offence.node
    value = node.plain.pop("const")
    listed = node.plain.get("enum")
    if isinstance(listed, list) and value_key(value) not in map(value_key, listed):
        node.become(Node(node.origin, is_false=True))
        return
    node.plain["enum"] = [value]
    fitting.note("rewritten", node, "const", f"{fitting.words.happens(offence.case)}; said as an enum of one value")


def _name_type(fitting: Fitting, offence: Offence) -> None:
    """Name the type that the keywords are about: values of every other type are let through else."""
    node = offence.node
    values = node.plain.get("enum") or ([node.plain["const"]] if "const" in node.plain else None)
    if isinstance(values, list):
        found = list(dict.fromkeys(type_of(value) for value in values))
    elif not fitting.may_change(node):
        return
    else:
        found = [name for name, words in WORDS_OF.items() if not words.isdisjoint(node.words())]
        reason = f"{fitting.words.happens(offence.case)}; values of other types than {' and '.join(found)} are left out"
        fitting.note("narrowed", node, offence.keyword, reason)
    node.plain["type"] = found[0] if len(found) == 1 else cast("JsonValue", found)


def _spell_classes(fitting: Fitting, offence: Offence) -> None:
    node = offence.node
    spelled = spelled_out(str(node.plain.get("pattern", "")))
    if spelled is None:
        fitting.widen(node, offence.case, "pattern")
        return
    node.plain["pattern"] = spelled
    fitting.note("rewritten", node, "pattern", f"{fitting.words.happens(offence.case)}; the characters are listed")


def spelled_out(pattern: str) -> str | None:
    r"""Return a pattern with ``\d`` and ``\w`` listed; None where another class stands in it, or one in a range."""
    found, in_class = list[str](), False
    for match in re.finditer(r"\\(.)|.", pattern, re.DOTALL):
        token, escaped = match[0], match[1]
        if escaped is None:
            in_class = token == "[" or (in_class and token != "]")
        elif escaped.lower() in ("d", "w", "s"):
            listed = _CLASSES.get(escaped.lower())
            is_range = in_class and "-" in (pattern[match.start() - 1], pattern[match.end() : match.end() + 1])
            if listed is None or is_range or (in_class and escaped.isupper()):
                return None
            token = listed if in_class else f"[{'^' if escaped.isupper() else ''}{listed}]"
        found.append(token)
    return "".join(found)


def _include_bounds(fitting: Fitting, offence: Offence) -> None:
    """Say the exclusive bounds of an integer as bounds."""
    node = offence.node
    if node.types != frozenset({"integer"}):
        fitting.widen(node, offence.case, offence.keyword)
        return
    lower, upper = node.plain.pop("exclusiveMinimum", None), node.plain.pop("exclusiveMaximum", None)
    if lower is not None:
        least = floor(Decimal(str(lower))) + 1
        node.plain["minimum"] = cast("JsonValue", max(least, cast("int", node.plain.get("minimum", least))))
    if upper is not None:
        most = ceil(Decimal(str(upper))) - 1
        node.plain["maximum"] = cast("JsonValue", min(most, cast("int", node.plain.get("maximum", most))))
    fitting.note("rewritten", node, offence.keyword, f"{fitting.words.happens(offence.case)}; said as the next integer")


def _take_out_lengths(fitting: Fitting, offence: Offence) -> None:
    fitting.widen(offence.node, offence.case, *_LENGTHS)


def _take_out(fitting: Fitting, offence: Offence) -> None:
    fitting.widen(offence.node, offence.case, offence.keyword)


def _drop(fitting: Fitting, offence: Offence) -> None:
    offence.node.drop(offence.keyword)  # it constrains nothing


_TAKEN_OUT = (
    "enum",
    "enum_of_numbers",
    "enum_of_structures",
    "closed_object",
    "min_properties",
    "max_properties",
    "min_length",
    "max_length",
    "anchored_pattern",
    "unanchored_pattern",
    "look_around",
    "word_boundary",
    "format_date_time",
    "format_date",
    "format_email",
    "format_uuid",
    "format_uri",
    "format_listed",
    "format_other",
    "format_unknown",
    "integer_bound",
    "number_minimum",
    "number_maximum",
    "number_exclusive_bound",
    "multiple_of",
    "max_items",
    "unique_items",
    "unevaluated_properties",
    "unevaluated_items",
    "any_of",
)

VALUES: Mapping[str, Mend] = MappingProxyType(
    {
        **dict.fromkeys(_TAKEN_OUT, _take_out),
        "type_list": _split_types,
        "const": _as_enum,
        "pattern_class": _spell_classes,
        "integer_exclusive_bound": _include_bounds,
        "unknown_word": _drop,
        "default": _drop,
        "property_ordering": _drop,
    }
)
"""Cases of single values."""

PAIRS: Mapping[str, Mend] = MappingProxyType(
    {
        "untyped_object": _name_type,
        "untyped_length": _name_type,
        "untyped_bound": _name_type,
        "pattern_with_length": _take_out_lengths,
        "format_with_length": _take_out_lengths,
        "integer_two_bounds": _include_bounds,
    }
)
"""Cases of keywords beside one another, which are mended once each of them is taken by itself."""

__all__ = ["PAIRS", "VALUES", "spelled_out"]

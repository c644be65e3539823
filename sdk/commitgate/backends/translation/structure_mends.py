"""Mend what is said of arrays and objects as wholes."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from commitgate.backends.translation.fitting import Fitting, Mend, Offence
from commitgate.backends.translation.schema_graph import Node
from commitgate.pointer import child


def _declare(fitting: Fitting, offence: Offence) -> None:
    """Declare the properties that are required."""
    node = offence.node
    members = node.named.setdefault("properties", {})
    extras = node.one.get("additionalProperties")
    for name in node.required:
        if name not in members:
            is_extra = extras is not None and fitting.conjunction.matches(node, name) is False
            members[name] = extras if is_extra and extras is not None else Node(node.origin)
    fitting.note("rewritten", node, "required", f"{fitting.words.happens(offence.case)}; the names are declared")


def _any_items(fitting: Fitting, offence: Offence) -> None:
    node = offence.node
    node.one["items"] = Node(child(node.origin, "items"))
    fitting.note("rewritten", node, "items", f"{fitting.words.happens(offence.case)}; said that any item is allowed")


def _fewest_items(fitting: Fitting, offence: Offence) -> None:
    """Ask for one item where more are wanted."""
    node = offence.node
    if not fitting.words.takes("min_items_one"):
        fitting.widen(node, offence.case, "minItems")
    elif fitting.may_change(node):
        node.plain["minItems"] = 1
        fitting.note("checked", node, "minItems", f"{fitting.words.happens(offence.case)}; asked for one item")


def _end_tuple(fitting: Fitting, offence: Offence) -> None:
    """Say by their number that no further items are allowed."""
    node = offence.node
    count = len(node.many.get("prefixItems", []))
    most = node.plain.get("maxItems")
    node.plain["maxItems"] = min(most, count) if isinstance(most, int) else count
    if count:
        node.drop("items")
    else:
        node.one["items"] = Node(child(node.origin, "items"))
    fitting.note("rewritten", node, "items", f"{fitting.words.happens(offence.case)}; said by maxItems")


def _any_order(fitting: Fitting, offence: Offence) -> None:
    """Let every item be what one of them may be."""
    node = offence.node
    prefix = node.many["prefixItems"]
    further = node.one.get("items")
    most = node.plain.get("maxItems")
    is_ended = isinstance(most, int) and most <= len(prefix)
    kinds = [*prefix, *([] if further is None or is_ended else [further])]
    kinds = [each for index, each in enumerate(kinds) if each not in kinds[:index]]
    is_open = further is None and not is_ended
    if is_open or not fitting.may_change(node):
        if is_open:
            fitting.widen(node, offence.case, "prefixItems")
        return
    node.drop("prefixItems")
    node.one["items"] = kinds[0] if len(kinds) == 1 else Node(node.origin, many={"anyOf": kinds})
    reason = f"{fitting.words.happens(offence.case)}; asked that each item be what one of them may be"
    fitting.note("checked", node, "prefixItems", reason)


def _forbid_key(fitting: Fitting, offence: Offence) -> None:
    """Leave out a property that must not be there."""
    owner = offence.owner
    extras = owner.one.get("additionalProperties")
    if extras is None or not extras.is_false:
        if not fitting.may_change(owner):
            return
        fitting.note("checked", offence.node, "properties", fitting.words.happens(offence.case))
    if offence.name in owner.required:
        owner.become(Node(owner.origin, is_false=True))
    else:
        owner.properties.pop(offence.name, None)
    fitting.lose(offence.node)


def _forget_patterns(fitting: Fitting, offence: Offence) -> None:
    """Take out what is said of keys by their pattern, and what hangs on it."""
    node, words = offence.node, fitting.words
    if not fitting.may_change(node):
        return
    if not words.refuses("open_object"):
        if "additionalProperties" in node.one:
            fitting.note("checked", node, "additionalProperties", f"{words.happens(offence.case)}, which it hangs on")
        node.drop("additionalProperties")
        fitting.widen(node, offence.case, "patternProperties")
        return
    _check_keys(fitting, node)
    reason = f"{words.happens(offence.case)}; only the declared keys are asked for"
    fitting.note("narrowed", node, "patternProperties", reason)
    if any(fitting.conjunction.matches(node, name) is not False for name in node.properties):
        fitting.note("checked", node, "patternProperties", words.happens(offence.case))
    node.drop("patternProperties")
    node.one["additionalProperties"] = Node(node.origin, is_false=True)


def _close(fitting: Fitting, offence: Offence) -> None:
    """Allow the declared keys alone."""
    node = offence.node
    if not fitting.may_change(node):
        return
    if fitting.words.takes("closed_object"):
        _check_keys(fitting, node)
        reason = f"{fitting.words.happens(offence.case)}; only the declared keys are asked for"
        fitting.note("narrowed", node, "additionalProperties", reason)
        node.one["additionalProperties"] = Node(node.origin, is_false=True)
    else:
        fitting.widen(node, offence.case, "additionalProperties")


def _check_keys(fitting: Fitting, node: Node) -> None:
    """Check that an object has declared keys, so that closing it leaves more than ``{}``."""
    if not node.properties:
        reason = (
            f"{fitting.words.title} takes objects of declared keys alone, and none is declared; "
            "declare them, or write a list of objects with a key and a value each"
        )
        raise fitting.unsupported(node, "additionalProperties", reason)


STRUCTURES: Mapping[str, Mend] = MappingProxyType(
    {
        "undeclared_required": _declare,
        "required_alone": _declare,
        "max_items_alone": _any_items,
        "array_without_items": _any_items,
        "min_items": _fewest_items,
        "closed_tuple": _end_tuple,
        "false_schema": _forbid_key,
        "pattern_properties": _forget_patterns,
        "pattern_beside_properties": _forget_patterns,
    }
)
"""Cases of arrays and objects."""

OPEN: Mapping[str, Mend] = MappingProxyType({"typed_extra_properties": _close, "open_object": _close})
"""Cases of objects that allow further keys; looked at once their own keys are settled."""

TUPLES: Mapping[str, Mend] = MappingProxyType({"prefix_items": _any_order, "prefix_beside_items": _any_order})
"""Cases of tuples; looked at once their end is settled."""

__all__ = ["OPEN", "STRUCTURES", "TUPLES"]

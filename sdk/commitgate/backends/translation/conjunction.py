"""Merge schemas that hold at once into one that says the same, as far as one can.

What cannot be said in one is handed back, so that nothing is lost. Pairs that were merged once are not merged again:
recursive schemas come to an end.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import TypeAlias, cast

from commitgate.automaton.json_schema.plain_json import canonical
from commitgate.backends.translation.schema_graph import ASSERTIONS, Node, prune
from commitgate.errors import LimitExceededError
from commitgate.gate.pattern_search import PatternSearch, one_look
from commitgate.json_value import JsonValue

Number: TypeAlias = "int | float | Decimal"

MOST_MERGED_SCHEMAS = 20_000
"""Most schemas that are made by merging others, for one contract."""

_MOST_FOLLOWED = 64
_LOWER = frozenset({"minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"})
_UPPER = frozenset({"maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"})
_GROUPS = (
    frozenset({"contains", "minContains", "maxContains"}),
    frozenset({"if", "then", "else"}),
)
"""Keywords that mean something together alone."""

_EXTRAS = frozenset({"properties", "patternProperties", "additionalProperties"})
_ITEMS = frozenset({"prefixItems", "items"})
_EVALUATING = frozenset({"unevaluatedProperties", "unevaluatedItems"})


@dataclass(slots=True)
class Conjunction:
    """Merge the nodes of one graph.

    Attributes:
        made: how many were made.
    """

    made: int = 0
    _merged: dict[tuple[Node, Node], Node] = field(default_factory=dict[tuple[Node, Node], Node])
    _patterns: PatternSearch = field(default_factory=PatternSearch)

    def matches(self, node: Node, name: str) -> bool | None:
        """Return whether a pattern of ``patternProperties`` is found in a key; None where that takes too much work."""
        with one_look() as look:
            found = any(self._patterns.finds(each)(name) for each in node.named.get("patternProperties", {}))
        return None if look.has_given_up else found

    def flat(self, node: Node) -> tuple[Node, list[Node]]:
        """Return what a node says without ``$ref`` and ``allOf``, and what could not be said with it.

        Args:
            node: it; not changed.
        """
        found, left = node.copy(), list[Node]()
        found.drop("$ref", "allOf")
        waiting = [*self._parts(node)]
        followed = 0
        while waiting:
            part = waiting.pop(0)
            parts = self._parts(part)
            if parts:
                followed += 1
                if followed > _MOST_FOLLOWED:
                    left.append(part)
                    continue
                own = part.copy()
                own.drop("$ref", "allOf")
                waiting = [own, *parts, *waiting]
                continue
            found, rest = self.both(found, part)
            if rest is not None:
                left.append(rest)
        return found, left

    def _parts(self, node: Node) -> list[Node]:
        target = node.one.get("$ref")
        return [*([target] if target is not None else []), *node.many.get("allOf", [])]

    def both(self, first: Node, second: Node) -> tuple[Node, Node | None]:
        """Return what two nodes without ``$ref`` and ``allOf`` say together, and what of the second could not be said.

        Both are left as they are.
        """
        if first.is_false or second.is_false:
            return Node(first.origin, is_false=True), None
        if not _EVALUATING.isdisjoint(first.words() | second.words()) and not (first.is_true or second.is_true):
            return first, second  # what is evaluated beside them would be more than before
        self._count()
        found, rest = first.copy(), Node(second.origin)
        found.lost.update(second.lost)
        _merge_plain(found, second, rest)
        if found.is_false:
            return found, None
        self._merge_members(found, second, rest)
        self._merge_items(found, second)
        self._merge_others(found, second, rest)
        prune(found)
        return found, None if rest.is_true else rest

    def child(self, first: Node, second: Node) -> Node:
        """Return a node that says what two say; where they cannot be said in one, with ``allOf``."""
        if first is second or second.is_true:
            return first
        if first.is_true:
            return second
        if first.is_false or second.is_false:
            return Node(first.origin, is_false=True)
        known = self._merged.get((first, second))
        if known is not None:
            return known
        self._count()
        found = self._merged[first, second] = Node(first.origin)
        if _is_deferred(first) or _is_deferred(second):
            # Merged where they stand, once they are met there: they may lead back here.
            found.many["allOf"] = [first, second]
            return found
        merged, rest = self.both(first, second)
        found.become(merged)
        if rest is not None:
            found.many["allOf"] = [*found.many.get("allOf", []), rest]
        return found

    def _count(self) -> None:
        self.made += 1
        if self.made > MOST_MERGED_SCHEMAS:
            raise LimitExceededError(
                f"the schemas that hold at once would be merged into more than {MOST_MERGED_SCHEMAS:,}; "
                "use fewer of allOf, anyOf and keywords beside $ref",
                limit_name="nodes",
                limit=MOST_MERGED_SCHEMAS,
                found=self.made,
            )

    def _merge_members(self, found: Node, second: Node, rest: Node) -> None:
        """Merge what two nodes say of properties."""
        if _EXTRAS.isdisjoint(second.words()):
            return
        if _EXTRAS.isdisjoint(found.words()):
            _take(found, second, _EXTRAS)
            return
        if not self._can_meet(found, second) or not self._can_meet(second, found):
            _take(rest, second, _EXTRAS)
            return
        mine, its = dict(found.properties), second.properties
        members: dict[str, Node] = {}
        for name in dict.fromkeys([*mine, *its]):
            members[name] = self.child(
                mine.get(name) or self._extra(found, name), its.get(name) or self._extra(second, name)
            )
        patterns = dict(found.named.get("patternProperties", {}))
        for pattern, node in second.named.get("patternProperties", {}).items():
            patterns[pattern] = self.child(patterns[pattern], node) if pattern in patterns else node
        extras = self.child(
            found.one.get("additionalProperties") or Node(found.origin),
            second.one.get("additionalProperties") or Node(second.origin),
        )
        if extras.is_false:
            required = {*found.required, *second.required}
            members = {name: node for name, node in members.items() if not node.is_false or name in required}
        if members or "properties" in found.named or "properties" in second.named:
            found.named["properties"] = members
        if patterns:
            found.named["patternProperties"] = patterns
        if not extras.is_true or "additionalProperties" in {*found.one, *second.one}:
            found.one["additionalProperties"] = extras

    def _can_meet(self, node: Node, other: Node) -> bool:
        """Say that what a node allows of further keys can be said of the keys that another one names."""
        extras = node.one.get("additionalProperties")
        if extras is None or extras.is_true:
            return True
        patterns = other.named.get("patternProperties", {})
        return all(each in node.named.get("patternProperties", {}) for each in patterns) and all(
            self.matches(node, name) is not None for name in other.properties
        )

    def _extra(self, node: Node, name: str) -> Node:
        """Return what a node says of a key that it does not declare, beside its patterns."""
        extras = node.one.get("additionalProperties")
        return Node(node.origin) if extras is None or self.matches(node, name) else extras

    def _merge_items(self, found: Node, second: Node) -> None:
        """Merge what two nodes say of items."""
        if _ITEMS.isdisjoint(second.words()):
            return
        mine, its = found.many.get("prefixItems", []), second.many.get("prefixItems", [])
        first_items = found.one.get("items") or Node(found.origin)
        second_items = second.one.get("items") or Node(second.origin)
        prefix = [
            self.child(
                mine[index] if index < len(mine) else first_items, its[index] if index < len(its) else second_items
            )
            for index in range(max(len(mine), len(its)))
        ]
        if prefix:
            found.many["prefixItems"] = prefix
        if "items" in found.one or "items" in second.one:
            found.one["items"] = self.child(first_items, second_items)

    def _merge_others(self, found: Node, second: Node, rest: Node) -> None:
        """Merge the keywords that hold schemas and are neither of properties nor of items."""
        for group in (*_GROUPS, {"not"}, {"anyOf"}, {"oneOf"}, {"dependentSchemas"}, {"propertyNames"}):
            its = group & second.words()
            if its:
                _take(found if group.isdisjoint(found.words()) else rest, second, frozenset(group))


def _is_deferred(node: Node) -> bool:
    return "$ref" in node.one or "allOf" in node.many


def _take(node: Node, other: Node, words: frozenset[str]) -> None:
    """Take keywords over from another node."""
    node.plain.update({word: value for word, value in other.plain.items() if word in words})
    node.one.update({word: value for word, value in other.one.items() if word in words})
    node.many.update({word: list(value) for word, value in other.many.items() if word in words})
    node.named.update({word: dict(value) for word, value in other.named.items() if word in words})


def _merge_plain(found: Node, second: Node, rest: Node) -> None:
    for word, value in second.plain.items():
        mine = found.plain.get(word)
        if word in {"minContains", "maxContains"}:
            continue
        if word not in found.plain:
            found.plain[word] = value
        elif word == "type":
            _meet_types(found, second)
        elif word in _LOWER:
            found.plain[word] = cast("JsonValue", max(cast("int", mine), cast("int", value)))
        elif word in _UPPER:
            found.plain[word] = cast("JsonValue", min(cast("int", mine), cast("int", value)))
        elif word == "required":
            found.plain[word] = list(dict.fromkeys([*found.required, *second.required]))
        elif word == "enum":
            _meet_values(found, value)
        elif word == "const":
            found.is_false |= value_key(mine) != value_key(value)
        elif word == "dependentRequired":
            found.plain[word] = _joined_names(mine, value)
        elif word in ASSERTIONS and canonical(mine) != canonical(value):
            rest.plain[word] = value


def _joined_names(mine: JsonValue, its: JsonValue) -> JsonValue:
    joined = dict(cast("dict[str, list[str]]", mine))
    for key, names in cast("dict[str, list[str]]", its).items():
        joined[key] = list(dict.fromkeys([*joined.get(key, []), *names]))
    return cast("JsonValue", joined)


def _meet_types(found: Node, second: Node) -> None:
    both = met_types(found.types, second.types)
    if not both:
        found.is_false = True
    elif len(both) == 1:
        found.plain["type"] = next(iter(both))
    else:
        listed = [*_listed(found), *_listed(second)]
        found.plain["type"] = [each for each in dict.fromkeys(listed) if each in both]


def _listed(node: Node) -> list[str]:
    named = node.plain.get("type")
    return [named] if isinstance(named, str) else cast("list[str]", named)


def met_types(mine: frozenset[str], its: frozenset[str]) -> frozenset[str]:
    """Return the types that both sets allow; integers are numbers."""
    both = mine & its
    for one, other in ((mine, its), (its, mine)):
        if "integer" in one and "number" in other:
            both |= {"integer"}
    return both - {"integer"} if "number" in both else both


def _meet_values(found: Node, values: JsonValue) -> None:
    known = {value_key(value) for value in cast("list[JsonValue]", values)}
    both = [value for value in cast("list[JsonValue]", found.plain["enum"]) if value_key(value) in known]
    if both:
        found.plain["enum"] = both
    else:
        found.is_false = True


def value_key(value: JsonValue) -> str:
    """Return a text that is the same for values that JSON Schema takes for equal."""
    match value:
        case bool() | None | str():
            return canonical(value)
        case dict():
            members = sorted((canonical(name), value_key(member)) for name, member in value.items())
            return "{" + ",".join(f"{name}:{member}" for name, member in members) + "}"
        case list():
            return "[" + ",".join(map(value_key, value)) + "]"
        case _:
            return _number_key(Decimal(str(value)))


def _number_key(value: Decimal) -> str:
    sign, digits, exponent = value.as_tuple()
    text = "".join(map(str, digits)).lstrip("0")
    shortened = text.rstrip("0")
    return f"{sign if shortened else 0}.{shortened}e{int(exponent) + len(text) - len(shortened) if shortened else 0}"


__all__ = ["MOST_MERGED_SCHEMAS", "Conjunction", "met_types", "value_key"]

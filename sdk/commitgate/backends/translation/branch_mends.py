"""Mend schemas that are combined: references, allOf, anyOf, oneOf, and what holds only sometimes."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from commitgate.backends.translation.fitting import Fitting, Mend, Offence
from commitgate.backends.translation.schema_graph import Node

_IN_PLACE = frozenset({"$ref", "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"})
_UNEVALUATED = frozenset({"unevaluatedProperties", "unevaluatedItems"})
_CHOICES = ("anyOf", "oneOf")


def merge(fitting: Fitting, node: Node, case: str, *, must_end: bool) -> None:
    """Say in one schema what a reference, what stands beside it, and the branches of ``allOf`` say at once.

    Args:
        fitting: the graph's.
        node: where they stand.
        case: the case that is not taken.
        must_end: what cannot be said in one is taken out; else it stays as it is.
    """
    bare = node.copy()
    unevaluated = {
        word: bare.one.pop(word) for word in ("unevaluatedProperties", "unevaluatedItems") if word in bare.one
    }
    merged, left = fitting.conjunction.flat(bare)
    keyword = "allOf" if "allOf" in node.many else "$ref"
    if unevaluated and (left or not _IN_PLACE.isdisjoint(merged.words()) or "contains" in merged.one):
        left = []
        if must_end and fitting.may_change(node):
            for word in unevaluated:
                fitting.note("checked", node, word, fitting.words.happens(case))
            node.drop(*unevaluated)
        return
    for word, inner in unevaluated.items():
        merged.one.setdefault("additionalProperties" if word == "unevaluatedProperties" else "items", inner)
    if left and not must_end:
        return
    if left and not fitting.may_change(node):
        return
    for part in left:
        for word in sorted(part.said):
            fitting.note("checked", part, word, fitting.words.happens(case))
    merged.plain.update(node.notes)
    node.become(merged)
    fitting.note("rewritten", node, keyword, f"{fitting.words.happens(case)}; merged into one schema")


def _merge_all(fitting: Fitting, offence: Offence) -> None:
    node = offence.node
    if "allOf" in node.many or "$ref" in node.one:
        merge(fitting, node, offence.case, must_end=True)


def _drop_notes(fitting: Fitting, offence: Offence) -> None:
    offence.node.drop(*offence.node.notes)


def _distribute(fitting: Fitting, offence: Offence) -> None:
    """Say in each branch what stands beside the branches."""
    node = offence.node
    word = next((each for each in _CHOICES if each in node.many), None)
    if word is None:
        return
    beside = node.copy()
    branches = beside.many.pop(word)
    notes = beside.notes
    beside.drop(*notes)
    if beside.is_true or not _UNEVALUATED.isdisjoint(beside.words()):
        return
    changed = Node(node.origin, plain=notes)
    changed.many[word] = [_beside(fitting, branch, beside) for branch in branches]
    node.become(changed)
    fitting.note("rewritten", node, word, f"{fitting.words.happens(offence.case)}; said in each branch")


def _beside(fitting: Fitting, branch: Node, beside: Node) -> Node:
    """Return a branch that also says what stands beside all of them; the keys of the latter come first."""
    flat, left = fitting.conjunction.flat(branch)
    merged, rest = fitting.conjunction.both(beside, flat)
    merged.origin = branch.origin
    merged.plain.update(branch.notes)
    further = [*left, *([] if rest is None else [rest])]
    if further:
        merged.many["allOf"] = [*merged.many.get("allOf", []), *further]
    return merged


def _loosen(fitting: Fitting, offence: Offence) -> None:
    if "oneOf" in offence.node.many:
        node = offence.node
        # Exact where no value takes two branches; else it lets more through.
        if fitting.are_apart(node.many["oneOf"]) or fitting.may_change(node):
            fitting.loosen(node, fitting.words.happens(offence.case))


def _take_out(*keywords: str) -> Mend:
    def mend(fitting: Fitting, offence: Offence) -> None:
        fitting.widen(offence.node, offence.case, *keywords)

    return mend


def _lose(fitting: Fitting, offence: Offence) -> None:
    node, keyword = offence.node, offence.keyword
    if fitting.may_change(node):
        fitting.note("checked", node, keyword, node.lost.pop(keyword))


def _refuse_recursion(fitting: Fitting, offence: Offence) -> None:
    reason = f"{fitting.words.happens(offence.case)}; write out the levels that are wanted"
    raise fitting.unsupported(offence.node, "$ref", reason)


COMBINED: Mapping[str, Mend] = MappingProxyType(
    {
        "lost": _lose,
        "not": _take_out("not"),
        "if_then_else": _take_out("if", "then", "else"),
        "contains": _take_out("contains", "minContains", "maxContains"),
        "dependent_required": _take_out("dependentRequired"),
        "dependent_schemas": _take_out("dependentSchemas"),
        "property_names": _take_out("propertyNames"),
        "names_beside_properties": _take_out("propertyNames"),
        "reference_with_siblings": _merge_all,
        "all_of_one": _merge_all,
        "all_of_reference": _merge_all,
        "all_of_many": _merge_all,
        "root_reference": _merge_all,
        "described_reference": _drop_notes,
        "any_of_beside_properties": _distribute,
    }
)
"""Cases of schemas that hold at once; looked at first, because what is mended later is then in one place."""

EXCLUSIVE: Mapping[str, Mend] = MappingProxyType({"one_of": _loosen, "one_of_overlapping": _loosen})

RECURSIVE: Mapping[str, Mend] = MappingProxyType({"recursive_reference": _refuse_recursion})


def settle(fitting: Fitting) -> None:
    """Merge what holds at once wherever the vendor is not known for certain to read it as it is meant.

    What cannot be said in one schema stays as it is, for the mends to decide on.
    """
    words = fitting.words
    closes = words.refuses("open_object")
    merges = closes or not words.surely_takes("all_of_one", "all_of_many", "all_of_reference")
    inlines = closes or not words.surely_takes("reference_with_siblings")
    spreads = not words.surely_takes("any_of_beside_properties")
    done: set[Node] = set()
    waiting = [fitting.root]
    while waiting:
        node = waiting.pop()
        if node in done:
            continue
        done.add(node)
        if merges and "allOf" in node.many:
            merge(fitting, node, "all_of_many", must_end=False)
        elif inlines and "$ref" in node.one and not _stands_alone(node):
            merge(fitting, node, "reference_with_siblings", must_end=False)
        if spreads and any(word in node.many for word in _CHOICES):
            _distribute(fitting, Offence("any_of_beside_properties", node, "anyOf", "", node, ""))
        waiting.extend(held for _, held in node.held() if held not in done)


def _stands_alone(node: Node) -> bool:
    """Say that nothing that constrains stands beside a reference."""
    return node.said == {"$ref"}


__all__ = ["COMBINED", "EXCLUSIVE", "RECURSIVE", "merge", "settle"]

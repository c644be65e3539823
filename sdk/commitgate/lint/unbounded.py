"""Find where an answer may grow until a limit stops it, by what each place means and not by how it is written."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import TypeAlias

from commitgate.automaton.formats import FORMATS
from commitgate.automaton.json_schema.language import EVERYTHING, Language
from commitgate.automaton.json_schema.nodes import ANYTHING, Node, SchemaAt, forbids
from commitgate.automaton.json_schema.satisfiability import Satisfiability
from commitgate.automaton.json_schema.shapes import ArrayShape, ObjectShape, StringShape
from commitgate.json_value import JsonValue
from commitgate.lint.finding import Finding, finding
from commitgate.lint.places import branches_of
from commitgate.pointer import child

_Test: TypeAlias = Callable[[Language], bool]

_INSTEAD = {
    "any_value": "write what may stand there; a model fills such a place with anything",
    "unbounded_string": "give maxLength, an enum, or a pattern or format whose texts have a longest one",
    "unbounded_array": "give maxItems",
    "unbounded_object": "declare the keys that are wanted and set additionalProperties to false, or give maxProperties",
}

_DECLARE = "declare what it holds: items of an array, properties of an object"
_BOUND_FORMAT = "give a pattern in its place, or maxLength beside it, which some engines refuse or ignore"


def unbounded_findings(analysis: Satisfiability) -> Iterator[Finding]:
    """Yield a finding for each place where nothing in the schema bounds how long an answer gets.

    Args:
        analysis: what the schema means.
    """
    limits = analysis.meaning.document.limits
    words = {
        "any_value": "any JSON may stand here",
        "unbounded_string": f"the string has no longest text; {limits.string_characters} characters stop it",
        "unbounded_array": f"the array has no upper bound; {limits.array_items} items stop it",
        "unbounded_object": f"any number of free keys may stand here; {limits.free_properties} stop it",
    }
    schemas = analysis.meaning.document.schemas
    for code, pointer, is_inside in dict.fromkeys(_Search(analysis).found()):
        named = _format(schemas.get(pointer)) if code == "unbounded_string" else None
        if is_inside:
            message = "it holds any JSON: nothing says what stands in it, or under a key that nothing declares"
            yield finding(code, pointer, message, _DECLARE)
        elif named is not None:
            message = f"format {named} has no longest text; {limits.string_characters} characters stop it"
            yield finding(code, pointer, message, _BOUND_FORMAT, keyword="format")
        else:
            yield finding(code, pointer, words[code], _INSTEAD[code])


def _format(schema: JsonValue) -> str | None:
    """Return the format that a schema names, where it is one that is known."""
    named = schema.get("format") if isinstance(schema, dict) else None
    return named if isinstance(named, str) and named in FORMATS else None


class _Search:
    """Go over every node that can be reached from the root.

    Args:
        analysis: what the schema means.
    """

    def __init__(self, analysis: Satisfiability) -> None:
        self._analysis = analysis
        self._meaning = analysis.meaning

    def found(self) -> Iterator[tuple[str, str, bool]]:
        """Yield each code with the place of the schema to which it belongs, and whether it is of what that holds."""
        root = self._analysis.root
        queue: deque[tuple[Node, str, bool]] = deque([(root, "", False)])
        seen = {root}
        while queue:
            node, above, is_inside = queue.popleft()
            place = next((part.pointer for part in node if part.pointer), above)
            language = self._meaning.of(node)
            if node == ANYTHING or language == EVERYTHING:
                yield "any_value", place, is_inside and place == above
                continue
            yield from ((code, at, False) for code, at in self._here(node, place, language))
            for used, at in _children(language, place):
                if used not in seen:
                    is_own = at in self._meaning.document.schemas
                    if used != ANYTHING:
                        seen.add(used)
                    queue.append((used, at if is_own else place, not is_own))

    def _here(self, node: Node, place: str, language: Language) -> Iterator[tuple[str, str]]:
        for code, holds in (("unbounded_string", _endless_string), ("unbounded_object", _endless_object)):
            if holds(language):
                yield from ((code, at) for at in self._blamed(node, place, holds))
        if self._endless_array(language):
            yield from (("unbounded_array", at) for at in self._blamed(node, place, self._endless_array))

    def _blamed(self, node: Node, place: str, holds: _Test) -> list[str]:
        """Return the branches that are to blame, or the place itself where none alone is."""
        if len(node) != 1 or not isinstance(node[0], SchemaAt):
            return [place]
        found: list[str] = []
        open_places, seen = [place], set[str]()
        while open_places:
            at = open_places.pop()
            schema = self._meaning.document.schemas.get(at)
            branches = branches_of(schema, at) if isinstance(schema, dict) else []
            below = [target for _, branch in branches for target in self._held(branch, holds)]
            if not below:
                found.append(at)
            for target in below:
                if target not in seen:
                    seen.add(target)
                    open_places.append(target)
        return sorted(set(found))

    def _held(self, branch: str, holds: _Test) -> list[str]:
        node = self._meaning.node_at(branch)
        if not holds(self._meaning.of(node)):
            return []
        return [part.pointer for part in node] or [branch]

    def _endless_array(self, language: Language) -> bool:
        return any(
            shape.most is None and not forbids(shape.items) and self._analysis.unique.values(shape) is None
            for shape in language.arrays
        )


def _endless_string(language: Language) -> bool:
    return any(map(_is_endless, language.strings))


def _is_endless(shape: StringShape) -> bool:
    if shape.values is not None or shape.texts.most is not None:
        return False
    return shape.texts.dfa.lengths.longest()[0] is None


def _endless_object(language: Language) -> bool:
    return any(_has_free_keys(shape) and shape.most is None for shape in language.objects)


def _has_free_keys(shape: ObjectShape) -> bool:
    """Return whether keys that nobody declared are written, as they are where somebody asks for them."""
    return (shape.is_open or not shape.properties) and any(not forbids(keys.node) for keys in shape.classes)


def _children(language: Language, place: str) -> Iterator[tuple[Node, str]]:
    for array in language.arrays:
        yield from _items(array, place)
    for shape in language.objects:
        for name in shape.names():
            yield shape.entry(name).node, child(place, "properties", name)
        if _has_free_keys(shape):
            yield from ((keys.node, child(place, "additionalProperties")) for keys in shape.classes)


def _items(shape: ArrayShape, place: str) -> Iterator[tuple[Node, str]]:
    for index in range(len(shape.prefix)):
        yield shape.item(index), child(place, "prefixItems", index)
    if shape.most is None or shape.most > len(shape.prefix):
        yield shape.items, child(place, "items")


__all__ = ["unbounded_findings"]

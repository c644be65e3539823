"""Walk over the places of a schema: what lies in what, what a property is, and where references lead back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from commitgate.automaton.json_schema.document import SchemaDocument
from commitgate.automaton.json_schema.keywords import keywords_of
from commitgate.automaton.json_schema.subschemas import subschemas
from commitgate.automaton.json_schema.vocabulary import Vocabulary
from commitgate.errors import ContractError
from commitgate.json_value import JsonObject, JsonValue
from commitgate.pointer import child

_DEEPER = frozenset(
    {
        "properties",
        "patternProperties",
        "additionalProperties",
        "unevaluatedProperties",
        "items",
        "prefixItems",
        "additionalItems",
        "unevaluatedItems",
        "contains",
    }
)
"""Keywords whose schemas judge a part of the value."""

_BESIDE = frozenset({"not", "propertyNames"})
"""Keywords whose schemas judge nothing that is written into the value."""

_MOST_HOPS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class PropertyPlace:
    """Hold one declared property.

    Attributes:
        name: its key.
        pointer: place of its schema.
        owner: place of the schema that declares it.
        schema: its schema, references alone followed; empty where that is a boolean.
        own: the schema as it stands there; empty where that is a boolean.
        is_required: it must be there.
    """

    name: str
    pointer: str
    owner: str
    schema: JsonObject
    own: JsonObject
    is_required: bool


def objects_of(document: SchemaDocument) -> Iterator[tuple[str, JsonObject]]:
    """Yield each schema of the document itself that is no boolean, with its place."""
    for place, schema in document.schemas.items():
        if isinstance(schema, dict) and (not place or place.startswith("/")):
            yield place, schema


_PARTS = frozenset({"allOf", "if", "then", "else", "not", "dependentSchemas", "dependencies", "contains"})
_CONDITIONS = _PARTS - {"allOf"}
_NAMING = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"})
_CHOICES = frozenset({"anyOf", "oneOf"})


def speaks_for_whole(place: str) -> bool:
    """Return whether the schema at a place says all that holds for a value, and not a part or a condition of it."""
    return _PARTS.isdisjoint(_keywords_to(place))


def is_condition(place: str) -> bool:
    """Return whether what stands at a place holds only sometimes, or only tells one value from another."""
    return not _CONDITIONS.isdisjoint(_keywords_to(place))


def is_branch(place: str) -> bool:
    """Return whether the schema at a place is, or lies in, a branch of ``anyOf`` or ``oneOf``."""
    return not _CHOICES.isdisjoint(_keywords_to(place))


def _keywords_to(place: str) -> set[str]:
    """Return the keywords on the way to a place; the names of properties and definitions are none."""
    found: set[str] = set()
    is_name = False
    for token in place.split("/")[1:]:
        if not is_name:
            found.add(token)
        is_name = not is_name and token in _NAMING
    return found


def properties_of(document: SchemaDocument, place: str, schema: JsonObject) -> Iterator[PropertyPlace]:
    """Yield the properties that a schema declares."""
    declared = schema.get("properties")
    required = set(texts_of(schema.get("required")))
    for name in declared if isinstance(declared, dict) else ():
        pointer = child(place, "properties", name)
        own = document.schemas.get(pointer)
        yield PropertyPlace(
            name=name,
            pointer=pointer,
            owner=place,
            schema=followed(document, pointer),
            own=own if isinstance(own, dict) else {},
            is_required=name in required,
        )


def texts_of(value: JsonValue) -> list[str]:
    """Return the strings of a list; none of anything else."""
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def types_of(schema: JsonObject) -> set[str]:
    """Return the types that a schema names outright."""
    named = schema.get("type")
    return {named} if isinstance(named, str) else set(texts_of(named))


def target_of(document: SchemaDocument, place: str) -> str | None:
    """Return the place to which the ``$ref`` of a schema leads; None where it has none."""
    reference = document.constraining(place).get("$ref") if place in document.schemas else None
    if not isinstance(reference, str):
        return None
    try:
        return document.resolve(reference, place)
    except ContractError:
        return None


def followed(document: SchemaDocument, place: str) -> JsonObject:
    """Return the schema at a place, or where its reference leads, with what stands beside the reference laid over."""
    found: JsonObject = {}
    for _ in range(_MOST_HOPS):
        schema = document.schemas.get(place)
        if not isinstance(schema, dict):
            break
        found = {**schema, **found}
        target = target_of(document, place)
        if target is None:
            break
        found.pop("$ref", None)
        place = target
    return found


def branches_of(schema: JsonObject, place: str) -> list[tuple[str, str]]:
    """Return the keyword and place of each branch of ``anyOf`` and ``oneOf``."""
    found: list[tuple[str, str]] = []
    for keyword in ("anyOf", "oneOf"):
        branches = schema.get(keyword)
        found.extend((keyword, child(place, keyword, index)) for index in range(_length(branches)))
    return found


def _length(value: JsonValue) -> int:
    return len(value) if isinstance(value, list) else 0


class Depths:
    """Tell how deep values nest below each place, and which references lead back to where they stand.

    Args:
        document: the schema.

    Attributes:
        depth: nesting of arrays and objects below each place in reach of the root, itself counted; a way that leads
            back is not gone twice.
        recursive: places whose reference or part leads back.
    """

    def __init__(self, document: SchemaDocument) -> None:
        self._document = document
        self.depth: dict[str, int] = {}
        self.recursive: dict[str, None] = {}
        self._vocabularies: dict[int, Vocabulary] = {}
        self._visit()

    def deepest(self) -> str:
        """Return the place of the deepest value."""
        place, seen = "", set[str]()
        while place not in seen:
            seen.add(place)
            below = [(target, weight) for target, weight in self._edges(place) if target in self.depth]
            going = max(below, key=lambda edge: self.depth[edge[0]] + edge[1], default=None)
            if going is None or self.depth[going[0]] + going[1] == 0:
                return place
            place = going[0]
        return place

    def _visit(self) -> None:
        """Go over all places in reach depth first; a stack of one's own, for references may be thousands deep."""
        open_places: dict[str, None] = {"": None}
        best: dict[str, int] = {"": 0}
        stack = [("", 0, iter(self._edges("")))]
        while stack:
            place, weight_here, edges = stack[-1]
            for target, weight in edges:
                if target in open_places:
                    self.recursive[place] = None
                elif target in self.depth:
                    best[place] = max(best[place], self.depth[target] + weight)
                else:
                    open_places[target] = None
                    best[target] = 0
                    stack.append((target, weight, iter(self._edges(target))))
                    break
            else:
                stack.pop()
                del open_places[place]
                self.depth[place] = best.pop(place)
                if stack:
                    above = stack[-1][0]
                    best[above] = max(best[above], self.depth[place] + weight_here)

    def _edges(self, place: str) -> list[tuple[str, int]]:
        if place not in self._document.schemas:
            return []
        found: list[tuple[str, int]] = []
        target = target_of(self._document, place)
        if target is not None:
            found.append((target, 0))
        draft = self._document.draft_at(place)
        vocabulary = self._vocabularies.setdefault(draft, Vocabulary(draft, keywords_of(draft)))
        for keyword, value in self._document.constraining(place).items():
            if keyword not in _BESIDE:
                weight = 1 if keyword in _DEEPER else 0
                found.extend((at, weight) for at, _ in subschemas({keyword: value}, place, vocabulary))
        return found


__all__ = [
    "Depths",
    "PropertyPlace",
    "branches_of",
    "followed",
    "is_branch",
    "is_condition",
    "objects_of",
    "properties_of",
    "speaks_for_whole",
    "target_of",
    "texts_of",
    "types_of",
]

"""Read a schema into a graph of nodes, in the words of draft 2020-12 whatever it is written in.

References become edges, into the other documents too, so that nothing outside is referred to any more.

Source: JSON Schema 2020-12, migration notes of the drafts before it.
"""

from __future__ import annotations

from commitgate.automaton.formats import FORMATS
from commitgate.automaton.json_schema.document import SchemaDocument
from commitgate.automaton.json_schema.drafts import Draft
from commitgate.automaton.json_schema.keywords import KEYWORDS
from commitgate.backends.translation.schema_graph import MANY, NAMED, NOTES, ONE, Node, prune
from commitgate.json_value import JsonObject, JsonValue
from commitgate.pointer import child

_BOUNDS = (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum"))
_IN_PLACE = frozenset({"$ref", "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"})
_NOT_SENT = frozenset({"contentEncoding", "contentMediaType", "contentSchema"})


class GraphReading:
    """Read one document.

    Args:
        document: the schema, and what its references reach.
        asserts_formats: known formats constrain; else none does.
        keeps_prose: titles, descriptions and other notes are kept.
    """

    def __init__(self, document: SchemaDocument, *, asserts_formats: bool, keeps_prose: bool) -> None:
        self._document = document
        self._asserts_formats = asserts_formats
        self._keeps_prose = keeps_prose
        self._nodes: dict[str, Node] = {}
        self._waiting: list[str] = []

    def root(self) -> Node:
        """Return the node of the root, all in its reach read."""
        found = self._node("")
        while self._waiting:
            place = self._waiting.pop()
            self._fill(self._nodes[place], place)
        return found

    def at(self, place: str) -> Node | None:
        """Return the node of a place; None where none was read."""
        return self._nodes.get(place)

    def _node(self, place: str) -> Node:
        if place not in self._nodes:
            self._nodes[place] = Node(place)
            self._waiting.append(place)
        return self._nodes[place]

    def _fill(self, node: Node, place: str) -> None:
        schema = self._document.at(place)
        if isinstance(schema, bool):
            node.is_false = not schema
            return
        draft = self._document.draft_at(place)
        words = self._document.constraining(place)
        if self._keeps_prose:
            node.plain.update(_notes(schema, words))
        for word, value in words.items():
            self._read(node, place, word, value, draft)
        if draft < Draft.DRAFT_2020_12:
            self._read_old(node, place, words, draft)
        _tidy(node)

    def _read(self, node: Node, place: str, word: str, value: JsonValue, draft: Draft) -> None:
        match word:
            case "$ref":
                node.one[word] = self._node(self._document.resolve(str(value), place))
            case "$dynamicRef" | "$recursiveRef":
                self._read_dynamic(node, place, word, str(value))
            case "format":
                if self._asserts_formats and value in FORMATS:
                    node.plain[word] = value
            case "items" if isinstance(value, list):
                node.many["prefixItems"] = self._listed(place, word, value)
            case "additionalItems" | "dependencies":
                pass  # see _read_old
            case _ if word in ONE:
                node.one[word] = self._node(child(place, word))
            case _ if word in MANY and isinstance(value, list):
                node.many[word] = self._listed(place, word, value)
            case _ if word in NAMED and isinstance(value, dict):
                node.named[word] = {name: self._node(child(place, word, name)) for name in value}
            case _:
                node.plain[word] = value

    def _listed(self, place: str, word: str, value: list[JsonValue]) -> list[Node]:
        return [self._node(child(place, word, index)) for index in range(len(value))]

    def _read_dynamic(self, node: Node, place: str, word: str, reference: str) -> None:
        if word == "$dynamicRef":
            target = self._document.resolve_dynamic(reference, place)
        else:
            target = self._document.resolve_recursive(place)
        if target is None:
            node.lost[word] = "which schema is meant depends on the way to it"
        elif "$ref" in node.one:
            node.many.setdefault("allOf", []).append(Node(place, one={"$ref": self._node(target)}))
        else:
            node.one["$ref"] = self._node(target)

    def _read_old(self, node: Node, place: str, words: JsonObject, draft: Draft) -> None:
        if isinstance(words.get("items"), list) and "additionalItems" in words:
            node.one["items"] = self._node(child(place, "additionalItems"))
        dependencies = words.get("dependencies")
        if isinstance(dependencies, dict) and dependencies:
            self._read_dependencies(node, place, dependencies)
        if draft is Draft.DRAFT_4:
            for bound, exclusive in _BOUNDS:
                if node.plain.pop(exclusive, False) is True:
                    node.plain[exclusive] = node.plain.pop(bound)
            if "integer" in node.types and "number" not in node.types:
                node.lost["type"] = "draft 4 takes 1.0 for no integer, and every later one does"

    def _read_dependencies(self, node: Node, place: str, dependencies: JsonObject) -> None:
        names = {key: value for key, value in dependencies.items() if isinstance(value, list)}
        schemas = [key for key in dependencies if key not in names]
        if names:
            node.plain["dependentRequired"] = dict(names)
        if schemas:
            node.named["dependentSchemas"] = {key: self._node(child(place, "dependencies", key)) for key in schemas}


def _notes(schema: JsonObject, words: JsonObject) -> JsonObject:
    """Return what constrains nothing and may be sent: words of other drafts would begin to constrain."""
    found: JsonObject = {}
    for word, value in schema.items():
        known = KEYWORDS.get(word)
        if word in words or word in _NOT_SENT:
            continue
        if word in NOTES or (known is None and word[:1] != "$"):
            found[word] = value
    return found


def _tidy(node: Node) -> None:
    """Take out what means nothing here, and say what is not evaluated as what is additional where that is the same."""
    prune(node)
    if "if" not in node.one:
        node.drop("then", "else")
    for word in ("required", "dependentRequired", "allOf"):
        value = node.plain.get(word) if word != "allOf" else node.many.get(word)
        if value is not None and not value:
            node.drop(word)
    if node.plain.get("uniqueItems") is False:
        node.drop("uniqueItems")
    if "contains" not in node.one:
        node.drop("minContains", "maxContains")
    if _IN_PLACE.isdisjoint(node.words()) and not node.lost:
        if "unevaluatedProperties" in node.one:
            found = node.one.pop("unevaluatedProperties")
            node.one.setdefault("additionalProperties", found)
        if "unevaluatedItems" in node.one and "contains" not in node.one:
            found = node.one.pop("unevaluatedItems")
            node.one.setdefault("items", found)


__all__ = ["GraphReading"]

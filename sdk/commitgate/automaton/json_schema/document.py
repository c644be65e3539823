"""Hold a schema and the documents that it refers to: well-formedness, size, places and what references name.

A *place* is written as a JSON pointer in the schema itself (``""`` is its root), and as ``uri#pointer`` in another
document. Nothing is ever fetched: a reference reaches the schema and the documents that were passed in, no further.

Source: RFC 6901 (JSON pointers, and their URI fragment form in section 6), RFC 3986 section 5 (relative references),
JSON Schema drafts 4 to 2020-12 core (``$id``, anchors, dynamic references).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import unquote, urldefrag, urljoin

from commitgate.automaton.formats import format_matches
from commitgate.automaton.json_schema.drafts import DEFAULT_DRAFT, Draft, draft_of
from commitgate.automaton.json_schema.forms import check_forms
from commitgate.automaton.json_schema.given_documents import given_documents, why_missing
from commitgate.automaton.json_schema.patterns import check_pattern
from commitgate.automaton.json_schema.plain_json import holds_fractions, plain_copy, too_large
from commitgate.automaton.json_schema.subschemas import as_schema, subschemas
from commitgate.automaton.json_schema.support import SupportTable
from commitgate.automaton.json_schema.unknown_words import why_ignored
from commitgate.automaton.json_schema.uri import as_uri
from commitgate.automaton.json_schema.vocabulary import Vocabulary, of_draft, vocabulary_of
from commitgate.errors import LimitExceededError, SchemaError, UnsupportedError
from commitgate.json_value import JsonSchema, JsonValue
from commitgate.limits import Limits
from commitgate.pointer import value_at

MAX_LONGEST_PATTERNS = 10
"""How many patterns of the full length take as many characters as those of one schema may take together."""

_NAMING = frozenset({"id", "$id", "$anchor", "$dynamicAnchor", "$recursiveAnchor"})
_NAMING_PROPERTIES = frozenset({"properties", "required", "dependentRequired", "dependencies"})
_HOLDING_PATTERNS = ("pattern", "patternProperties")
_FRAGMENT_ALONE = re.compile(r"(?:#(?:[A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*)?")
"""A URI reference that is nothing but a fragment, or empty (RFC 3986 section 3.5)."""
_BAD_PERCENT = re.compile("%(?![0-9A-Fa-f]{2})")


@dataclass(frozen=True, slots=True)
class Context:
    """Hold what a schema takes over from the resource in which it lies.

    Attributes:
        base: URI of the resource, without fragment; empty where it has none.
        root: place of the resource's root.
        vocabulary: its draft and keywords.
    """

    base: str
    root: str
    vocabulary: Vocabulary


class SchemaDocument:
    """Hold one schema, whose every place was looked at, and those that references reach in other documents.

    Args:
        root: the schema, as ``json.loads`` gives it; copied, so that changing it later changes nothing here.
        limits: bounds on its size.
        documents: other documents by absolute URI, which references and ``$schema`` may name.

    Attributes:
        root: the schema.
        limits: the bounds.
        support: how far each constraining keyword is enforced, place by place.
        has_hidden_schemas: a reference reached a schema where no keyword holds one, below a word that else never
            constrains.

    Raises:
        SchemaError: it is not JSON, or a keyword's value has the wrong form, or a reference names nothing.
        UnsupportedError: it uses a draft, or refers to a document, that is not known.
        LimitExceededError: it is larger than a limit.
        MisuseError: ``documents`` is no mapping, or names one by no absolute URI.
    """

    def __init__(self, root: JsonValue, limits: Limits, documents: Mapping[str, JsonSchema] | None = None) -> None:
        self.limits = limits
        self.support = SupportTable()
        self._patterns: set[str] = set()
        self._pattern_characters = 0
        self.has_hidden_schemas = False
        self._names_matter = False
        self._given = given_documents(documents)
        self._roots: dict[str, JsonSchema] = {}
        self._metas: dict[str, JsonSchema] = {}
        self._schemas: dict[str, JsonSchema] = {}
        self._contexts: dict[str, Context] = {}
        self._meaningful: dict[tuple[int, bool], frozenset[str]] = {}
        self._vocabularies: dict[int, Vocabulary] = {}  # by the identity of schemas, which the roots keep alive
        self._constraining: dict[str, dict[str, JsonValue]] = {}
        self._resources: dict[str, str] = {}
        self._anchors: dict[tuple[str, str], str] = {}
        self._given_twice: set[str] = set()
        self._dynamic: dict[str, dict[str, str]] = {}
        self._properties = 0
        self._targets: dict[tuple[str, str, str], str] = {}
        self._take_in(root, "", "", of_draft(DEFAULT_DRAFT))
        self._check_references()

    @property
    def root(self) -> JsonSchema:
        """Return the schema itself."""
        return self._roots[""]

    @property
    def loaded(self) -> Mapping[str, JsonSchema]:
        """Return the other documents that references and ``$schema`` reached, by URI."""
        return {**self._metas, **{name: document for name, document in self._roots.items() if name}}

    @cached_property
    def has_fractions(self) -> bool:
        """Return whether the schema, or a document that was reached, holds a number that is no ``int``."""
        return any(map(holds_fractions, (self.root, *self.loaded.values())))

    @property
    def schemas(self) -> Mapping[str, JsonSchema]:
        """Return every schema that was looked at, by place."""
        return self._schemas

    def at(self, place: str) -> JsonSchema:
        """Return the schema at a place that ``resolve`` or ``child`` gave."""
        return self._schemas[place]

    def value_at(self, place: str) -> JsonValue:
        """Return the JSON value at a place, schema or not."""
        name, pointer = _document_and_pointer(place)
        return value_at(self._roots[name], pointer)

    def draft_at(self, place: str) -> Draft:
        """Return the draft in which the schema at a place is written."""
        return self._contexts[place].vocabulary.draft

    def constraining(self, place: str) -> dict[str, JsonValue]:
        """Return the keywords of the schema at a place that constrain a value, in its draft."""
        return self._constraining[place]

    def meaningful(self, schema: dict[str, JsonValue]) -> frozenset[str] | None:
        """Return the keywords of a schema on which the language can depend; None where it was not looked at.

        The names of resources and anchors count where references use them.

        Args:
            schema: itself, an object that lies in one of the documents; not one like it.
        """
        vocabulary = self._vocabularies.get(id(schema))
        if vocabulary is None:
            return None
        key = (id(vocabulary), self._names_matter)
        if key not in self._meaningful:
            self._meaningful[key] = self._meaningful_in(vocabulary)
        return self._meaningful[key]

    def _meaningful_in(self, vocabulary: Vocabulary) -> frozenset[str]:
        kept = vocabulary.assertions | vocabulary.containers
        if self._names_matter:
            kept |= _NAMING & vocabulary.keywords.keys()
        if vocabulary.draft is not DEFAULT_DRAFT or self._metas:
            kept |= {"$schema"}
        return kept

    def resolve(self, reference: str, place: str, keyword: str = "$ref") -> str:
        """Return the place that a reference in the schema at ``place`` names.

        Raises:
            UnsupportedError: it names a document that was not passed in.
            SchemaError: it names no schema.
        """
        known = self._targets.get((reference, place, keyword))
        if known is None:
            known = self._targets[reference, place, keyword] = self._resolved(reference, place, keyword)
        return known

    def _resolved(self, reference: str, place: str, keyword: str) -> str:
        if _BAD_PERCENT.search(reference):
            raise SchemaError(
                f"{keyword} at {place or 'the root'} holds a percent sign that no two hex digits follow; "
                "write it as %25",
                pointer=place,
                keyword=keyword,
            )
        reference = _uri(keyword, reference, place)
        context = self._contexts[place]
        uri, fragment = _split(reference)
        self._names_matter |= bool(uri) or bool(fragment and not fragment.startswith("/")) or keyword != "$ref"
        root = self._resource(urljoin(context.base, uri), place, keyword, context.vocabulary) if uri else context.root
        fragment = unquote(fragment)
        if fragment and not fragment.startswith("/"):
            return self._anchored(root, fragment, place, keyword)
        target = root + fragment
        if target not in self._schemas:
            self._adopt(target, root, place, keyword)
        return target

    def resolve_dynamic(self, reference: str, place: str) -> str | None:
        """Return the place that a ``$dynamicRef`` names whatever the way to it; None where that depends on the way.

        The way starts at the root, so an anchor of the root's own resource is always the outermost.
        """
        target = self.resolve(reference, place, "$dynamicRef")
        name = urldefrag(reference)[1]
        schema = self._schemas[target]
        if not isinstance(schema, dict) or schema.get("$dynamicAnchor") != name:
            return target
        return self._outermost(self._dynamic.get(name, {}))

    def resolve_recursive(self, place: str) -> str | None:
        """Return the place that a ``$recursiveRef`` names whatever the way to it; None where that depends on it."""
        target = self._contexts[place].root
        schema = self._schemas[target]
        if not isinstance(schema, dict) or schema.get("$recursiveAnchor") is not True:
            return target
        return self._outermost(self._dynamic.get("", {}))

    def _outermost(self, by_resource: Mapping[str, str]) -> str | None:
        if "" in by_resource:
            return by_resource[""]
        return next(iter(by_resource.values())) if len(by_resource) == 1 else None

    def _resource(self, uri: str, place: str, keyword: str, vocabulary: Vocabulary) -> str:
        """Return the root's place of the resource with a URI, its document taken in where it was not yet."""
        if uri not in self._resources:
            if uri not in self._given:
                raise _unsupported(keyword, place, why_missing(uri, self._given))
            self._take_in(self._given[uri], uri, uri + "#", vocabulary)
        self._check_once(uri, keyword, place)
        return self._resources[uri]

    def _take_in(self, document: JsonValue, uri: str, place: str, vocabulary: Vocabulary) -> None:
        """Look at a whole document; without ``$schema`` it is written in the draft of what refers to it."""
        self._roots[uri] = root = as_schema(plain_copy(document, self.limits), place)
        self._resources[uri] = place
        context = Context(uri, place, vocabulary)
        for inner, schema, its in self._places(root, place, context):
            self._look_at(inner, schema, its)

    def _anchored(self, root: str, name: str, place: str, keyword: str) -> str:
        found = self._anchors.get((root, name))
        if found is None:
            raise _names_nothing(keyword, place)
        self._check_once(f"{root}#{name}", keyword, place)
        return found

    def _check_once(self, name: str, keyword: str, place: str) -> None:
        if name in self._given_twice:
            raise SchemaError(
                f"{keyword} at {place or 'the root'} names what two schemas are called; give each a name of its own",
                pointer=place,
                keyword=keyword,
            )

    def _adopt(self, target: str, root: str, place: str, keyword: str) -> None:
        """Take in a schema that lies where no keyword holds one; references may reach it all the same."""
        try:
            value = self.value_at(target)
        except KeyError:
            raise _names_nothing(keyword, place) from None
        self.has_hidden_schemas = True
        above = target
        while above not in self._contexts:
            above = above.rpartition("/")[0]
        context = self._contexts[max(above, root, key=len)]
        for inner, schema, its in self._places(as_schema(value, target), target, context):
            if inner not in self._schemas:
                self._look_at(inner, schema, its)

    def _check_references(self) -> None:
        """Follow every reference once, also where no value can reach it: one that names nothing is a mistake."""
        looked_at = 0
        # Following one may take further schemas in, whose own references come after them.
        while looked_at < len(self._schemas):
            places = list(self._schemas)[looked_at:]
            looked_at = len(self._schemas)
            for place in places:
                constraining = self.constraining(place)
                for keyword in ("$ref", "$dynamicRef"):
                    reference = constraining.get(keyword)
                    if isinstance(reference, str):
                        self.resolve(reference, place, keyword)

    def _places(self, root: JsonSchema, place: str, context: Context) -> Iterator[tuple[str, JsonSchema, Context]]:
        """Yield every schema below ``root``, itself included, with its place and context."""
        stack: list[tuple[str, JsonSchema, Context]] = [(place, root, context)]
        while stack:
            inner, schema, outer = stack.pop()
            its = self._context(inner, schema, outer)
            yield inner, schema, its
            if isinstance(schema, dict):
                held = [(at, value, its) for at, value in subschemas(schema, inner, its.vocabulary)]
                stack.extend(reversed(held))

    def _context(self, place: str, schema: JsonSchema, outer: Context) -> Context:
        """Return the context of a schema, which may start a resource of its own."""
        if not isinstance(schema, dict):
            return outer
        is_root = place == outer.root
        named = schema.get(outer.vocabulary.draft.id_keyword)
        if not is_root and not isinstance(named, str):
            return outer
        chosen = schema.get("$schema")
        # Below the root of a resource $schema says nothing (2020-12 core section 8.1.1).
        if isinstance(chosen, str) and (is_root or isinstance(named, str)):
            vocabulary = vocabulary_of(as_uri(chosen), self._given, place)
            self._note_meta(chosen)
            named = schema.get(vocabulary.draft.id_keyword)
        else:
            vocabulary = outer.vocabulary
        if not isinstance(named, str) or ("$ref" in schema and vocabulary.draft.reference_stands_alone):
            named = ""
        named = _uri(vocabulary.draft.id_keyword, named, place)
        uri, fragment = _split(named)
        base, root = outer.base, place if is_root else outer.root
        if uri:
            self._names_matter |= not is_root
            base, root = urljoin(outer.base, uri), place
            if self._resources.setdefault(base, root) != root:
                self._given_twice.add(base)
        if fragment and vocabulary.draft.reference_stands_alone:
            self._name_anchor(root, unquote(fragment), place)
        return Context(base, root, vocabulary)

    def _note_meta(self, chosen: str) -> None:
        uri = as_uri(chosen).partition("#")[0]
        if draft_of(chosen) is None and uri not in self._metas:
            self._metas[uri] = as_schema(plain_copy(self._given[uri], self.limits), uri + "#")

    def _look_at(self, place: str, schema: JsonSchema, context: Context) -> None:
        self._schemas[place] = schema
        self._contexts[place] = context
        if isinstance(schema, bool):
            self._constraining[place] = {}
            return
        vocabulary = context.vocabulary
        self._vocabularies[id(schema)] = vocabulary
        constraining = self._constraining[place] = _constraining(schema, vocabulary)
        check_forms(schema, vocabulary.keywords, vocabulary.draft, place)
        for name in _HOLDING_PATTERNS:
            if name in schema and name in vocabulary.keywords:
                self._check_patterns(name, schema[name], place)
        if vocabulary.draft is Draft.DRAFT_4:
            _check_exclusive_bounds(schema, place)
        self.support.add(constraining, place)
        if len(constraining) < len(schema):
            self._note_ignored(place, schema, vocabulary)
            self._name(place, schema, context)
        self._count(place, schema)

    def _note_ignored(self, place: str, schema: dict[str, JsonValue], vocabulary: Vocabulary) -> None:
        """Make what constrains nothing visible where it looks as if it did."""
        constraining = self.constraining(place)
        for name in schema:
            reason = "" if name in constraining else why_ignored(name, schema, vocabulary)
            if reason:
                self.support.ignore(name, place, reason)

    def _check_patterns(self, name: str, value: JsonValue, place: str) -> None:
        patterns = [value] if isinstance(value, str) else list(value) if isinstance(value, dict) else []
        for pattern in patterns:
            if len(pattern) > self.limits.pattern_characters:
                raise too_large("pattern_characters", self.limits.pattern_characters, len(pattern), place, name)
            if pattern not in self._patterns:
                self._patterns.add(pattern)
                self._count_pattern(pattern, place, name)
                check_pattern(pattern, place, name)

    def _count_pattern(self, pattern: str, place: str, name: str) -> None:
        self._pattern_characters += len(pattern)
        most = MAX_LONGEST_PATTERNS * self.limits.pattern_characters
        if self._pattern_characters > most:
            raise LimitExceededError(
                f"the patterns of the schema take more than {most} characters together, {MAX_LONGEST_PATTERNS} times "
                f"Limits.pattern_characters, at {place or 'the root'}; write fewer or shorter ones",
                limit_name="pattern_characters",
                limit=most,
                found=self._pattern_characters,
                pointer=place,
                keyword=name,
            )

    def _name(self, place: str, schema: dict[str, JsonValue], context: Context) -> None:
        """Note the anchors of a schema."""
        known = context.vocabulary.keywords
        for keyword in ("$anchor", "$dynamicAnchor"):
            name = schema.get(keyword)
            if isinstance(name, str) and keyword in known:
                self._name_anchor(context.root, name, place)
                if keyword == "$dynamicAnchor":
                    self._dynamic.setdefault(name, {}).setdefault(context.root, place)
        if schema.get("$recursiveAnchor") is True and "$recursiveAnchor" in known and place == context.root:
            self._dynamic.setdefault("", {}).setdefault(context.root, place)

    def _name_anchor(self, root: str, name: str, place: str) -> None:
        if self._anchors.setdefault((root, name), place) != place:
            self._given_twice.add(f"{root}#{name}")

    def _count(self, place: str, schema: dict[str, JsonValue]) -> None:
        limits = self.limits
        values = schema.get("enum")
        if len(self._schemas) > limits.nodes:
            raise too_large("nodes", limits.nodes, len(self._schemas), place)
        if not _NAMING_PROPERTIES.isdisjoint(schema):
            self._properties += _count_names(schema)
        if self._properties > limits.properties:
            raise too_large("properties", limits.properties, self._properties, place, "properties")
        if isinstance(values, list) and len(values) > limits.enum_values:
            raise too_large("enum_values", limits.enum_values, len(values), place, "enum")


def _count_names(schema: dict[str, JsonValue]) -> int:
    """Return how many properties a schema names: declared ones, or more where it requires more."""
    counts = [0]
    for keyword in _NAMING_PROPERTIES & schema.keys():
        names = schema[keyword]
        needed = names.values() if keyword.startswith("depend") and isinstance(names, dict) else ()
        count = len(names) if isinstance(names, dict | list) else 0
        counts.append(count + sum(len(others) for others in needed if isinstance(others, list)))
    return max(counts)


def _check_exclusive_bounds(schema: dict[str, JsonValue], place: str) -> None:
    for name, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if name in schema and bound not in schema:
            raise SchemaError(
                f"{name} at {place or 'the root'} needs {bound} beside it in draft 4", pointer=place, keyword=name
            )


def _constraining(schema: dict[str, JsonValue], vocabulary: Vocabulary) -> dict[str, JsonValue]:
    if "$ref" in schema and vocabulary.draft.reference_stands_alone:
        return {"$ref": schema["$ref"]}
    assertions = vocabulary.assertions
    return {name: value for name, value in schema.items() if name in assertions}


def _document_and_pointer(place: str) -> tuple[str, str]:
    if not place or place.startswith("/"):
        return "", place
    name, _, pointer = place.partition("#")
    return name, pointer


def _unsupported(keyword: str, place: str, reason: str) -> UnsupportedError:
    where = place or "the root"
    return UnsupportedError(
        f"{keyword} at {where} cannot be enforced: {reason}", pointer=place, keyword=keyword, reason=reason
    )


def _uri(keyword: str, name: str, place: str) -> str:
    """Return a name as the URI reference that it must be."""
    found = as_uri(name)
    # Most references are fragments alone; the whole grammar is only made ready for those that are more.
    if not _FRAGMENT_ALONE.fullmatch(found) and not format_matches("uri-reference", found):
        raise SchemaError(
            f"{keyword} at {place or 'the root'} is no URI reference (RFC 3986); correct it",
            pointer=place,
            keyword=keyword,
        )
    return found


def _split(reference: str) -> tuple[str, str]:
    """Return a URI reference without its fragment, and that."""
    # Taking a URI apart costs more than all else that is done with most references.
    if not reference or reference.startswith("#"):
        return "", reference[1:]
    name, fragment = urldefrag(reference)
    return name, fragment


def _names_nothing(keyword: str, place: str) -> SchemaError:
    return SchemaError(
        f"{keyword} at {place or 'the root'} names nothing in its document; correct it", pointer=place, keyword=keyword
    )


__all__ = ["MAX_LONGEST_PATTERNS", "SchemaDocument"]

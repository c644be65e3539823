"""The ``accept`` dialect decides as another implementation does, on schemas and texts that hypothesis makes up."""

from __future__ import annotations

import json

from automaton.oracle import is_valid
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from commitgate.automaton import Automaton, compile
from commitgate.errors import SchemaError, UnsatisfiableError
from commitgate.json_value import JsonValue

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from([0.5, -1.5, 1.0, 1e20, 12345678901234567890]),
    st.text('ab"\\é😀\n', max_size=3),
)
KEYS = st.sampled_from(["a", "b", "ab", "é", ""])
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=5,
)
TYPES = st.sampled_from(["null", "boolean", "integer", "number", "string", "array", "object"])


REFERENCES = st.sampled_from(["#", "#/$defs/x", "#/$defs/y"])


@st.composite
def schemas(draw: st.DrawFn) -> JsonValue:
    """Return schemas of the decoded keywords, nested, recursive, with keywords of several types side by side."""
    inner = st.recursive(st.booleans(), _compound, max_leaves=4)
    root = draw(inner)
    if isinstance(root, dict) and draw(st.booleans()):
        root = {**root, "$defs": {"x": draw(inner), "y": draw(inner)}}
        if draw(st.booleans()):
            root["$ref"] = draw(REFERENCES)
    return root


def _compound(inner: st.SearchStrategy[JsonValue]) -> st.SearchStrategy[JsonValue]:
    keywords: dict[str, st.SearchStrategy[JsonValue]] = {
        "type": TYPES | st.lists(TYPES, min_size=1, max_size=3, unique=True),
        "enum": st.lists(VALUES, min_size=1, max_size=4),
        "const": VALUES,
        "properties": st.dictionaries(KEYS, inner, max_size=3),
        "required": st.lists(KEYS, max_size=2, unique=True),
        "additionalProperties": inner,
        "items": inner,
        "prefixItems": st.lists(inner, min_size=1, max_size=2),
        "minItems": st.integers(0, 3),
        "maxItems": st.integers(0, 3),
        "minLength": st.integers(0, 3),
        "maxLength": st.integers(0, 3),
        "anyOf": st.lists(inner, min_size=1, max_size=3),
        "title": st.just("a title"),
        "$ref": REFERENCES,
    }
    names = st.lists(st.sampled_from(sorted(keywords)), max_size=4, unique=True)
    return names.flatmap(lambda chosen: st.fixed_dictionaries({name: keywords[name] for name in chosen}))


def is_valid_elsewhere(schema: JsonValue, text: bytes) -> bool:
    try:
        return is_valid(schema, text)
    except RecursionError:
        # References in a circle, in a place that no value reaches: the other implementation follows them for ever.
        reject()


def built(schema: JsonValue) -> Automaton | UnsatisfiableError | SchemaError:
    try:
        return compile(schema)
    except (UnsatisfiableError, SchemaError) as error:
        return error


@settings(max_examples=400, deadline=None)
@given(schema=schemas(), values=st.lists(VALUES, min_size=1, max_size=5), indent=st.sampled_from([None, 1]))
def test_acceptance_agrees_with_jsonschema(schema: JsonValue, values: list[JsonValue], indent: int | None) -> None:
    texts = [json.dumps(value, indent=indent).encode() for value in values]
    texts += [json.dumps(value, ensure_ascii=False).encode() for value in values]
    automaton = built(schema)
    if isinstance(automaton, UnsatisfiableError):
        assert not any(is_valid_elsewhere(schema, text) for text in texts)
        return
    if isinstance(automaton, SchemaError):
        # A reference that names nothing, or that goes in a circle, on which the other implementation breaks.
        assert automaton.keyword == "$ref"
        return
    for text in texts:
        assert automaton.accepts(text) == is_valid_elsewhere(schema, text), text


@settings(max_examples=200, deadline=None)
@given(schema=schemas(), seed=st.integers(0, 2**32))
def test_generated_texts_are_valid_and_accepted(schema: JsonValue, seed: int) -> None:
    from automaton.test_walks import walk

    try:
        generate, accept = compile(schema, dialect="generate"), compile(schema)
    except (UnsatisfiableError, SchemaError):
        return
    text = walk(generate, seed, patience=200)
    if text is not None:
        assert accept.accepts(text), text
        assert is_valid_elsewhere(schema, text), text

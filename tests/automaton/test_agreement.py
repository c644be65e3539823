"""The ``accept`` dialect decides as another implementation does, on schemas and texts that hypothesis makes up."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from automaton.oracle import DRAFTS, Oracle
from automaton.schema_making import listed_values, neighbours, schemas, texts_of, value
from hypothesis import given, settings
from hypothesis import strategies as st

from commitgate.automaton import Automaton, compile
from commitgate.errors import LimitExceededError, SchemaError, UnsatisfiableError
from commitgate.json_value import JsonValue
from commitgate.limits import Limits

EACH = {"4": 60, "6": 50, "7": 60, "2019-09": 60, "2020-12": 120}
VALUES = st.lists(value, min_size=1, max_size=4)


def judged(oracle: Oracle, values: list[JsonValue]) -> Iterator[tuple[bytes, bool]]:
    """Yield spellings of values near the given ones, and whether they are valid."""
    near = [*values, *(other for found in values[:6] for other in list(neighbours(found))[:8])]
    for found in near:
        for text in texts_of(found):
            try:
                yield text, oracle.is_valid(text)
            except RecursionError:
                # References in a circle, in a place that no value reaches: the other follows them for ever.
                return


def built(schema: JsonValue, limits: Limits | None = None) -> Automaton | UnsatisfiableError | None:
    """Return the automaton, or that there is no value; None where nothing is said about the schema."""
    try:
        return compile(schema, formats="annotate", limits=limits)
    except UnsatisfiableError as error:
        return error
    except SchemaError as error:
        # References that go in a circle without reading anything.
        return unless(error, error.keyword == "$ref")
    except LimitExceededError as error:
        return unless(error, error.limit_name in ("reference_depth", "nodes", "nesting"))


def unless(error: Exception, is_expected: bool) -> None:
    """Raise an error that nothing explains."""
    if not is_expected:
        raise error


def is_exact(automaton: Automaton) -> bool:
    return all(row.level != "checked" for row in automaton.support)


@pytest.mark.parametrize("draft", DRAFTS)
def test_acceptance_agrees_with_jsonschema(draft: str) -> None:
    @settings(max_examples=EACH[draft], deadline=None)
    @given(schema=schemas(draft), values=VALUES)
    def agrees(schema: JsonValue, values: list[JsonValue]) -> None:
        automaton = built(schema)
        if automaton is None:
            return
        for text, is_valid in judged(Oracle(schema), [*values, *listed_values(schema)]):
            if isinstance(automaton, UnsatisfiableError):
                assert not is_valid, text
            elif automaton.accepts(text) != is_valid:
                assert not is_valid, ("a valid text is not accepted", text)
                assert not is_exact(automaton), ("an invalid text is accepted, and nothing is checked later", text)

    agrees()


@settings(max_examples=80, deadline=None)
@given(schema=schemas("2020-12"), values=VALUES, branches=st.integers(1, 4))
def test_keyword_that_is_too_dear_to_decode_never_rejects_a_valid_text(
    schema: JsonValue, values: list[JsonValue], branches: int
) -> None:
    automaton = built(schema, Limits(branches=branches))
    if isinstance(automaton, Automaton):
        for text, is_valid in judged(Oracle(schema), [*values, *listed_values(schema)]):
            accepted = automaton.accepts(text)
            assert accepted or not is_valid, text
            assert is_valid or not accepted or not is_exact(automaton), text
    elif automaton is not None:
        assert not any(is_valid for _, is_valid in judged(Oracle(schema), values))

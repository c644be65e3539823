"""Say in one line what a schema accepts and what it does not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from automaton.oracle import Oracle

from commitgate.automaton import compile
from commitgate.json_value import JsonSchema, JsonValue


def assert_reads(
    schema: JsonValue,
    valid: Iterable[str],
    invalid: Iterable[str],
    *,
    documents: Mapping[str, JsonSchema] | None = None,
    judge: bool = True,
) -> None:
    """Check that the automaton takes the valid texts and no invalid one, and that nothing is left to check later.

    Args:
        schema: the schema.
        valid: JSON texts that satisfy it.
        invalid: texts that do not.
        documents: further schemas by URI.
        judge: another implementation must say the same; False where it does not know what is at stake.
    """
    automaton = compile(schema, documents=documents)
    assert [row for row in automaton.support if row.level == "checked"] == []
    oracle = Oracle(schema, documents) if judge else None
    for texts, is_valid in ((valid, True), (invalid, False)):
        for text in texts:
            assert oracle is None or oracle.is_valid(text.encode()) == is_valid, ("the expectation is wrong", text)
            assert automaton.accepts(text.encode()) == is_valid, text

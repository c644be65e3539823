"""Judge a translation: what is sent is taken, and nothing differs from the contract that is not listed.

The judge of schemas is an implementation that is not ours; texts are drawn from both languages, and made up.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress

from automaton.oracle import Oracle
from automaton.schema_making import listed_values, neighbours
from automaton.text_walking import write_many
from backends.translation.vendor_servers import server

from commitgate import Contract
from commitgate.automaton import compile
from commitgate.automaton.json_schema.document import SchemaDocument
from commitgate.backends.translation import Translation, translate
from commitgate.errors import LimitExceededError, UnsupportedError
from commitgate.json_value import JsonSchema, JsonValue
from commitgate.lint.places import Depths
from commitgate.lint.vendor_cases import cases_of
from commitgate.lint.vendor_facts import FACTS, Reaction

_TAKEN = (Reaction.TAKEN, Reaction.NARROWED)
_MADE_UP: list[JsonValue] = [
    *(None, True, False, 0, 1, -1, 0.5, 2, "", "a", "ab", "é", [], {}, [1, "a"], [1, 1], ["a"]),
    *({"a": 1}, {"a": "a", "b": 1}, {"b": None}, {"a": None, "b": "b"}, {"ab": []}, {"aa": 1, "é": 2}),
]
_MOST_TEXTS = 80


def restored(translation: Translation, text: bytes) -> bytes:
    """Return a text as received in the contract's shape."""
    restorer = translation.shape.restorer()
    return restorer.feed(text) + restorer.finish()


def is_taken(schema: JsonSchema, contract: Contract[object], vendor: str) -> bool:
    """Say that a vendor takes every case that stands in a schema."""
    document = SchemaDocument(schema, contract.limits)
    return all(FACTS[vendor, case].reaction in _TAKEN for case, _, _ in cases_of(document, Depths(document)))


def check_law(contract: Contract[object], vendor: str, instances: Iterable[JsonValue] = ()) -> str:
    """Check the translation of a JSON contract for a vendor, and return its form, or ``unsupported``.

    Args:
        contract: whose formats the judge does not read.
        vendor: a column of the table.
        instances: values of which it is good to know what becomes of them.
    """
    try:
        translation = translate(contract, server(vendor))
    except (UnsupportedError, LimitExceededError):
        return "unsupported"
    schema = translation.schema
    if translation.form == "prompt":
        assert any(each.kind == "checked" for each in translation.differences)
        return "prompt"
    assert schema is not None
    assert is_taken(schema, contract, vendor), schema
    kinds = {each.kind for each in translation.differences}
    assert translation.shape.is_same == kinds.isdisjoint({"wrapped", "nullable"})
    wanted, as_sent = Oracle(contract.schema, contract.documents), Oracle(schema)
    accepts = compile(translation.sent).accepts
    for text in _texts(contract, translation, instances):
        received = b'{"value": %s}' % text if translation.shape.is_wrapped else text
        is_sent = as_sent.is_valid(received)
        if is_sent and "checked" not in kinds:
            assert wanted.is_valid(restored(translation, received)), ("more than the contract is sent", received)
        if wanted.is_valid(text) and kinds.isdisjoint({"narrowed", "nullable"}):
            assert is_sent, ("less than the contract is sent", text)
            assert accepts(received), ("less than the contract is accepted", text)
        if is_sent and "nullable" not in kinds:
            assert restored(translation, received) == text
    return translation.form


def _texts(contract: Contract[object], translation: Translation, instances: Iterable[JsonValue]) -> Iterator[bytes]:
    """Yield texts of the contract, of what is sent, and near both."""
    found: dict[bytes, None] = dict.fromkeys(_drawn(contract))
    for text in _drawn(translation.sent):
        value = json.loads(text)
        found[json.dumps(value["value"]).encode() if translation.shape.is_wrapped else text] = None
    seeds = [*_MADE_UP, *instances, *list(listed_values(contract.schema))[:6], *map(json.loads, list(found))]
    for value in seeds:
        for each in (value, *list(neighbours(value))[:6]):
            found[json.dumps(each).encode()] = None
    yield from list(found)[:_MOST_TEXTS]


def _drawn(contract: Contract[object]) -> list[bytes]:
    """Return some texts of a contract; none where no short one is found."""
    with suppress(AssertionError):
        return write_many(compile(contract, dialect="generate").start, 1, 3, length=20)
    return []

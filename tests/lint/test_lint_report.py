"""What a lint report says as a whole: support, size, sample texts, and what is left of a faulty schema."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import BaseModel

from commitgate import Contract
from commitgate.automaton import compile as compile_automaton
from commitgate.errors import MisuseError
from commitgate.languages import AnyJson, Choices, Grammar
from commitgate.limits import Limits
from commitgate.lint import MaskCost, lint

ORDER: dict[str, Any] = {
    "title": "Order",
    "type": "object",
    "properties": {
        "state": {"enum": ["open", "closed", "lost"]},
        "lines": {
            "type": "array",
            "maxItems": 3,
            "items": {"type": "object", "properties": {"sku": {"type": "string", "maxLength": 8}}, "required": ["sku"]},
        },
        "payer": {"anyOf": [{"type": "null"}, {"type": "integer"}]},
    },
    "required": ["state"],
}


def test_support_is_that_of_the_compiler() -> None:
    entries = [(entry.keyword, entry.pointer, entry.level) for entry in lint(ORDER).support]
    assert entries == [(row.keyword, row.pointer, row.level) for row in compile_automaton(ORDER).support]
    assert ("enum", "/properties/state", "decoded") in entries


def test_size_counts_what_stands_in_the_schema() -> None:
    size = lint(ORDER).complexity
    assert (size.places, size.properties, size.optional_properties) == (8, 4, 2)
    assert (size.enum_values, size.largest_enum) == (3, 3)
    assert (size.unions, size.widest_choice) == (1, 2)
    assert size.nesting == 3
    assert size.text_characters == len("statelinespayersku") + len("openclosedlost")


def test_nesting_counts_a_recursive_schema_once() -> None:
    node = {"type": "object", "properties": {"below": {"type": "array", "items": {"$ref": "#"}}}}
    size = lint(node).complexity
    assert (size.nesting, size.recursions) == (2, 1)


def test_all_faulty_places_are_told_and_the_rest_is_looked_at() -> None:
    faulty = {
        "type": "object",
        "properties": {
            "a": {"type": "string", "pattern": r"(.)\1"},
            "b": {"$ref": "https://example.com/elsewhere"},
            "c": {"type": 3},
            "d": {"type": "integer", "minimum": 2, "maximum": 1},
            "e": {"type": "string"},
        },
        "required": ["d"],
    }
    report = lint(faulty)
    told = [(found.code, found.pointer) for found in report.findings if found.severity == "error"]
    assert told == [
        ("rejected", "/properties/a"),
        ("rejected", "/properties/b"),
        ("malformed", "/properties/c"),
        ("unsatisfiable", "/properties/d"),
    ]
    assert not report.is_usable
    assert report.is_complete
    rejected = {entry.pointer for entry in report.support if entry.level == "rejected"}
    assert rejected == {"/properties/a", "/properties/b", "/properties/c", "/properties/d"}
    unbounded = [found.pointer for found in report.findings if found.code == "unbounded_string"]
    assert unbounded == ["/properties/e"]


def test_fault_in_a_branch_is_taken_out_alone() -> None:
    report = lint({"anyOf": [{"type": "boolean"}, {"type": 3}, {"type": "string"}]})
    told = [(found.code, found.pointer) for found in report.findings if found.severity != "advice"]
    assert told == [("malformed", "/anyOf/1"), ("unbounded_string", "/anyOf/2")]
    assert not any(entry.keyword == "not" for entry in report.support)
    assert report.is_complete


def test_fault_of_the_root_hides_the_rest_and_says_so() -> None:
    report = lint({"type": "integer", "minimum": 2, "maximum": 1})
    assert [found.code for found in report.findings] == ["unsatisfiable"]
    assert not report.is_usable
    assert not report.is_complete
    assert report.walks is None


def test_given_schema_is_left_as_it_was() -> None:
    faulty = {"properties": {"a": {"pattern": r"(.)\1"}}}
    lint(faulty)
    assert faulty == {"properties": {"a": {"pattern": r"(.)\1"}}}


def test_fault_in_another_document_is_told() -> None:
    documents = {"https://example.com/b": {"type": 3}}
    report = lint({"$ref": "https://example.com/b"}, documents=documents)
    (found,) = report.findings
    assert (found.code, found.pointer) == ("malformed", "https://example.com/b#")
    assert not report.is_complete


def test_same_schema_has_the_same_report() -> None:
    assert lint(ORDER) == lint(ORDER)


def test_sample_texts_are_counted() -> None:
    walks = lint(ORDER).walks
    assert walks is not None
    assert (walks.texts, walks.finished, walks.stopped_by) == (32, 32, None)
    assert walks.shortest_bytes is not None
    assert len('{"state": "lost"}') <= walks.shortest_bytes
    assert walks.bytes > walks.forced_bytes > 0
    assert walks.states > walks.distinct_states > walks.wide_states > 0
    assert walks.mean_classes > 1


def test_one_possible_text_is_forced_throughout() -> None:
    walks = lint({"const": "abc"}, walks=2).walks
    assert walks is not None
    assert (walks.texts, walks.bytes, walks.forced_bytes) == (2, 10, 10)
    assert (walks.shortest_bytes, walks.median_bytes, walks.longest_bytes) == (5, 5, 5)


def test_texts_that_come_to_no_end_are_given_up() -> None:
    walks = lint({"type": "array", "items": {"const": 1}, "minItems": 900}, walk_bytes=50).walks
    assert walks is not None
    assert (walks.texts, walks.finished, walks.bytes) == (8, 0, 400)


def test_limit_that_samples_come_to_is_named() -> None:
    schema = {"type": "array", "items": {"type": "string", "maxLength": 500}, "minItems": 50, "maxItems": 50}
    report = lint(schema, limits=Limits(states=700))
    assert report.walks is not None
    assert report.walks.stopped_by == "states"
    assert report.has("long_text")


class Ticket(BaseModel):
    summary: str


@dataclass
class Point:
    x: int


@pytest.mark.parametrize(
    ("source", "kind", "name"),
    [
        (Ticket, "schema", "Ticket"),
        (Point, "schema", "Point"),
        (Contract.of(Ticket, name="mine"), "schema", "mine"),
        (AnyJson(), "schema", "schema"),
        (Grammar('root ::= "a"'), "grammar", "grammar"),
        (Contract.of(Choices(["a", "b"])), "choices", "choices"),
    ],
)
def test_whatever_makes_a_contract_can_be_linted(source: Any, kind: str, name: str) -> None:
    report = lint(source)
    assert (report.kind, report.name, report.is_usable) == (kind, name, True)
    assert (report.vendors != ()) == (kind == "schema")


def test_type_without_a_schema_is_a_finding() -> None:
    assert lint(complex).has("malformed")


def test_masks_are_measured_by_who_is_given() -> None:
    asked: list[tuple[str, int]] = []

    def meter(contract: Contract[object], texts: int) -> MaskCost:
        asked.append((contract.name, texts))
        return MaskCost(vocabulary="v", tokens=2)

    assert lint(ORDER, walks=5, masks=meter).masks == MaskCost(vocabulary="v", tokens=2)
    assert asked == [("Order", 5)]
    assert lint(False, masks=meter).masks is None


@pytest.mark.parametrize(
    "arguments",
    [{"walks": -1}, {"walks": 1_001}, {"walks": True}, {"walk_bytes": 0}, {"walk_bytes": 65_537}, {"limits": 3}],
)
def test_misuse_is_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(MisuseError):
        lint(ORDER, **arguments)


@pytest.mark.parametrize("source", ["{}", 3, None, [1]])
def test_what_is_no_source_is_refused(source: Any) -> None:
    with pytest.raises(MisuseError):
        lint(source)


def test_fault_in_an_old_draft_is_told_once() -> None:
    schema = {"$schema": "http://json-schema.org/draft-04/schema#", "properties": {"a": 3, "b": {"type": "boolean"}}}
    report = lint(schema)
    told = [(found.code, found.pointer) for found in report.findings if found.severity == "error"]
    assert told == [("malformed", "/properties/a")]
    assert report.is_complete

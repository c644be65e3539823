"""References in schemas that callers gave to types: followed where they lead somewhere, else refused with the place."""

from typing import Annotated

import pytest
from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema
from typing_extensions import TypedDict

from commitgate.automaton import compile
from commitgate.contract import Contract
from commitgate.errors import SchemaError


class Named(BaseModel):
    name: Annotated[str, WithJsonSchema({"$ref": "#/$defs/Name"})]


class Several(TypedDict):
    first: int
    names: list[Annotated[str, WithJsonSchema({"anyOf": [{"type": "null"}, {"$ref": "#/$defs/Name"}]})]]


class Defining(BaseModel):
    name: Annotated[str, WithJsonSchema({"$ref": "#/$defs/Name", "$defs": {"Name": {"type": "string"}}})]


class Numbered(BaseModel):
    name: Annotated[str, WithJsonSchema({"$ref": 5})]


class Nested(BaseModel):
    name: Annotated[str, WithJsonSchema({"$ref": {"type": "string"}})]


class Extended(BaseModel):
    name: Annotated[str, Field(json_schema_extra={"$ref": "#/$defs/Name"})]


class Defaulted(BaseModel):
    names: dict[str, str] = {"$ref": "nowhere"}


class ExtendedModel(BaseModel):
    model_config = ConfigDict(json_schema_extra={"allOf": [{"$ref": "#/$defs/Name"}]})
    name: str


class Extending(BaseModel):
    inside: dict[str, ExtendedModel]


class Long(BaseModel):
    name: Annotated[str, WithJsonSchema({"$ref": "#/\u202e" + "x" * 100_000})]


@pytest.mark.parametrize(
    ("kind", "place", "reason"),
    [
        (Named, "the field Named.name", "refers to '#/$defs/Name'"),
        (list[Named], "the field Named.name", "refers to '#/$defs/Name'"),
        (Several, "the field Several.names", "refers to '#/$defs/Name'"),
        (Defining, "the field Defining.name", "refers to '#/$defs/Name'"),
        (Numbered, "the field Numbered.name", "is no string"),
        (Nested, "the field Nested.name", "is no string"),
        (Extended, "the field Extended.name", "refers to '#/$defs/Name'"),
        (Defaulted, "the field Defaulted.names", "refers to 'nowhere'"),
        (ExtendedModel, "this type", "refers to '#/$defs/Name'"),
        (Extending, "the field Extending.inside", "refers to '#/$defs/Name'"),
        (Annotated[str, WithJsonSchema({"$ref": "#"})], "this type", "refers to '#'"),
        (Long, "the field Long.name", r"refers to '#/\u202exxx"),
    ],
)
def test_reference_of_a_type_that_leads_nowhere_is_refused_with_its_place(
    kind: type[object], place: str, reason: str
) -> None:
    with pytest.raises(SchemaError) as caught:
        Contract.of(kind)
    message = str(caught.value)
    assert message.startswith(f"{place} has no JSON Schema to steer a model with: ")
    assert reason in message
    assert len(message) < 500


class Tree(BaseModel):
    model_config = ConfigDict(json_schema_extra={"examples": [{"$ref": "nowhere"}]})
    value: Annotated[int, WithJsonSchema({"properties": {"$ref": {"type": "string"}}, "type": "integer"})]
    kind: Annotated[str, WithJsonSchema({"$ref": "https://example.org/kind"})]
    left: "Tree | None" = None
    right: "Tree | None" = None


def test_references_of_a_type_that_lead_somewhere_are_kept() -> None:
    automaton = compile(Contract.of(Tree, documents={"https://example.org/kind": {"type": "string"}}))
    assert automaton.accepts(b'{"value":1,"kind":"oak","left":{"value":2,"kind":"ash"}}')
    assert not automaton.accepts(b'{"value":1,"kind":2}')
    assert not automaton.accepts(b'{"value":1,"kind":"oak","left":{"value":"2","kind":"ash"}}')

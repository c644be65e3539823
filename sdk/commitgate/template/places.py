"""Find the parameters in a template's schema, put values in their places, and check that they stand where they may."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import cast

from commitgate.automaton.json_schema import SchemaDocument
from commitgate.automaton.json_schema.plain_json import plain_copy, too_large
from commitgate.errors import ContractError, MisuseError, SchemaError
from commitgate.json_value import JsonSchema, JsonValue
from commitgate.limits import Limits
from commitgate.pointer import child
from commitgate.template.parameter import MARK, Parameter


@dataclass(frozen=True, slots=True)
class Placed:
    """Hold one place of a parameter.

    Attributes:
        parent: pointer of what holds it; that of the root where it stands for the whole schema.
        token: its key there; empty where it stands for the whole schema.
        pointer: its own pointer.
        parameter: it.
    """

    parent: str
    token: str
    pointer: str
    parameter: Parameter


def parameters_in(root: object, limits: Limits) -> list[Placed]:
    """Return the parameters of a schema, in their order.

    Raises:
        SchemaError: it has the key by which parameters are shown, or a key that is no text.
        LimitExceededError: it is nested deeper or is larger than a limit.
        MisuseError: two different parameters have one name.
    """
    found: list[Placed] = []
    stack: list[tuple[object, str, str, str, int]] = [(root, "", "", "", 0)]
    count = 0
    while stack:
        value, parent, token, pointer, depth = stack.pop()
        count += 1
        if count > limits.schema_bytes:
            raise too_large("schema_bytes", limits.schema_bytes, count, "")
        if depth > limits.schema_nesting:
            raise too_large("schema_nesting", limits.schema_nesting, depth, pointer)
        held: list[tuple[str, object]] = []
        if isinstance(value, Parameter):
            found.append(Placed(parent, token, pointer, value))
        elif isinstance(value, dict):
            held = _members(cast("dict[object, object]", value), pointer)
        elif isinstance(value, list):
            held = [(str(index), item) for index, item in enumerate(cast("list[object]", value))]
        stack.extend((item, pointer, key, child(pointer, key), depth + 1) for key, item in reversed(held))
    _check_names(found)
    return found


def plain_part(schema: Mapping[str, object] | bool, limits: Limits) -> JsonSchema:
    """Return an own copy of a schema that must hold no parameters.

    Raises:
        SchemaError: it is not JSON, or has the key by which parameters are shown.
        LimitExceededError: it is nested deeper or is larger than a limit.
        MisuseError: it holds a parameter.
    """
    plain = dict(schema) if isinstance(schema, Mapping) else schema
    if parameters_in(plain, limits):
        raise MisuseError("the schemas of OneOfSchemas must hold no parameters of their own")
    return cast("JsonSchema", plain_copy(cast("JsonValue", plain), limits))


def replaced(value: object, value_of: Callable[[Parameter], JsonValue]) -> JsonValue:
    """Return a copy of a schema in which each parameter is replaced.

    Args:
        value: the schema; what it holds that is no JSON stays, for whoever reads the copy to refuse.
        value_of: gives what stands in a parameter's place.
    """
    match value:
        case Parameter():
            return value_of(value)
        case dict():
            return {key: replaced(item, value_of) for key, item in cast("dict[str, object]", value).items()}
        case list():
            return [replaced(item, value_of) for item in cast("list[object]", value)]
        case _:
            return cast("JsonValue", value)


def check_places(placed: list[Placed], document: SchemaDocument) -> None:
    """Check that every parameter stands where its kind may, and means something there.

    Args:
        placed: the parameters.
        document: the schema with values in their places.

    Raises:
        SchemaError: one does not.
    """
    for each in placed:
        if not each.parameter.keywords:
            is_right = each.pointer in document.schemas
        else:
            constraining = document.constraining(each.parent) if each.parent in document.schemas else {}
            is_right = bool(each.token) and each.token in constraining and each.token in each.parameter.keywords
        if not is_right:
            raise misplaced(each)


def misplaced(placed: Placed) -> SchemaError:
    """Return the error of a parameter that stands where its kind may not."""
    keywords = sorted(placed.parameter.keywords)
    wanted = "the value of " + " or ".join(keywords) if keywords else "a schema"
    return SchemaError(
        f"the parameter {placed.parameter.name} must be {wanted}, where it constrains; found at "
        f"{placed.pointer or 'the root'}",
        pointer=placed.pointer,
    )


def blamed(placed: list[Placed], error: ContractError) -> Placed | None:
    """Return the parameter at whose place an error of a filled schema stands, where its kind may not stand there."""
    for each in placed:
        is_there = error.pointer == each.pointer or (error.pointer, error.keyword) == (each.parent, each.token)
        if is_there and each.parameter.keywords and each.token not in each.parameter.keywords:
            return each
        # The name of a property or definition that reads like the keyword: what is wrong is that no schema is there.
        if each.parameter.keywords and error.pointer == each.pointer:
            return each
    return None


def _members(value: dict[object, object], pointer: str) -> list[tuple[str, object]]:
    members: list[tuple[str, object]] = []
    for key, item in value.items():
        if not isinstance(key, str):
            raise SchemaError(f"a key at {pointer or 'the root'} is not a string", pointer=pointer)
        if key == MARK:
            raise SchemaError(
                f"the key {MARK} at {pointer or 'the root'} is the one by which parameters are shown; use another",
                pointer=pointer,
            )
        members.append((key, item))
    return members


def _check_names(found: list[Placed]) -> None:
    by_name: dict[str, Parameter] = {}
    for each in found:
        if by_name.setdefault(each.parameter.name, each.parameter) != each.parameter:
            raise MisuseError(f"two different parameters have the name {each.parameter.name}")


__all__ = ["Placed", "blamed", "check_places", "misplaced", "parameters_in", "plain_part", "replaced"]

"""Read a Python type as a JSON Schema, or say why it is none that a model can be steered with."""

from __future__ import annotations

import re
from dataclasses import is_dataclass
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import TYPE_CHECKING, cast

from commitgate.errors import MisuseError, SchemaError
from commitgate.json_value import JsonSchema
from commitgate.languages import Language

if TYPE_CHECKING:
    from pydantic import TypeAdapter

_VALUES = (
    re.Pattern,
    str,
    bytes,
    int,
    float,
    list,
    tuple,
    set,
    frozenset,
    FunctionType,
    BuiltinFunctionType,
    MethodType,
)

_MAKERS_OF_TYPES = frozenset({"annotationlib", "builtins", "types", "typing", "typing_extensions"})
"""Modules whose objects stand for types, such as ``list[int]``, or are plain values."""


def schema_of_type(schema: object) -> tuple[TypeAdapter[object], JsonSchema]:
    """Return what makes values of a type, and the JSON Schema that steers a model towards it.

    Raises:
        MisuseError: it is no type.
        SchemaError: it has no schema from which a model could be steered.
    """
    from pydantic import BaseModel, TypeAdapter
    from pydantic.errors import PydanticInvalidForJsonSchema, PydanticSchemaGenerationError, PydanticUserError

    from commitgate.type_schema import RefusedTypeError, SteeringSchema

    given: object = schema  # which the checks below do not narrow
    if any(schema is kind for kind in Language.__subclasses__()):
        name = name_of_type(schema)
        raise MisuseError(f"schema is the class {name}; give what it describes: {name}(...)")
    if callable(getattr(schema, "effect_of_call", None)):
        raise MisuseError("schema is a tool; give the contract of its arguments: tool.contract")
    if isinstance(given, BaseModel) or (is_dataclass(given) and not isinstance(given, type)):
        raise _is_instance(given)
    if isinstance(schema, _VALUES) or schema is None:
        raise MisuseError(
            "schema must be a JSON Schema, a type, a TypeAdapter, a Contract, or a Regex, Grammar, Choices, Machine or "
            f"AnyJson; found a value of type {type(given).__name__}{_meant(given)}"
        )
    try:
        if isinstance(schema, TypeAdapter):
            adapter = cast("TypeAdapter[object]", schema)
        else:
            adapter = TypeAdapter(cast("type[object]", schema))
    except (PydanticSchemaGenerationError, PydanticUserError) as error:
        if isinstance(given, type) or type(given).__module__ in _MAKERS_OF_TYPES:
            raise _unreadable(error) from error
        raise _is_instance(given) from error
    except ImportError as error:
        # pydantic loads what some types need (EmailStr: email-validator) when it first meets them.
        raise MisuseError(f"schema needs a package that is not installed: {str(error).splitlines()[0]}") from error
    try:
        return adapter, cast("JsonSchema", adapter.json_schema(mode="validation", schema_generator=SteeringSchema))
    except PydanticInvalidForJsonSchema as error:
        place = error.place if isinstance(error, RefusedTypeError) else ""
        raise SchemaError(
            f"{f'the field {place}' if place else 'this type'} has no JSON Schema to steer a model with: "
            f"{error.message}; give it one of your own: Annotated[..., WithJsonSchema({{...}})] (docs/keywords.md)"
        ) from error
    except PydanticUserError as error:
        raise _unreadable(error) from error


def _meant(schema: object) -> str:
    """Return what someone may have meant who gave a plain value."""
    match schema:
        case str():
            return " (for a pattern write Regex(...), for a grammar Grammar(...))"
        case list() | tuple() | set() | frozenset():
            return " (for one of several texts write Choices(...))"
        case re.Pattern():
            return " (write Regex(...) with its pattern, and its flags as letters)"
        case _:
            return ""


def _is_instance(schema: object) -> MisuseError:
    from commitgate.template import ContractTemplate

    if isinstance(schema, ContractTemplate):
        return MisuseError("schema is a template; fill it first: template.fill(...)")
    name = type(schema).__name__
    return MisuseError(f"schema is an instance of {name}; pass the class {name} itself")


def _unreadable(error: Exception) -> MisuseError:
    # pydantic's sentences after the first give advice for models, and its first one names the type.
    reason = str(error).splitlines()[0].partition(". ")[0]
    return MisuseError(f"schema is not a type that pydantic can read: {reason}")


def name_of_type(schema: object) -> str | None:
    """Return what a type calls itself; None where it has no name."""
    name: object = getattr(schema, "__name__", None)
    return name if isinstance(name, str) else None


__all__ = ["name_of_type", "schema_of_type"]

"""Define what an answer must satisfy: a language, its schema, the rules, and the digests that name them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import TYPE_CHECKING, Generic, Literal, Never, TypeAlias, cast, overload

from typing_extensions import TypeVar

from commitgate.errors import MisuseError, SchemaError
from commitgate.json_value import JsonSchema, JsonValue
from commitgate.limits import Limits

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from commitgate.automaton.json_schema import Satisfiability
    from commitgate.gate.rules import Rule

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True, default=object)

Numbers: TypeAlias = Literal["float", "decimal"]


@dataclass(frozen=True, kw_only=True)  # no slots: they break Generic[...](...) on a frozen class
class Contract(Generic[T_co]):
    """Say what an answer must satisfy. Build one with ``Contract.of`` or ``Contract.json_schema``.

    Attributes:
        name: what to call it; from the schema's title or the type's name where not given.
        version: the caller's own version of it.
        schema: the JSON Schema.
        limits: bounds on the schema and on what is generated.
        rules: business rules over the typed value; all must pass.
        numbers: how non-integers of a plain JSON value come out.
        type_adapter: makes the typed value; None for a plain JSON Schema.
        analysis: what the schema means, worked out once.
        language_digest: SHA-256 of what constrains: the schema without annotations, and the limits.
        full_digest: SHA-256 of the whole contract but its rules: schema with prose, name, version and limits.
    """

    name: str
    version: str | None = None
    schema: JsonSchema = field(repr=False)
    limits: Limits = field(default_factory=Limits, repr=False)
    rules: tuple[Rule[T_co], ...] = field(default=(), repr=False)
    numbers: Numbers = "float"
    type_adapter: TypeAdapter[T_co] | None = field(default=None, repr=False)
    analysis: Satisfiability = field(init=False, repr=False, compare=False)
    language_digest: str = field(init=False, repr=False)
    full_digest: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.numbers not in ("float", "decimal"):
            raise MisuseError(f"numbers must be 'float' or 'decimal', found {self.numbers!r}")
        # Compiling is loaded with the first contract, so that importing the package stays quick.
        from commitgate.automaton.automaton import analyse
        from commitgate.digest import digest_of_contract, digest_of_language

        analysis = analyse(self.schema, self.limits)
        document = analysis.meaning.document
        for name, value in (
            ("schema", document.root),
            ("analysis", analysis),
            ("language_digest", digest_of_language(document)),
            ("full_digest", digest_of_contract(document, self.name, self.version)),
        ):
            object.__setattr__(self, name, value)

    @staticmethod
    def json_schema(
        schema: Mapping[str, object] | bool,
        *,
        name: str | None = None,
        version: str | None = None,
        limits: Limits | None = None,
        rules: Sequence[Rule[JsonValue]] = (),
        numbers: Numbers = "float",
    ) -> Contract[JsonValue]:
        """Return the contract of a JSON Schema; its value is plain JSON.

        Raises:
            ContractError: the schema is malformed, uses a keyword that cannot be enforced, is larger than a limit, or
                no value satisfies it.
        """
        plain = _plain(schema)
        return Contract[JsonValue](
            name=name or _title(plain) or "schema",
            version=version,
            schema=plain,
            limits=limits or Limits(),
            rules=tuple(rules),
            numbers=numbers,
        )

    @overload
    @staticmethod
    def of(
        schema: type[T] | TypeAdapter[T] | Contract[T],
        *,
        name: str | None = None,
        version: str | None = None,
        limits: Limits | None = None,
        rules: Sequence[Rule[T]] = (),
        numbers: Numbers | None = None,
    ) -> Contract[T]: ...

    @overload
    @staticmethod
    def of(
        schema: Mapping[str, object] | bool,
        *,
        name: str | None = None,
        version: str | None = None,
        limits: Limits | None = None,
        rules: Sequence[Rule[JsonValue]] = (),
        numbers: Numbers | None = None,
    ) -> Contract[JsonValue]: ...

    @staticmethod
    def of(
        schema: object,
        *,
        name: str | None = None,
        version: str | None = None,
        limits: Limits | None = None,
        rules: Sequence[Rule[Never]] = (),
        numbers: Numbers | None = None,
    ) -> Contract[object]:
        """Return the contract of a JSON Schema, a type, a ``TypeAdapter`` or another contract.

        Args:
            schema: a dict or boolean (JSON Schema); a pydantic model, dataclass, TypedDict, ``list[T]``, ``Literal`` or
                scalar type; a ``TypeAdapter``; or a contract, to which the other arguments are applied.
            name: what to call it; None takes the schema's title or the type's name.
            version: the caller's own version of it.
            limits: None takes the defaults, or the given contract's.
            rules: further business rules.
            numbers: how non-integers of plain JSON come out; None takes floats, or what the given contract says.

        Raises:
            ContractError: as ``json_schema``.
            MisuseError: ``schema`` is none of these.
        """
        own_rules = cast("tuple[Rule[object], ...]", tuple(rules))
        if isinstance(schema, Contract):
            given = cast("Contract[object]", schema)
            if name is None and version is None and limits is None and numbers is None and not rules:
                return given
            return Contract[object](
                name=name or given.name,
                version=version or given.version,
                schema=given.schema,
                limits=limits or given.limits,
                rules=(*given.rules, *own_rules),
                numbers=numbers or given.numbers,
                type_adapter=given.type_adapter,
            )
        if isinstance(schema, Mapping | bool):
            plain = _plain(cast("Mapping[str, object] | bool", schema))
            adapter = None
        else:
            adapter, plain = _of_type(schema)
        return Contract[object](
            name=name or _title(plain) or _type_name(cast("object", schema)) or "schema",
            version=version,
            schema=plain,
            limits=limits or Limits(),
            rules=own_rules,
            numbers=numbers or "float",
            type_adapter=adapter,
        )


_VALUES = (str, bytes, int, float, list, tuple, set, frozenset, FunctionType, BuiltinFunctionType, MethodType)


def _plain(schema: Mapping[str, object] | bool) -> JsonSchema:
    """Return a schema as a dict; whether its content is JSON is checked when it is read."""
    return schema if isinstance(schema, bool) else cast("JsonSchema", dict(schema))


def _of_type(schema: object) -> tuple[TypeAdapter[object], JsonSchema]:
    from pydantic import BaseModel, TypeAdapter
    from pydantic.errors import PydanticInvalidForJsonSchema, PydanticSchemaGenerationError, PydanticUserError

    from commitgate.type_schema import SteeringSchema

    if isinstance(schema, BaseModel):
        name = type(schema).__name__
        raise MisuseError(f"schema is an instance of {name}; pass the class {name} itself")
    if isinstance(schema, _VALUES) or schema is None:
        found = type(cast("object", schema)).__name__
        raise MisuseError(
            f"schema must be a JSON Schema, a type, a TypeAdapter or a Contract; found a value of type {found}"
        )
    try:
        if isinstance(schema, TypeAdapter):
            adapter = cast("TypeAdapter[object]", schema)
        else:
            adapter = TypeAdapter(cast("type[object]", schema))
    except (PydanticSchemaGenerationError, PydanticUserError) as error:
        raise _unreadable(error) from error
    try:
        return adapter, cast("JsonSchema", adapter.json_schema(mode="validation", schema_generator=SteeringSchema))
    except PydanticInvalidForJsonSchema as error:
        raise SchemaError(f"this type has no JSON Schema to steer a model with: {error.message}") from error
    except PydanticUserError as error:
        raise _unreadable(error) from error


def _unreadable(error: Exception) -> MisuseError:
    # pydantic's sentences after the first give advice for models, and its first one names the type.
    reason = str(error).splitlines()[0].partition(". ")[0]
    return MisuseError(f"schema is not a type that pydantic can read: {reason}")


def _type_name(schema: object) -> str | None:
    name: object = getattr(schema, "__name__", None)
    return name if isinstance(name, str) else None


def _title(schema: JsonSchema) -> str | None:
    title = schema.get("title") if isinstance(schema, dict) else None
    return title if isinstance(title, str) and title else None


__all__ = ["Contract", "Numbers"]

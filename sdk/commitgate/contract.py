"""Define what an answer must satisfy: a language, its schema, the rules, and the digests that name them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import TYPE_CHECKING, Generic, Literal, Never, TypeAlias, cast, get_args, overload

from typing_extensions import TypeVar

from commitgate.argument import check_choice, check_kind, wrong_kind
from commitgate.errors import MisuseError, SchemaError
from commitgate.json_value import JsonSchema, JsonValue
from commitgate.limits import Limits
from commitgate.style import Style

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from commitgate.automaton.json_schema import Satisfiability
    from commitgate.gate.rules import Rule

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True, default=object)

Numbers: TypeAlias = Literal["float", "decimal"]
Formats: TypeAlias = Literal["assert", "annotate"]


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
        formats: ``assert`` makes every known ``format`` constrain, in every draft; ``annotate`` none.
        documents: further schemas by absolute URI, which references may name. Nothing is ever fetched.
        style: how a local model writes white space and orders keys; what is accepted does not depend on it.
        type_adapter: makes the typed value; None for a plain JSON Schema.
        analysis: what the schema means, worked out once.
        language_digest: SHA-256 of what constrains: the schemas without annotations, how formats are meant, and the
            limits.
        full_digest: SHA-256 of the whole contract but its rules and style: schemas with prose, name, version, formats
            and limits.
    """

    name: str
    version: str | None = None
    schema: JsonSchema = field(repr=False)
    limits: Limits = field(default_factory=Limits, repr=False)
    rules: tuple[Rule[T_co], ...] = field(default=(), repr=False)
    numbers: Numbers = "float"
    formats: Formats = "assert"
    documents: Mapping[str, JsonSchema] = field(default_factory=dict[str, JsonSchema], repr=False)
    style: Style = field(default_factory=Style, repr=False)
    type_adapter: TypeAdapter[T_co] | None = field(default=None, repr=False)
    analysis: Satisfiability = field(init=False, repr=False, compare=False)
    language_digest: str = field(init=False, repr=False)
    full_digest: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_choice("numbers", self.numbers, get_args(Numbers))
        check_choice("formats", self.formats, get_args(Formats))
        check_kind("style", self.style, Style, "a Style")
        check_kind("limits", self.limits, Limits, "a Limits")
        # Compiling is loaded with the first contract, so that importing the package stays quick.
        from commitgate.automaton.automaton import analyse
        from commitgate.digest import digest_of_contract, digest_of_language

        analysis = analyse(self.schema, self.limits, formats=self.formats, documents=self.documents)
        document = analysis.meaning.document
        for name, value in (
            ("schema", document.root),
            ("documents", dict(document.loaded)),
            ("analysis", analysis),
            ("language_digest", digest_of_language(document, self.formats)),
            ("full_digest", digest_of_contract(document, self.formats, self.name, self.version)),
        ):
            object.__setattr__(self, name, value)

    def __reduce__(self) -> tuple[object, ...]:
        # What the schema means is worked out anew: it is large, and its parts are compared by what they are.
        return _rebuilt, ({entry.name: getattr(self, entry.name) for entry in fields(self) if entry.init},)

    @staticmethod
    def json_schema(
        schema: Mapping[str, object] | bool,
        *,
        name: str | None = None,
        version: str | None = None,
        limits: Limits | None = None,
        rules: Sequence[Rule[JsonValue]] = (),
        numbers: Numbers = "float",
        formats: Formats = "assert",
        documents: Mapping[str, JsonSchema] | None = None,
        style: Style | None = None,
    ) -> Contract[JsonValue]:
        """Return the contract of a JSON Schema; its value is plain JSON.

        ``$schema`` chooses the draft: 4, 6, 7, 2019-09 or 2020-12, the last where it is absent.

        Raises:
            ContractError: the schema is malformed, uses a keyword that cannot be enforced, is larger than a limit, or
                no value satisfies it.
            MisuseError: ``schema`` is no dict and no boolean, or another argument is of the wrong kind.
        """
        plain = _plain(schema)
        return Contract[JsonValue](
            name=name or _title(plain) or "schema",
            version=version,
            schema=plain,
            limits=limits or Limits(),
            rules=tuple(rules),
            numbers=numbers,
            formats=formats,
            documents=documents or {},
            style=style or Style(),
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
        formats: Formats | None = None,
        documents: Mapping[str, JsonSchema] | None = None,
        style: Style | None = None,
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
        formats: Formats | None = None,
        documents: Mapping[str, JsonSchema] | None = None,
        style: Style | None = None,
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
        formats: Formats | None = None,
        documents: Mapping[str, JsonSchema] | None = None,
        style: Style | None = None,
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
            formats: whether known formats constrain; None takes ``assert``, or what the given contract says.
            documents: further schemas by absolute URI; None takes none, or the given contract's.
            style: how a local model writes; None takes the default, or the given contract's.

        Raises:
            ContractError: as ``json_schema``.
            MisuseError: ``schema`` is none of these.
        """
        own_rules = cast("tuple[Rule[object], ...]", tuple(rules))
        if isinstance(schema, Contract):
            given = cast("Contract[object]", schema)
            changes = (name, version, limits, numbers, formats, documents, style)
            if all(change is None for change in changes) and not rules:
                return given
            return Contract[object](
                name=name or given.name,
                version=version or given.version,
                schema=given.schema,
                limits=limits or given.limits,
                rules=(*given.rules, *own_rules),
                numbers=numbers or given.numbers,
                formats=formats or given.formats,
                documents=given.documents if documents is None else documents,
                style=style or given.style,
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
            formats=formats or "assert",
            documents=documents or {},
            style=style or Style(),
            type_adapter=adapter,
        )


_VALUES = (str, bytes, int, float, list, tuple, set, frozenset, FunctionType, BuiltinFunctionType, MethodType)


def _plain(schema: Mapping[str, object] | bool) -> JsonSchema:
    """Return a schema as a dict; whether its content is JSON is checked when it is read.

    Raises:
        MisuseError: it is no schema at all.
    """
    given = cast("object", schema)
    if isinstance(given, bool):
        return given
    if isinstance(given, Mapping):
        return cast("JsonSchema", dict(cast("Mapping[str, object]", given)))
    wanted = "a dict or a boolean"
    if isinstance(given, str | bytes):
        wanted += " (read JSON text with json.loads first)"
    elif isinstance(given, type):
        wanted += " (Contract.of takes a type)"
    raise wrong_kind("schema", wanted, given)


def _rebuilt(arguments: dict[str, object]) -> Contract[object]:
    """Return a contract from what was given to make it."""
    return cast("Callable[..., Contract[object]]", Contract)(**arguments)


def _of_type(schema: object) -> tuple[TypeAdapter[object], JsonSchema]:
    from pydantic import BaseModel, TypeAdapter
    from pydantic.errors import PydanticInvalidForJsonSchema, PydanticSchemaGenerationError, PydanticUserError

    from commitgate.type_schema import RefusedTypeError, SteeringSchema

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


__all__ = ["Contract", "Formats", "Numbers"]

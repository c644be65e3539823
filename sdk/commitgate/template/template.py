"""Make contracts out of one reviewed schema in which named, bounded places are filled in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, fields
from decimal import Decimal
from difflib import get_close_matches
from hashlib import sha256
from typing import Generic, Never, TypeAlias, TypeVar, cast, overload

from commitgate.argument import check_kind, check_text, wrong_kind
from commitgate.automaton.json_schema import SchemaDocument
from commitgate.automaton.json_schema.plain_json import canonical, plain_copy
from commitgate.contract import TEXT_SCHEMA, Contract, Formats, Numbers, Prose
from commitgate.digest import LANGUAGE_VERSION
from commitgate.errors import ContractError, MisuseError, UnsatisfiableError
from commitgate.gate.checks import Approve, Authorize, Checks, ContentCheck, Evidence
from commitgate.gate.rules import Rule
from commitgate.json_value import JsonObject, JsonSchema, JsonValue
from commitgate.languages import Choices
from commitgate.limits import Limits
from commitgate.risk import Risk
from commitgate.style import Style
from commitgate.template.parameter import MARK, Parameter, is_name
from commitgate.template.places import Placed, blamed, check_places, misplaced, parameters_in, replaced
from commitgate.template.schemas import OneOfSchemas
from commitgate.template.texts import EnumValues
from commitgate.template.widest import widest

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

_COMPARED = 10

Argument: TypeAlias = str | int | float | Decimal | Sequence[str]
"""What a parameter may be filled with; each kind takes one of these."""


@dataclass(frozen=True, eq=False)
class ContractTemplate(Generic[T_co]):
    """Hold a schema with parameters. Make one with ``ContractTemplate.of``, and contracts with ``fill``.

    Values are put into their places by structure, never by text, so none can change anything else of the schema. Two
    are equal where every filling of both gives equal contracts.

    Attributes:
        name: what its contracts are called.
        digest: SHA-256 of ``described``; what ``Client(reviewed=...)`` takes.
    """

    name: str
    _parameters: Mapping[str, Parameter] = field(repr=False)
    _described: JsonObject = field(repr=False)
    digest: str
    _source: object = field(repr=False)
    _settings: Mapping[str, object] = field(repr=False)

    @overload
    @staticmethod
    def of(
        schema: Mapping[str, object] | OneOfSchemas,
        *,
        name: str | None = None,
        version: str | None = None,
        limits: Limits | None = None,
        rules: Sequence[Rule[JsonValue]] = (),
        content: Sequence[ContentCheck[JsonValue]] = (),
        evidence: Sequence[Evidence[JsonValue]] = (),
        authorize: Authorize[JsonValue] | None = None,
        approve: Approve[JsonValue] | None = None,
        risk: Risk = Risk.RECORD,
        refusal: bool = False,
        prose: Prose = "keep",
        numbers: Numbers = "float",
        formats: Formats = "assert",
        documents: Mapping[str, JsonSchema] | None = None,
        style: Style | None = None,
    ) -> ContractTemplate[JsonValue]: ...

    @overload
    @staticmethod
    def of(
        schema: EnumValues,
        *,
        name: str | None = None,
        version: str | None = None,
        limits: Limits | None = None,
        rules: Sequence[Rule[str]] = (),
        content: Sequence[ContentCheck[str]] = (),
        evidence: Sequence[Evidence[str]] = (),
        authorize: Authorize[str] | None = None,
        approve: Approve[str] | None = None,
        risk: Risk = Risk.RECORD,
        refusal: bool = False,
        style: Style | None = None,
    ) -> ContractTemplate[str]: ...

    @staticmethod
    def of(
        schema: Mapping[str, object] | OneOfSchemas | EnumValues,
        *,
        name: str | None = None,
        version: str | None = None,
        limits: Limits | None = None,
        rules: Sequence[Rule[Never]] = (),
        content: Sequence[ContentCheck[Never]] = (),
        evidence: Sequence[Evidence[Never]] = (),
        authorize: Authorize[Never] | None = None,
        approve: Approve[Never] | None = None,
        risk: Risk = Risk.RECORD,
        refusal: bool = False,
        prose: Prose = "keep",
        numbers: Numbers = "float",
        formats: Formats = "assert",
        documents: Mapping[str, JsonSchema] | None = None,
        style: Style | None = None,
    ) -> ContractTemplate[object]:
        """Return the template of a schema. It is filled with values at the bounds of its parameters, to try it.

        Args:
            schema: a JSON Schema in which parameters stand, each where its kind may; ``OneOfSchemas`` for a whole
                schema; ``EnumValues`` for the texts of ``Choices``.
            name: what its contracts are called; None takes the schema's title.
            version: the caller's own version.
            limits: bounds on each filled schema; None takes the defaults.
            rules: as in ``Contract.of``, like all that follow.
            content: checks of the texts in the value.
            evidence: checks of the value against an authority.
            authorize: says whether the principal may have it done.
            approve: says whether a person must decide.
            risk: what hangs on the value.
            refusal: may the model decline.
            prose: is the model shown what constrains nothing.
            numbers: how non-integers come out.
            formats: whether known formats constrain.
            documents: further schemas by absolute URI; they hold no parameters.
            style: how a local model writes.

        Raises:
            ContractError: a parameter stands where its kind may not, or a schema that it can be filled to is malformed,
                cannot be enforced or is larger than a limit; or no value satisfies it, whatever it is filled with, as
                far as that can be told at once: else ``fill`` finds it.
            MisuseError: it has no parameters, two of them share a name, or another argument is of the wrong kind.
        """
        bounds = Limits() if limits is None else limits
        check_kind("limits", bounds, Limits, "a Limits")
        for argument, given in (("name", name), ("version", version)):
            if given is not None:
                check_text(argument, given)
        own = Checks[Never].of(rules=rules, content=content, evidence=evidence, authorize=authorize, approve=approve)
        settings: dict[str, object] = {
            **{entry.name: getattr(own, entry.name) for entry in fields(own)},
            "version": version or None,
            "limits": bounds,
            "risk": risk,
            "refusal": refusal,
            "prose": prose,
            "numbers": numbers,
            "formats": formats,
            "documents": _documents(documents, bounds),
            "style": style or Style(),
        }
        source = _source_of(schema)
        placed = parameters_in(source, bounds)
        settings["name"] = name or _title(source) or "schema"
        parameters = {each.parameter.name: each.parameter for each in placed}
        if not parameters:
            raise MisuseError("the template has no parameters; make a Contract of the schema instead")
        for each in parameters.values():
            each.check_size(bounds)
        _check_places(source, placed, settings)
        described = _described(source, settings)
        digest = sha256(canonical(described).encode()).hexdigest()
        # An own copy, so that changing what was given changes nothing here.
        kept = source if isinstance(source, Parameter) else replaced(source, lambda each: cast("JsonValue", each))
        made = ContractTemplate[object](str(settings["name"]), parameters, described, digest, kept, settings)
        made._try()
        return made

    def __eq__(self, other: object) -> bool:
        """Say whether the other is the same template, checks and all else that the digest leaves out included."""
        if not isinstance(other, ContractTemplate):
            return NotImplemented
        return self.digest == other.digest and self._settings == other._settings

    def __hash__(self) -> int:
        """Return the hash of what it is: equal templates have one digest."""
        return hash(self.digest)

    @property
    def parameters(self) -> dict[str, Parameter]:
        """Return the parameters by name, in the order in which they stand in the schema. A copy, like ``described``."""
        return dict(self._parameters)

    @property
    def described(self) -> JsonObject:
        """Return the template as a reviewer reads it.

        It is the schema, in which a parameter is an object with the one key ``$parameter``, and all else that the full
        digest of a contract depends on.
        """
        return deepcopy(self._described)

    def fill(self, /, **arguments: Argument) -> Contract[T_co]:
        """Return the contract in which every parameter has a value.

        Args:
            arguments: a value for each parameter, by its name.

        Raises:
            ParameterError: a value lies outside of its parameter's bounds.
            UnsatisfiableError: no value satisfies the schema so filled.
            MisuseError: a parameter is missing or unknown, or a value is of the wrong kind.
        """
        unknown = [name for name in arguments if name not in self._parameters]
        missing = [name for name in self._parameters if name not in arguments]
        if unknown or missing:
            found = [f"{', '.join(missing)} missing"] if missing else []
            found += [self._unknown(unknown)] if unknown else []
            raise MisuseError(f"fill takes the parameters {', '.join(self._parameters)}: {'; '.join(found)}")
        return self._filled({name: each.value_of(arguments[name]) for name, each in self._parameters.items()})

    def _unknown(self, names: list[str]) -> str:
        """Return what is said of unknown names.

        One that is nearly a parameter's is shown; others are not, as they may have come with the values.
        """
        for name in names[:_COMPARED]:
            near = get_close_matches(name, self._parameters, 1) if is_name(name) else []
            if near:
                return f"{name} is unknown, did you mean {near[0]}?"
        return f"{len(names)} unknown"

    def _filled(self, values: Mapping[str, JsonValue]) -> Contract[T_co]:
        make = cast("Callable[..., Contract[T_co]]", Contract)
        if isinstance(self._source, EnumValues):
            texts = cast("list[str]", values[self._source.name])
            parts: dict[str, object] = {"schema": TEXT_SCHEMA, "text": Choices(texts)}
        else:
            parts = {"schema": replaced(self._source, lambda each: values[each.name])}
        return make(**self._settings, **parts, template_digest=self.digest)

    def _try(self) -> None:
        """Fill it with values at the bounds of its parameters.

        Raises:
            UnsatisfiableError: no value satisfies it, whatever it is filled with.
        """
        is_satisfied = False
        found: UnsatisfiableError | None = None
        for values in _samples(self._parameters):
            try:
                self._filled(values)
            except UnsatisfiableError as error:
                # Other values may well satisfy it: bounds that cross here, samples that a pattern beside them forbids.
                found = found or error
            else:
                is_satisfied = True
        if found is not None and not is_satisfied and self._is_empty():
            found.args = (f"whatever the template is filled with: {found}",)
            raise found

    def _is_empty(self) -> bool:
        """Say whether its schema is known to allow nothing with each parameter as wide as its bounds."""
        schema = widest(self._source, cast("dict[str, JsonSchema]", self._settings["documents"]))
        if schema is None:
            return False
        try:
            cast("Callable[..., Contract[object]]", Contract)(**self._settings, schema=schema)
        except ContractError as error:
            # The widened schema may also be larger than a limit, or name a thing twice: that says nothing.
            return isinstance(error, UnsatisfiableError)
        return False


def _samples(parameters: Mapping[str, Parameter]) -> Iterator[dict[str, JsonValue]]:
    """Yield values for all parameters: each value at a bound once, in as few rounds as there can be."""
    samples = {name: each.samples() for name, each in parameters.items()}
    for index in range(max(map(len, samples.values()))):
        yield {name: each[index if index < len(each) else 0] for name, each in samples.items()}


def _check_places(source: object, placed: list[Placed], settings: Mapping[str, object]) -> None:
    """Check that each parameter stands where it may, whatever the others are filled with."""
    if isinstance(source, EnumValues):
        return
    limits = cast("Limits", settings["limits"])
    documents = cast("Mapping[str, JsonSchema]", settings["documents"])
    for values in _samples({each.parameter.name: each.parameter for each in placed}):
        schema = replaced(source, lambda each, given=values: given[each.name])
        try:
            document = SchemaDocument(schema, limits, documents)
        except ContractError as error:
            wrong = blamed(placed, error)
            if wrong is None:
                raise
            # A sample in the wrong place is no fault of the schema's words: the parameter is what to correct.
            raise misplaced(wrong) from error
        check_places(placed, document)


def _source_of(schema: object) -> object:
    if isinstance(schema, EnumValues | OneOfSchemas):
        return schema
    if isinstance(schema, Mapping):
        return dict(cast("Mapping[str, object]", schema))
    raise wrong_kind("schema", "a dict in which parameters stand, OneOfSchemas or EnumValues", schema)


def _title(source: object) -> str | None:
    if isinstance(source, EnumValues):
        return "choices"
    title = cast("dict[str, object]", source).get("title") if isinstance(source, dict) else None
    return title if isinstance(title, str) and title else None


def _documents(documents: Mapping[str, JsonSchema] | None, limits: Limits) -> dict[str, JsonSchema]:
    if documents is None:
        return {}
    check_kind("documents", documents, Mapping, "a dict of schemas by URI")
    return {uri: cast("JsonSchema", plain_copy(document, limits)) for uri, document in documents.items()}


def _described(source: object, settings: Mapping[str, object]) -> JsonObject:
    """Return a template as a reviewer reads it: all that its contracts' full digests depend on."""
    limits = cast("Limits", settings["limits"])
    changed = {entry.name: getattr(limits, entry.name) for entry in fields(limits)}
    documents = cast("dict[str, JsonValue]", settings["documents"])
    return {
        "language_version": LANGUAGE_VERSION,
        "name": cast("str", settings["name"]),
        "version": cast("str | None", settings["version"]),
        "schema": replaced(source, lambda each: {MARK: each.described()}),
        "formats": cast("str", settings["formats"]),
        "refusal": cast("bool", settings["refusal"]),
        "limits": {entry.name: changed[entry.name] for entry in fields(limits) if changed[entry.name] != entry.default},
        "documents": {uri: documents[uri] for uri in sorted(documents)},
    }


__all__ = ["Argument", "ContractTemplate"]

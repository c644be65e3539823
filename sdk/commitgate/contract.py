"""Define what an answer must satisfy: a language, its schema, the checks, and the digests that name them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Generic, Literal, Never, TypeAlias, cast, get_args, overload

from typing_extensions import TypeVar

from commitgate.argument import check_choice, check_digest, check_kind, wrong_kind
from commitgate.errors import MisuseError, ReviewedContractError, SchemaError
from commitgate.gate.checks import Approve, Authorize, Checks, ContentCheck, Evidence
from commitgate.gate.rules import Rule
from commitgate.json_value import JsonSchema, JsonValue
from commitgate.languages import AnyJson, Choices, Grammar, Language, Machine, Regex, TextSource, kind_of_text
from commitgate.limits import Limits
from commitgate.risk import Risk
from commitgate.style import Style
from commitgate.type_source import name_of_type, schema_of_type

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from commitgate.automaton.grammar import TextMeaning
    from commitgate.automaton.json_schema import Satisfiability
    from commitgate.automaton.json_schema.support import SupportRow

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True, default=object)

Numbers: TypeAlias = Literal["float", "decimal"]
Formats: TypeAlias = Literal["assert", "annotate"]
Prose: TypeAlias = Literal["keep", "strip"]

TEXT_SCHEMA: Mapping[str, JsonValue] = {"type": "string"}
"""The schema of a value that is a text as it stands."""
_NO_CHECKS = ((), (), (), (), ())
_NUMBERS, _FORMATS, _PROSE = get_args(Numbers), get_args(Formats), get_args(Prose)
_DEFAULT_LIMITS = Limits()
_UNCHECKED = Checks[Never]()
_NAMES_OF_CHECKS = tuple(entry.name for entry in fields(Checks))


@dataclass(frozen=True, kw_only=True)  # no slots: they break Generic[...](...) on a frozen class
class Contract(Generic[T_co]):
    """Say what an answer must satisfy. Build one with ``Contract.of`` or ``Contract.json_schema``.

    Two are equal where all that they were made of is; those of a type, where they were made of one ``TypeAdapter``.

    Attributes:
        name: what to call it; from the schema's title or the type's name where not given.
        version: the caller's own version of it.
        schema: the JSON Schema; of a text that is no JSON, that of its value: a string.
        text: the pattern, grammar, choices or machine whose texts are meant; None where the text is JSON.
        limits: bounds on the schema and on what is generated.
        rules: business rules over the typed value; all must pass.
        content: checks of the texts in the value, beside the one that is built in; all must pass.
        evidence: checks of the value against an authority; all must pass.
        authorize: who must allow that the value is acted on, each of them, right before it is.
        approve: who may ask for a person to decide, any of them.
        risk: what hangs on the value.
        refusal: the answer may also be ``{"refusal": "<reason>"}``, by which the model declines in the contract's own
            language.
        prose: whether the model is shown titles, descriptions and all else in the schema that constrains nothing;
            ``strip`` for a schema from elsewhere, whose prose could give it orders.
        reviewed_digest: the full digest that somebody reviewed; None where nobody did.
        template_digest: digest of the ``ContractTemplate`` that it was filled from; None where of none, and where its
            full digest is another one now than then.
        filled_digest: the full digest that it was filled with.
        numbers: how non-integers of a plain JSON value come out.
        formats: ``assert`` makes every known ``format`` constrain, in every draft; ``annotate`` none.
        documents: further schemas by absolute URI, which references may name. Nothing is ever fetched.
        style: how a local model writes white space and orders keys; what is accepted does not depend on it.
        type_adapter: makes the typed value; None for a plain JSON Schema.
        analysis: what the schema means, worked out once.
        language_digest: SHA-256 of what constrains: the schemas without annotations, how formats are meant, the
            limits, and the refusal. A pattern or grammar counts as it stands, comments included.
        full_digest: SHA-256 of the whole contract but its checks, risk and style: schemas with prose or the text's
            source, name, version, formats, limits and refusal.
    """

    name: str
    version: str | None = None
    schema: JsonSchema = field(repr=False)
    text: TextSource | None = field(default=None, repr=False)
    limits: Limits = field(default=_DEFAULT_LIMITS, repr=False)
    rules: tuple[Rule[T_co], ...] = field(default=(), repr=False)
    content: tuple[ContentCheck[T_co], ...] = field(default=(), repr=False)
    evidence: tuple[Evidence[T_co], ...] = field(default=(), repr=False)
    authorize: tuple[Authorize[T_co], ...] = field(default=(), repr=False)
    approve: tuple[Approve[T_co], ...] = field(default=(), repr=False)
    risk: Risk = Risk.RECORD
    refusal: bool = False
    prose: Prose = "keep"
    reviewed_digest: str | None = field(default=None, repr=False)
    template_digest: str | None = field(default=None, repr=False)
    filled_digest: str | None = field(default=None, repr=False)
    numbers: Numbers = "float"
    formats: Formats = "assert"
    documents: Mapping[str, JsonSchema] = field(default_factory=dict[str, JsonSchema], repr=False)
    style: Style = field(default_factory=Style, repr=False)
    type_adapter: TypeAdapter[T_co] | None = field(default=None, repr=False)
    analysis: Satisfiability | TextMeaning = field(init=False, repr=False, compare=False)
    language_digest: str = field(init=False, repr=False)
    full_digest: str = field(init=False, repr=False)

    def __hash__(self) -> int:
        """Return the hash of what it is: equal contracts have one full digest."""
        return hash(self.full_digest)

    def __post_init__(self) -> None:
        check_choice("numbers", self.numbers, _NUMBERS)
        check_choice("formats", self.formats, _FORMATS)
        check_kind("style", self.style, Style, "a Style")
        check_kind("limits", self.limits, Limits, "a Limits")
        check_kind("risk", self.risk, Risk, "a Risk")
        check_kind("refusal", self.refusal, bool, "a bool")
        check_choice("prose", self.prose, _PROSE)
        if (self.rules, self.content, self.evidence, self.authorize, self.approve) != _NO_CHECKS:
            Checks[T_co].of_contract(self)  # it looks at every one
        if self.text is None:
            self._read_schema()
        else:
            self._read_text(self.text)
        _check_reviewed(self.reviewed_digest, self.full_digest)
        self._keep_template()

    def _keep_template(self) -> None:
        # Whatever is made out of a filled contract hands its fields on; what a template vouched for is its digest.
        if self.template_digest is not None:
            check_digest("template_digest", self.template_digest)
        is_kept = self.filled_digest in (None, self.full_digest) and self.template_digest is not None
        self._set(
            template_digest=self.template_digest if is_kept else None,
            filled_digest=self.full_digest if is_kept else None,
        )

    def _read_text(self, text: TextSource) -> None:
        if not isinstance(cast("object", text), Regex | Grammar | Choices | Machine):
            raise wrong_kind("text", "a Regex, Grammar, Choices or Machine, or None", text)
        if self.schema != TEXT_SCHEMA or self.documents or self.type_adapter is not None:
            raise MisuseError("text and a schema, documents or a type contradict each other; give one of them")
        if self.numbers != "float" or self.formats != "assert":
            raise MisuseError(
                "numbers and formats are for JSON, and the value of a text is the text; leave them out, or give "
                "formats to a contract on an edge"
            )
        from commitgate.automaton.automaton import analyse_text
        from commitgate.digest import digest_of_text_contract, digest_of_text_language

        analysis = analyse_text(text, self.limits)
        described = analysis.described
        self._set(
            schema=dict(TEXT_SCHEMA),  # one of its own, which nobody else's changes reach
            analysis=analysis,
            language_digest=digest_of_text_language(described, self.limits, refusal=self.refusal),
            full_digest=digest_of_text_contract(described, self.limits, self.name, self.version, refusal=self.refusal),
        )

    def _read_schema(self) -> None:
        # Compiling is loaded with the first contract, so that importing the package stays quick.
        from commitgate.automaton.automaton import analyse
        from commitgate.digest import digest_of_contract, digest_of_language
        from commitgate.gate.effort import bounded_effort
        from commitgate.gate.references import References

        analysis = analyse(self.schema, self.limits, formats=self.formats, documents=self.documents)
        document = analysis.meaning.document
        # What the schema layer could not check in bounded time is refused now, and not after the answer came.
        bounded_effort(References(document.root, document.loaded))
        self._set(
            schema=document.root,
            documents=dict(document.loaded),
            analysis=analysis,
            language_digest=digest_of_language(document, self.formats, refusal=self.refusal),
            full_digest=digest_of_contract(document, self.formats, self.name, self.version, refusal=self.refusal),
        )
        if self.prose == "strip" and document.has_hidden_schemas:
            raise SchemaError(
                "the prose cannot be stripped: a reference leads below a word that constrains nothing; move what it "
                "names into $defs"
            )

    def _set(self, **found: object) -> None:
        for name, value in found.items():
            object.__setattr__(self, name, value)

    @property
    def support(self) -> tuple[SupportRow, ...]:
        """Return one row for each keyword at each place: whether the automaton decodes it, or a later layer checks."""
        from commitgate.automaton.json_schema import Satisfiability

        found = self.analysis
        return found.meaning.document.support.rows if isinstance(found, Satisfiability) else found.support

    @property
    def shown_schema(self) -> JsonSchema:
        """Return the schema as the model may be shown it; what is accepted does not depend on it."""
        from commitgate.automaton.json_schema import Satisfiability
        from commitgate.digest import without_prose

        if self.prose == "keep" or not isinstance(self.analysis, Satisfiability):
            return self.schema
        return without_prose(self.analysis.meaning.document)

    @property
    def shown_documents(self) -> Mapping[str, JsonSchema]:
        """Return the further schemas as the model may be shown them."""
        from commitgate.automaton.json_schema import Satisfiability
        from commitgate.digest import without_prose

        if self.prose == "keep" or not isinstance(self.analysis, Satisfiability):
            return self.documents
        document = self.analysis.meaning.document
        return {uri: without_prose(document, uri) for uri in self.documents}

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
        content: Sequence[ContentCheck[JsonValue]] = (),
        evidence: Sequence[Evidence[JsonValue]] = (),
        authorize: Authorize[JsonValue] | None = None,
        approve: Approve[JsonValue] | None = None,
        risk: Risk = Risk.RECORD,
        refusal: bool = False,
        prose: Prose = "keep",
        reviewed_digest: str | None = None,
        numbers: Numbers = "float",
        formats: Formats = "assert",
        documents: Mapping[str, JsonSchema] | None = None,
        style: Style | None = None,
    ) -> Contract[JsonValue]:
        """Return the contract of a JSON Schema; its value is plain JSON.

        ``$schema`` chooses the draft: 4, 6, 7, 2019-09 or 2020-12, the last where it is absent.

        Raises:
            ContractError: the schema is malformed, uses a keyword that cannot be enforced, is larger than a limit, or
                no value satisfies it. ``ReviewedContractError``: it is not the one that was reviewed.
            MisuseError: ``schema`` is no dict and no boolean, or another argument is of the wrong kind.
        """
        _plain(schema)
        return Contract.of(
            schema,
            name=name,
            version=version,
            limits=limits,
            rules=rules,
            content=content,
            evidence=evidence,
            authorize=authorize,
            approve=approve,
            risk=risk,
            refusal=refusal,
            prose=prose,
            reviewed_digest=reviewed_digest,
            numbers=numbers,
            formats=formats,
            documents=documents,
            style=style,
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
        content: Sequence[ContentCheck[T]] = (),
        evidence: Sequence[Evidence[T]] = (),
        authorize: Authorize[T] | None = None,
        approve: Approve[T] | None = None,
        risk: Risk | None = None,
        refusal: bool | None = None,
        prose: Prose | None = None,
        reviewed_digest: str | None = None,
        numbers: Numbers | None = None,
        formats: Formats | None = None,
        documents: Mapping[str, JsonSchema] | None = None,
        style: Style | None = None,
    ) -> Contract[T]: ...

    @overload
    @staticmethod
    def of(
        schema: Mapping[str, object] | bool | AnyJson,
        *,
        name: str | None = None,
        version: str | None = None,
        limits: Limits | None = None,
        rules: Sequence[Rule[JsonValue]] = (),
        content: Sequence[ContentCheck[JsonValue]] = (),
        evidence: Sequence[Evidence[JsonValue]] = (),
        authorize: Authorize[JsonValue] | None = None,
        approve: Approve[JsonValue] | None = None,
        risk: Risk | None = None,
        refusal: bool | None = None,
        prose: Prose | None = None,
        reviewed_digest: str | None = None,
        numbers: Numbers | None = None,
        formats: Formats | None = None,
        documents: Mapping[str, JsonSchema] | None = None,
        style: Style | None = None,
    ) -> Contract[JsonValue]: ...

    @overload
    @staticmethod
    def of(
        schema: TextSource,
        *,
        name: str | None = None,
        version: str | None = None,
        limits: Limits | None = None,
        rules: Sequence[Rule[str]] = (),
        content: Sequence[ContentCheck[str]] = (),
        evidence: Sequence[Evidence[str]] = (),
        authorize: Authorize[str] | None = None,
        approve: Approve[str] | None = None,
        risk: Risk | None = None,
        refusal: bool | None = None,
        prose: Prose | None = None,
        reviewed_digest: str | None = None,
        numbers: Numbers | None = None,
        formats: Formats | None = None,
        documents: Mapping[str, JsonSchema] | None = None,
        style: Style | None = None,
    ) -> Contract[str]: ...

    @staticmethod
    def of(
        schema: object,
        *,
        name: str | None = None,
        version: str | None = None,
        limits: Limits | None = None,
        rules: Sequence[Rule[Never]] = (),
        content: Sequence[ContentCheck[Never]] = (),
        evidence: Sequence[Evidence[Never]] = (),
        authorize: Authorize[Never] | None = None,
        approve: Approve[Never] | None = None,
        risk: Risk | None = None,
        refusal: bool | None = None,
        prose: Prose | None = None,
        reviewed_digest: str | None = None,
        numbers: Numbers | None = None,
        formats: Formats | None = None,
        documents: Mapping[str, JsonSchema] | None = None,
        style: Style | None = None,
    ) -> Contract[object]:
        """Return the contract of a JSON Schema, a type, a pattern, a grammar or another contract.

        Args:
            schema: a dict or boolean (JSON Schema); a pydantic model, dataclass, TypedDict, ``list[T]``, ``Literal`` or
                scalar type; a ``TypeAdapter``; ``Regex``, ``Grammar``, ``Choices``, ``Machine`` (the value is the text
                itself) or ``AnyJson``; or a contract, to which the other arguments are applied.
            name: what to call it; None takes the schema's title or the type's name.
            version: the caller's own version of it.
            limits: None takes the defaults, or the given contract's.
            rules: business rules; a given contract's come first, as of all checks.
            content: checks of the texts in the value.
            evidence: checks of the value against an authority.
            authorize: says whether the principal may have it done; a given contract's must allow it too.
            approve: says whether a person must decide; a given contract's may ask for one too.
            risk: None takes ``Risk.RECORD``, or the given contract's.
            refusal: may the model decline with ``{"refusal": "<reason>"}``; None takes no, or what the given contract
                says.
            prose: is the model shown what constrains nothing; None takes ``keep``, or what the given contract says.
            reviewed_digest: the full digest that was reviewed; None takes the given contract's.
            numbers: how non-integers of plain JSON come out; None takes floats, or what the given contract says.
            formats: whether known formats constrain; None takes ``assert``, or what the given contract says.
            documents: further schemas by absolute URI; None takes none, or the given contract's.
            style: how a local model writes; None takes the default, or the given contract's.

        Raises:
            ContractError: as ``json_schema``.
            MisuseError: ``schema`` is none of these, or another argument is of the wrong kind.
        """
        given = (rules, content, evidence, authorize, approve)
        own = (
            _UNCHECKED
            if given == ((), (), (), None, None)
            else Checks[Never].of(rules=rules, content=content, evidence=evidence, authorize=authorize, approve=approve)
        )
        asked: dict[str, object] = {
            "name": name or None,
            "version": version or None,
            "limits": limits,
            "risk": risk,
            "refusal": refusal,
            "prose": prose,
            "reviewed_digest": reviewed_digest,
            "numbers": numbers,
            "formats": formats,
            "documents": documents,
            "style": style,
        }
        changes = {field_name: value for field_name, value in asked.items() if value is not None}
        if isinstance(schema, Contract):
            return _changed(cast("Contract[object]", schema), changes, cast("Checks[object]", own))
        if isinstance(schema, Regex | Grammar | Choices | Machine):
            found = {"name": kind_of_text(schema), "schema": TEXT_SCHEMA, "text": schema}
            return _rebuilt({**found, **_fields_of(own), **changes})
        if isinstance(schema, AnyJson):
            nesting = schema.nesting if limits is None else min(schema.nesting, limits.nesting)
            changes["limits"] = replace(limits or Limits(), nesting=nesting)
            adapter, plain = None, True if schema.root == "any" else cast("JsonSchema", {"type": "object"})
        elif isinstance(schema, Mapping | bool):
            adapter, plain = None, _plain(cast("Mapping[str, object] | bool", schema))
        else:
            adapter, plain = schema_of_type(schema)
        found = {"name": _title(plain) or name_of_type(cast("object", schema)) or "schema"}
        return _rebuilt({**found, "schema": plain, "type_adapter": adapter, **_fields_of(own), **changes})


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
    elif isinstance(given, type | Language):
        wanted += " (Contract.of takes others)"
    raise wrong_kind("schema", wanted, cast("object", schema))


def _changed(given: Contract[object], changes: dict[str, object], checks: Checks[object]) -> Contract[object]:
    """Return a contract with other arguments, and with further checks behind its own."""
    if not changes and checks == Checks[object]():
        return given
    return replace(given, **changes, **_fields_of(Checks[object].of_contract(given).joined(checks)))


def _fields_of(checks: Checks[Never] | Checks[object]) -> dict[str, object]:
    return {name: getattr(checks, name) for name in _NAMES_OF_CHECKS}


def _rebuilt(arguments: dict[str, object]) -> Contract[object]:
    """Return a contract from what was given to make it."""
    return cast("Callable[..., Contract[object]]", Contract)(**arguments)


def _check_reviewed(reviewed: str | None, found: str) -> None:
    """Check that a contract is the one that was reviewed.

    Raises:
        ReviewedContractError: it is another one.
        MisuseError: what is given is no digest.
    """
    if reviewed is None:
        return
    check_digest("reviewed_digest", reviewed, "a full_digest")
    if reviewed != found:
        raise ReviewedContractError(reviewed=reviewed, found=found)


def _title(schema: JsonSchema) -> str | None:
    title = schema.get("title") if isinstance(schema, dict) else None
    return title if isinstance(title, str) and title else None


__all__ = ["TEXT_SCHEMA", "Contract", "Formats", "Numbers", "Prose"]

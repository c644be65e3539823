"""Look over a schema, pattern, grammar, choices or machine before a model is asked with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias, cast

from commitgate.argument import check_int, check_kind
from commitgate.automaton.grammar.meaning import TextMeaning
from commitgate.automaton.json_schema import Satisfiability, SupportRow
from commitgate.contract import Contract
from commitgate.errors import ContractError, MisuseError, UnsatisfiableError
from commitgate.languages import AnyJson, Choices, Grammar, Machine, Regex, TextSource, kind_of_text
from commitgate.limits import Limits
from commitgate.lint.complexity import complexity_of
from commitgate.lint.finding import RULES, UNBOUNDED, Finding, finding
from commitgate.lint.pattern_contradiction import contradiction_position
from commitgate.lint.places import Depths
from commitgate.lint.repair import Repaired, error_finding, repaired
from commitgate.lint.report import Complexity, LintReport, MaskCost, SupportEntry, VendorReport, Walks
from commitgate.lint.shape_advice import shape_findings
from commitgate.lint.text_findings import text_complexity, text_findings
from commitgate.lint.unbounded import unbounded_findings
from commitgate.lint.value_advice import value_findings
from commitgate.lint.vendors import vendor_reports
from commitgate.lint.walks import MOST_WALK_BYTES, MOST_WALKS, sample_walks

if TYPE_CHECKING:
    from commitgate.contract import Formats
    from commitgate.json_value import JsonSchema, JsonValue

MOST_LISTED = 20
"""Most findings of one code that a report lists; it says how many more there are."""

_DECODED_BY = {
    "uniqueItems": "let the items be one of at most 64 values, by an enum",
    "format": "give a pattern that is close enough",
    "contains": "write the item that must be there as a property of its own",
    "pattern": "make the pattern simpler",
    "patternProperties": "declare the keys as properties",
    "oneOf": "use anyOf, or give each branch a property that tells it apart",
    "not": "write out what is allowed",
    "if": "write the cases out as branches of anyOf",
}
"""What to do about keywords that are only checked where they stand."""

_NOTES_OF_OTHERS = frozenset(
    {"discriminator", "example", "externalDocs", "xml", "propertyOrdering", "markdownDescription", "enumDescriptions"}
)
"""Words of OpenAPI, Gemini and editors that are meant to constrain nothing; generators of schemas write them."""

_MOST_WALKED_PLACES = 50_000
"""Schemas of one source that sample texts may pass, all texts together, beyond the first four: large ones cost more."""

MaskMeter: TypeAlias = Callable[[Contract[object], int], MaskCost]
"""Draws so many texts of a contract token by token, and says what the masks cost."""

LintSource: TypeAlias = "Contract[object] | Mapping[str, object] | bool | type[object] | TextSource | AnyJson"
"""What can be looked over: a contract, or what one can be made of."""


def lint(
    source: LintSource,
    *,
    limits: Limits | None = None,
    formats: Formats | None = None,
    documents: Mapping[str, JsonSchema] | None = None,
    walks: int = 32,
    walk_bytes: int = 2_000,
    masks: MaskMeter | None = None,
) -> LintReport:
    """Return what can be known of a contract before a model is asked: support, size, samples, advice, vendors.

    A source of which no contract can be made is no error here but a finding, and what is left of a schema without the
    parts at fault is looked at all the same.

    Args:
        source: a contract, a JSON Schema, a type, ``Regex``, ``Grammar``, ``Choices``, ``Machine`` or ``AnyJson``.
        limits: bounds on it; None takes the contract's own, or the defaults.
        formats: whether known formats constrain; None takes the contract's, or ``assert``.
        documents: further schemas by absolute URI; None takes the contract's, or none.
        walks: sample texts to draw, 0 to 1,000; fewer are where the schema is large.
        walk_bytes: bytes after which a sample text is given up, 1 to 65,536.
        masks: measures masks of one vocabulary; None measures none.

    Raises:
        MisuseError: an argument is of the wrong kind, or out of its range.
    """
    _check_count("walks", walks, 0, MOST_WALKS)
    _check_count("walk_bytes", walk_bytes, 1, MOST_WALK_BYTES)
    if limits is not None:
        check_kind("limits", limits, Limits, "a Limits")
    if isinstance(source, Mapping | bool):
        schema = cast("JsonValue", dict(source) if isinstance(source, Mapping) else source)
        made = repaired(schema, limits=limits or Limits(), formats=formats or "assert", documents=documents)
    else:
        made = _made(source, limits, formats, documents)
    kind = kind_of_text(source) if isinstance(source, Regex | Grammar | Choices | Machine) else "schema"
    return _report(made, kind, walks, walk_bytes, masks)


def _check_count(name: str, value: int, least: int, most: int) -> None:
    check_int(name, value)
    if not least <= value <= most:
        raise MisuseError(f"{name} must be from {least} to {most:,}, found {value}")


def _made(
    source: object, limits: Limits | None, formats: Formats | None, documents: Mapping[str, JsonSchema] | None
) -> Repaired:
    changes = {"limits": limits, "formats": formats, "documents": documents}
    given = {name: value for name, value in changes.items() if value is not None}
    try:
        if isinstance(source, Contract):
            contract = cast("Contract[object]", source)
            contract = replace(contract, reviewed_digest=None, **given) if given else contract
        else:
            make = cast("Callable[..., Contract[object]]", Contract[object].of)
            contract = make(source, **given)
    except ContractError as error:
        found = error_finding(error)
        if isinstance(error, UnsatisfiableError) and isinstance(source, Regex):
            found = replace(found, position=contradiction_position(source, limits or Limits()))
        return Repaired(contract=None, findings=(found,), is_complete=False)
    return Repaired(contract=contract, findings=(), is_complete=True)


def _report(made: Repaired, kind: str, walks: int, walk_bytes: int, masks: MaskMeter | None) -> LintReport:
    contract = made.contract
    if contract is None:
        findings, omitted = _listed(made.findings)
        return LintReport(
            kind=kind, is_usable=False, is_complete=False, support=_rejected(made), findings=findings, omitted=omitted
        )
    analysis = contract.analysis
    rows = contract.support
    complexity, vendors, found = _looked_over(analysis)
    walks = min(walks, max(4, _MOST_WALKED_PLACES // (complexity.places + 1)))
    walked = sample_walks(contract, texts=walks, most_bytes=walk_bytes)
    gone = {each.pointer for each in made.findings}
    # What was taken out leaves a place that allows anything, of which nothing is to be said.
    found = [each for each in found if each.code not in UNBOUNDED or each.pointer not in gone]
    everything = [*made.findings, *_of_support(rows), *found, *_of_walks(walked)]
    findings, omitted = _listed(everything)
    return LintReport(
        name=contract.name,
        kind=kind if contract.text is None else kind_of_text(contract.text),
        is_usable=not made.findings,
        is_complete=made.is_complete,
        support=(*_rejected(made), *map(_entry, rows)),
        complexity=replace(complexity, unbounded=sum(each.code in UNBOUNDED for each in everything)),
        walks=walked,
        masks=None if masks is None else masks(contract, walks),
        findings=findings,
        omitted=omitted,
        vendors=vendors,
    )


def _looked_over(
    analysis: Satisfiability | TextMeaning,
) -> tuple[Complexity, tuple[VendorReport, ...], Iterable[Finding]]:
    if isinstance(analysis, TextMeaning):
        return text_complexity(analysis), (), list(text_findings(analysis))
    document = analysis.meaning.document
    depths = Depths(document)
    complexity = complexity_of(document, depths)
    found = [*unbounded_findings(analysis), *value_findings(document), *shape_findings(document, depths)]
    return complexity, vendor_reports(document, depths, complexity), found


def _entry(row: SupportRow) -> SupportEntry:
    return SupportEntry(keyword=row.keyword, pointer=row.pointer, level=row.level, reason=row.reason)


def _rejected(made: Repaired) -> tuple[SupportEntry, ...]:
    return tuple(
        SupportEntry(keyword=found.keyword or "", pointer=found.pointer, level="rejected", reason=found.message)
        for found in made.findings
    )


def _of_support(rows: Iterable[SupportRow]) -> Iterator[Finding]:
    for row in rows:
        if row.level == "checked":
            message = f"it is only checked when the text is whole: {row.reason}"
            way = _DECODED_BY.get(row.keyword, "say the same with other keywords")
            instead = f"{way}; or count on answers that end as Invalid at layer schema"
            yield finding("checked_keyword", row.pointer, message, instead, keyword=row.keyword)
        elif row.level == "annotation" and row.keyword not in _NOTES_OF_OTHERS:
            instead = "correct the word, or begin it with x- where it is meant to constrain nothing"
            message = f"it constrains nothing: {row.reason}"
            yield finding("unknown_word", row.pointer, message, instead, keyword=row.keyword)


def _of_walks(walks: Walks) -> Iterator[Finding]:
    if walks.stopped_by is not None:
        message = f"sample texts came to Limits.{walks.stopped_by} before they were done; so may a long answer"
        yield finding("long_text", "", message, "make it smaller, or raise the limit on purpose")
    elif walks.texts and 2 * walks.finished < walks.texts:
        unfinished = walks.texts - walks.finished
        message = f"{unfinished} of {walks.texts} sample texts did not end within {walks.most_bytes:,} bytes"
        yield finding("long_text", "", message, "bound strings, arrays and nesting; answers may end as Truncated")


def _listed(findings: Iterable[Finding]) -> tuple[tuple[Finding, ...], tuple[tuple[str, int], ...]]:
    """Return the first findings of each code, in the order of the rules, and how many of which are left out."""
    by_code: dict[str, dict[Finding, None]] = {code: {} for code in RULES}
    for found in findings:
        by_code[found.code][found] = None
    listed = tuple(found for group in by_code.values() for found in list(group)[:MOST_LISTED])
    omitted = tuple((code, len(group) - MOST_LISTED) for code, group in by_code.items() if len(group) > MOST_LISTED)
    return listed, omitted


__all__ = ["MOST_LISTED", "LintSource", "MaskMeter", "lint"]

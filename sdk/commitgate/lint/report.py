"""Define what lint hands over: support, complexity, sample walks, mask cost, findings and vendors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from commitgate.lint.finding import Finding
from commitgate.lint.vendor_facts import Basis, Reaction

SupportLevel: TypeAlias = Literal["decoded", "checked", "annotation", "rejected"]
Verdict: TypeAlias = Literal["takes", "narrows", "weakens", "refuses", "not known"]

REPORT_VERSION = 1
"""Counts changes of the report's shape that a reader of its JSON would trip over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SupportEntry:
    """Say how far one keyword at one place is enforced.

    Attributes:
        keyword: the keyword; of what is no schema, its kind.
        pointer: JSON pointer of the schema that holds it.
        level: ``decoded``, ``checked``, ``annotation`` (as in the support table) or ``rejected``.
        reason: why it is not decoded; empty where it is.
    """

    keyword: str
    pointer: str
    level: SupportLevel
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Complexity:
    """Measure a schema. All that references reach counts once, however often it is reached.

    Attributes:
        schema_bytes: size as compact JSON.
        places: schemas in it.
        properties: declared properties.
        optional_properties: those of them that are not required.
        enum_values: values of all ``enum`` together.
        largest_enum: values of the largest.
        unions: places with ``anyOf`` or ``oneOf``, or with several types.
        widest_choice: branches of the widest ``anyOf`` or ``oneOf``.
        nesting: how deep arrays and objects lie in one another, each circle of references gone through once.
        recursions: references that lead back to where they stand.
        unbounded: findings whose code is one of ``UNBOUNDED``, before any are left out.
        text_characters: all property names, names of definitions and texts in ``enum`` and ``const`` together.
        enum_characters: most characters of all texts of one ``enum`` that has more than 250 values.
        rules: rules of a grammar, states of a machine; 0 for a schema.
        choices: number of choices; 0 elsewhere.
    """

    schema_bytes: int = 0
    places: int = 0
    properties: int = 0
    optional_properties: int = 0
    enum_values: int = 0
    largest_enum: int = 0
    unions: int = 0
    widest_choice: int = 0
    nesting: int = 0
    recursions: int = 0
    unbounded: int = 0
    text_characters: int = 0
    enum_characters: int = 0
    rules: int = 0
    choices: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Walks:
    """Count what texts drawn by chance, byte by byte, made of the automaton. The same for the same schema, always.

    Attributes:
        texts: texts that were drawn.
        finished: those that came to an end within ``most_bytes``.
        most_bytes: bytes after which one was given up.
        bytes: bytes of all together.
        shortest_bytes: shortest that ended; None where none did.
        median_bytes: their median, the lower of two.
        longest_bytes: longest that ended.
        states: automaton states made for all of them.
        distinct_states: states passed that a token of at most 16 bytes can tell apart: about as many masks would be
            computed.
        wide_states: those of them with more than 32 possible next bytes, whose masks cost the most unless they are
            shared, as inside strings.
        forced_bytes: bytes where nothing else could follow.
        mean_classes: mean number of byte classes of a distinct state, which is what a state costs to open.
        stopped_by: the limit that ended the walks early, such as ``states``; None where none did.
    """

    texts: int = 0
    finished: int = 0
    most_bytes: int = 0
    bytes: int = 0
    shortest_bytes: int | None = None
    median_bytes: int | None = None
    longest_bytes: int | None = None
    states: int = 0
    distinct_states: int = 0
    wide_states: int = 0
    forced_bytes: int = 0
    mean_classes: float = 0.0
    stopped_by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MaskCost:
    """Say what the masks of one vocabulary cost on sample texts, drawn token by token among the legal ones.

    Attributes:
        vocabulary: SHA-256 of the vocabulary.
        tokens: tokens of it that are text.
        texts: texts that were drawn.
        finished: those that came to an end.
        steps: tokens of all together.
        masks: masks that were computed; all other steps found theirs.
        shared_walks: walks over the whole vocabulary that all schemas share, such as the inside of a string.
        states: automaton states made for them.
        legal_min: fewest legal tokens of a step.
        legal_median: their median, the lower of two.
        forced_steps: steps with one legal token.
        cold_to_warm: how many times longer a step took whose mask was computed than one whose mask was found, as
            medians, rounded to one digit; of this machine and this run alone. None where there was no such step.
        stopped_by: the limit that ended it early; None where none did.
    """

    vocabulary: str
    tokens: int
    texts: int = 0
    finished: int = 0
    steps: int = 0
    masks: int = 0
    shared_walks: int = 0
    states: int = 0
    legal_min: int = 0
    legal_median: int = 0
    forced_steps: int = 0
    cold_to_warm: int | None = None
    stopped_by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class VendorNote:
    """Say what a vendor does with one case that stands in the schema.

    Attributes:
        case: its short name in the table of vendors; of a limit, the measure.
        about: the same in words.
        keyword: the keyword.
        reaction: what the vendor does; never ``taken``.
        is_sure: False where it is likely only.
        pointers: places, the first few.
        places: number of all places.
        source: where the fact comes from.
    """

    case: str
    about: str
    keyword: str
    reaction: Reaction
    is_sure: bool
    pointers: tuple[str, ...]
    places: int
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VendorReport:
    """Say what one vendor would make of the schema.

    Attributes:
        name: the vendor's short name.
        title: its name for people, with the version.
        basis: whether its facts were measured, or are from documentation.
        verdict: ``refuses`` before ``weakens`` before ``narrows``; ``not known`` where nothing of that is, and a case
            is not known; else ``takes``.
        is_sure: what decides the verdict is sure.
        notes: what it does, the worst first.
    """

    name: str
    title: str
    basis: Basis
    verdict: Verdict
    is_sure: bool
    notes: tuple[VendorNote, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LintReport:
    """Hold all that lint found out.

    Attributes:
        version: ``REPORT_VERSION``.
        name: the contract's name; empty where none could be made.
        kind: ``schema``, ``regex``, ``grammar``, ``choices`` or ``machine``.
        is_usable: a contract can be made of it as it stands.
        is_complete: all of it could be looked at. False where a fault hides what else there is: correct it, and lint
            again.
        support: how far each keyword is enforced; where some were rejected, the others as if those were gone.
        complexity: how large it is.
        walks: what sample texts made of it; None where no contract could be made at all.
        masks: what masks cost; None where no vocabulary was given.
        findings: errors first, then warnings and advice, in the order of ``RULES``.
        omitted: codes with more findings than are listed, each with the number of those left out.
        vendors: what each vendor would make of it; empty for what is no schema.
    """

    version: int = REPORT_VERSION
    name: str = ""
    kind: str = "schema"
    is_usable: bool
    is_complete: bool
    support: tuple[SupportEntry, ...] = ()
    complexity: Complexity = Complexity()
    walks: Walks | None = None
    masks: MaskCost | None = None
    findings: tuple[Finding, ...] = ()
    omitted: tuple[tuple[str, int], ...] = ()
    vendors: tuple[VendorReport, ...] = ()

    def has(self, *codes: str) -> bool:
        """Return whether something with one of the codes was found."""
        return any(found.code in codes for found in self.findings)


__all__ = [
    "REPORT_VERSION",
    "Complexity",
    "LintReport",
    "MaskCost",
    "SupportEntry",
    "SupportLevel",
    "VendorNote",
    "VendorReport",
    "Verdict",
    "Walks",
]

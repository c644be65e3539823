"""Define the checks before a launch, and what one of them came to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias

Verdict: TypeAlias = Literal["passed", "warned", "failed", "not_applicable"]
"""``warned``: it may be meant so, or nobody could look; somebody should. ``not_applicable``: it says nothing here."""

Group: TypeAlias = Literal["contract", "review", "endings", "checks", "backend", "trial", "effects", "telemetry"]
"""What a check belongs to, in the order of a report."""

GROUPS: Mapping[Group, str] = MappingProxyType(
    {
        "contract": "What the contract says",
        "review": "Whether it was reviewed",
        "endings": "What becomes of each ending",
        "checks": "What is checked after parsing",
        "backend": "What the backend enforces",
        "trial": "What it did when it was asked",
        "effects": "What may be done because of it",
        "telemetry": "Who is told",
    }
)
"""The parts of the list with their headings, in order."""

MOST_PLACES = 20
"""Most places that one check names; it says how many more there are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckKind:
    """Name one check of the list.

    Attributes:
        id: its short stable name.
        group: the part of the list in which it stands.
        about: what has to be so, in words.
    """

    id: str
    group: Group
    about: str


_ALL = (
    CheckKind(id="usable", group="contract", about="a contract can be made of it"),
    CheckKind(id="satisfiable", group="contract", about="some answer satisfies it"),
    CheckKind(id="bounded", group="contract", about="no answer can grow until a limit stops it"),
    CheckKind(id="named", group="review", about="it has a name of its own"),
    CheckKind(id="versioned", group="review", about="it has a version of its own"),
    CheckKind(id="reviewed", group="review", about="somebody reviewed exactly this contract"),
    CheckKind(id="handled", group="endings", about="the caller's code has a handler for each ending"),
    CheckKind(id="rules", group="checks", about="business rules look at the value"),
    CheckKind(id="content", group="checks", about="texts that a model writes are not trusted"),
    CheckKind(id="evidence", group="checks", about="what the value claims is looked up"),
    CheckKind(id="authorized", group="checks", about="somebody says whether who asks may have it done"),
    CheckKind(id="translatable", group="backend", about="the backend can be asked for it"),
    CheckKind(id="decoded", group="backend", about="all of it is enforced while the answer is written"),
    CheckKind(id="faithful", group="backend", about="what the backend is asked for is what the contract says"),
    CheckKind(id="proven", group="backend", about="it was seen that the backend enforces what it is asked for"),
    CheckKind(id="answers", group="trial", about="every call comes to a value"),
    CheckKind(id="first_token", group="trial", about="the first token comes in time"),
    CheckKind(id="per_token", group="trial", about="further tokens come in time"),
    CheckKind(id="legal_mass", group="trial", about="the model wants to write what it may"),
    CheckKind(id="dead_ends", group="trial", about="no answer comes to a point where nothing may follow"),
    CheckKind(id="no_fallback", group="effects", about="no call that acts falls back"),
    CheckKind(id="operation_key", group="effects", about="every call that acts names its business act"),
    CheckKind(id="durable", group="effects", about="what was done is remembered where it lasts"),
    CheckKind(id="retries", group="effects", about="nothing is asked again without end"),
    CheckKind(id="proof_asked", group="effects", about="nothing acts on a server that nobody proved"),
    CheckKind(id="ledger", group="effects", about="the ledger can be reached and read"),
    CheckKind(id="observed", group="telemetry", about="somebody is told how calls go"),
)

CHECKS: Mapping[str, CheckKind] = MappingProxyType({each.id: each for each in _ALL})
"""Every check by its id, in the order of the list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """Say what one check came to, payload-free.

    Attributes:
        id: its short stable name, a key of ``CHECKS``.
        verdict: what it came to.
        found: what was found, in words.
        instead: what to do about it; empty where nothing is to be done.
        places: where: JSON pointers in the schema, or ``file:line`` with a few words.
        places_left_out: how many places are not named.
    """

    id: str
    verdict: Verdict
    found: str
    instead: str = ""
    places: tuple[str, ...] = ()
    places_left_out: int = 0

    @property
    def kind(self) -> CheckKind:
        """Return what it checks."""
        return CHECKS[self.id]


def check(id: str, verdict: Verdict, found: str, instead: str = "", places: Iterable[str] = ()) -> Check:
    """Return what a check came to; of its places the first few, each once.

    Args:
        id: a key of ``CHECKS``.
        verdict: as of ``Check``, like the rest.
        found: what was found.
        instead: what to do.
        places: where.
    """
    assert id in CHECKS, f"{id} is no check of the list"
    named = tuple(dict.fromkeys(places))
    return Check(
        id=id,
        verdict=verdict,
        found=found,
        instead=instead,
        places=named[:MOST_PLACES],
        places_left_out=max(0, len(named) - MOST_PLACES),
    )


__all__ = ["CHECKS", "GROUPS", "MOST_PLACES", "Check", "CheckKind", "Group", "Verdict", "check"]

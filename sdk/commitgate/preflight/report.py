"""Define what looking over everything before a launch came to, and write it as JSON to be kept with the release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import cast

from commitgate.difference import Difference
from commitgate.json_value import JsonObject, JsonValue
from commitgate.lint import SupportEntry
from commitgate.preflight.check import CHECKS, Check, Verdict
from commitgate.preflight.trial import TrialRun

REPORT_VERSION = 1
"""Counts changes of the report's shape that a reader of its JSON would trip over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractFacts:
    """Name the contract that was looked over.

    Attributes:
        name: what it is called.
        version: the caller's own version of it.
        kind: ``schema``, ``regex``, ``grammar``, ``choices`` or ``machine``.
        risk: what hangs on its value.
        language_digest: digest of what constrains.
        full_digest: digest of the whole contract, prose included: the one that is reviewed.
        template_digest: digest of the template that it was filled from; None where of none.
    """

    name: str
    version: str | None = None
    kind: str = "schema"
    risk: str
    language_digest: str
    full_digest: str
    template_digest: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BackendFacts:
    """Name the backend and the model.

    Attributes:
        name: the backend's name.
        model: the model's name at it; empty for its default.
        dialect: what it speaks, as ``vllm_chat``; None where it asks no server.
        server_version: of the server; None where it tells none.
        model_revision: what tells versions of the model apart; None where nobody knows.
        tokenizer_fingerprint: digest of the vocabulary that steered the masks; None where nobody knows.
        form: in which field of a request the constraint goes; None where no server is asked.
        enforcement_table: version of the table of what servers enforce.
        probed_at: when it was probed, in seconds since 1970 (UTC); None where it was not.
    """

    name: str
    model: str
    dialect: str | None = None
    server_version: str | None = None
    model_revision: str | None = None
    tokenizer_fingerprint: str | None = None
    form: str | None = None
    enforcement_table: str | None = None
    probed_at: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PreflightReport:
    """Hold all that was found out before a launch, payload-free.

    Attributes:
        version: ``REPORT_VERSION``.
        commitgate: version of this library.
        made_at: when, in seconds since 1970 (UTC).
        contract: the contract; None where none could be made.
        backend: the backend.
        checks: what each check came to, in the order of ``CHECKS``.
        support: how far each keyword is enforced, by this backend where its translation says so.
        differences: where the constraint as sent is not the contract's.
        trial: what the calls came to; None where no model was asked.
    """

    version: int = REPORT_VERSION
    commitgate: str
    made_at: float
    contract: ContractFacts | None
    backend: BackendFacts
    checks: tuple[Check, ...]
    support: tuple[SupportEntry, ...] = field(default=(), repr=False)
    differences: tuple[Difference, ...] = field(default=(), repr=False)
    trial: TrialRun | None = field(default=None, repr=False)

    @property
    def verdict(self) -> Verdict:
        """Return what it all comes to: the worst that any check came to."""
        found = {each.verdict for each in self.checks}
        return "failed" if "failed" in found else "warned" if "warned" in found else "passed"

    @property
    def made_on(self) -> str:
        """Return when it was made, in UTC, to the second."""
        return datetime.fromtimestamp(self.made_at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    def check(self, id: str) -> Check:
        """Return what a check came to, by its id."""
        return next(each for each in self.checks if each.id == id)

    def counted(self) -> Mapping[Verdict, int]:
        """Return how many checks came to which verdict."""
        order: tuple[Verdict, ...] = ("failed", "warned", "passed", "not_applicable")
        return {verdict: sum(each.verdict == verdict for each in self.checks) for verdict in order}

    def to_json(self) -> JsonObject:
        """Return it as plain JSON: the verdict first, then what was looked over, then the checks."""
        found = cast("dict[str, JsonValue]", _plain(asdict(self)))
        found["checks"] = [
            {"id": each.id, "group": each.kind.group, "about": each.kind.about, **cast("JsonObject", plain)}
            for each, plain in zip(self.checks, cast("list[JsonValue]", found["checks"]), strict=True)
        ]
        return {
            "version": found.pop("version"),
            "verdict": self.verdict,
            "counted": cast("JsonObject", dict(self.counted())),
            "made_on": self.made_on,
            **found,
        }


def ordered(checks: list[Check]) -> tuple[Check, ...]:
    """Return checks in the order of the list."""
    places = {id: number for number, id in enumerate(CHECKS)}
    return tuple(sorted(checks, key=lambda each: places[each.id]))


def _plain(value: object) -> object:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in cast("dict[object, object]", value).items()}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in cast("tuple[object, ...]", value)]
    return value


__all__ = ["REPORT_VERSION", "BackendFacts", "ContractFacts", "PreflightReport", "ordered"]

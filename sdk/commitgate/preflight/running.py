"""Look everything over before a launch: the contract, its review, the endings, the checks, the backend, the effects."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import TypeAlias, cast

from commitgate.argument import check_finite, check_kind, check_text
from commitgate.backends.base import Backend, Remote
from commitgate.contract import Contract
from commitgate.errors import ContractError, MisuseError, ReviewedContractError
from commitgate.languages import kind_of_text
from commitgate.ledger import Ledger
from commitgate.lint import LintReport, LintSource, lint
from commitgate.preflight.backend_checks import Asked, asked, nothing_asked
from commitgate.preflight.check import Check, check
from commitgate.preflight.code_files import scan_code
from commitgate.preflight.code_scan import CodeScan
from commitgate.preflight.contract_checks import contract_checks
from commitgate.preflight.effect_checks import effect_checks
from commitgate.preflight.guard_checks import guard_checks
from commitgate.preflight.handled_check import handled_check
from commitgate.preflight.ledger_check import ledger_check
from commitgate.preflight.proof_check import Proof, proof_of_masks, proof_of_server
from commitgate.preflight.report import BackendFacts, ContractFacts, PreflightReport, ordered
from commitgate.preflight.review_checks import review_checks
from commitgate.preflight.telemetry_checks import observed
from commitgate.preflight.trial import Trial, TrialRun
from commitgate.preflight.trial_checks import nothing_tried, trial_checks
from commitgate.preflight.trial_running import run_trial
from commitgate.probe import ProbeStore
from commitgate.reviewed import Reviewed
from commitgate.risk import Risk
from commitgate.telemetry.observer import Observer
from commitgate.tools.tool import Tool
from commitgate.worker_thread import run_in_thread

Told: TypeAlias = "Callable[[str], None]"

PreflightSource: TypeAlias = "LintSource | Tool[..., object] | ContractError"
"""What can be looked over: a contract or what one can be made of, a tool, or the error for which none could be made."""

_NO_CONTRACT = "no contract can be made of it"


async def preflight(
    source: PreflightSource,
    *,
    backend: Backend,
    model: str = "",
    trial: Trial | None = None,
    reviewed: Iterable[str] | None = None,
    handlers: object | None = None,
    types: bool = True,
    code: Sequence[str | os.PathLike[str]] | None = None,
    names: Iterable[str] = (),
    ledger: Ledger | str | os.PathLike[str] | None = None,
    observers: Iterable[Observer] | None = None,
    probes: ProbeStore | None = None,
    probe_age_s: float | None = None,
    told: Told | None = None,
) -> PreflightReport:
    """Return what there is to know before a contract goes live on a backend. Nothing is done with any value.

    Args:
        source: the contract.
        backend: who will be asked; it stays the caller's to close.
        model: the model's name at it; ``""`` for its default.
        trial: how the model is tried out; None takes ``Trial()``.
        reviewed: digests of reviewed contracts and templates, as ``Client(reviewed=...)`` takes them.
        handlers: a ``Handlers``, or the function that tells endings apart.
        types: ask a type checker about that function, where one is installed.
        code: files and folders with the calls; they are read and not run.
        names: by which names that code knows the contract.
        ledger: as ``Client(ledger=...)`` takes it; None for the default.
        observers: the observers that the program has; None reads them from the code.
        probes: what earlier probes came to; None takes what ``COMMITGATE_PROBES`` names.
        probe_age_s: seconds for which a probe counts, > 0; None leaves it to what the library takes for fresh.
        told: is told what is being done, in words.

    Raises:
        MisuseError: an argument is of the wrong kind or out of its range, or there is no code where it is said to be.
        BackendError: the model cannot be had.
    """
    check_text("model", model)
    if trial is not None:
        check_kind("trial", trial, Trial, "a Trial")
    if probe_age_s is not None:
        check_finite("probe_age_s", probe_age_s, "a number of seconds > 0")
        if probe_age_s <= 0:
            raise MisuseError(f"probe_age_s must be a number of seconds > 0, found {probe_age_s!r}")
    look = _Look(
        backend=backend,
        model=model,
        trial=trial or Trial(),
        reviewed=Reviewed.of(reviewed).digests,
        handlers=handlers,
        types=types,
        code=None if code is None else [Path(each) for each in code],
        names=frozenset(names),
        ledger=ledger,
        observers=None if observers is None else len(tuple(observers)),
        probes=probes or ProbeStore(),
        probe_age_s=probe_age_s,
        told=told or _tell_nobody,
    )
    return await look.over(source)


def _tell_nobody(_words: str) -> None:
    """Tell nobody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Look:
    """Hold what was asked for, checked."""

    backend: Backend
    model: str
    trial: Trial
    reviewed: frozenset[str] | None
    handlers: object | None
    types: bool
    code: list[Path] | None
    names: frozenset[str]
    ledger: Ledger | str | os.PathLike[str] | None
    observers: int | None
    probes: ProbeStore
    probe_age_s: float | None
    told: Told = field(repr=False)

    async def over(self, source: PreflightSource) -> PreflightReport:
        """Make every check."""
        self.told("the contract")
        linted, contract, checks = await run_in_thread(lambda: _contract(source))
        acts = contract is not None and (contract.risk is Risk.EFFECT or _is_acting_tool(source))
        self.told("the code")
        code = await self._scanned(acts=acts)
        acts = acts or (code is not None and bool(code.acting))
        checks += await self._of_code(code, acts=acts)
        backend = BackendFacts(name=self.backend.name, model=self.model)
        if contract is None:
            checks += _without_contract({each.id for each in checks})
            return self._report(checks, None, backend, _support_of(linted))
        checks += await run_in_thread(lambda: list(review_checks(contract, self.reviewed, acts=acts)))
        checks += await run_in_thread(lambda: list(guard_checks(contract, code, acts=acts)))
        self.told("the backend")
        found = await asked(self.backend, contract, acts=acts)
        proof = await self._proof(found, acts=acts)
        run = await self._tried(contract, found, proof)
        checks += [*found.checks, proof.check]
        checks += trial_checks(run, self.trial) if run is not None else self._not_tried(found, proof)
        return replace(
            self._report(checks, contract, _backend_facts(backend, found, proof, run), found),
            trial=run,
        )

    async def _scanned(self, *, acts: bool) -> CodeScan | None:
        places = self.code
        if places is None:
            return None
        names = self.names if acts else frozenset[str]()
        return await run_in_thread(lambda: scan_code(places, acting_names=names))

    async def _of_code(self, code: CodeScan | None, *, acts: bool) -> list[Check]:
        self.told("what becomes of each ending")
        is_used = acts or (code is not None and any(each.has("operation_key") for each in code.calls))
        return [
            await handled_check(self.handlers, types=self.types),
            *effect_checks(code, acts=acts),
            await ledger_check(self.ledger, is_used=is_used),
            observed(code, observers=self.observers),
        ]

    async def _proof(self, found: Asked, *, acts: bool) -> Proof:
        if isinstance(self.backend, Remote):
            self.told("what the server says of itself")
            return await proof_of_server(self.backend, self.model, self.probes, max_age_s=self.probe_age_s, acts=acts)
        if not self.trial.calls:
            why = "nobody looked: the model was not asked"
            return Proof(check=check("proven", "warned", why, "ask it at least once: --calls 8"))
        self.told("whether the model keeps to a constraint")
        return await proof_of_masks(self.backend, self.model, timeout_s=self.trial.timeout_s)

    async def _tried(self, contract: Contract[object], found: Asked, proof: Proof) -> TrialRun | None:
        if not self.trial.calls or not found.is_possible:
            return None
        if proof.identity is not None and not proof.identity.is_ready:
            return None
        return await run_trial(self.backend, self.model, contract, self.trial, self.told)

    def _not_tried(self, found: Asked, proof: Proof) -> Iterator[Check]:
        if not self.trial.calls:
            return nothing_tried("no model was asked", was_wanted=False)
        why = proof.check.found if found.is_possible else "the backend cannot be asked for it"
        return nothing_tried(why, was_wanted=True)

    def _report(
        self, checks: list[Check], contract: Contract[object] | None, backend: BackendFacts, found: Asked
    ) -> PreflightReport:
        return PreflightReport(
            commitgate=version("commitgate"),
            made_at=time.time(),
            contract=None if contract is None else _contract_facts(contract),
            backend=backend,
            checks=ordered(checks),
            support=found.support,
            differences=() if found.translation is None else found.translation.differences,
        )


def _contract(source: PreflightSource) -> tuple[LintReport | None, Contract[object] | None, list[Check]]:
    """Return what lint says, the contract, and the checks that need nothing else. CPU work."""
    given: object = source.contract if isinstance(source, Tool) else source
    if isinstance(given, ReviewedContractError):
        instead = "read what changed in schema, prose, name, version and limits; then give the new digest"
        found = check("reviewed", "failed", str(given), instead)
        return None, None, [check("usable", "failed", "it is not the one that was reviewed", instead), found]
    if isinstance(given, ContractError):
        places = [given.pointer or "the root"]
        return None, None, [check("usable", "failed", str(given), "correct what is named", places)]
    linted = lint(cast("LintSource", given))
    checks = list(contract_checks(linted))
    if not linted.is_usable:
        return linted, None, checks
    make = cast("Callable[[object], Contract[object]]", Contract[object].of)
    return linted, make(given), checks


def _is_acting_tool(source: object) -> bool:
    return isinstance(source, Tool) and cast("Tool[..., object]", source).kind != "read"


def _without_contract(made: set[str]) -> list[Check]:
    """Return all checks that are left where no contract can be made."""
    ids = ("satisfiable", "bounded", "named", "versioned", "reviewed", "rules", "content", "evidence", "authorized")
    rest = [*nothing_asked(_NO_CONTRACT), *nothing_tried(_NO_CONTRACT, was_wanted=True)]
    rest += [check(id, "not_applicable", _NO_CONTRACT) for id in (*ids, "proven")]
    return [each for each in rest if each.id not in made]


def _support_of(linted: LintReport | None) -> Asked:
    return Asked(checks=(), support=() if linted is None else linted.support)


def _contract_facts(contract: Contract[object]) -> ContractFacts:
    return ContractFacts(
        name=contract.name,
        version=contract.version,
        kind="schema" if contract.text is None else kind_of_text(contract.text),
        risk=contract.risk.value,
        language_digest=contract.language_digest,
        full_digest=contract.full_digest,
        template_digest=contract.template_digest,
    )


def _backend_facts(backend: BackendFacts, found: Asked, proof: Proof, run: TrialRun | None) -> BackendFacts:
    identity, translation = proof.identity, found.translation
    return replace(
        backend,
        model=(run.model if run is not None else None) or backend.model,
        dialect=proof.dialect,
        server_version=None if identity is None else identity.version,
        model_revision=(run.model_revision if run is not None else None)
        or (None if identity is None else identity.revision),
        tokenizer_fingerprint=None if run is None else run.tokenizer_fingerprint,
        form=None if translation is None else translation.form,
        enforcement_table=None if translation is None else translation.table or None,
        probed_at=proof.probed_at,
    )


__all__ = ["PreflightSource", "preflight"]

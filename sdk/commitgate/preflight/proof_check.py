"""Check that a backend was seen to enforce what it is asked for, and that this was not too long ago."""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass
from typing import cast

from commitgate.backends.base import Backend, Remote, Sampling
from commitgate.backends.dialect import ServerIdentity
from commitgate.client import Client
from commitgate.harmless import harmless
from commitgate.languages import Choices
from commitgate.outcome import Committed, DeadEnd, Invalid, Violated
from commitgate.preflight.check import Check, Verdict, check
from commitgate.probe import ProbeStore
from commitgate.probe.session import Probed
from commitgate.probe.words import probe_command
from commitgate.timeouts import Timeouts
from commitgate.worker_thread import run_in_thread

_PROMPT = "Answer with the word yes and with nothing else."
_HOUR_S = 3_600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """Hold what is known of a backend's enforcement.

    Attributes:
        check: what the check came to.
        identity: what the server said of itself; None where no server was asked.
        dialect: what the server speaks; None where no server is asked.
        probed_at: when it was probed, in seconds since 1970; None where it was not, or needs no probe.
    """

    check: Check
    identity: ServerIdentity | None = None
    dialect: str | None = None
    probed_at: float | None = None


async def proof_of_server(
    backend: Remote, model: str, probes: ProbeStore, *, max_age_s: float | None, acts: bool
) -> Proof:
    """Return whether a server is known to enforce constraints. It is asked who it is; no model is.

    Args:
        backend: asks it.
        model: the model's name there.
        probes: what earlier probes came to.
        max_age_s: seconds for which a probe counts; None leaves it to what the library takes for fresh.
        acts: something is done because of its values.
    """
    standing = await backend.standing(model)
    lacking: Verdict = "failed" if acts else "warned"
    if not _is_probed(backend):
        if standing.is_proven:
            return Proof(check=check("proven", "passed", "the backend vouches for its server itself"))
        return Proof(check=check("proven", lacking, standing.reason))
    server = cast("Probed", backend)
    facts = server.dialect.facts
    identity = await server.handshake(model)
    kept = await run_in_thread(lambda: probes.find(facts.name, server.base_url, model))
    probed_at = None if kept.report is None else kept.report.made_at
    command = f"run: {probe_command(facts.name, server.base_url, model)}"

    def told(verdict: Verdict, found: str, instead: str = "") -> Proof:
        made = check("proven", verdict, found, instead)
        return Proof(check=made, identity=identity, dialect=facts.name, probed_at=probed_at)

    if not standing.is_reachable or not identity.is_ready:
        return told("failed", "the server does not say that it takes requests", "see whether it runs")
    if facts.is_trusted and standing.is_proven:
        return told("passed", "the server says that it is commitgate's own, which enforces what it is asked for")
    if not standing.is_proven:
        return told(lacking, standing.reason)
    if kept.report is None:
        found = "effects were let loose on it without a probe (unproven_effects)"
        return told(lacking, found, f"leave unproven_effects out, and {command}")
    age_s = time.time() - kept.report.made_at
    age = f"it was probed {age_s / _HOUR_S:.0f} hours ago"
    if max_age_s is not None and age_s > max_age_s:
        return told(lacking, f"{age}, and {max_age_s / _HOUR_S:g} are allowed", command)
    version = harmless(kept.report.server_version or "no version told")
    return told("passed", f"{age} ({version}), and enforces what it is asked for")


def _is_probed(backend: Backend) -> bool:
    return all(hasattr(backend, member) for member in ("dialect", "base_url", "handshake", "exchange"))


async def proof_of_masks(backend: Backend, model: str, *, timeout_s: float) -> Proof:
    """Return whether a backend that asks no server keeps to a constraint against which it is asked.

    A model that follows its prompt would write another word; only one that is held to the constraint writes this one,
    which nobody can guess. Of a local model the bytes of its tokens were proven when it was loaded.

    Raises:
        BackendError: the model cannot be had.
    """
    word = f"no-{secrets.token_hex(4)}"
    async with Client(backends={"asked": backend}) as client:
        outcome = await client.generate_structured(
            f"asked/{model}",
            Choices([word]),
            prompt=_PROMPT,
            prompt_schema="none",
            sampling=Sampling(max_tokens=64),
            timeouts=Timeouts(total_s=timeout_s),
        )
    if isinstance(outcome, Committed):
        fingerprint = outcome.receipt.tokenizer_fingerprint
        of = "" if fingerprint is None else f"; the bytes of its tokens were proven (vocabulary {fingerprint[:12]})"
        found = f"asked for another word, it wrote the one that the constraint allows{of}"
        return Proof(check=check("proven", "passed", found))
    if isinstance(outcome, Violated | Invalid | DeadEnd):
        found = f"asked against a constraint, it did not keep to it ({outcome.name})"
        return Proof(check=check("proven", "failed", found, "do not use this backend with contracts"))
    found = f"whether it keeps to constraints could not be told: {outcome.summary()}"
    return Proof(check=check("proven", "warned", found, "see why it does not answer, and check again"))


__all__ = ["Proof", "proof_of_masks", "proof_of_server"]

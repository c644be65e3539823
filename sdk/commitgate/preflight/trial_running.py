"""Try a contract out: ask the model, cold first and then hot, so many calls at once, and keep no text of it."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import replace

import anyio

from commitgate.backends.base import Backend, Remote
from commitgate.client import Client
from commitgate.contract import Contract
from commitgate.errors import CommitgateError, ContractError
from commitgate.outcome import Committed, Receipt
from commitgate.preflight.trial import Phase, Trial, TrialRun, TriedCall
from commitgate.retry import Retry
from commitgate.risk import Risk
from commitgate.run.facts import detail_of
from commitgate.timeouts import Timeouts
from commitgate.worker_thread import run_in_thread


async def run_trial(
    backend: Backend, model: str, contract: Contract[object], trial: Trial, told: Callable[[str], None]
) -> TrialRun:
    """Ask a model, and return what its calls came to. Nothing is done with a value, and nothing is asked twice.

    Args:
        backend: whom to ask; it stays the caller's to close.
        model: the model's name at it.
        contract: what answers must satisfy; whoever is asked about a value from outside is left out.
        trial: how often and how many at once.
        told: is told how far it is, in words.

    Raises:
        BackendError: the model cannot be had.
    """
    tried, is_cold_sure = await run_in_thread(lambda: _unseen(backend, contract))
    running = _Running(backend, model, tried, trial, told)
    cold = await running.phase("cold", trial.concurrency)
    hot = await running.phase("hot", trial.calls)
    receipt = running.receipt
    return TrialRun(
        cold=Phase.of(cold),
        hot=Phase.of(hot),
        is_cold_sure=is_cold_sure,
        concurrency=trial.concurrency,
        model=receipt.model,
        model_revision=receipt.model_revision,
        tokenizer_fingerprint=receipt.tokenizer_fingerprint,
        first_token_limit_s=trial.first_token_s,
        per_token_limit_s=trial.per_token_s,
        calls=(*cold, *hot),
    )


def _unseen(backend: Backend, contract: Contract[object]) -> tuple[Contract[object], bool]:
    """Return the contract as the backend has never seen it, and whether that is sure. CPU work.

    A server knows a schema again by its text. Where a comment that means nothing reaches it, the text is a new one.
    """
    plain = replace(contract, evidence=(), authorize=(), approve=(), risk=Risk.RECORD, reviewed_digest=None)
    if not isinstance(backend, Remote):
        return plain, True
    schema = plain.schema
    if plain.text is not None or not isinstance(schema, dict):
        return plain, False
    try:
        new = replace(plain, schema={**schema, "$comment": f"preflight {secrets.token_hex(8)}"})
        is_new = backend.translate(new, tools=None).schema != backend.translate(plain, tools=None).schema
    except ContractError:
        return plain, False
    return (new, True) if is_new else (plain, False)


class _Running:
    """Make the calls of a trial."""

    def __init__(
        self, backend: Backend, model: str, contract: Contract[object], trial: Trial, told: Callable[[str], None]
    ) -> None:
        self.receipt = Receipt()
        self._backend = backend
        self._model = model
        self._contract = contract
        self._trial = trial
        self._told = told
        self._asked = 0
        self._error: CommitgateError | None = None

    async def phase(self, name: str, calls: int) -> list[TriedCall]:
        """Make so many calls, as many at once as the trial says."""
        found: list[TriedCall] = []
        waiting = iter(range(calls))
        async with Client(backends={"asked": self._backend}) as client:

            async def work() -> None:
                for _ in waiting:
                    if self._error is not None:
                        return
                    call = await self._one(client)
                    if call is not None:
                        found.append(call)
                        self._told(f"{name}: {len(found)} of {calls} calls")

            async with anyio.create_task_group() as tasks:
                for _ in range(min(calls, self._trial.concurrency)):
                    tasks.start_soon(work)
        if self._error is not None:
            # Raised here: a group would wrap it.
            raise self._error
        return found

    async def _one(self, client: Client) -> TriedCall | None:
        trial = self._trial
        prompt = trial.prompts[self._asked % len(trial.prompts)] if trial.prompts else None
        self._asked += 1
        try:
            outcome = await client.generate_structured(
                f"asked/{self._model}",
                self._contract,
                prompt=prompt,
                system=trial.system,
                sampling=trial.sampling,
                timeouts=Timeouts(total_s=trial.timeout_s),
                retry=Retry(attempts=1),
            )
        except CommitgateError as error:
            self._error = error
            return None
        receipt = outcome.receipt
        if receipt.model is not None:
            self.receipt = receipt
        return TriedCall(
            ending=outcome.name,
            detail=detail_of(outcome),
            summary="" if isinstance(outcome, Committed) else outcome.summary(),
            first_token_s=receipt.time_to_first_token_s,
            per_token_s=receipt.time_per_token_s,
            output_tokens=receipt.usage.output_tokens,
            legal_mass_min=receipt.legal_mass_min,
            legal_mass_mean=receipt.legal_mass_mean,
        )


__all__ = ["run_trial"]

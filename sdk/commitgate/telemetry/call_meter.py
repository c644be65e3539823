"""Turn what is told of one call into counts: what each observer that counts then writes in a form of its own.

A request counts when it ends, with the times and the legal mass that are its own; a call when it ends. What the ledger
answers asks no model, so it adds nothing to what models took: its receipt is that of the call that chose the value.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from commitgate.backends.base import SentEvent, TextDelta, Usage
from commitgate.telemetry import genai_names as genai
from commitgate.telemetry import metric
from commitgate.telemetry import own_names as own
from commitgate.telemetry.bounded_names import BoundedNames
from commitgate.telemetry.metric import Measurement, Metric

if TYPE_CHECKING:
    from commitgate.contract import Contract
    from commitgate.outcome import Receipt, TryRecord
    from commitgate.telemetry.observer import CallBegan, CallEnded

NO_ERRORS: Final = frozenset({"cancelled", "committed", "filtered", "needs_approval", "refused"})
"""Outcomes that are no errors: the value came, or somebody was entitled to say no or to wait."""

RAISED: Final = "raised"
"""What a call or a request ended as that raised in place of an outcome."""

NONE: Final = "none"
"""Value of a label of which nothing is to be said."""

_RAN: Final = frozenset({"committed", "effect_failed", "in_doubt"})


@dataclass(slots=True)
class CallMeter:
    """Count one call.

    Args:
        call: what is known when it begins.
        names: bounds the labels, of all calls together.
    """

    call: CallBegan
    names: BoundedNames
    _contract: str | None = field(default=None, init=False)
    _of_model: dict[str, str] | None = field(default=None, init=False)
    _requests: int = field(default=0, init=False)
    _is_open: bool = field(default=False, init=False)
    _last_text_at: float | None = field(default=None, init=False)

    def began(self) -> Iterator[Measurement]:
        """Yield what a call counts as that begins."""
        yield self._count(metric.ACTIVE_CALLS, 1, {own.CALL_KIND: self.call.kind})

    def contract_built(self, contract: Contract[object]) -> None:
        """Take the contract."""
        self._contract = self.names.of(own.CONTRACT_NAME, contract.name)

    def request_began(self) -> None:
        """Take note of a request."""
        self._requests += 1
        self._is_open = True
        self._last_text_at = None

    def event(self, event: SentEvent, at_s: float) -> Iterator[Measurement]:
        """Yield the time since the piece of text before; of the first one nothing."""
        if not isinstance(event, TextDelta):
            return
        if self._last_text_at is not None:
            yield self._count(metric.TIME_PER_OUTPUT_CHUNK, at_s - self._last_text_at, self._inference())
        self._last_text_at = at_s

    def request_ended(self, record: TryRecord, receipt: Receipt) -> Iterator[Measurement]:
        """Yield what a request counts as."""
        self._is_open = False
        labels = self._of_request()
        finish = NONE if receipt.finish is None else str(receipt.finish)
        ended = {
            own.REQUEST_ENDING: record.ending,
            own.REQUEST_DETAIL: record.detail or NONE,
            own.FINISH: finish,
            own.SERVER_DEDUP: receipt.server_dedup,
        }
        yield self._count(metric.REQUESTS, 1, ended | labels)
        yield from self._tokens(record.usage)
        yield from self._known(metric.TIME_TO_FIRST_CHUNK, receipt.time_to_first_token_s, self._inference())
        yield from self._known(metric.TOKEN_DURATION, receipt.time_per_token_s, labels)
        of_contract = self._of_contract() | labels
        yield from self._known(metric.LEAST_LEGAL_MASS, receipt.legal_mass_min, of_contract)
        yield from self._known(metric.MEAN_LEGAL_MASS, receipt.legal_mass_mean, of_contract)
        yield from self._known(metric.SAVED_TOKENS, receipt.tokens_saved, labels)
        for warning in receipt.warnings:
            yield self._count(metric.RECEIPT_WARNINGS, 1, {own.WARNING: warning} | self._backend())
        yield from self._layers(receipt)

    def ended(self, end: CallEnded) -> Iterator[Measurement]:
        """Yield what the call counts as."""
        if self._is_open:
            ended = {own.REQUEST_ENDING: RAISED if end.name is None else end.name, own.REQUEST_DETAIL: NONE}
            yield self._count(metric.REQUESTS, 1, ended | self._of_request())
        kind = {own.CALL_KIND: self.call.kind}
        outcome = {own.OUTCOME: end.name or RAISED}
        yield self._count(metric.ACTIVE_CALLS, -1, kind)
        yield self._count(metric.CALL_DURATION, end.at_s, kind | outcome)
        fallback = NONE if end.receipt is None else end.receipt.fallback or NONE
        more = {own.OUTCOME_DETAIL: end.detail or NONE, own.FALLBACK: fallback} | self._error(end)
        yield self._count(metric.CALLS, 1, kind | outcome | more | self._of_contract() | self._backend())
        if end.is_replayed:
            yield self._count(metric.REPLAYS, 1, self._of_contract())
        if self.call.has_key:
            row = {own.LEDGER_STATE: end.ledger_state or NONE}
            yield self._count(metric.OPERATIONS, 1, row | self._name(own.EFFECT_NAME, self.call.effect))
        if self._requests:
            yield from self._inferred(end)
        elif self.call.kind == "tool" and not end.is_replayed:
            yield from self._tool_ran(end)

    def _inferred(self, end: CallEnded) -> Iterator[Measurement]:
        labels = self._inference() | self._error(end)
        yield self._count(metric.INFERENCE_DURATION, end.at_s, labels)
        usage = Usage() if end.receipt is None else end.receipt.usage
        yield self._count(metric.INPUT_TOKENS_OF_OPERATION, usage.input_tokens or 0, labels)
        yield self._count(metric.OUTPUT_TOKENS_OF_OPERATION, usage.output_tokens or 0, labels)
        if end.receipt is not None and end.receipt.compile_s is not None:
            result = {own.COMPILE_RESULT: end.receipt.compile_result}
            yield self._count(metric.COMPILE_DURATION, end.receipt.compile_s, result)

    def _tool_ran(self, end: CallEnded) -> Iterator[Measurement]:
        if end.receipt is not None:
            yield from self._layers(end.receipt)
        if end.name in _RAN or end.name is None:
            tool = {genai.OPERATION_NAME: genai.EXECUTE_TOOL} | self._name(genai.TOOL_NAME, self.call.tool)
            yield self._count(metric.EXECUTE_TOOL_DURATION, end.at_s, tool | self._error(end))

    def _tokens(self, usage: Usage) -> Iterator[Measurement]:
        counted = (
            (metric.INPUT_TOKENS_USED, usage.input_tokens),
            (metric.OUTPUT_TOKENS_USED, usage.output_tokens),
        )
        for which, tokens in counted:
            modality = genai.UNKNOWN_MODALITY if tokens is None else genai.TEXT
            yield self._count(which, tokens or 0, self._inference() | {genai.TOKEN_MODALITY: modality})
        text = {genai.TOKEN_MODALITY: genai.TEXT}
        yield from self._known(metric.REASONING_TOKENS_USED, usage.reasoning_tokens, self._inference() | text)

    def _layers(self, receipt: Receipt) -> Iterator[Measurement]:
        for record in receipt.layers:
            if record.ran:
                verdict = {own.LAYER: str(record.layer), own.LAYER_VERDICT: "passed" if record.passed else "failed"}
                yield self._count(metric.LAYERS, 1, verdict | self._of_contract())

    def _inference(self) -> dict[str, str]:
        if self._of_model is None:
            named = {genai.OPERATION_NAME: genai.CHAT, genai.PROVIDER_NAME: provider_of(self.call)}
            self._of_model = named | self._name(genai.REQUEST_MODEL, self.call.model)
        return self._of_model

    def _of_request(self) -> dict[str, str]:
        return self._backend() | self._name(genai.REQUEST_MODEL, self.call.model)

    def _backend(self) -> dict[str, str]:
        return self._name(own.BACKEND, self.call.backend)

    def _of_contract(self) -> dict[str, str]:
        return {} if self._contract is None else {own.CONTRACT_NAME: self._contract}

    def _error(self, end: CallEnded) -> dict[str, str]:
        return self._name(genai.ERROR_TYPE, error_type(end))

    def _name(self, label: str, value: str | None) -> dict[str, str]:
        return {label: self.names.of(label, value)} if value else {}

    def _known(self, which: Metric, value: float | None, labels: dict[str, str]) -> Iterator[Measurement]:
        if value is not None:
            yield self._count(which, value, labels)

    @staticmethod
    def _count(which: Metric, value: float, labels: dict[str, str]) -> Measurement:
        return Measurement(which, value, labels)


def error_type(end: CallEnded) -> str | None:
    """Return what sort of error a call ended with: the name of its outcome, or of what it raised; None of none."""
    if end.name is None:
        return end.error or RAISED
    return None if end.name in NO_ERRORS else end.name


def provider_of(call: CallBegan) -> str:
    """Return what the conventions call the provider that a call asks."""
    backend = call.backend or NONE
    return genai.PROVIDERS.get(backend, backend)


__all__ = ["NONE", "NO_ERRORS", "RAISED", "CallMeter", "error_type", "provider_of"]

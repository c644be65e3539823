"""Say what the spans of a call carry: names, digests, counts and times, and no text of anybody's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

from commitgate.backends.base import FinishReason
from commitgate.telemetry import genai_names as genai
from commitgate.telemetry import own_names as own
from commitgate.telemetry.bounded_names import short, word
from commitgate.telemetry.call_meter import RAISED, provider_of

if TYPE_CHECKING:
    from commitgate.backends.base import Sampling
    from commitgate.contract import Contract
    from commitgate.outcome import Receipt, TryRecord
    from commitgate.telemetry.observer import CallBegan, CallEnded

Attribute: TypeAlias = "str | bool | int | float | Sequence[str]"
Attributes: TypeAlias = Mapping[str, Attribute]

_FINISHES: Final[Mapping[FinishReason, str]] = {
    FinishReason.STOP: "stop",
    FinishReason.LENGTH: "length",
    FinishReason.PAUSED: "length",
    FinishReason.CONTENT_FILTER: "content_filter",
    FinishReason.REFUSAL: "refusal",
}


def span_name(call: CallBegan) -> str:
    """Return the name of a call's span: what is done, and with which model or tool."""
    match call.kind:
        case "generate":
            return f"{genai.CHAT} {short(call.model)}".strip()
        case "tool":
            return f"{genai.EXECUTE_TOOL} {short(call.tool or '')}".strip()
        case "stored":
            return own.CALL_SPAN


def of_beginning(call: CallBegan) -> Attributes:
    """Return what is known when a call begins; samplers decide by it."""
    found: dict[str, Attribute | None] = {
        own.CALL_ID: call.call_id,
        own.CALL_KIND: call.kind,
        own.EFFECT_NAME: None if call.effect is None else short(call.effect),
    }
    if call.kind == "generate":
        found |= {
            genai.OPERATION_NAME: genai.CHAT,
            genai.PROVIDER_NAME: short(provider_of(call)),
            genai.REQUEST_MODEL: short(call.model) or None,
            own.BACKEND: None if call.backend is None else short(call.backend),
            genai.REQUEST_STREAM: True,
            **_of_sampling(call.sampling),
        }
    elif call.kind == "tool":
        tool = None if call.tool is None else short(call.tool)
        found |= {
            genai.OPERATION_NAME: genai.EXECUTE_TOOL,
            genai.TOOL_NAME: tool,
            genai.TOOL_TYPE: genai.FUNCTION,
        }
    return _known(found)


def _of_sampling(sampling: Sampling) -> dict[str, Attribute | None]:
    return {
        genai.REQUEST_TEMPERATURE: sampling.temperature,
        genai.REQUEST_TOP_K: sampling.top_k,
        genai.REQUEST_TOP_P: sampling.top_p if sampling.top_p < 1 else None,
        genai.REQUEST_SEED: sampling.seed,
        genai.REQUEST_MAX_TOKENS: sampling.max_tokens,
    }


def of_contract(contract: Contract[object]) -> Attributes:
    """Return what names a contract."""
    return _known(
        {
            own.CONTRACT_NAME: short(contract.name),
            own.CONTRACT_VERSION: None if contract.version is None else short(contract.version),
            own.CONTRACT_DIGEST: contract.full_digest,
            own.LANGUAGE_DIGEST: contract.language_digest,
        }
    )


def of_request(record: TryRecord, receipt: Receipt) -> Attributes:
    """Return what is known when a request has ended."""
    return _known(
        {
            own.REQUEST_ENDING: record.ending,
            own.REQUEST_DETAIL: record.detail,
            own.REQUEST_STATUS: record.status,
            own.REQUEST_ID: word(record.request_id),
            own.REQUEST_HAD_TEXT: record.had_text,
            own.REQUEST_INPUT_TOKENS: record.usage.input_tokens,
            own.REQUEST_OUTPUT_TOKENS: record.usage.output_tokens,
            own.FINISH: None if receipt.finish is None else str(receipt.finish),
            own.SERVER_DEDUP: receipt.server_dedup,
            own.TIME_PER_TOKEN: receipt.time_per_token_s,
            own.LEGAL_MASS_MIN: receipt.legal_mass_min,
            own.LEGAL_MASS_MEAN: receipt.legal_mass_mean,
            own.TOKENS_SAVED: receipt.tokens_saved,
            genai.RESPONSE_TIME_TO_FIRST_CHUNK: receipt.time_to_first_token_s,
        }
    )


def of_end(call: CallBegan, end: CallEnded, *, has_asked: bool) -> Attributes:
    """Return what is known when a call has ended.

    Args:
        call: what was known when it began.
        end: how it ended.
        has_asked: it made a request. A receipt out of the ledger is that of the call that did, and tells nothing of
            this one.
    """
    receipt = end.receipt
    found: dict[str, Attribute | None] = {
        own.OUTCOME: end.name or RAISED,
        own.OUTCOME_DETAIL: end.detail,
        own.REPLAYED: end.is_replayed,
        own.LEDGER_STATE: end.ledger_state,
        own.OPERATION_KEY_DIGEST: None if receipt is None else receipt.operation_key_digest,
    }
    if receipt is None or end.is_replayed or call.kind == "stored":
        return _known(found)
    found |= _of_receipt(receipt)
    if has_asked:
        found |= _of_response(receipt)
        found[own.REFUSED] = end.name == "refused" or receipt.finish is FinishReason.REFUSAL
    return _known(found)


def _of_receipt(receipt: Receipt) -> dict[str, Attribute | None]:
    passed = [str(record.layer) for record in receipt.layers if record.passed]
    failed = next((str(record.layer) for record in receipt.layers if record.passed is False), None)
    return {
        own.LAYER: failed,
        own.LAYERS_PASSED: passed,
        own.WARNINGS: list(receipt.warnings) or None,
        own.ATTEMPTS: receipt.attempts,
        own.COMPILE_RESULT: receipt.compile_result,
        own.COMPILE_TIME: receipt.compile_s,
    }


def _of_response(receipt: Receipt) -> dict[str, Attribute | None]:
    usage = receipt.usage
    return {
        own.MODEL_REVISION: word(receipt.model_revision),
        own.FINISH: None if receipt.finish is None else str(receipt.finish),
        own.FALLBACK: receipt.fallback,
        own.TIME_PER_TOKEN: receipt.time_per_token_s,
        own.LEGAL_MASS_MIN: receipt.legal_mass_min,
        own.LEGAL_MASS_MEAN: receipt.legal_mass_mean,
        own.TOKENS_SAVED: receipt.tokens_saved,
        own.SERVER_DEDUP: receipt.server_dedup,
        genai.RESPONSE_MODEL: word(receipt.model),
        genai.RESPONSE_FINISH_REASONS: [response_finish(receipt.finish)] if receipt.attempts else None,
        genai.RESPONSE_TIME_TO_FIRST_CHUNK: receipt.time_to_first_token_s,
        genai.USAGE_INPUT_TOKENS: usage.input_tokens,
        genai.USAGE_OUTPUT_TOKENS: usage.output_tokens,
        genai.USAGE_REASONING_TOKENS: usage.reasoning_tokens,
    }


def response_finish(finish: FinishReason | None) -> str:
    """Return why a model stopped, in the conventions' words."""
    return genai.FINISH_ERROR if finish is None else _FINISHES.get(finish, genai.FINISH_ERROR)


def _known(found: Mapping[str, Attribute | None]) -> Attributes:
    return {name: value for name, value in found.items() if value is not None}


__all__ = [
    "Attribute",
    "Attributes",
    "of_beginning",
    "of_contract",
    "of_end",
    "of_request",
    "response_finish",
    "span_name",
]

"""Name what OpenTelemetry's conventions name: every such word that this library uses stands here and nowhere else.

The conventions of generative AI are at version 0.1.0 and still in development: a release that renames something changes
this module alone, and ``docs/telemetry.md``, which is compared with it.

Source: OpenTelemetry semantic conventions for generative AI, v0.1.0, ``docs/gen-ai/client-inference.md``,
``gen-ai-token-metrics.md`` and ``gen-ai-spans.md`` (tools); the general attribute ``error.type``.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

OPERATION_NAME: Final = "gen_ai.operation.name"
PROVIDER_NAME: Final = "gen_ai.provider.name"
REQUEST_MODEL: Final = "gen_ai.request.model"
REQUEST_STREAM: Final = "gen_ai.request.stream"
REQUEST_TEMPERATURE: Final = "gen_ai.request.temperature"
REQUEST_TOP_K: Final = "gen_ai.request.top_k"
REQUEST_TOP_P: Final = "gen_ai.request.top_p"
REQUEST_SEED: Final = "gen_ai.request.seed"
REQUEST_MAX_TOKENS: Final = "gen_ai.request.max_tokens"
OUTPUT_TYPE: Final = "gen_ai.output.type"
RESPONSE_MODEL: Final = "gen_ai.response.model"
RESPONSE_FINISH_REASONS: Final = "gen_ai.response.finish_reasons"
RESPONSE_TIME_TO_FIRST_CHUNK: Final = "gen_ai.response.time_to_first_chunk"
USAGE_INPUT_TOKENS: Final = "gen_ai.usage.input_tokens"
USAGE_OUTPUT_TOKENS: Final = "gen_ai.usage.output_tokens"
USAGE_REASONING_TOKENS: Final = "gen_ai.usage.reasoning.output_tokens"
TOKEN_MODALITY: Final = "gen_ai.token.modality"
TOOL_NAME: Final = "gen_ai.tool.name"
TOOL_TYPE: Final = "gen_ai.tool.type"
ERROR_TYPE: Final = "error.type"

INPUT_MESSAGES: Final = "gen_ai.input.messages"
OUTPUT_MESSAGES: Final = "gen_ai.output.messages"
TOOL_CALL_ARGUMENTS: Final = "gen_ai.tool.call.arguments"

INFERENCE_DURATION: Final = "gen_ai.client.inference.duration"
TIME_TO_FIRST_CHUNK: Final = "gen_ai.client.inference.time_to_first_chunk"
TIME_PER_OUTPUT_CHUNK: Final = "gen_ai.client.inference.time_per_output_chunk"
INPUT_TOKENS_USED: Final = "gen_ai.client.inference.usage.input_tokens"
OUTPUT_TOKENS_USED: Final = "gen_ai.client.inference.usage.output_tokens"
REASONING_TOKENS_USED: Final = "gen_ai.client.inference.usage.reasoning.output_tokens"
INPUT_TOKENS_OF_OPERATION: Final = "gen_ai.client.inference.operation.input_tokens"
OUTPUT_TOKENS_OF_OPERATION: Final = "gen_ai.client.inference.operation.output_tokens"
EXECUTE_TOOL_DURATION: Final = "gen_ai.execute_tool.duration"

CHAT: Final = "chat"
"""Operation of a call that asks a model."""

EXECUTE_TOOL: Final = "execute_tool"
"""Operation of a call that runs a tool."""

FUNCTION: Final = "function"
"""Type of a tool that is run here."""

TEXT: Final = "text"
JSON: Final = "json"
UNKNOWN_MODALITY: Final = "unknown"

FINISH_ERROR: Final = "error"
"""Finish reason of an answer of which the end did not come."""

PROVIDERS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "anthropic": "anthropic",
        "gemini": "gcp.gemini",
        "openai": "openai",
        "openai_chat": "openai",
        "openai_responses": "openai",
    }
)
"""What the conventions call the providers behind backends of ours; every other one goes by the backend's own name."""

SECONDS: Final = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
"""Buckets that the conventions give times, in seconds."""

TOKENS: Final = (1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864)
"""Buckets that the conventions give counts of tokens."""

__all__ = [
    "CHAT",
    "ERROR_TYPE",
    "EXECUTE_TOOL",
    "EXECUTE_TOOL_DURATION",
    "FINISH_ERROR",
    "FUNCTION",
    "INFERENCE_DURATION",
    "INPUT_MESSAGES",
    "INPUT_TOKENS_OF_OPERATION",
    "INPUT_TOKENS_USED",
    "JSON",
    "OPERATION_NAME",
    "OUTPUT_MESSAGES",
    "OUTPUT_TOKENS_OF_OPERATION",
    "OUTPUT_TOKENS_USED",
    "OUTPUT_TYPE",
    "PROVIDERS",
    "PROVIDER_NAME",
    "REASONING_TOKENS_USED",
    "REQUEST_MAX_TOKENS",
    "REQUEST_MODEL",
    "REQUEST_SEED",
    "REQUEST_STREAM",
    "REQUEST_TEMPERATURE",
    "REQUEST_TOP_K",
    "REQUEST_TOP_P",
    "RESPONSE_FINISH_REASONS",
    "RESPONSE_MODEL",
    "RESPONSE_TIME_TO_FIRST_CHUNK",
    "SECONDS",
    "TEXT",
    "TIME_PER_OUTPUT_CHUNK",
    "TIME_TO_FIRST_CHUNK",
    "TOKENS",
    "TOKEN_MODALITY",
    "TOOL_CALL_ARGUMENTS",
    "TOOL_NAME",
    "TOOL_TYPE",
    "UNKNOWN_MODALITY",
    "USAGE_INPUT_TOKENS",
    "USAGE_OUTPUT_TOKENS",
    "USAGE_REASONING_TOKENS",
]

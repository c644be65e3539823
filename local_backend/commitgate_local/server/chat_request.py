"""Read the body of ``POST /v1/chat/completions``: every field is honoured, or known to change nothing, or refused.

A field that is dropped in silence changes an answer behind its asker's back. So a field that is not known is refused by
its name, and one that is known but not offered is refused unless it has the value that means "as always".

Source: OpenAI's reference of chat completions as the types of openai-python 3.57 have it; vLLM's structured outputs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from commitgate.backends.base import Message, Sampling
from commitgate.gate.layers import Failure
from commitgate.gate.strict_parse import PARSER_NESTING, strict_parse
from commitgate.json_value import JsonScalar, JsonValue
from commitgate_local.server.chat_format import FORMAT_FIELDS, AnswerFormat, read_format
from commitgate_local.server.chat_message import read_messages
from commitgate_local.server.chat_reasoning import EFFORT_FIELD, Effort, read_effort
from commitgate_local.server.chat_tool import TOOL_FIELDS, ToolUse, read_tools
from commitgate_local.server.refusal import bad_request, too_large
from commitgate_local.server.request_fields import Fields
from commitgate_local.server.server_limits import ServerLimits

DEFAULT_TEMPERATURE: Final = 1.0
"""Temperature where a request does not say, as OpenAI's reference has it."""

HONOURED: Final = frozenset(
    {
        *("model", "messages", "stream", "stream_options"),
        *("temperature", "top_p", "top_k", "seed", "max_tokens", "max_completion_tokens"),
        *FORMAT_FIELDS,
        *TOOL_FIELDS,
        EFFORT_FIELD,
    }
)
"""Fields that a request may use."""

IGNORED: Final = frozenset(
    {
        *("user", "safety_identifier", "metadata", "prediction"),
        *("prompt_cache_key", "prompt_cache_retention", "prompt_cache_options"),
    }
)
"""Fields that change no answer, whatever they hold: names of people and acts, and hints for speed."""

_ALLOWED: Final[dict[str, tuple[JsonScalar, ...]]] = {
    "n": (1,),
    "store": (False,),
    "logprobs": (False,),
    "top_logprobs": (0,),
    "frequency_penalty": (0,),
    "presence_penalty": (0,),
    "repetition_penalty": (1,),
    "min_p": (0,),
    "verbosity": ("medium",),
    "service_tier": ("auto", "default"),
}
NEUTRAL: Final[Mapping[str, tuple[JsonScalar, ...]]] = MappingProxyType(_ALLOWED)
"""Fields that are known and not offered, each with the values that change nothing; every other value is refused."""

EMPTY: Final = frozenset({"stop", "logit_bias"})
"""Fields that are known and not offered, and taken where they hold nothing: an empty array, object or text."""

MODALITIES: Final = "modalities"
"""The field that names what an answer is made of; ``["text"]`` is taken."""

NOT_OFFERED: Final = frozenset(
    {"audio", "moderation", "web_search_options", "functions", "function_call", "structural_tag", "best_of"}
)
"""Fields that are known and refused, whatever they hold; all that are not named in this module are, too."""

_SEED_LEAST: Final = -(2**63)
_SEED_MOST: Final = 2**63 - 1
_MOST_TOP_K: Final = 1_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """Hold what one request asks for.

    Attributes:
        model: the model's name, as the client writes it.
        messages: the conversation as a model gets it, never empty.
        sampling: how to draw; ``max_tokens`` is within the server's limit.
        stream: the answer is sent while it is written.
        include_usage: a stream tells at its end how many tokens were read and written.
        answer_format: the form of the answer; None where it may be any text.
        tools: what the model may call; None where nothing.
        effort: how much the model may think first; None leaves it to the server.
    """

    model: str
    messages: tuple[Message, ...] = field(repr=False)
    sampling: Sampling
    stream: bool = False
    include_usage: bool = False
    answer_format: AnswerFormat | None = None
    tools: ToolUse | None = None
    effort: Effort | None = None


def parse_chat_request(body: bytes, *, limits: ServerLimits) -> ChatRequest:
    """Return what a body asks for. Compiles nothing.

    Takes time linear in the body's size: microseconds for most, but up to a third of a second a MiB for one that is
    made to take long (2 cores, November 2026), so bodies of more than a few KiB belong into a worker thread.

    Args:
        body: the whole body.
        limits: the server's limits.

    Raises:
        RequestRefused: the body is no JSON, or asks for something that is not offered. Nothing else is ever raised.
    """
    given = _object(body, limits)
    _check_fields(given)
    streams = given.flag("stream") or False
    return ChatRequest(
        model=given.required_text("model"),
        messages=read_messages(given, limits),
        sampling=_sampling(given, limits),
        stream=streams,
        include_usage=_include_usage(given, streams=streams),
        answer_format=read_format(given),
        tools=read_tools(given, limits),
        effort=read_effort(given),
    )


def _object(body: bytes, limits: ServerLimits) -> Fields:
    if len(body) > limits.body_bytes:
        raise too_large(f"the body has more than {limits.body_bytes} bytes")
    parsed = strict_parse(body, nesting=PARSER_NESTING)
    if isinstance(parsed, Failure):
        raise bad_request(f"the body cannot be read as JSON: {parsed.message}", code=parsed.code)
    if not isinstance(parsed.value, dict):
        raise bad_request("the body must be a JSON object", code="invalid_type")
    return Fields(parsed.value)


def _check_fields(given: Fields) -> None:
    given.check_known({*HONOURED, *IGNORED, *NEUTRAL, *EMPTY, MODALITIES, *NOT_OFFERED})
    for name, allowed in NEUTRAL.items():
        value = given.value(name)
        if value is not None and not _is_one_of(value, allowed):
            wanted = " or ".join(_spelled(each) for each in allowed)
            raise bad_request(
                f"{name} must be {wanted} or left out: nothing else is offered here",
                param=name,
                code="unsupported_parameter",
            )
    for name in sorted(EMPTY | NOT_OFFERED):
        value = given.value(name)
        if value is not None and not (name in EMPTY and value in ([], {}, "")):
            raise bad_request(
                f"{name} is not offered here{_INSTEAD.get(name, '')}; leave it out",
                param=name,
                code="unsupported_parameter",
            )
    modalities = given.value(MODALITIES)
    if modalities is not None and modalities != ["text"]:
        raise bad_request(f'{MODALITIES} must be ["text"]', param=MODALITIES, code="unsupported_parameter")


_INSTEAD: Final[Mapping[str, str]] = MappingProxyType(
    {
        "functions": ": it was replaced by tools",
        "function_call": ": it was replaced by tool_choice",
        "stop": ": say with a regex, a grammar or a schema where an answer ends",
        "structural_tag": ": use structured_outputs with json, regex, choice or grammar",
    }
)


def _is_one_of(value: JsonValue, allowed: tuple[JsonScalar, ...]) -> bool:
    # True equals 1 in Python, and no client means it so.
    return any(value == each and isinstance(value, bool) == isinstance(each, bool) for each in allowed)


def _spelled(value: JsonScalar) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _sampling(given: Fields, limits: ServerLimits) -> Sampling:
    temperature = given.number("temperature", 0, 2)
    top_p = given.number("top_p", 0, 1, is_open=True)
    top_k = given.integer("top_k", -1, _MOST_TOP_K)
    return Sampling(
        temperature=DEFAULT_TEMPERATURE if temperature is None else temperature,
        top_k=top_k if top_k is not None and top_k > 0 else None,  # -1 and 0 keep all tokens, as with vLLM
        top_p=1.0 if top_p is None else top_p,
        seed=given.integer("seed", _SEED_LEAST, _SEED_MOST),
        max_tokens=_max_tokens(given, limits),
    )


def _max_tokens(given: Fields, limits: ServerLimits) -> int:
    names = ("max_completion_tokens", "max_tokens")
    found = [given.integer(name, 1, limits.max_tokens) for name in names]
    wanted = {value for value in found if value is not None}
    if len(wanted) > 1:
        raise bad_request("max_tokens and max_completion_tokens differ; give one of them", param="max_tokens")
    return wanted.pop() if wanted else limits.default_max_tokens


def _include_usage(given: Fields, *, streams: bool) -> bool:
    options = given.fields("stream_options")
    if options is None:
        return False
    if not streams:
        raise bad_request("stream_options is for streams alone; leave it out, or set stream", param="stream_options")
    options.check_known({"include_usage", "include_obfuscation", "continuous_usage_stats"})
    # Padding against those who watch the wire would say nothing here; it is left out, as a client may ask.
    options.flag("include_obfuscation")
    if options.flag("continuous_usage_stats"):
        place = options.place("continuous_usage_stats")
        raise bad_request(f"{place} is not offered here", param=place, code="unsupported_parameter")
    return options.flag("include_usage") or False


__all__ = [
    "DEFAULT_TEMPERATURE",
    "EMPTY",
    "HONOURED",
    "IGNORED",
    "MODALITIES",
    "NEUTRAL",
    "NOT_OFFERED",
    "ChatRequest",
    "parse_chat_request",
]

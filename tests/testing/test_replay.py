"""A recorded response ends a call as it would have ended it when it came."""

import json
import re
from dataclasses import dataclass

import pytest
from backends.recorded import recorded
from backends.wire.odd_responses import CHAT_TEXT, JSON, SSE, chat

from commitgate import Choices, Contract, Regex
from commitgate.backends.dialects.table import DIALECTS
from commitgate.backends.registry import REMOTE
from commitgate.errors import ContractError, MisuseError
from commitgate.testing import Replay, replay
from commitgate.testing.wire_reading import WIRE_OUTCOMES

SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "alt": {"type": "integer"}},
    "required": ["city", "alt"],
    "additionalProperties": False,
}
NUMBER = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": False}
DONE = "data: [DONE]\n\n"


@dataclass
class City:
    city: str
    alt: int


def sample(name: str, *, contract: object = None, backend: str | None = None) -> Replay:
    (found,) = (each for each in recorded() if each.name == name)
    return replay(
        backend or found.dialect,
        found.body,
        contract=contract,
        status=found.status,
        headers=found.headers,
        end=found.end,
    )


@pytest.mark.parametrize(
    ("name", "ending"),
    [
        ("openai_chat__usage_every_chunk", "committed"),
        ("openai_chat__done_missing", "committed"),
        ("openai_chat__drop_after_finish", "committed"),
        ("openai_chat__json_instead_of_sse", "committed"),
        ("openai_chat__length", "truncated"),
        ("openai_chat__length_zero_text", "truncated"),
        ("openai_chat__drop_clean_eof", "disconnected"),
        ("openai_chat__drop_mid_event", "disconnected"),
        ("openai_chat__empty_body", "disconnected"),
        ("openai_chat__only_done", "disconnected"),
        ("openai_chat__error_midstream_done", "unavailable"),
        ("openai_chat__html_200", "unavailable"),
        ("openai_chat__http_429_rate", "unavailable"),
        ("openai_chat__http_400_schema", "unsupported"),
        ("vllm_chat__error_first_after_200", "unsupported"),
        ("openai_chat__n2_choices", "invalid"),
        ("openai_chat__reasoning_only", "violated"),
        ("llamacpp_chat__unwrapped_schema_any_object", "violated"),
        ("vllm_chat__repetition", "violated"),
        ("sglang_chat__abort", "disconnected"),
        ("anthropic_messages__refusal_midstream", "refused"),
        ("anthropic_messages__two_text_blocks", "committed"),
        ("anthropic_messages__message_stop_missing", "committed"),
        ("anthropic_messages__unknown_stop_reason", "unavailable"),
        ("openai_responses__normal", "committed"),
        ("openai_responses__drop_after_text_done", "disconnected"),
        ("gemini__normal", "committed"),
        ("gemini__array_without_alt_sse", "committed"),
        ("gemini__prompt_block", "filtered"),
        ("gemini__error_raw_json_tail", "unavailable"),
        ("ollama_chat__no_trailing_newline", "committed"),
        ("ollama_chat__drop", "disconnected"),
        ("ollama_chat__done_reason_missing", "unavailable"),
        ("tgi_generate__normal_eos", "committed"),
        ("llamacpp_completion__normal_eos", "committed"),
        ("llamacpp_completion__limit", "truncated"),
    ],
)
def test_recorded_response_ends_a_call_by_its_name(name: str, ending: str) -> None:
    found = sample(name, contract=SCHEMA)
    assert found.outcome == ending
    assert sample(name).text == found.text


@pytest.mark.parametrize(
    "contract",
    [City, SCHEMA, Contract.of(City), True, Regex(r"\{.*\}"), Choices(['{"city":"Quito","alt":2850}', "no"])],
)
def test_contract_is_anything_that_contracts_are_made_of(contract: object) -> None:
    assert sample("vllm_chat__reasoning_first", contract=contract).outcome == "committed"


@pytest.mark.parametrize(
    ("tail", "end", "outcome", "ending"),
    [
        (chat(finish="stop") + DONE, "clean", "complete", "committed"),
        (chat(finish="stop"), "reset", "complete", "committed"),
        (chat(finish="stop") + 'data: {"error":{"type":"server_error"}}\n\n', "clean", "server_error", "unavailable"),
        (chat(finish="length") + DONE, "clean", "truncated", "truncated"),
        (chat(finish="content_filter") + DONE, "clean", "filtered", "filtered"),
        (chat({"refusal": "no"}) + chat(finish="stop"), "clean", "refused", "refused"),
        (chat({"content": "x"}) + chat(finish="stop"), "clean", "complete", "violated"),
        (DONE, "clean", "interrupted", "disconnected"),
        ("", "reset", "interrupted", "disconnected"),
        ("data: {oops\n\n", "clean", "protocol_error", "unavailable"),
    ],
)
def test_wire_and_call_are_told_apart(tail: str, end: str, outcome: str, ending: str) -> None:
    assert end in ("clean", "reset")
    body = (CHAT_TEXT + tail).encode()
    assert replay("openai_chat", body, headers=SSE, end=end).outcome == outcome
    assert replay("openai_chat", body, headers=SSE, end=end, contract=NUMBER).outcome == ending


def test_everything_that_was_read_is_told() -> None:
    found = sample("anthropic_messages__tool_use_split")
    assert found.outcome == "tool_call"
    assert (found.usage.input_tokens, found.usage.output_tokens) == (21, 9)
    assert (found.finish_native, found.terminal) == ("tool_use", True)
    first, second = found.tool_calls
    assert (first.id, first.name, json.loads(first.arguments)["n"]) == ("toolu_s1", "search", 3)
    assert (second.name, second.arguments) == ("now", "")
    assert sample("openai_chat__reasoning_first").reasoning == "Need a city."
    assert sample("anthropic_messages__refusal_before_output").refusal.startswith("This request")
    fault = sample("openai_chat__http_429_rate").fault
    assert fault is not None
    assert (fault.kind, fault.retry_after_s, fault.request_id) == ("rate_limit", 0.8, "req_s2")


def test_nothing_of_the_answer_is_in_its_repr() -> None:
    found = sample("anthropic_messages__tool_use_split")
    assert "Looking" in found.text
    assert "Looking" not in repr(found)
    assert "search" not in repr(found)


@pytest.mark.parametrize("backend", REMOTE)
def test_every_backend_reads_its_own_dialect(backend: str) -> None:
    found = replay(backend, b"", status=503)
    assert found.outcome == "server_error"


def test_dialect_may_be_given_itself() -> None:
    assert replay(DIALECTS["openai_chat"](), CHAT_TEXT.encode(), headers=SSE).text == '{"a":1}'


@pytest.mark.anyio
async def test_call_on_an_event_loop_is_replayed_too(anyio_backend: str) -> None:
    assert sample("openai_chat__usage_every_chunk", contract=SCHEMA).outcome == "committed"


def test_body_without_headers_is_read_as_the_server_usually_sends_it() -> None:
    assert replay("vllm", (CHAT_TEXT + chat(finish="stop")).encode()).outcome == "complete"
    line = json.dumps({"message": {"content": "{}"}, "done": True, "done_reason": "stop"})
    assert replay("ollama", line.encode()).outcome == "complete"
    assert replay("vllm", line.encode(), headers=JSON).outcome == "protocol_error"


def test_outcomes_of_the_wire_are_those_of_the_recorded_responses() -> None:
    assert {str(each.wanted["outcome"]) for each in recorded()} <= set(WIRE_OUTCOMES)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"backend": "nope"}, "vllm_chat"),
        ({"backend": 3}, "a name or a Dialect"),
        ({"body": "text"}, "bytes"),
        ({"status": "200"}, "status"),
        ({"status": 99}, "status"),
        ({"end": "eof"}, "'reset'"),
        ({"headers": 3}, "mapping"),
        ({"headers": {"a": 1}}, "headers"),
        ({"split_at": (5,)}, "within the body"),
        ({"split_at": (-1,)}, "within the body"),
        ({"split_at": ("1",)}, "split_at"),
        ({"split_at": 3}, "split_at"),
    ],
)
def test_misuse_is_told(arguments: dict[str, object], words: str) -> None:
    with pytest.raises(MisuseError, match=re.escape(words)):
        replay(**{"backend": "vllm", "body": b"abc", **arguments})  # type: ignore[arg-type] - that is the test


def test_contract_that_cannot_be_is_an_error() -> None:
    with pytest.raises(ContractError):
        replay("vllm", b"", contract={"type": "no such type"})

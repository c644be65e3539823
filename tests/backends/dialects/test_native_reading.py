"""The own APIs of Ollama, TGI and llama.cpp are read for their text, and end by their own words alone."""

from typing import Any

import pytest
from backends.dialects.native_streams import (
    CITY,
    calls,
    event,
    llama,
    llama_answer,
    ndjson,
    ollama,
    ollama_answer,
    spelled,
    sse,
    tgi,
    tgi_answer,
)

from commitgate.backends.base import Finish, FinishReason, ProseDelta, TextDelta, Usage
from commitgate.backends.dialect import Expected
from commitgate.backends.dialects.llamacpp_completion import LlamaCppCompletionReader
from commitgate.backends.dialects.ollama_chat import OllamaChatReader
from commitgate.testing.replay import Replay, replay

JSON = {"content-type": "application/json; charset=utf-8"}


def of_ollama(*values: Any, **how: Any) -> Replay:
    return replay("ollama_chat", b"".join(ndjson(values)), **how)


def of_tgi(*values: Any, **how: Any) -> Replay:
    return replay("tgi_generate", b"".join(sse(values, head="data:")), **how)


def of_llama(*values: Any, **how: Any) -> Replay:
    return replay("llamacpp_completion", b"".join(sse(values)), **how)


@pytest.mark.parametrize(
    ("name", "body", "word"),
    [
        ("ollama_chat", ollama_answer(), "stop"),
        ("tgi_generate", tgi_answer(), "eos_token"),
        ("llamacpp_completion", llama_answer(), "eos"),
    ],
)
def test_answer_in_pieces_is_whole_at_its_end(name: str, body: list[bytes], word: str) -> None:
    found = replay(name, b"".join(body))
    assert (found.outcome, found.text, found.finish_native, found.terminal) == ("complete", CITY, word, True)
    assert found.usage == Usage(5, 9)


@pytest.mark.parametrize(
    ("name", "body", "outcome"),
    [
        ("ollama_chat", ollama_answer("length"), "truncated"),
        ("ollama_chat", ollama_answer("load"), "unknown"),
        ("ollama_chat", ollama_answer("unload"), "unknown"),
        ("ollama_chat", ollama_answer("new"), "unknown"),
        ("tgi_generate", tgi_answer("length"), "truncated"),
        ("tgi_generate", tgi_answer("stop_sequence"), "complete"),
        ("tgi_generate", tgi_answer("new"), "unknown"),
        ("llamacpp_completion", llama_answer("limit"), "truncated"),
        ("llamacpp_completion", llama_answer("word"), "complete"),
        ("llamacpp_completion", llama_answer("none"), "unknown"),
        ("llamacpp_completion", llama_answer("eos", truncated=True), "truncated"),
    ],
)
def test_finish_word_has_its_meaning(name: str, body: list[bytes], outcome: str) -> None:
    found = replay(name, b"".join(body))
    assert (found.outcome, found.text, found.terminal) == (outcome, CITY, True)


@pytest.mark.parametrize(
    ("name", "end"),
    [
        ("ollama_chat", ndjson([ollama(done=True)])),
        ("ollama_chat", ndjson([ollama(done=True, done_reason="")])),
        ("tgi_generate", sse([tgi("", special=True, generated_text="[]")])),
        ("tgi_generate", sse([tgi("", special=True, details={"generated_tokens": 1})])),
        ("llamacpp_completion", sse([llama("", stop=True)])),
    ],
)
def test_end_without_a_reason_proves_nothing(name: str, end: list[bytes]) -> None:
    found = replay(name, b"".join(end))
    assert (found.outcome, found.finish_native, found.terminal) == ("unknown", None, True)


@pytest.mark.parametrize(
    ("name", "body", "word"),
    [
        ("ollama_chat", ollama("[1]", done=True, done_reason="stop", prompt_eval_count=5, eval_count=9), "stop"),
        (
            "tgi_generate",
            {
                "generated_text": "[1]",
                "details": {"finish_reason": "eos_token", "generated_tokens": 9, "prefill": [{"id": 1}] * 5},
            },
            "eos_token",
        ),
        ("llamacpp_completion", llama("[1]", stop=True, stop_type="eos"), "eos"),
    ],
)
def test_whole_answer_is_read_in_place_of_a_stream(name: str, body: dict[str, Any], word: str) -> None:
    found = replay(name, spelled(body), headers=JSON)
    assert (found.outcome, found.text, found.finish_native) == ("complete", "[1]", word)
    assert found.usage == Usage(5, 9)


def test_whole_answer_of_tgi_may_stand_in_a_list() -> None:
    body = spelled([{"generated_text": "[1]", "details": {"finish_reason": "length", "prefill": []}}])
    found = replay("tgi_generate", body, headers=JSON)
    assert (found.outcome, found.text, found.usage) == ("truncated", "[1]", Usage())


@pytest.mark.parametrize("name", ["ollama_chat", "tgi_generate", "llamacpp_completion"])
@pytest.mark.parametrize("body", [{}, {"choices": []}, {"status": "ok"}])
def test_body_of_another_api_is_no_answer(name: str, body: dict[str, Any]) -> None:
    assert replay(name, spelled(body), headers=JSON).outcome == "protocol_error"


def test_text_of_special_tokens_is_no_answer() -> None:
    end = tgi("]", generated_text="[1]", details={"finish_reason": "length"})
    found = of_tgi(tgi("<s>", special=True), tgi("[1"), end)
    assert (found.outcome, found.text) == ("truncated", "[1]")


def test_keep_alives_are_no_answer() -> None:
    body = b":\n\n".join(tgi_answer())
    assert replay("tgi_generate", body).text == CITY


@pytest.mark.parametrize(
    ("found", "outcome"),
    [
        (of_ollama(ollama("[1"), {"error": "llama runner process no longer running"}), "server_error"),
        (of_ollama(ollama("[1"), {"error": {"message": "no"}}), "server_error"),
        (of_tgi(tgi("[1"), {"error": "Request failed", "error_type": "generation"}), "server_error"),
        (of_tgi(tgi("[1"), {"error": "cut short", "error_type": "incomplete_generation"}), "server_error"),
        (of_llama(llama("[1"), {"error": {"code": 500, "message": "No.", "type": "server_error"}}), "server_error"),
    ],
)
def test_error_in_the_middle_ends_the_answer(found: Replay, outcome: str) -> None:
    assert (found.outcome, found.text, found.finish_native, found.terminal) == (outcome, "[1", None, False)


def test_refusal_of_a_grammar_may_come_behind_status_200() -> None:
    error = "Input validation error: grammar is not valid: Grammar must have a 'properties' field"
    assert of_tgi({"error": error, "error_type": "validation"}).outcome == "constraint_error"
    assert (
        of_tgi({"error": "Input validation error: inputs too long", "error_type": "validation"}).outcome
        == "request_error"
    )


@pytest.mark.parametrize(
    ("name", "status", "body", "outcome"),
    [
        ("ollama_chat", 404, b'{"error":"model \'x\' not found"}', "request_error"),
        ("ollama_chat", 400, b'{"error":"invalid format: \\"xml\\"; expected \\"json\\""}', "constraint_error"),
        ("ollama_chat", 401, b'{"error":"unauthorized"}', "auth_error"),
        ("ollama_chat", 503, b'{"error":"server busy, please try again"}', "server_error"),
        ("tgi_generate", 429, b'{"error":"Model is overloaded","error_type":"overloaded"}', "rate_limited"),
        ("tgi_generate", 422, b"Failed to deserialize the JSON body into the target type", "request_error"),
        ("tgi_generate", 401, b"", "auth_error"),
        ("llamacpp_completion", 503, b'{"error":{"code":503,"message":"Loading model"}}', "server_error"),
        ("llamacpp_completion", 400, b'{"error":{"code":400,"message":"failed to parse grammar"}}', "constraint_error"),
    ],
)
def test_failure_before_the_answer_is_told(name: str, status: int, body: bytes, outcome: str) -> None:
    assert replay(name, body, status=status, headers=JSON).outcome == outcome


def test_last_line_of_ollama_needs_no_line_feed() -> None:
    assert replay("ollama_chat", b"".join(ollama_answer()).rstrip()).outcome == "complete"


def test_stream_of_ollama_that_just_ends_is_interrupted() -> None:
    assert of_ollama(ollama("{"), *[ollama("\n")] * 31).outcome == "interrupted"


def test_separators_inside_a_line_do_not_end_it() -> None:
    found = of_ollama(ollama('"a\u2028b\u2029c\u0085d"'), ollama(done=True, done_reason="stop"))
    assert found.text == '"a\u2028b\u2029c\u0085d"'


def test_thoughts_of_ollama_are_no_part_of_the_answer() -> None:
    found = of_ollama(ollama(message={"thinking": "Hm."}), ollama("[1]"), ollama(done=True, done_reason="stop"))
    assert (found.text, found.reasoning, found.outcome) == ("[1]", "Hm.", "complete")


def test_calls_of_ollama_are_their_own_bytes_and_each_another_one() -> None:
    spelled_calls = (
        b'{"function":{"index":0,"name":"f","arguments":{ "n":1.0, "n":2 }}}',
        b'{"id":"c1","function":{"index":0,"name":"f","arguments":null}}',
    )
    line = b'{"message":{"role":"assistant","content":"","tool_calls":[%s]},"done":false}' % b", ".join(spelled_calls)
    reader = OllamaChatReader(Expected(offers_tools=True))
    found = [each for _ in range(2) for each in reader.read(event(line))]
    first, second = (None, "f", b'{ "n":1.0, "n":2 }'), ("c1", "f", b"{}")
    assert calls(found) == [(0, *first), (1, *second), (2, *first), (3, *second)]
    assert of_ollama(line, ollama(done=True, done_reason="stop")).outcome == "tool_call"


def test_of_members_with_one_key_the_last_counts_as_for_parsers() -> None:
    line = b'{"message":{"tool_calls":[{"function":{"name":"f","arguments":{"n":1},"arguments":{"n":2}}}]}}'
    assert calls(OllamaChatReader(Expected(offers_tools=True)).read(event(line))) == [(0, None, "f", b'{"n":2}')]


@pytest.mark.parametrize(("again", "outcome"), [("stop", "complete"), ("length", "protocol_error")])
def test_end_that_is_told_twice_is_one_where_both_say_the_same(again: str, outcome: str) -> None:
    assert replay("ollama_chat", b"".join([*ollama_answer(), ollama_answer(again)[-1]])).outcome == outcome
    kind = {"stop": "eos", "length": "limit"}[again]
    assert replay("llamacpp_completion", b"".join([*llama_answer(), llama_answer(kind)[-1]])).outcome == outcome
    kind = {"stop": "eos_token", "length": "length"}[again]
    assert replay("tgi_generate", b"".join([*tgi_answer(), tgi_answer(kind)[-1]])).outcome == outcome


def test_words_beside_calls_are_told_apart_where_tools_are_offered() -> None:
    assert list(OllamaChatReader(Expected(offers_tools=True)).read(event(ollama("Hi")))) == [ProseDelta(b"Hi")]
    assert list(OllamaChatReader(Expected()).read(event(ollama("Hi")))) == [TextDelta(b"Hi")]


def test_counts_that_ollama_leaves_out_are_not_known() -> None:
    assert of_ollama(ollama(done=True, done_reason="stop", eval_count=3)).usage == Usage(None, 3)


def test_other_answers_to_one_prompt_are_not_read() -> None:
    other = {**llama("no"), "index": 1}
    found = of_llama(other, llama("[1]"), {**other, "stop": True}, llama("", stop=True, stop_type="eos"))
    assert (found.text, found.outcome) == ("[1]", "complete")


@pytest.mark.parametrize(("settings", "grammar"), [({"grammar": "root ::= x"}, "root ::= x"), ({}, None)])
def test_grammar_in_force_is_kept(settings: dict[str, Any], grammar: str | None) -> None:
    reader = LlamaCppCompletionReader()
    list(reader.read(event(llama("[1]"))))
    assert reader.grammar is None
    found = list(reader.read(event(llama("", stop=True, stop_type="eos", generation_settings=settings))))
    assert (found[-1], reader.grammar) == (Finish(FinishReason.STOP, "eos"), grammar)


@pytest.mark.parametrize(
    "found",
    [
        *(
            of_ollama(ollama("[1]"), value)
            for value in (
                {"message": "x"},
                {"message": {"content": 1}},
                {"message": {"content": "", "thinking": []}},
                {"message": {"content": "", "tool_calls": {}}},
                {"message": {"content": "", "tool_calls": [{}]}},
                {"message": {"content": "", "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]}},
                {"done": "true"},
                ollama(done=True, done_reason=1),
                ollama(done=True, done_reason="stop", eval_count="9"),
            )
        ),
        *(
            of_tgi(tgi("[1]"), value)
            for value in (
                {"token": "x"},
                {"token": {"text": 1}},
                {"token": {"text": "x"}, "generated_text": 1},
                {"token": {"text": "x"}, "details": []},
                tgi("", details={"finish_reason": 1}),
                {"token": {"text": "a", "special": "true"}},
                tgi("", details={"finish_reason": "length", "generated_tokens": -1}),
                {"generated_text": "x", "details": {"prefill": 1}},
            )
        ),
        *(
            of_llama(llama("[1]"), value)
            for value in (
                {"content": 1},
                {"content": "", "stop": 1},
                llama("", stop=True, stop_type=1),
                llama("", stop=True, stop_type="eos", truncated="true"),
                llama("", stop=True, stop_type="eos", tokens_predicted="9"),
                llama("", stop=True, stop_type="eos", generation_settings=[]),
            )
        ),
    ],
)
def test_member_of_another_type_is_no_such_format(found: Replay) -> None:
    assert (found.outcome, found.finish_native, found.terminal) == ("protocol_error", None, False)


def test_thousands_of_calls_in_one_line_are_cut_out_in_one_walk() -> None:
    # Walking the line once for each would take minutes.
    call = {"function": {"name": "f", "arguments": {"q": "x" * 150}}}
    line = event(ollama(message={"tool_calls": [call] * 4_000}))
    assert len(calls(OllamaChatReader(Expected(offers_tools=True)).read(line))) == 4_000

"""What servers tell of themselves: the constraint in force, and how many requests they work on."""

import json
from random import Random
from typing import Any

import pytest

from commitgate.backends.dialect import Answer, Outgoing
from commitgate.probe.echoes import echo_request, judge_echo
from commitgate.probe.gauges import gauge_request, running
from commitgate.probe.plan import ask_enum
from commitgate.probe.result import Verdict

QUESTION = ask_enum(Random(7).randrange)
GRAMMAR = f'root ::= "\\"{QUESTION.nonce}\\""'
SENT = Outgoing(path="/x", body={"stream": True, "stream_options": {"include_usage": True}, "n_predict": 5})


def answer(value: Any, status: int = 200) -> Answer:
    body = value if isinstance(value, bytes) else json.dumps(value).encode()
    return Answer(status=status, headers={}, body=body)


def chat(grammar: Any) -> Answer:
    return answer({"choices": [], "__verbose": {"generation_settings": {"grammar": grammar}}})


def native(grammar: Any) -> Answer:
    return answer({"content": "x", "generation_settings": {"grammar": grammar}})


def format_of(value: Any) -> Answer:
    return answer({"status": "completed", "text": {"format": value}})


@pytest.mark.parametrize(
    ("dialect", "came", "verdict"),
    [
        ("llamacpp_chat", chat(GRAMMAR), Verdict.ENFORCED),
        ("llamacpp_chat", chat(""), Verdict.DROPPED),
        ("llamacpp_chat", chat('root ::= "{" any "}"'), Verdict.PARTIAL),
        ("llamacpp_chat", answer({"choices": []}), Verdict.NOT_TOLD),
        ("llamacpp_chat", chat(GRAMMAR.encode().decode()), Verdict.ENFORCED),
        ("llamacpp_completion", native(GRAMMAR), Verdict.ENFORCED),
        ("llamacpp_completion", native(""), Verdict.DROPPED),
        ("llamacpp_completion", answer(b"no json"), Verdict.NOT_TOLD),
        ("llamacpp_completion", answer([1]), Verdict.NOT_TOLD),
        ("llamacpp_completion", answer(b"[" * 100_000), Verdict.NOT_TOLD),
        ("llamacpp_completion", answer({"error": {}}, 400), Verdict.NOT_TOLD),
        ("openai_responses", format_of({"schema": QUESTION.translation.schema}), Verdict.YES),
        ("openai_responses", format_of({"type": "text"}), Verdict.NO),
        ("openai_responses", answer({"status": "completed"}), Verdict.NO),
    ],
)
def test_repeated_constraint(dialect: str, came: Answer, verdict: Verdict) -> None:
    assert judge_echo(dialect, QUESTION, came).verdict is verdict


def test_request_for_the_repeated_constraint_is_of_one_piece() -> None:
    sent = echo_request("llamacpp_chat", SENT)
    assert sent is not None
    assert sent.body == {"stream": False, "n_predict": 5, "verbose": True}
    assert echo_request("anthropic_messages", SENT) is None


METRICS = b"""# HELP vllm:num_requests_running Number of requests.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="a b"} 1.0
vllm:num_requests_running{engine="1",model_name="a b"} 2.0
vllm:num_requests_running_total 9
"""


@pytest.mark.parametrize(
    ("dialect", "came", "count"),
    [
        ("vllm_chat", answer(METRICS), 3),
        ("vllm_chat", answer(b"other 1\n"), None),
        ("vllm_chat", answer(b'vllm:num_requests_running{a="b"} e\n'), None),
        ("vllm_chat", answer(b"vllm:num_requests_running 1e999\n"), None),
        ("vllm_chat", answer(METRICS, 404), None),
        ("commitgate_chat", answer(b"commitgate_requests_in_flight 0\n"), 0),
        ("llamacpp_chat", answer([{"is_processing": True}, {"is_processing": False}]), 1),
        ("llamacpp_chat", answer([{"is_processing": False}]), 0),
        ("llamacpp_chat", answer([]), None),
        ("llamacpp_chat", answer([{}]), None),
        ("llamacpp_chat", answer({"error": "off"}), None),
        ("llamacpp_chat", answer(b"\xff"), None),
        ("llamacpp_chat", answer([], 501), None),
    ],
)
def test_what_a_server_works_on(dialect: str, came: Answer, count: int | None) -> None:
    assert running(dialect, came) == count


def test_servers_that_tell_nothing_are_not_asked() -> None:
    assert gauge_request("openai_chat") is None
    assert gauge_request("vllm_chat") == Outgoing(method="GET", path="//metrics")
    assert gauge_request("llamacpp_completion") == Outgoing(method="GET", path="//slots")

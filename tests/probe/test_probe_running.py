"""Probing a server from end to end: the honest one passes, each lie is caught and named."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from typing import Any, cast

import anyio
import pytest
from probe.scripted_server import (
    ENFORCING,
    FACTS,
    REFUSED,
    ScriptedServer,
    constrained,
    declined,
    invalid,
    obeying,
    shown,
)

from commitgate.backends.base import Fault, Finish, FinishReason, GenerationRequest, ReasoningDelta, TextDelta
from commitgate.backends.dialect import ServerIdentity
from commitgate.errors import MisuseError
from commitgate.probe import ProbeReport, Verdict, probe

pytestmark = pytest.mark.anyio


def verdicts(report: ProbeReport) -> dict[str, str]:
    return {each.name: str(each.verdict) for each in report.results}


async def test_honest_server_enforces() -> None:
    server = ScriptedServer()
    report = await probe(server, "m")
    assert (report.verdict, report.dialect, report.model) == ("enforced", "vllm_chat", "m")
    assert verdicts(report) == {**ENFORCING, "disconnect": "not_told", "repeated_key": "no"}
    assert (
        report.cost.requests == len(server.requests) + len(server.keys) == sum(each.requests for each in report.results)
    )
    assert report.cost.output_tokens is not None


async def test_no_constraint_is_enforced_after_one_answer() -> None:
    report = await probe(ScriptedServer(), "m")
    asked = {each.name: each.requests for each in report.results if each.verdict is Verdict.ENFORCED}
    assert asked["count"] == 3
    assert min(asked.values()) >= 2
    with pytest.raises(MisuseError, match="one answer proves no constraint"):
        await probe(ScriptedServer(), "m", trials=1)


async def test_each_request_has_a_nonce_and_a_key_of_its_own() -> None:
    server = ScriptedServer()
    await probe(server, "m")
    assert len({each.idempotency_key for each in server.requests}) == len(server.requests)
    assert len({each.messages for each in server.requests}) == len(server.requests)
    assert len(server.keys) == 2
    assert server.keys[0] == server.keys[1] not in {each.idempotency_key for each in server.requests}


async def test_prompts_do_not_show_the_nonce() -> None:
    server = ScriptedServer()
    await probe(server, "m")
    for request in server.requests:
        if request.translation is not None and request.translation.schema and request.tools is None:
            prompt = request.messages[-1].content
            assert "enum" not in request.translation.schema or constrained(request) not in prompt


async def test_server_that_drops_constraints_is_caught_at_the_first_answer() -> None:
    report = await probe(ScriptedServer(write=obeying), "m")
    assert report.verdict == "not_enforced"
    found = report.result("enum")
    assert found is not None
    assert (found.verdict, found.requests, found.answer) == (Verdict.DROPPED, 1, "hello")


async def test_weak_model_without_a_constraint_is_caught_too() -> None:
    # It follows neither the prompt nor the schema, and never stops: the answer is cut, and lies outside all the same.
    report = await probe(ScriptedServer(write=lambda request: "la " * 4_000), "m")
    assert report.verdict == "not_enforced"
    assert verdicts(report)["enum"] == "dropped"


async def test_server_that_takes_what_nothing_can_enforce_is_asked_nothing_more() -> None:
    server = ScriptedServer(refuses=False)
    report = await probe(server, "m")
    assert report.verdict == "not_enforced"
    assert verdicts(report)["invalid_schema"] == "dropped"
    assert len(server.requests) == 1
    assert set(verdicts(report).values()) == {"dropped", "not_told"}


async def test_json_mode_without_the_schema_is_partial() -> None:
    report = await probe(ScriptedServer(write=lambda request: '{"answer": true}'), "m")
    assert report.verdict == "partial"
    assert verdicts(report)["property"] == "partial"


async def test_obeying_the_schema_but_miscounting_is_a_hint_only() -> None:
    report = await probe(ScriptedServer(write=shown), "m")
    assert report.verdict == "partial"
    assert "hint" in report.reason
    assert (verdicts(report)["enum"], verdicts(report)["count"]) == ("enforced", "partial")


async def test_dropping_one_form_is_partial() -> None:
    def write(request: GenerationRequest) -> str:
        assert request.translation is not None
        return "4" if request.translation.form == "choices" else constrained(request)

    report = await probe(ScriptedServer(write=write), "m")
    assert report.verdict == "partial"
    assert "choice" in report.reason


async def test_calling_a_cut_answer_whole_is_told_and_partial() -> None:
    report = await probe(ScriptedServer(tells_cut=False), "m")
    assert (report.verdict, verdicts(report)["cut"]) == ("partial", "no")


async def test_finish_word_that_nobody_knows_is_told_and_partial() -> None:
    report = await probe(ScriptedServer(finish=FinishReason.UNKNOWN), "m")
    assert (report.verdict, verdicts(report)["whole"]) == ("partial", "no")


@pytest.mark.parametrize(("keeps", "told"), [(True, "yes"), (False, "no")])
async def test_what_becomes_of_a_repeated_key_is_told(keeps: bool, told: str) -> None:
    report = await probe(ScriptedServer(keeps_keys=keeps), "m")
    assert (report.verdict, verdicts(report)["repeated_key"]) == ("enforced", told)


async def test_tool_without_a_call_does_not_spoil_schemas() -> None:
    def answer(request: GenerationRequest) -> list[Any] | None:
        if request.tools is None:
            return None
        return [TextDelta(b"Sure, I will."), Finish(FinishReason.STOP, "stop")]

    report = await probe(ScriptedServer(answer=answer), "m")
    assert (report.verdict, verdicts(report)["tool"]) == ("enforced", "dropped")


async def test_refusals_tell_nothing() -> None:
    report = await probe(ScriptedServer(answer=lambda request: declined(request)), "m")
    assert report.verdict != "enforced"
    assert verdicts(report)["enum"] in ("unclear", "not_told")


@pytest.mark.parametrize("kind", ["auth", "quota", "unreachable", "untrusted"])
async def test_nothing_is_asked_of_a_server_that_cannot_be_asked(kind: Any) -> None:
    server = ScriptedServer(answer=lambda request: [Fault(kind, "it cannot be asked")])
    report = await probe(server, "m")
    assert report.verdict == "unknown"
    assert "it cannot be asked" in report.reason
    assert len(server.requests) == 1


async def test_failures_in_a_row_end_the_probing() -> None:
    server = ScriptedServer(answer=lambda request: [Fault("overload", "busy", status=503)])
    report = await probe(server, "m")
    assert report.verdict == "unknown"
    assert len(server.requests) == 3


async def test_thoughts_that_use_up_the_tokens_get_more_room() -> None:
    def answer(request: GenerationRequest) -> list[Any] | None:
        is_short = 16 < request.sampling.max_tokens < 600
        return [ReasoningDelta(b"Hm."), Finish(FinishReason.LENGTH, "length")] if is_short else None

    report = await probe(ScriptedServer(answer=answer), "m")
    found = report.result("enum")
    assert found is not None
    assert (report.verdict, found.verdict, found.requests) == ("enforced", Verdict.ENFORCED, 3)


async def test_number_of_requests_is_bounded() -> None:
    server = ScriptedServer()
    report = await probe(server, "m", most_requests=5)
    assert len(server.requests) == report.cost.requests == 5
    assert report.verdict == "unknown"
    assert "5 requests" in report.reason


async def test_answer_that_never_ends_is_left() -> None:
    played: list[int] = []

    def events() -> Iterator[TextDelta]:
        for number in count():
            played.append(number)
            yield TextDelta(b"x" * 1024)

    server = ScriptedServer(answer=lambda request: None if invalid(request) else cast("Any", events()))
    report = await probe(server, "m", most_requests=4)
    assert report.verdict == "not_enforced"
    assert 64 <= max(played) < 70


async def test_server_that_hangs_is_left_after_the_limit() -> None:
    class Hanging(ScriptedServer):
        async def handshake(self, model: str) -> ServerIdentity:
            await anyio.sleep_forever()
            raise AssertionError

    report = await probe(Hanging(), "m", total_s=0.01)
    assert report.verdict == "unknown"
    assert "0.01 s are over" in report.reason


async def test_api_without_a_field_for_constraints_enforces_none() -> None:
    server = ScriptedServer(facts=replace(FACTS, forms=frozenset({"prompt"}), offers_tools=False))
    report = await probe(server, "m")
    assert (report.verdict, server.requests) == ("not_enforced", [])


async def test_server_started_without_an_engine_enforces_none() -> None:
    identity = ServerIdentity(is_ready=True, version="1", engine="none")
    report = await probe(ScriptedServer(identity=identity), "m")
    assert report.verdict == "not_enforced"


async def test_report_says_whom_it_is_of_without_secrets() -> None:
    identity = ServerIdentity(is_ready=True, version="1.2", revision="sha", engine="xgrammar")
    server = ScriptedServer(identity=identity, base_url="http://me:secret@Host:8000/v1/?key=secret")
    report = await probe(server, "m")
    assert (report.server_version, report.revision, report.engine) == ("1.2", "sha", "xgrammar")
    assert report.base_url == "http://host:8000/v1"
    assert "secret" not in repr(report)


async def test_unsupported_refusal_is_not_taken_for_a_refused_schema() -> None:
    fault = Fault("bad_request", "no such model", status=404, detail="The model `m` does not exist.")
    report = await probe(ScriptedServer(answer=lambda request: [fault]), "m")
    assert report.verdict == "unknown"
    assert verdicts(report)["invalid_schema"] == "unclear"
    assert verdicts(report)["enum"] == "rejected"


async def test_server_that_refuses_every_schema_is_not_proven() -> None:
    report = await probe(ScriptedServer(answer=lambda request: [REFUSED]), "m")
    assert report.verdict == "unknown"
    assert verdicts(report)["enum"] == "rejected"

"""A scrape of the server tells why answers ended, what held them and how sure the model was, by fixed labels."""

import json
from typing import Any

import anyio
import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families
from told_calls import CANARY

from commitgate.testing import ScriptedBackend
from commitgate_local.server.app import create_app
from commitgate_local.server.model_list import ServedModel

pytestmark = pytest.mark.anyio

SCHEMA = {"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]}
OBJECT = {"type": "json_schema", "json_schema": {"name": "x", "schema": SCHEMA}}
GOOD: Any = [
    {"text": '{"to": "', "legal_mass": 0.25, "tokens": 3, "forced": False},
    {"text": CANARY, "legal_mass": 0.75, "tokens": 2},
    {"text": '"}', "tokens": 1, "forced": True},
    {"usage": [7, 6]},
    {"finish": "stop"},
]


class Scrape:
    """Ask a server, and read its metrics."""

    def __init__(self, *scripts: Any) -> None:
        first, *rest = scripts
        self.app = create_app(ScriptedBackend(first, then=rest), models=[ServedModel(name="m", created=0)])
        transport = httpx.ASGITransport(self.app)
        self.client = httpx.AsyncClient(transport=transport, base_url="http://localhost")

    async def ask(self, **fields: Any) -> httpx.Response:
        body = {"model": "m", "messages": [{"role": "user", "content": CANARY}], **fields}
        return await self.client.post("/v1/chat/completions", json=body)

    async def numbers(self) -> dict[tuple[str, ...], float]:
        """Return what is told, by name and the values of its labels, without those that are 0."""
        text = (await self.client.get("/metrics")).text
        assert CANARY not in text
        families = text_string_to_metric_families(text)
        samples = [sample for family in families for sample in family.samples if sample.value]
        return {(sample.name, *sample.labels.values()): sample.value for sample in samples}


async def test_answer_is_told_by_constraint_finish_mass_and_time() -> None:
    scrape = Scrape(GOOD)
    assert (await scrape.ask(response_format=OBJECT)).status_code == 200
    found = await scrape.numbers()
    assert found["commitgate_requests_total", "completed"] == 1
    assert found["commitgate_answers_total", "json_schema"] == 1
    assert found["commitgate_finishes_total", "stop"] == 1
    assert found["commitgate_answer_tokens_total", "drawn"] == 5
    assert found["commitgate_answer_tokens_total", "forced"] == 1
    assert found["commitgate_legal_mass_min_sum",] == 0.25
    assert found["commitgate_legal_mass_mean_sum",] == 0.5
    assert found["commitgate_token_seconds_count",] == 1
    assert not any(name[0].startswith(("commitgate_dead_ends", "commitgate_faults")) for name in found)


@pytest.mark.parametrize(
    ("fields", "constraint"),
    [
        ({}, "none"),
        ({"response_format": {"type": "json_object"}}, "json_object"),
        ({"structured_outputs": {"regex": "a+"}}, "regex"),
        ({"structured_outputs": {"choice": ["a", "b"]}}, "choices"),
        ({"structured_outputs": {"grammar": 'root ::= "a"'}}, "grammar"),
        ({"tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]}, "tools"),
    ],
)
async def test_each_kind_of_constraint_has_its_label(fields: dict[str, Any], constraint: str) -> None:
    scrape = Scrape([{"text": "a"}, {"finish": "stop"}])
    await scrape.ask(**fields)
    found = await scrape.numbers()
    assert {name for name in found if name[0] == "commitgate_answers_total"} == {
        ("commitgate_answers_total", constraint)
    }


@pytest.mark.parametrize(
    ("script", "name", "label", "reason"),
    [
        ([{"text": "a"}, {"dead_end": "tokenizer"}], "commitgate_dead_ends_total", "tokenizer", "none"),
        ([{"fault": "model", "message": CANARY}], "commitgate_faults_total", "model", "none"),
        ([{"text": "a"}, {"finish": "length"}], "commitgate_finishes_total", "length", "length"),
        ([{"text": "a"}, {"finish": "SAFETY"}], "commitgate_finishes_total", "content_filter", "content_filter"),
        ([{"text": "a"}, {"close": "eof"}], "commitgate_finishes_total", "none", "none"),
    ],
)
async def test_what_ended_an_answer_is_told(script: Any, name: str, label: str, reason: str) -> None:
    scrape = Scrape(script)
    await scrape.ask()
    found = await scrape.numbers()
    assert found[name, label] == 1
    assert found["commitgate_finishes_total", reason] == 1


async def test_model_that_declines_is_counted_once() -> None:
    scrape = Scrape([{"refusal": CANARY}, {"refusal": CANARY}, {"finish": "refusal"}])
    await scrape.ask()
    assert (await scrape.numbers())["commitgate_refusals_total",] == 1


async def test_refused_request_is_told_by_a_code_of_the_servers_own() -> None:
    scrape = Scrape(GOOD)
    wrong = {"type": "object", "properties": {"to": {"type": CANARY}}}
    await scrape.ask(response_format={"type": "json_schema", "json_schema": {"name": "x", "schema": wrong}})
    await scrape.ask(model=CANARY)
    await scrape.ask(messages=CANARY)
    await scrape.client.post("/v1/chat/completions", content=b"{}", headers={"Content-Type": "text/plain"})
    found = {name[1:]: count for name, count in (await scrape.numbers()).items() if "refused" in name[0]}
    assert found[("invalid_json_schema",)] == found[("model_not_found",)] == 1
    assert found[("other",)] == 1
    assert sum(found.values()) == 4


async def test_client_that_leaves_leaves_an_answer_without_a_finish() -> None:
    scrape = Scrape([{"text": "a"}, {"wait": None}])
    sent: list[Any] = []
    gone = anyio.Event()
    body = json.dumps({"model": "m", "stream": True, "messages": [{"role": "user", "content": "x"}]}).encode()
    asked = [False]

    async def receive() -> Any:
        if not asked[0]:
            asked[0] = True
            return {"type": "http.request", "body": body, "more_body": False}
        await gone.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)
        if b"content" in message.get("body", b"") and b'"a"' in message["body"]:
            gone.set()

    headers = [(b"content-type", b"application/json"), (b"host", b"localhost")]
    scope = {"type": "http", "method": "POST", "path": "/v1/chat/completions", "headers": headers, "query_string": b""}
    scope |= {"http_version": "1.1", "scheme": "http", "server": ("localhost", 80), "root_path": ""}
    with anyio.fail_after(20):
        await scrape.app(scope, receive, send)
    found = await scrape.numbers()
    assert found["commitgate_requests_total", "client_gone"] == 1
    assert found["commitgate_finishes_total", "none"] == 1


async def test_labels_are_there_before_anything_happened() -> None:
    scrape = Scrape(GOOD)
    text = (await scrape.client.get("/metrics")).text
    before = {line.rpartition(" ")[0] for line in text.splitlines()}
    await scrape.ask(response_format=OBJECT)
    await scrape.ask(model=CANARY)
    after = {line.rpartition(" ")[0] for line in (await scrape.client.get("/metrics")).text.splitlines()}
    assert before == after

"""Nothing that a person, a model or a server wrote is told by default: not in spans, metrics, logs or reprs."""

import json
import logging
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from told_calls import CANARY, ENDINGS, GOOD, Ending, Pay, Telemetry, client_of, run_all, told

from commitgate.backends.vllm import VllmBackend
from commitgate.client import Client
from commitgate.outcome import Unavailable
from commitgate.retry import Retry
from commitgate.telemetry.bounded_names import MAX_NAME_CHARACTERS
from commitgate.telemetry.content import MAX_CONTENT_CHARACTERS

pytestmark = pytest.mark.anyio


def assert_silent(telemetry: Telemetry, caplog: pytest.LogCaptureFixture) -> None:
    """Check what was told: something, and no canary."""
    found = telemetry.everything()
    assert "commitgate.call.id" in found
    assert "commitgate_client_calls_total" in found
    # httpcore writes the headers of answers at DEBUG, a level that nobody keeps who must not see them.
    logged = [record for record in caplog.records if record.name.startswith("commitgate") or record.levelno >= 20]
    lines = "\n".join(record.getMessage() for record in logged)
    for text in (found, lines, repr(telemetry.observers), repr([vars(each) for each in telemetry.observers])):
        assert CANARY not in text


@pytest.mark.parametrize("ending", ENDINGS, ids=lambda ending: ending.outcome)
async def test_no_ending_tells_what_was_written(ending: Ending, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        telemetry, _, _ = await told(ending, chunk_times=True)
    assert_silent(telemetry, caplog)


async def test_content_that_is_on_is_in_spans_alone() -> None:
    telemetry = Telemetry(content_of=["Pay"])
    await run_all(telemetry)
    data = telemetry.reader.get_metrics_data()
    assert data is not None
    assert CANARY not in data.to_json()
    assert CANARY not in telemetry.prometheus.text()
    assert any(CANARY in span.to_json() for span in telemetry.spans)


class _Quoting(BaseHTTPRequestHandler):
    """Refuse each request in words that quote its key and its body, and in ids that are none."""

    def do_POST(self) -> None:
        sent = self.rfile.read(int(self.headers["Content-Length"])).decode()
        words = f"{self.headers['Authorization']} may not ask {sent}"
        body = json.dumps({"error": {"message": words, "code": words, "type": words}}).encode()
        self.send_response(401)
        self.send_header("Content-Type", "application/json")
        self.send_header("x-request-id", f"id of {CANARY}")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        self.send_error(404)

    def log_message(self, format: str, *args: object) -> None:
        """Write nothing."""


@pytest.fixture
def quoting_server() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), _Quoting)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


async def test_server_that_quotes_the_key_is_not_quoted(quoting_server: str, caplog: pytest.LogCaptureFixture) -> None:
    telemetry = Telemetry()
    backend = VllmBackend(base_url=quoting_server, api_key=f"sk-{CANARY}")
    with caplog.at_level(logging.DEBUG):
        async with Client(backends={"vllm": backend}, observers=telemetry.observers) as client:
            asked: dict[str, Any] = {"prompt": CANARY, "retry": Retry(attempts=1)}
            outcome = await client.generate_structured("vllm/model", Pay, **asked)
        await backend.aclose()
    assert isinstance(outcome, Unavailable)
    assert CANARY in (outcome.detail or "")
    assert_silent(telemetry, caplog)
    assert "commitgate.request.id" not in (telemetry.named("commitgate request")[0].attributes or {})


async def test_id_of_a_server_that_is_a_text_is_not_told() -> None:
    telemetry = Telemetry()
    script: Any = [{"fault": "server", "status": 500, "request_id": f"id of {CANARY}"}]
    async with client_of(script, telemetry.observers) as client:
        outcome = await client.generate_structured("scripted", Pay, prompt="x", retry=Retry(attempts=1))
    assert isinstance(outcome, Unavailable)
    assert outcome.request_id == f"id of {CANARY}"
    assert CANARY not in telemetry.everything()


async def test_names_that_are_texts_are_cut() -> None:
    telemetry = Telemetry()
    schema = {"type": "object", "title": "x\n" * MAX_NAME_CHARACTERS + CANARY, "properties": {"amount": {}, "to": {}}}
    async with client_of(GOOD, telemetry.observers) as client:
        await client.generate_structured("scripted", schema, prompt="x")
    name = str((telemetry.call.attributes or {})["commitgate.contract.name"])
    assert len(name) == MAX_NAME_CHARACTERS
    assert "\n" not in name
    assert CANARY not in telemetry.everything()
    assert MAX_CONTENT_CHARACTERS > MAX_NAME_CHARACTERS

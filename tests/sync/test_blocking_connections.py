"""Connections to servers end with the blocking client, whose event loop ends too."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import anyio
import pytest

from commitgate import Client as AsyncClient
from commitgate import sync
from commitgate.backends.llama_cpp import LlamaCppBackend
from commitgate.contract import Contract

CONTRACT = Contract.json_schema({"type": "object"})


class Answering(BaseHTTPRequestHandler):
    """Answer every question with an empty object, over lines that are kept open."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Read the question and answer it."""
        self.rfile.read(int(self.headers["content-length"]))
        choice = {"index": 0, "message": {"role": "assistant", "content": "{}"}, "finish_reason": "stop"}
        body = json.dumps({"choices": [choice]}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


class Counting(ThreadingHTTPServer):
    """Count the lines that clients hold open."""

    daemon_threads = True
    open_lines = 0
    none_left = threading.Event()

    def process_request_thread(self, request: object, client_address: object) -> None:
        """Serve one line to its end."""
        self.open_lines += 1
        try:
            super().process_request_thread(request, client_address)  # type: ignore[arg-type]
        finally:
            self.open_lines -= 1
            self.none_left.set()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counting]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with Counting(("127.0.0.1", 0), Answering) as found:
        found.none_left = threading.Event()
        thread = threading.Thread(target=found.serve_forever)
        thread.start()
        yield found
        found.shutdown()
        thread.join()


def asked(client: sync.Client) -> str:
    return client.generate_structured("mine/m", CONTRACT, prompt="go").name


def test_backend_is_used_by_one_client_after_another(server: Counting) -> None:
    backend = LlamaCppBackend(base_url=f"http://127.0.0.1:{server.server_port}")
    for _ in range(2):
        with sync.Client(backends={"mine": backend}) as client:
            assert asked(client) == "committed"
            server.none_left.clear()
            assert server.open_lines == 1
        assert server.none_left.wait(30)
        assert server.open_lines == 0


def test_backend_of_another_event_loop_stays_open(server: Counting) -> None:
    backend = LlamaCppBackend(base_url=f"http://127.0.0.1:{server.server_port}")

    def leave_one_unused() -> None:
        with sync.Client(backends={"mine": backend}):
            pass

    async def main() -> None:
        async with AsyncClient(backends={"mine": backend}) as client:
            await client.generate_structured("mine/m", CONTRACT, prompt="go")
            await anyio.to_thread.run_sync(leave_one_unused)
            assert backend.is_used_here
        await backend.aclose()

    anyio.run(main)

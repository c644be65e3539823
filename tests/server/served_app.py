"""A real server on the loopback, in a thread of the test."""

import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import openai
from asgi_calls import SMALL

from commitgate_local.server.app import create_app
from commitgate_local.server.running import RunningServer, listen
from commitgate_local.server.server_limits import ServerLimits


@dataclass
class Served:
    """Hold a server that runs in a thread of its own."""

    url: str
    server: RunningServer
    thread: threading.Thread
    app: Any

    def client(self, **arguments: Any) -> openai.AsyncOpenAI:
        given = {"api_key": "none", "max_retries": 0, "_strict_response_validation": True, **arguments}
        return openai.AsyncOpenAI(base_url=f"{self.url}/v1", **given)


@contextmanager
def served(backend: Any, *, limits: ServerLimits | None = None, **arguments: Any) -> Generator[Served]:
    limits = limits or ServerLimits(drain_s=5)
    app = create_app(backend, **{"models": [SMALL], "limits": limits, **arguments})
    listening = listen("127.0.0.1", 0)
    server = RunningServer(app, limits)
    thread = threading.Thread(target=server.run, args=(listening,), name="server under test")
    url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    thread.start()
    try:
        yield Served(url, server, thread, app)
    finally:
        server.stop()
        thread.join(20)
        assert not thread.is_alive()

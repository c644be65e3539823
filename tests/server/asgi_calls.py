"""Call an ASGI application as a server would, where a test needs to see each message, or to leave early."""

import json
from collections.abc import Mapping
from typing import Any

import anyio
import httpx
from chats import body

from commitgate.testing import ScriptedBackend
from commitgate_local.server.app import create_app
from commitgate_local.server.model_list import ServedModel

PATH = "/v1/chat/completions"
SMALL = ServedModel(name="small", created=1_790_000_000)
ANSWER: Any = [{"text": "It is "}, {"text": "warm."}, {"usage": [7, 5]}, {"finish": "stop"}]


def app_of(*scripts: Any, **arguments: Any) -> tuple[Any, ScriptedBackend]:
    """Return an application and the backend behind it, which plays the scripts."""
    first, *rest = scripts or (ANSWER,)
    backend = ScriptedBackend(first, then=rest)
    return create_app(backend, models=[SMALL], **arguments), backend


def client_of(app: Any, **arguments: Any) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(app, raise_app_exceptions=True)
    return httpx.AsyncClient(transport=transport, base_url="http://localhost", **arguments)


async def post(client: httpx.AsyncClient, headers: Mapping[str, str] = {}, **fields: Any) -> httpx.Response:
    return await client.post(PATH, content=body(**fields), headers={"Content-Type": "application/json", **headers})


def numbers(text: str) -> dict[str, float]:
    """Return the lines of a text of metrics, by name and labels."""
    return {
        name: float(value)
        for name, _, value in (line.rpartition(" ") for line in text.splitlines() if not line.startswith("#"))
    }


class Visit:
    """Hold one request to an application as its server does.

    Attributes:
        status: of the answer; 0 before it began.
        body: what came so far.
        is_over: the answer came to its end.
    """

    def __init__(self, data: bytes | None = None, headers: Mapping[str, str] | None = None) -> None:
        self._data = body() if data is None else data
        self._headers = {"Content-Type": "application/json", "Host": "localhost", **(headers or {})}
        self._left = anyio.Event()
        self._came = anyio.Event()
        self.status = 0
        self.headers: dict[str, str] = {}
        self.body = b""
        self.is_over = False
        self._was_read = False

    async def run(self, app: Any) -> None:
        """Let the application answer."""
        raw = [(name.lower().encode(), value.encode()) for name, value in self._headers.items()]
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "POST",
            "scheme": "http",
            "path": PATH,
            "raw_path": PATH.encode(),
            "query_string": b"",
            "root_path": "",
            "headers": raw,
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 2),
        }
        await app(scope, self._receive, self._send)

    def leave(self) -> None:
        """Leave, as a client that closes its connection."""
        self._left.set()

    async def came(self, data: bytes) -> None:
        """Wait until something is in the answer."""
        while data not in self.body:
            self._came = anyio.Event()
            await self._came.wait()

    def json(self) -> Any:
        return json.loads(self.body)

    async def _receive(self) -> dict[str, Any]:
        if not self._was_read:
            self._was_read = True
            return {"type": "http.request", "body": self._data, "more_body": False}
        await self._left.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = {name.decode(): value.decode() for name, value in message["headers"]}
        else:
            self.body += message["body"]
            self.is_over = not message["more_body"]
        self._came.set()
        await anyio.lowlevel.checkpoint()

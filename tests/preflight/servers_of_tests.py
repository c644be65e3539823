"""A server's backend that is asked without a network: what it says of itself, and what its model writes, are given."""

from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

from commitgate.backends.base import EventStream, GenerationRequest
from commitgate.backends.dialect import ServerIdentity
from commitgate.backends.vllm import VllmBackend
from commitgate.probe import ProbeReport, ProbeStore
from commitgate.testing import ScriptedBackend

URL = "http://server.test/v1"
READY = ServerIdentity(is_ready=True, version="0.33.0", revision="sha", engine="xgrammar")


class GivenServer(VllmBackend):
    """Be a vLLM server that nobody runs.

    Args:
        script: what its model writes, every time.
        identity: what it says of itself.
        options: as of every backend.
    """

    def __init__(self, script: Any, identity: ServerIdentity = READY, **options: Any) -> None:
        super().__init__(base_url=URL, **options)
        self.played = ScriptedBackend(script, name="vllm")
        self._identity = identity

    async def handshake(self, model: str) -> ServerIdentity:
        return self._identity

    def open(self, request: GenerationRequest) -> AbstractAsyncContextManager[EventStream]:
        return self.played.open(request)


def probed(folder: Path, *, made_at: float, **changed: Any) -> ProbeStore:
    """Return a store with the report of a probe that passed."""
    store = ProbeStore(folder)
    given: dict[str, Any] = {
        "backend": "vllm",
        "dialect": "vllm_chat",
        "base_url": URL,
        "model": "m",
        "server_version": "0.33.0",
        "revision": "sha",
        "engine": "xgrammar",
        "made_at": made_at,
        "verdict": "enforced",
        "reason": "",
    }
    store.keep(ProbeReport(**(given | changed)))
    return store

"""What a server says of itself is asked for, kept for a while, and decides whether effects may hang on it."""

from __future__ import annotations

import gzip
import json
from contextlib import aclosing
from pathlib import Path

import anyio
import pytest
from backends.remote.chat_words import backend_at, request
from backends.remote.loopback import Asked, Line, Respond, closed_port, loopback

from commitgate.backends.base import Remote
from commitgate.backends.dialect import Outgoing
from commitgate.backends.dialects.commitgate_chat import CommitgateChatDialect
from commitgate.backends.exchange import MAX_ANSWER_BYTES
from commitgate.backends.remote import RemoteBackend
from commitgate.errors import BackendError

pytestmark = pytest.mark.anyio

MODELS = json.dumps({"data": [{"id": "m"}]}).encode()
GET = Outgoing(method="GET", path="/models")


def answering_with(body: bytes, *, status: int = 200, **fields: str) -> Respond:
    async def respond(asked: Asked, line: Line) -> None:
        del asked
        headers = {name.replace("_", "-"): value for name, value in fields.items()}
        await line.head(status=status, headers=headers, content_length=str(len(body)))
        await line.send(body)

    return respond


async def test_answer_is_handed_over_whatever_its_status() -> None:
    async with loopback(answering_with(b"no", status=404, X_Y="z")) as server:
        backend = backend_at(server)
        answer = await backend.exchange(GET)
        assert (answer.status, answer.body, answer.headers["x-y"]) == (404, b"no", "z")
        assert (server.asked[0].method, server.asked[0].target) == ("GET", "/v1/models")
        assert server.asked[0].headers["authorization"] == "Bearer k"
        await backend.aclose()


async def test_posted_body_and_own_fields_are_sent() -> None:
    async with loopback(answering_with(b"{}")) as server:
        backend = backend_at(server)
        await backend.exchange(Outgoing(path="//x?y=z", body={"a": 1}, headers={"Idempotency-Key": "p"}))
        asked = server.asked[0]
        assert (asked.method, asked.target, asked.body) == ("POST", "/x?y=z", b'{"a":1}')
        assert (asked.headers["idempotency-key"], asked.headers["accept"]) == ("p", "application/json")
        await backend.aclose()


async def test_large_answer_is_cut() -> None:
    body = b"x" * (MAX_ANSWER_BYTES + 70_000)
    async with loopback(answering_with(body)) as server:
        backend = backend_at(server)
        assert len((await backend.exchange(GET)).body) == MAX_ANSWER_BYTES
        await backend.aclose()


async def test_packed_answer_is_unpacked() -> None:
    async with loopback(answering_with(gzip.compress(MODELS), content_encoding="gzip")) as server:
        backend = backend_at(server)
        assert (await backend.exchange(GET)).body == MODELS
        await backend.aclose()


async def test_server_that_is_not_there_has_no_status() -> None:
    backend = backend_at(f"http://127.0.0.1:{closed_port()}")
    assert (await backend.exchange(GET)).status == 0
    assert not (await backend.handshake("m")).is_ready
    await backend.aclose()


@pytest.mark.parametrize(("outgoing", "times"), [(GET, 2), (Outgoing(path="/x", body={}), 1)])
async def test_question_whose_line_broke_is_asked_twice_where_that_changes_nothing(
    outgoing: Outgoing, times: int
) -> None:
    async with loopback(lambda asked, line: line.rst()) as server, aclosing(backend_at(server)) as backend:
        assert (await backend.exchange(outgoing)).status == 0
        assert len(server.asked) == times


async def test_server_that_hangs_has_no_status() -> None:
    async with loopback(lambda asked, line: line.closed()) as server:
        backend = backend_at(server)
        with anyio.fail_after(5):
            assert (await backend.exchange(GET, timeout_s=0.05)).status == 0
        await backend.aclose()


async def test_key_that_cannot_be_had_is_an_error() -> None:
    async def key() -> str:
        raise ValueError("s3cret")

    with pytest.raises(BackendError, match="raised ValueError") as raised:
        await backend_at("http://127.0.0.1:1", api_key=key).exchange(GET)
    assert "s3cret" not in str(raised.value)


async def test_handshake_is_kept_for_each_model() -> None:
    async with loopback(answering_with(MODELS)) as server, aclosing(backend_at(server)) as backend:
        first = await backend.handshake("m")
        assert (first.is_ready, first.models) == (True, ("m",))
        asked = len(server.asked)
        assert await backend.handshake("m") == first
        assert len(server.asked) == asked
        await backend.handshake("other")
        assert len(server.asked) > asked


async def test_server_that_was_not_ready_is_asked_again() -> None:
    async with loopback(answering_with(b"", status=503)) as server, aclosing(backend_at(server)) as backend:
        await backend.handshake("m")
        asked = len(server.asked)
        await backend.handshake("m")
        assert len(server.asked) == 2 * asked


async def test_server_that_was_never_probed_is_not_proven(tmp_path: Path) -> None:
    async with loopback(answering_with(MODELS)) as server:
        backend = backend_at(server, probes=tmp_path)
        standing = await backend.standing("m")
        assert not standing.is_proven
        assert "never probed" in standing.reason
        await backend.aclose()


async def test_caller_may_do_without_proof(tmp_path: Path) -> None:
    backend = backend_at(f"http://127.0.0.1:{closed_port()}", probes=tmp_path, unproven_effects=True)
    assert (await backend.standing("m")).is_proven


@pytest.mark.parametrize(("owner", "is_proven"), [("commitgate", True), ("vllm", False)])
async def test_own_server_needs_no_probe_where_it_is_one(tmp_path: Path, owner: str, is_proven: bool) -> None:
    models = json.dumps({"object": "list", "data": [{"id": "m", "owned_by": owner}]}).encode()
    async with loopback(answering_with(models)) as server:
        backend = RemoteBackend(CommitgateChatDialect(), base_url=server.url, api_key="k", probes=tmp_path)
        async with aclosing(backend):
            standing = await backend.standing("m")
    assert (standing.is_proven, standing.is_reachable) == (is_proven, True)
    assert is_proven or "probe it" in standing.reason


async def test_own_server_that_is_not_there_can_be_asked_later(tmp_path: Path) -> None:
    url = f"http://127.0.0.1:{closed_port()}"
    backend = RemoteBackend(CommitgateChatDialect(), base_url=url, api_key="k", probes=tmp_path)
    async with aclosing(backend):
        standing = await backend.standing("m")
    assert (standing.is_proven, standing.is_reachable) == (False, False)


def test_it_is_a_remote_backend() -> None:
    assert isinstance(backend_at("http://h"), Remote)


@pytest.mark.parametrize("status", [200, 503])
async def test_those_who_ask_at_once_ask_the_server_once(status: int) -> None:
    async with loopback(answering_with(MODELS, status=status)) as server, aclosing(backend_at(server)) as backend:
        await backend.handshake("n")
        asked = len(server.asked)
        async with anyio.create_task_group() as tasks:
            for _ in range(20):
                tasks.start_soon(backend.handshake, "m")
        assert len(server.asked) == 2 * asked


async def test_server_is_asked_what_it_is_while_all_places_are_taken() -> None:
    async with (
        loopback(answering_with(MODELS)) as server,
        aclosing(backend_at(server, connections=1)) as backend,
        backend.open(request()),
    ):
        assert (await backend.handshake("m")).is_ready


async def test_key_that_cannot_be_had_ends_the_handshake() -> None:
    async def key() -> str:
        raise ValueError

    with pytest.raises(BackendError, match="raised ValueError"):
        await backend_at("http://127.0.0.1:1", api_key=key).handshake("m")

"""A stream breaks its silence, and a client that takes nothing keeps no place."""

from typing import Any

import anyio
import pytest
from asgi_calls import ANSWER, Visit, app_of, client_of, numbers, post
from chats import body, data_of, joined

from commitgate_local.server.app import admission_of
from commitgate_local.server.chat_reply import KEEP_ALIVE
from commitgate_local.server.server_limits import ServerLimits

pytestmark = pytest.mark.anyio

SOON = 0.01
KEY = {"Idempotency-Key": "order-7"}


def without_comments(stream: bytes) -> bytes:
    return stream.replace(KEEP_ALIVE, b"")


async def test_stream_that_waits_for_its_first_text_is_kept_alive() -> None:
    gate = anyio.Event()
    app, _ = app_of([{"wait": gate}, *ANSWER], limits=ServerLimits(keep_alive_s=SOON))
    visit = Visit(body(stream=True))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(visit.run, app)
        await visit.came(KEEP_ALIVE + KEEP_ALIVE)
        assert (visit.status, visit.body) == (200, KEEP_ALIVE * (len(visit.body) // len(KEEP_ALIVE)))
        gate.set()
    assert joined(without_comments(visit.body))["content"] == "It is warm."
    assert visit.body.endswith(b"data: [DONE]\n\n")


async def test_stream_that_falls_silent_is_kept_alive_between_frames() -> None:
    gate = anyio.Event()
    app, _ = app_of([{"text": "It"}, {"wait": gate}, {"finish": "stop"}], limits=ServerLimits(keep_alive_s=SOON))
    visit = Visit(body(stream=True))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(visit.run, app)
        await visit.came(KEEP_ALIVE)
        gate.set()
    assert b'"content":"It"' in visit.body.partition(KEEP_ALIVE)[0]
    assert data_of(without_comments(visit.body))[-1] == "[DONE]"


async def test_stream_that_waits_for_a_place_is_kept_alive() -> None:
    gate = anyio.Event()
    app, _ = app_of([{"wait": gate}, *ANSWER], ANSWER, limits=ServerLimits(keep_alive_s=SOON, concurrent_requests=1))
    first, second = Visit(), Visit(body(stream=True))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(first.run, app)
        while admission_of(app).in_flight == 0:
            await anyio.lowlevel.checkpoint()
        tasks.start_soon(second.run, app)
        await second.came(KEEP_ALIVE)
        assert admission_of(app).queued == 1
        gate.set()
    assert first.json()["choices"][0]["message"]["content"] == "It is warm."
    assert joined(without_comments(second.body))["content"] == "It is warm."


async def test_answer_that_is_no_stream_is_not_begun_by_its_silence() -> None:
    gate = anyio.Event()
    app, _ = app_of([{"wait": gate}, {"fault": "overload"}], ANSWER, limits=ServerLimits(keep_alive_s=SOON))
    visit, other = Visit(), Visit(body(stream=True))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(visit.run, app)
        while admission_of(app).in_flight == 0:
            await anyio.lowlevel.checkpoint()
        await anyio.sleep(3 * SOON)
        assert visit.status == 0
        gate.set()
    await other.run(app)
    assert (visit.status, other.status) == (503, 200)


@pytest.mark.parametrize("step", [{"fault": "server"}, {"raise": "a secret"}, {"close": "eof"}, {"dead_end": "schema"}])
async def test_failure_behind_a_comment_is_a_frame(step: Any) -> None:
    gate = anyio.Event()
    app, backend = app_of([{"wait": gate}, step], limits=ServerLimits(keep_alive_s=SOON))
    visit = Visit(body(stream=True))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(visit.run, app)
        await visit.came(KEEP_ALIVE)
        gate.set()
    (frame,) = data_of(without_comments(visit.body))
    assert set(frame) == {"error"}
    assert "secret" not in str(frame)
    assert visit.is_over
    assert backend.open_streams == 0


async def test_shutdown_behind_a_comment_is_a_frame() -> None:
    app, _ = app_of([{"wait": None}], limits=ServerLimits(keep_alive_s=SOON))
    visit = Visit(body(stream=True))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(visit.run, app)
        await visit.came(KEEP_ALIVE)
        assert not await admission_of(app).drain(0)
    assert data_of(without_comments(visit.body))[-1]["error"]["code"] == "overloaded"


async def test_replay_has_no_comments() -> None:
    gate = anyio.Event()
    app, _ = app_of([{"wait": gate}, *ANSWER], limits=ServerLimits(keep_alive_s=SOON))
    visit = Visit(body(stream=True), KEY)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(visit.run, app)
        await visit.came(KEEP_ALIVE)
        gate.set()
    async with client_of(app) as client:
        again = await post(client, KEY, stream=True)
    assert again.content == without_comments(visit.body)


class Full(Visit):
    """Take what is sent up to something, and nothing more."""

    def __init__(self, last: bytes, **arguments: Any) -> None:
        super().__init__(**arguments)
        self._last = last

    async def _send(self, message: Any) -> None:
        await super()._send(message)
        if self._last in message.get("body", b""):
            await anyio.sleep_forever()


@pytest.mark.parametrize(("streams", "last"), [(True, b'"content":"It"'), (True, KEEP_ALIVE)])
async def test_client_that_takes_nothing_ends_the_work_and_frees_place_and_key(streams: bool, last: bytes) -> None:
    hang: Any = [{"text": "It"}, {"wait": None}] if last != KEEP_ALIVE else [{"wait": None}]
    limits = ServerLimits(write_s=SOON, keep_alive_s=SOON, concurrent_requests=1)
    app, backend = app_of(hang, ANSWER, limits=limits)
    visit = Full(last, data=body(stream=streams), headers=KEY)
    await visit.run(app)
    assert not visit.is_over
    assert backend.open_streams == 0
    assert admission_of(app).in_flight == 0
    async with client_of(app) as client:
        again = await post(client, KEY, stream=True)
        found = numbers((await client.get("/metrics")).text)
    assert again.status_code == 200
    assert "idempotency-replayed" not in again.headers
    assert found['commitgate_requests_total{outcome="client_gone"}'] == 1


@pytest.mark.parametrize("streams", [True, False])
async def test_whole_answer_whose_last_bytes_are_not_taken_is_kept(streams: bool) -> None:
    app, backend = app_of(ANSWER, limits=ServerLimits(write_s=SOON))
    last = b"[DONE]" if streams else b'"It is warm."'
    await Full(last, data=body(stream=streams), headers=KEY).run(app)
    async with client_of(app) as client:
        again = await post(client, KEY, stream=streams)
    assert again.headers["idempotency-replayed"] == "true"
    assert len(backend.requests) == 1


async def test_refusal_that_is_not_taken_ends_all_the_same() -> None:
    app, _ = app_of(limits=ServerLimits(write_s=SOON))
    visit = Full(b"model_not_found", data=body(model="large"))
    await visit.run(app)
    assert visit.status == 404

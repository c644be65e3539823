"""An idempotency key sent again gets the stored answer, and never a second run."""

from typing import Any

import anyio
import pytest
from asgi_calls import ANSWER, Visit, app_of, client_of, numbers, post
from chats import body

from commitgate_local.server.server_limits import ServerLimits

pytestmark = pytest.mark.anyio

KEY = {"Idempotency-Key": "order-7"}
OTHER: Any = [{"text": "It is cold."}, {"finish": "stop"}]


@pytest.mark.parametrize("streams", [True, False])
async def test_same_key_and_body_replays_every_byte(streams: bool) -> None:
    app, backend = app_of(ANSWER, OTHER)
    async with client_of(app) as client:
        first = await post(client, KEY, stream=streams)
        second = await post(client, KEY, stream=streams)
        found = numbers((await client.get("/metrics")).text)
    assert second.content == first.content
    assert second.headers["content-type"] == first.headers["content-type"]
    assert "idempotency-replayed" not in first.headers
    assert second.headers["idempotency-replayed"] == "true"
    assert len(backend.requests) == 1
    assert found['commitgate_requests_total{outcome="replayed"}'] == 1
    assert found["commitgate_idempotency_kept"] == 1


async def test_same_key_with_another_body_is_refused() -> None:
    app, backend = app_of()
    async with client_of(app) as client:
        await post(client, KEY)
        response = await post(client, KEY, temperature=0)
    assert (response.status_code, response.json()["error"]["code"]) == (422, "idempotency_key_reused")
    assert len(backend.requests) == 1


async def test_keys_of_two_tokens_never_meet() -> None:
    app, backend = app_of(ANSWER, OTHER)
    async with client_of(app) as client:
        first = await post(client, {**KEY, "Authorization": "Bearer one"})
        second = await post(client, {**KEY, "Authorization": "Bearer two"})
    assert first.content != second.content
    assert len(backend.requests) == 2


async def test_key_in_progress_is_told_to_come_again_and_a_client_that_leaves_frees_it() -> None:
    gate = anyio.Event()
    app, backend = app_of([{"text": "a"}, {"wait": gate}, {"finish": "stop"}], ANSWER)
    visit = Visit(body(stream=True), KEY)
    async with client_of(app) as client:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(visit.run, app)
            await visit.came(b'"content":"a"')
            response = await post(client, KEY, stream=True)
            assert (response.status_code, response.json()["error"]["code"]) == (409, "idempotency_in_progress")
            assert int(response.headers["retry-after"]) >= 1
            visit.leave()
        again = await post(client, KEY, stream=True)
    assert again.status_code == 200
    assert "idempotency-replayed" not in again.headers
    assert len(backend.requests) == 2


@pytest.mark.parametrize("streams", [True, False])
@pytest.mark.parametrize(
    "script", [[{"fault": "server"}], [{"text": "a"}, {"close": "eof"}], [{"text": "a"}, {"raise": "x"}]]
)
async def test_answer_that_failed_frees_its_key(script: Any, streams: bool) -> None:
    app, backend = app_of(script, ANSWER)
    async with client_of(app) as client:
        await post(client, KEY, stream=streams)
        again = await post(client, KEY, stream=streams)
    assert again.status_code == 200
    assert "idempotency-replayed" not in again.headers
    assert len(backend.requests) == 2


async def test_refused_request_frees_its_key() -> None:
    app, _ = app_of()
    async with client_of(app) as client:
        assert (await post(client, KEY, model="large")).status_code == 404
        assert (await post(client, KEY)).status_code == 200


async def test_answer_that_is_cut_off_frees_its_key() -> None:
    app, _ = app_of([{"wait": None}], ANSWER, limits=ServerLimits(stream_s=0.05))
    async with client_of(app) as client:
        assert (await post(client, KEY)).status_code == 504
    app_store = app.state.serving.store
    assert (app_store.in_progress, app_store.kept) == (0, 0)


async def test_answer_is_forgotten_after_its_time() -> None:
    now = [0.0]
    app, backend = app_of(clock=lambda: now[0], limits=ServerLimits(idempotency_ttl_s=60))
    async with client_of(app) as client:
        await post(client, KEY)
        now[0] = 59.9
        assert "idempotency-replayed" in (await post(client, KEY)).headers
        now[0] = 60.0
        assert "idempotency-replayed" not in (await post(client, KEY)).headers
    assert len(backend.requests) == 2


@pytest.mark.parametrize("streams", [True, False])
async def test_answer_too_large_to_keep_is_sent_and_not_kept(streams: bool) -> None:
    app, backend = app_of(limits=ServerLimits(idempotency_bytes=100))
    async with client_of(app) as client:
        for _ in range(2):
            response = await post(client, KEY, stream=streams)
            assert response.status_code == 200
    assert len(backend.requests) == 2


@pytest.mark.parametrize("key", ["", "k" * 256, "é"])
async def test_key_of_another_form_is_refused(key: str) -> None:
    app, backend = app_of()
    visit = Visit(headers={"Idempotency-Key": key})
    await visit.run(app)
    assert visit.status == 400
    assert backend.requests == []

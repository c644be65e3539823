"""The application keeps its bounds: who may ask, how much, for how long, and how many at once."""

from typing import Any

import anyio
import pytest
from asgi_calls import ANSWER, PATH, Visit, app_of, client_of, numbers, post
from chats import body, data_of

from commitgate_local.server.app import admission_of
from commitgate_local.server.server_limits import ServerLimits

pytestmark = pytest.mark.anyio

TOKEN = "a-token-of-tests"
JSON = {"Content-Type": "application/json"}
HANG: Any = [{"wait": None}]


@pytest.mark.parametrize("path", ["/v1/models", "/metrics"])
async def test_token_guards_all_but_health(path: str) -> None:
    app, _ = app_of(token=TOKEN)
    async with client_of(app) as client:
        assert (await client.get("/health")).status_code == 200
        for given in ({}, {"Authorization": "Bearer another-token"}, {"Authorization": f"Basic {TOKEN}"}):
            response = await client.get(path, headers=given)
            assert (response.status_code, response.headers["www-authenticate"]) == (401, "Bearer")
        assert (await client.get(path, headers={"Authorization": f"bearer {TOKEN}"})).status_code == 200


async def test_completion_without_the_token_is_refused_and_its_body_not_read() -> None:
    app, backend = app_of(token=TOKEN)
    async with client_of(app) as client:
        response = await client.post(PATH, content=b"{", headers=JSON)
        assert (response.status_code, response.json()["error"]["code"]) == (401, "invalid_api_key")
        assert (await post(client, {"Authorization": f"Bearer {TOKEN}"})).status_code == 200
    assert len(backend.requests) == 1


@pytest.mark.parametrize(("extra", "status"), [(0, 200), (1, 413)])
@pytest.mark.parametrize("is_announced", [True, False])
async def test_body_is_bounded(extra: int, status: int, is_announced: bool) -> None:
    app, _ = app_of(limits=ServerLimits(body_bytes=len(body()) - extra))

    async def pieces() -> Any:
        for start in range(0, len(body()), 7):
            yield body()[start : start + 7]

    async with client_of(app) as client:
        response = await client.post(PATH, content=body() if is_announced else pieces(), headers=JSON)
    assert response.status_code == status


async def test_body_is_not_read_past_its_bound() -> None:
    app, _ = app_of(limits=ServerLimits(body_bytes=100))
    read: list[bytes] = []

    async def pieces() -> Any:
        while len(read) < 1_000:
            read.append(b" " * 10)
            yield read[-1]

    async with client_of(app) as client:
        response = await client.post(PATH, content=pieces(), headers=JSON)
    assert response.status_code == 413
    assert len(read) == 11


async def test_body_that_does_not_come_is_given_up() -> None:
    app, backend = app_of(limits=ServerLimits(body_s=0.001))

    async def never() -> Any:
        yield b"{"
        await anyio.sleep_forever()

    async with client_of(app) as client:
        response = await client.post(PATH, content=never(), headers=JSON)
    assert (response.status_code, response.json()["error"]["code"]) == (408, "body_time_limit")
    assert backend.requests == []


@pytest.mark.parametrize(
    "headers",
    [
        {"Content-Type": "text/plain"},
        {**JSON, "Content-Encoding": "gzip"},
        {**JSON, "Content-Encoding": "identity, gzip"},
        [*JSON.items(), ("Content-Encoding", "identity"), ("Content-Encoding", "gzip")],
    ],
)
async def test_body_of_another_kind_is_refused(headers: Any) -> None:
    app, _ = app_of()
    async with client_of(app) as client:
        response = await client.post(PATH, content=body(), headers=headers)
    assert (response.status_code, response.json()["error"]["code"]) == (415, "unsupported_media_type")


@pytest.mark.parametrize(
    ("host", "status"), [("localhost", 200), ("127.0.0.1:8000", 200), ("evil.example", 421), ("localhost.evil", 421)]
)
async def test_names_of_others_are_not_answered(host: str, status: int) -> None:
    app, _ = app_of(hosts={"localhost", "127.0.0.1"})
    async with client_of(app) as client:
        assert (await client.get("/health", headers={"Host": host})).status_code == status


async def test_answer_that_takes_too_long_is_cut_off_with_a_status() -> None:
    app, backend = app_of(HANG, ANSWER, limits=ServerLimits(stream_s=0.05, concurrent_requests=1))
    async with client_of(app) as client:
        response = await post(client)
        assert (response.status_code, response.json()["error"]["code"]) == (504, "time_limit")
        assert response.headers["x-should-retry"] == "false"
        found = numbers((await client.get("/metrics")).text)
    assert found['commitgate_requests_total{outcome="time_limit"}'] == 1
    assert backend.open_streams == 0


async def test_stream_that_takes_too_long_ends_with_an_error() -> None:
    app, backend = app_of([{"text": "It"}, *HANG], limits=ServerLimits(stream_s=1))
    async with client_of(app) as client:
        response = await post(client, stream=True)
    assert data_of(response.content)[-1]["error"]["code"] == "time_limit"
    assert backend.open_streams == 0


async def test_as_many_as_there_are_places_are_worked_on_and_the_rest_waits_or_is_refused() -> None:
    gate = anyio.Event()
    script = [{"text": "a"}, {"wait": gate}, {"finish": "stop"}]
    app, backend = app_of(script, limits=ServerLimits(concurrent_requests=1, queued_requests=1))
    admission = admission_of(app)
    first, second, third = (Visit(body(stream=True)) for _ in range(3))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(first.run, app)
        await first.came(b'"content":"a"')
        tasks.start_soon(second.run, app)
        while admission.queued == 0:
            await anyio.lowlevel.checkpoint()
        assert (admission.in_flight, admission.queued, len(backend.requests)) == (1, 1, 1)
        await third.run(app)
        assert third.status == 503
        assert int(third.headers["retry-after"]) >= 1
        assert third.json()["error"]["code"] == "overloaded"
        gate.set()
    assert (first.status, second.status) == (200, 200)
    assert (admission.in_flight, admission.queued) == (0, 0)


@pytest.mark.parametrize("streams", [True, False])
async def test_client_that_leaves_stops_the_work_and_makes_room(streams: bool) -> None:
    entered = Reached()
    app, backend = app_of([{"text": "a"}, {"wait": entered}], ANSWER, limits=ServerLimits(concurrent_requests=1))
    visit = Visit(body(stream=streams))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(visit.run, app)
        await entered.event.wait()
        assert backend.open_streams == 1
        visit.leave()
    assert backend.open_streams == 0
    assert not visit.is_over
    async with client_of(app) as client:
        assert (await post(client)).status_code == 200
        found = numbers((await client.get("/metrics")).text)
    assert found['commitgate_requests_total{outcome="client_gone"}'] == 1


async def test_client_that_leaves_while_it_waits_is_forgotten() -> None:
    app, backend = app_of(HANG, limits=ServerLimits(concurrent_requests=1))
    admission = admission_of(app)
    first, second = Visit(), Visit()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(first.run, app)
        while not backend.requests:
            await anyio.lowlevel.checkpoint()
        async with anyio.create_task_group() as inner:
            inner.start_soon(second.run, app)
            while admission.queued == 0:
                await anyio.lowlevel.checkpoint()
            second.leave()
        assert (admission.in_flight, admission.queued, len(backend.requests)) == (1, 0, 1)
        first.leave()
    assert admission.in_flight == 0


async def test_cancelling_the_server_goes_on_through_a_request() -> None:
    app, backend = app_of(HANG)
    with anyio.CancelScope() as scope:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(Visit().run, app)
            while not backend.requests:
                await anyio.lowlevel.checkpoint()
            scope.cancel()
    assert scope.cancelled_caught
    assert (backend.open_streams, admission_of(app).in_flight) == (0, 0)


async def test_shutdown_waits_for_running_answers_and_lets_nobody_in() -> None:
    gate = anyio.Event()
    app, _ = app_of([{"text": "a"}, {"wait": gate}, {"finish": "stop"}])
    admission = admission_of(app)
    visit = Visit(body(stream=True))
    was_whole: list[bool] = []

    async def drain() -> None:
        was_whole.append(await admission.drain(60))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(visit.run, app)
        await visit.came(b'"content":"a"')
        tasks.start_soon(drain)
        while not admission.is_draining:
            await anyio.lowlevel.checkpoint()
        async with client_of(app) as client:
            response = await client.get("/health")
            assert (response.status_code, response.json()) == (503, {"status": "draining"})
            assert (await post(client)).status_code == 503
        assert not was_whole
        gate.set()
    assert was_whole == [True]
    assert visit.body.endswith(b"data: [DONE]\n\n")


@pytest.mark.parametrize("has_text", [True, False])
async def test_shutdown_cancels_what_does_not_end_and_says_so(has_text: bool) -> None:
    entered = Reached()
    app, backend = app_of([*([{"text": "a"}] if has_text else []), {"wait": entered}])
    visit = Visit(body(stream=True))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(visit.run, app)
        await entered.event.wait()
        assert not await admission_of(app).drain(0)
    assert visit.is_over
    assert backend.open_streams == 0
    error = data_of(visit.body)[-1]["error"] if has_text else visit.json()["error"]
    assert (visit.status, error["code"]) == (200 if has_text else 503, "overloaded")


class Reached:
    """Tell that a script came here, and hold it for ever."""

    def __init__(self) -> None:
        self.event = anyio.Event()

    async def wait(self) -> None:
        self.event.set()
        await anyio.sleep_forever()


@pytest.mark.parametrize("path", [PATH + "/", "/v1/models/", "/health/"])
async def test_path_with_a_slash_behind_it_is_not_there(path: str) -> None:
    app, _ = app_of()
    async with client_of(app) as client:
        assert (await client.get(path)).status_code == 404

"""Looking at a server's answers in a browser: who may, and what is shown."""

import json
import logging
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx
import pytest
from asgi_calls import ANSWER, SMALL, Visit, client_of, numbers, post
from chats import CITY, body

from commitgate.backends.base import Choice, GenerationRequest, StepTaken
from commitgate.testing import ScriptedBackend
from commitgate.trace import TraceRecorder, load_trace
from commitgate_local.server.app import create_app
from commitgate_local.server.authorization import BearerToken
from commitgate_local.server.inspection.access import COOKIE, MAX_LOGIN_BYTES, MAX_SESSIONS, SESSION_S, InspectAccess
from commitgate_local.server.inspection.endpoints import Inspection, begin_inspection

pytestmark = pytest.mark.anyio

TOKEN = "a-token-of-the-server"
TYPED: Any = {"type": "json_schema", "json_schema": {"name": "city", "schema": CITY, "strict": True}}
OSLO: Any = [{"text": '{"city": "Os'}, {"text": 'lo"}'}, {"usage": [7, 5]}, {"finish": "stop"}]
JSON = {"Content-Type": "application/json"}


class Server:
    """Hold an application that is looked at, and what it told its owner."""

    def __init__(self, *scripts: Any, token: str | None = None, wrap: Any = None, **arguments: Any) -> None:
        self.told: list[str] = []
        self.now = 1_000.0
        first, *rest = scripts or (OSLO,)
        self.backend = ScriptedBackend(first, then=rest)
        self.inspection, self.path = begin_inspection(token, clock=lambda: self.now, tell=self.told.append)
        self.app = create_app(
            self.backend if wrap is None else wrap(self.backend),
            models=[SMALL],
            token=token,
            inspection=self.inspection,
            clock=lambda: self.now,
            **arguments,
        )

    @property
    def code(self) -> str:
        return self.path.partition("#")[2]

    def client(self, **arguments: Any) -> httpx.AsyncClient:
        return client_of(self.app, **arguments)

    @asynccontextmanager
    async def logged_in(self) -> AsyncGenerator[httpx.AsyncClient]:
        async with self.client() as client:
            assert (await log_in(client, code=self.code)).status_code == 204
            yield client


class Stepping:
    """Tell of a step before the text of a script, as a backend that decodes by itself does."""

    def __init__(self, inner: ScriptedBackend, step: StepTaken) -> None:
        self._inner, self._step = inner, step

    @asynccontextmanager
    async def open(self, request: GenerationRequest) -> AsyncGenerator[Any]:
        async with self._inner.open(request) as stream:

            class Stream:
                identity = stream.identity

                async def __aiter__(_) -> AsyncGenerator[Any]:  # noqa: N805
                    yield self._step
                    async for event in stream:
                        yield event

            yield Stream()


async def log_in(client: httpx.AsyncClient, **secret: str) -> httpx.Response:
    return await client.post("/inspect/login", content=json.dumps(secret), headers=JSON)


async def recent(client: httpx.AsyncClient) -> list[Any]:
    reply = await client.get("/inspect/recent")
    assert reply.status_code == 200
    return reply.json()["answers"]


async def test_nothing_is_kept_or_shown_unless_it_was_asked_for() -> None:
    backend = ScriptedBackend(OSLO)
    app = create_app(backend, models=[SMALL])
    async with client_of(app) as client:
        assert (await post(client, response_format=TYPED)).status_code == 200
        for path in ("/inspect", "/inspect/login", "/inspect/recent"):
            assert (await client.get(path)).status_code == 404
    assert backend.requests[0].traced_choices is None


async def test_whoever_is_not_logged_in_sees_nothing() -> None:
    server = Server()
    async with server.client() as client:
        assert (await post(client, response_format=TYPED)).status_code == 200
        (recording,) = server.inspection.recorder.recordings
        for path in ("/inspect", f"/inspect/answers/{recording.head.call_id}"):
            reply = await client.get(path)
            assert (reply.status_code, reply.headers["location"]) == (303, "/inspect/login")
        for path in ("/inspect/recent", f"/inspect/answers/{recording.head.call_id}/trace"):
            reply = await client.get(path, headers={"Cookie": f"{COOKIE}=wrong", "Authorization": "Bearer wrong"})
            assert (reply.status_code, reply.json()["error"]["code"]) == (401, "login_required")
        reply = await client.get("/inspect/login")
        assert "Oslo" not in reply.text
        assert server.code not in reply.text


async def test_link_works_once_and_sets_a_cookie_for_these_pages_alone() -> None:
    server = Server()
    async with server.client() as client, server.client() as other:
        reply = await log_in(client, code=server.code)
        assert reply.status_code == 204
        cookie = reply.headers["set-cookie"]
        assert re.fullmatch(
            rf"{COOKIE}=[\w-]{{43}}; HttpOnly; Max-Age=43200; Path=/inspect; SameSite=strict", cookie, flags=re.ASCII
        )
        assert (await log_in(other, code=server.code)).status_code == 401
        (further,) = server.told
        assert further.partition("#")[2] not in ("", server.code)
        assert (await log_in(other, code=further.partition("#")[2])).status_code == 204
        assert (await client.get("/inspect")).status_code == (await other.get("/inspect")).status_code == 200


async def test_code_works_once_also_where_nobody_is_told_of_a_further_one() -> None:
    access = InspectAccess(token=None, clock=lambda: 0.0)
    code = access.new_code()
    assert access.log_in(code=code) is not None
    assert access.log_in(code=code) is None


async def test_new_code_ends_the_one_before_it() -> None:
    access = InspectAccess(token=None, clock=lambda: 0.0)
    first, second = access.new_code(), access.new_code()
    assert access.log_in(code=first) is None
    assert access.log_in(code=second) is not None


@pytest.mark.parametrize(
    "secret", [{}, {"code": ""}, {"code": "x"}, {"token": ""}, {"token": "wrong-token"}, {"code": 7}]
)
async def test_wrong_secrets_are_refused_and_use_nothing_up(secret: Any) -> None:
    server = Server(token=TOKEN)
    async with server.client() as client:
        reply = await log_in(client, **secret)
        assert reply.status_code == 401
        assert "set-cookie" not in reply.headers
        assert (await log_in(client, code=server.code)).status_code == 204


async def test_servers_token_lets_in_too() -> None:
    server = Server(token=TOKEN)
    async with server.client() as client:
        assert (await client.get("/inspect/recent")).status_code == 401
        assert (await client.get("/inspect/recent", headers={"Authorization": f"Bearer {TOKEN}"})).status_code == 200
        assert (await log_in(client, token=TOKEN)).status_code == 204
        assert (await client.get("/inspect/recent")).status_code == 200
    assert server.told == []


async def test_without_a_token_no_token_lets_in() -> None:
    server = Server()
    async with server.client() as client:
        assert (await log_in(client, token="")).status_code == 401
        assert (await client.get("/inspect/recent", headers={"Authorization": "Bearer "})).status_code == 401


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://localhost:81"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
@pytest.mark.parametrize("path", ["/inspect/login", "/inspect/logout"])
async def test_other_sites_pages_neither_log_in_nor_out(path: str, headers: dict[str, str]) -> None:
    server = Server()
    async with server.client() as client:
        content = json.dumps({"code": server.code})
        reply = await client.post(path, content=content, headers=JSON | headers)
        assert reply.status_code == 403
        own = {"Origin": "http://localhost", "Sec-Fetch-Site": "same-origin"}
        assert (await client.post("/inspect/login", content=content, headers=JSON | own)).status_code == 204


@pytest.mark.parametrize(
    ("content", "kind", "status"),
    [
        (b"{}", "text/plain", 415),
        (b"[]", "application/json", 400),
        (b"{", "application/json", 400),
        (b"[" * 4_000, "application/json", 400),
        (b'{"code": "' + b"x" * (MAX_LOGIN_BYTES - 12) + b'"}', "application/json", 401),
        (b'{"code": "' + b"x" * (MAX_LOGIN_BYTES - 11) + b'"}', "application/json", 413),
    ],
)
async def test_bodies_that_are_no_login_are_refused(content: bytes, kind: str, status: int) -> None:
    server = Server()
    async with server.client() as client:
        reply = await client.post("/inspect/login", content=content, headers={"Content-Type": kind})
        assert reply.status_code == status


async def test_names_that_are_not_this_servers_are_refused_here_as_everywhere() -> None:
    server = Server(hosts=["localhost"])
    async with server.client() as client:
        for path in ("/inspect", "/inspect/login"):
            assert (await client.get(path, headers={"Host": "evil.example"})).status_code == 421


async def test_session_ends_with_its_time_and_with_a_logout() -> None:
    server = Server()
    async with server.logged_in() as client:
        server.now += SESSION_S - 1
        assert (await client.get("/inspect/recent")).status_code == 200
        server.now += 1
        assert (await client.get("/inspect/recent")).status_code == 401
        assert (await log_in(client, code=server.told[-1].partition("#")[2])).status_code == 204
        session = client.cookies[COOKIE]
        assert (await client.post("/inspect/logout", content="{}", headers=JSON)).status_code == 204
        reply = await client.get("/inspect/recent", headers={"Cookie": f"{COOKIE}={session}"})
        assert reply.status_code == 401


async def test_oldest_session_makes_room_for_one_too_many() -> None:
    access = InspectAccess(token=BearerToken(TOKEN), clock=lambda: 0.0)
    sessions = [access.log_in(token=TOKEN) for _ in range(MAX_SESSIONS + 1)]
    assert [access.allows(session, None) for session in sessions] == [False] + [True] * MAX_SESSIONS


async def test_secrets_are_in_no_log_and_no_repr(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    server = Server(token=TOKEN)
    async with server.logged_in() as client:
        await client.get(f"/inspect?code={server.code}")
        session = client.cookies[COOKIE]
    logged = "\n".join(record.getMessage() for record in caplog.records if record.name.startswith("commitgate"))
    text = logged + repr(vars(server.inspection.access)) + repr(server.inspection)
    assert "POST /inspect/login 204" in text
    assert not any(secret in text for secret in (server.code, session, TOKEN))


async def test_what_open_pages_ask_for_fills_no_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "commitgate.server")
    server = Server()
    async with server.logged_in() as client:
        await recent(client)
        await client.get("/inspect/answers/none/trace")
    told = [record.getMessage()[:26] for record in caplog.records if record.name == "commitgate.server"]
    assert [line.split(" ")[:3] for line in told] == [
        ["POST", "/inspect/login", "204"],
        ["GET", "(other)", "404"],
    ]


async def test_pages_say_themselves_what_a_browser_may_do_with_them() -> None:
    server = Server()
    async with server.logged_in() as client:
        await post(client, response_format=TYPED)
        (answer,) = await recent(client)
        for path in ("/inspect", "/inspect/login", f"/inspect/answers/{answer['id']}"):
            reply = await client.get(path)
            policy = reply.headers["content-security-policy"]
            assert "default-src 'none'" in policy
            assert "connect-src 'self'" in policy
            assert "frame-ancestors 'none'" in policy
            assert "unsafe-inline" not in policy.partition("script-src")[2].partition(";")[0]
            assert reply.headers["cache-control"] == "no-store"
            assert reply.headers["content-type"].startswith("text/html")
        policy = (await client.get("/inspect/recent")).headers["content-security-policy"]
        assert policy == "default-src 'none'; frame-ancestors 'none'"


async def test_answers_are_listed_without_a_word_of_them_and_shown_whole_on_their_page() -> None:
    server = Server(OSLO, ANSWER)
    async with server.logged_in() as client:
        await post(client, response_format=TYPED)
        await post(client)
        plain, typed = await recent(client)
        assert (typed["model"], typed["outcome"], typed["steps"]) == ("small", "answered", 0)
        text = json.dumps([plain, typed])
        assert "Oslo" not in text
        assert "warm" not in text
        page = (await client.get(f"/inspect/answers/{typed['id']}")).text
        assert "How warm is it in Oslo?" in page
        trace = load_trace((await client.get(f"/inspect/answers/{typed['id']}/trace")).content)
        assert b"".join(piece.data for piece in trace.requests[0].pieces) == b'{"city": "Oslo"}'
        assert trace.is_over
        assert trace.receipt is not None
        assert (trace.receipt.finish, trace.receipt.output_tokens) == ("stop", 5)
        assert trace.requests[0].pieces[-1].open_parts == 0
        untyped = load_trace((await client.get(f"/inspect/answers/{plain['id']}/trace")).content)
        assert untyped.schema is None
        assert len(untyped.requests[0].pieces) == 2
    assert {request.traced_choices for request in server.backend.requests} == {8}


async def test_steps_reach_the_page_and_no_client() -> None:
    step = StepTaken(
        kind="drawn",
        token_ids=(7,),
        data=b'{"city": "Os',
        text_bytes=0,
        choices=(Choice(5, b"no", 0.8, False), Choice(7, b"{", 0.1, True)),
        legal_mass=0.1,
        legal_tokens=1,
        vocabulary_tokens=9,
        state="an object",
    )
    server = Server(wrap=lambda inner: Stepping(inner, step))
    async with server.logged_in() as client:
        reply = await post(client, response_format=TYPED)
        assert reply.json()["choices"][0]["message"]["content"] == '{"city": "Oslo"}'
        (answer,) = await recent(client)
    assert (answer["steps"], answer["wishes"]) == (1, 1)


async def test_answer_is_seen_while_it_grows() -> None:
    gate = anyio.Event()
    server = Server([OSLO[0], {"wait": gate}, *OSLO[1:]])
    visit = Visit(body(response_format=TYPED, stream=True))
    async with server.logged_in() as client, anyio.create_task_group() as tasks:
        tasks.start_soon(visit.run, server.app)
        await visit.came(b"Os")
        (answer,) = await recent(client)
        assert answer["outcome"] is None
        source = f"/inspect/answers/{answer['id']}/trace"
        first = (await client.get(source, params={"request": 0, "piece": 0})).json()
        assert len(first["requests"][0]["pieces"]) == 1
        gate.set()
        await visit.came(b"[DONE]")
        rest = (await client.get(source, params={"request": 0, "piece": 1})).json()
        visit.leave()
    assert rest["outcome"] == "answered"
    assert [piece["data"] for piece in rest["requests"][0]["pieces"]] == ["bG8ifQ=="]


@pytest.mark.parametrize("query", ["request=-1", "piece=x", "piece=1e3", "request=9999999999", "piece=%C2%B2"])
async def test_numbers_that_are_none_are_refused(query: str) -> None:
    server = Server()
    async with server.logged_in() as client:
        await post(client, response_format=TYPED)
        (answer,) = await recent(client)
        assert (await client.get(f"/inspect/answers/{answer['id']}/trace?{query}")).status_code == 400
        beyond = await client.get(f"/inspect/answers/{answer['id']}/trace?request=7&piece=7")
        assert "requests" not in beyond.json()


async def test_answers_that_are_not_kept_are_not_there() -> None:
    server = Server()
    async with server.logged_in() as client:
        for path in ("/inspect/answers/none", "/inspect/answers/none/trace"):
            assert (await client.get(path)).status_code == 404


@pytest.mark.parametrize(
    ("script", "outcome", "summary"),
    [
        ([OSLO[0], {"finish": "length"}], "truncated", "limit of tokens"),
        ([OSLO[0], {"fault": "overload"}], "failed", "overloaded"),
        ([{"text": '{"city": 7'}], "failed", "ended"),
        ([{"refusal": "no"}, {"finish": "refusal"}], "refused", "declined"),
    ],
)
async def test_answers_that_fail_stay_with_their_reason(script: Any, outcome: str, summary: str) -> None:
    server = Server(script)
    async with server.logged_in() as client:
        await post(client, response_format=TYPED)
        (trace,) = server.inspection.recorder.traces
    assert (trace.outcome, trace.is_over) == (outcome, True)
    assert summary in trace.summary


async def test_client_that_leaves_leaves_what_had_come() -> None:
    server = Server([OSLO[0], {"wait": None}])
    visit = Visit(body(response_format=TYPED, stream=True))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(visit.run, server.app)
        await visit.came(b"Os")
        visit.leave()
    (trace,) = server.inspection.recorder.traces
    assert (trace.outcome, len(trace.requests[0].pieces)) == ("cancelled", 1)


async def test_replayed_answers_are_not_recorded_again() -> None:
    server = Server()
    async with server.client() as client:
        for _ in range(2):
            assert (await post(client, {"Idempotency-Key": "k"}, response_format=TYPED)).status_code == 200
    assert len(server.inspection.recorder.traces) == 1


async def test_recorder_that_is_full_changes_no_answer() -> None:
    recorder = TraceRecorder(most_traces=1, most_pieces=1, most_bytes=1)
    backend = ScriptedBackend(OSLO, then=[OSLO])
    inspection = Inspection(recorder=recorder, access=InspectAccess(token=None, clock=lambda: 0.0))
    app = create_app(backend, models=[SMALL], inspection=inspection)
    async with client_of(app) as client:
        for _ in range(2):
            reply = await post(client, response_format=TYPED)
            assert reply.json()["choices"][0]["message"]["content"] == '{"city": "Oslo"}'
        assert numbers((await client.get("/metrics")).text)['commitgate_requests_total{outcome="completed"}'] == 2
    assert recorder.traces[0].is_cut

"""Answer one ``POST /v1/chat/completions``, from its headers to its last byte.

One task group owns the work and a watcher that hears the client leave: leaving cancels the work, which stops the
backend within one step and frees the key. A failure before the first frame has a status of its own; behind it, the
stream ends with an error frame. Nothing that is being cancelled goes on.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from functools import partial
from typing import Final, assert_never
from uuid import uuid4

import anyio
from anyio.to_thread import run_sync
from starlette.datastructures import Headers
from starlette.types import Receive, Send

from commitgate_local.server.admission import shutting_down
from commitgate_local.server.answer_run import AnswerRun
from commitgate_local.server.authorization import key_scope
from commitgate_local.server.chat_order import read_order
from commitgate_local.server.failure import outcome_of, refusal_of
from commitgate_local.server.idempotency import Claim, StoredReply
from commitgate_local.server.metrics import RequestOutcome
from commitgate_local.server.refusal import RequestRefused, bad_request, cut_off
from commitgate_local.server.reply_sender import JSON_TYPE, REPLAYED_HEADER, ReplySender
from commitgate_local.server.request_body import ClientGone, read_body
from commitgate_local.server.serving import Serving

KEY_HEADER: Final = "idempotency-key"

_LAST_WORDS_S: Final = 2.0
"""Seconds in which a client must take the error that ends its answer."""


class ChatCall:
    """Answer one request.

    Args:
        serving: what all requests share.
        headers: of this one.
        receive: gives ASGI's messages.
        send: takes them.
    """

    def __init__(self, serving: Serving, headers: Headers, receive: Receive, send: Send) -> None:
        self._serving = serving
        self._headers = headers
        self._receive = receive
        self._sender = ReplySender(send, write_s=serving.limits.write_s)
        self._run: AnswerRun | None = None
        self._is_gone = False
        self._began = serving.clock()

    async def respond(self) -> None:
        """Answer it."""
        outcome = RequestOutcome.FAILED
        try:
            outcome = await self._respond()
        finally:
            self._serving.metrics.count(outcome, self._serving.clock() - self._began)

    async def _respond(self) -> RequestOutcome:
        # What a shutdown cancels once it cannot wait any longer; what is then said goes out behind it.
        with anyio.CancelScope() as scope:
            try:
                return await self._let_in(scope)
            except ClientGone:
                return RequestOutcome.CLIENT_GONE
            except Exception as error:  # noqa: BLE001 - the one place where errors become answers
                refused = refusal_of(error, param=None if self._run is None else self._run.param)
            await self._refuse(refused)
            outcome = outcome_of(refused)
            if outcome is RequestOutcome.REFUSED:
                self._serving.metrics.count_refusal(refused.code)
            return outcome
        refused = shutting_down()
        await self._refuse(refused)
        return outcome_of(refused)

    async def _let_in(self, scope: anyio.CancelScope) -> RequestOutcome:
        serving = self._serving
        serving.check_authorization(self._headers)
        key = self._key()
        with serving.admission.admitted(scope):
            body = await read_body(self._receive, self._headers, serving.limits)
            if key is None:
                return await self._watched(body, None)
            owner = key_scope(self._headers.get("authorization"), key)
            found = serving.store.begin(owner, hashlib.sha256(body).digest(), serving.clock())
            match found:
                case StoredReply():
                    return await self._replay(found)
                case Claim():
                    try:
                        return await self._watched(body, found)
                    finally:
                        serving.store.release(found)
                case _:
                    assert_never(found)

    def _key(self) -> str | None:
        keys = self._headers.getlist(KEY_HEADER)
        if not keys:
            return None
        most = self._serving.limits.idempotency_key_characters
        if len(keys) > 1 or not 1 <= len(keys[0]) <= most or not all(" " <= sign <= "~" for sign in keys[0]):
            raise bad_request(f"Idempotency-Key must be given once, with 1 to {most} characters of visible ASCII")
        return keys[0]

    async def _replay(self, stored: StoredReply) -> RequestOutcome:
        with anyio.move_on_after(self._serving.limits.stream_s):
            await self._sender.whole(stored.status, stored.content_type, stored.body, {REPLAYED_HEADER: "true"})
        return RequestOutcome.REPLAYED

    async def _watched(self, body: bytes, claim: Claim | None) -> RequestOutcome:
        """Do the work while the client is there, and within the time that an answer may take.

        Raises:
            ClientGone: it left.
        """
        failure: Exception | None = None
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._watch, tasks.cancel_scope, name="commitgate server watch")
            tasks.start_soon(self._keep_alive, tasks.cancel_scope, name="commitgate server keep-alive")
            try:
                await self._within_limit(body, claim)
            except Exception as error:  # noqa: BLE001 - raised again below; the group would wrap it
                failure = error
            tasks.cancel_scope.cancel()
        if self._run is not None and self._run.is_whole:
            return RequestOutcome.COMPLETED
        if self._is_gone:
            raise ClientGone
        if failure is not None:
            raise failure
        return RequestOutcome.FAILED

    async def _watch(self, scope: anyio.CancelScope) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self._is_gone = True
        scope.cancel()

    async def _keep_alive(self, scope: anyio.CancelScope) -> None:
        """Break a silence that lasts too long, as while a long prompt is read: proxies take it for a dead line."""
        period_s = self._serving.limits.keep_alive_s
        due = self._sender.last_sent + period_s
        while True:
            await anyio.sleep_until(due)
            due = self._sender.last_sent + period_s
            if due > anyio.current_time():
                continue
            due = anyio.current_time() + period_s
            try:
                if self._run is not None:
                    await self._run.keep_alive()
            except ClientGone:
                self._is_gone = True
                scope.cancel()
                return

    async def _within_limit(self, body: bytes, claim: Claim | None) -> None:
        limit_s = self._serving.limits.stream_s
        left_s = self._began + limit_s - self._serving.clock()
        with anyio.move_on_after(max(0.0, left_s)) as limit:
            await self._answer(body, claim)
        if limit.cancelled_caught:
            raise cut_off(limit_s)

    async def _answer(self, body: bytes, claim: Claim | None) -> None:
        serving = self._serving
        work = partial(
            read_order,
            body,
            limits=serving.limits,
            backend_names=serving.backend_names,
            chats=serving.chats,
        )
        # Not left behind when the client leaves: threads that pile up would be a way to bring the server down.
        order = await run_sync(work, limiter=serving.preparing)
        name = f"chatcmpl-{uuid4().hex}"
        self._run = AnswerRun(serving, order, self._sender, claim=claim, id=name, began=self._began)
        await self._run.answer()

    async def _refuse(self, refused: RequestRefused) -> None:
        """Tell the client why, as a status or, behind the first frame, as the last one."""
        if self._sender.is_over:
            return
        with anyio.move_on_after(_LAST_WORDS_S), suppress(ClientGone):
            if not self._sender.has_begun:
                await self._sender.whole(refused.status, JSON_TYPE, refused.body(), refused.headers)
            elif self._run is not None:
                await self._run.fail(refused)


__all__ = ["KEY_HEADER", "ChatCall"]

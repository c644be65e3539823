"""Write requests to a server: what its dialect says, and what goes with every request.

The same request gives the same bytes, so that a server that knows idempotency keys takes a further attempt for what it
is. Sans-IO but for the key, which may have to be asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

from commitgate.argument import check_kind
from commitgate.automaton.json_schema.plain_json import canonical, plain_copy
from commitgate.backends.api_key import ApiKey
from commitgate.backends.base import GenerationRequest
from commitgate.backends.base_url import BaseUrl
from commitgate.backends.dialect import Dialect, Outgoing
from commitgate.backends.http import HttpRequest
from commitgate.backends.remote_stream import Prepared
from commitgate.backends.request_headers import attempt_fields, base_fields
from commitgate.backends.wire.wire_event import Framing
from commitgate.errors import ContractError, MisuseError
from commitgate.json_value import JsonObject, JsonValue
from commitgate.limits import Limits
from commitgate.worker_thread import LARGE_TEXT_BYTES, run_in_thread

if TYPE_CHECKING:
    from commitgate.backends.translation import Translation
    from commitgate.contract import Contract
    from commitgate.tools.offer import ToolOffer


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestWriting:
    """Write the requests of one backend.

    Attributes:
        dialect: knows the server's API.
        base_url: where it is.
        key: opens it.
        extra_headers: the caller's own, by names in lower case.
        extra_body: further members of the body of a request for an answer.
        translate: says a contract in the server's words.
    """

    dialect: Dialect
    base_url: BaseUrl
    key: ApiKey = field(repr=False)
    extra_headers: Mapping[str, str] = field(repr=False)
    extra_body: JsonObject = field(repr=False)
    translate: Callable[[Contract[object], ToolOffer | None], Translation] = field(repr=False)

    async def prepare(self, request: GenerationRequest) -> Prepared:
        """Write a request for an answer, in a worker thread where that takes long.

        Raises:
            UnsupportedError: the server cannot be asked for the contract.
            UnwritableError: it has no way to say something else of the request.
            MisuseError: ``extra_body`` holds what the dialect writes.
        """
        size = sum(len(message.content) for message in request.messages)
        if request.translation is None or size > LARGE_TEXT_BYTES:
            return await run_in_thread(lambda: self._written(request))
        return self._written(request)

    async def complete(self, written: HttpRequest) -> HttpRequest:
        """Return a request with the key in it.

        Raises:
            KeyUnavailableError: the function that gives the key did not.
        """
        fields = await self.key.fields()
        secret = next(iter(fields.values()), "").removeprefix("Bearer ")
        return replace(written, headers={**written.headers, **fields}, secret=secret)

    def plain(self, outgoing: Outgoing, extra: Mapping[str, str], *, body: bytes, framing: Framing) -> HttpRequest:
        """Return a request that only the key is missing in.

        Args:
            outgoing: as the dialect wrote it.
            extra: header fields of this request alone.
            body: its body as it goes out.
            framing: how its answer is expected to be cut.
        """
        own = {name.lower(): value for name, value in outgoing.headers.items()}
        base = base_fields(framing, has_body=bool(body))
        return HttpRequest(
            method=outgoing.method,
            url=self.base_url.url(outgoing.path),
            headers={**base, **own, **self.extra_headers, **extra},
            body=body,
        )

    def _written(self, request: GenerationRequest) -> Prepared:
        if request.translation is None:
            request = replace(request, translation=self._translation(request))
        outgoing = self.dialect.write(request)
        body = _joined(outgoing.body or {}, self.extra_body)
        extra = attempt_fields(request.idempotency_key, request.attempt)
        framing = self.dialect.facts.framing
        written = self.plain(outgoing, extra, body=canonical(body).encode(), framing=framing)
        return Prepared(expected=self.dialect.expected(request), complete=lambda: self.complete(written))

    def _translation(self, request: GenerationRequest) -> Translation:
        from commitgate.backends.translation import Translation
        from commitgate.backends.translation.shapes import SAME

        if request.is_constrained:
            return self.translate(request.contract, request.tools)
        return Translation(sent=request.contract, form="prompt", shape=SAME)


def checked_members(given: Mapping[str, JsonValue]) -> JsonObject:
    """Return an own copy of the caller's ``extra_body``.

    Raises:
        MisuseError: it is no JSON object, or a very large one.
    """
    check_kind("extra_body", given, Mapping, "a mapping of names to JSON values")
    try:
        copied = plain_copy(dict(given), Limits())
    except ContractError as error:
        raise MisuseError(f"extra_body must be a JSON object within the limits of a schema: {error}") from error
    return cast(JsonObject, copied)


def _joined(written: JsonObject, extra: JsonObject) -> JsonObject:
    for name in extra:
        if name in written:
            raise MisuseError(f"extra_body must not hold {name!r}, which is written for every request; leave it out")
    return {**written, **extra}


__all__ = ["RequestWriting", "checked_members"]

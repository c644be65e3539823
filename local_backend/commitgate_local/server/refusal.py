"""Refuse a request in the form in which clients of OpenAI's API expect it: a status, and an error object that says why.

An error object has a member ``keyword`` and ``pointer`` where a schema is at fault: which keyword, and where it stands.
Nothing of a prompt, an answer, a key or a header is ever in a message.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from math import ceil, isfinite
from types import MappingProxyType
from typing import Final

from commitgate.backends.base import DeadEndReached, Fault, FaultKind
from commitgate.backends.words import safe_code
from commitgate.errors import (
    BackendError,
    CommitgateError,
    ContractError,
    LimitExceededError,
    ModelLoadError,
    UnsatisfiableError,
    UnsupportedError,
)
from commitgate.json_value import JsonObject

INVALID_REQUEST: Final = "invalid_request_error"
AUTHENTICATION: Final = "authentication_error"
RATE_LIMIT: Final = "rate_limit_error"
OVERLOADED: Final = "overloaded_error"
SERVER_ERROR: Final = "server_error"

CONTEXT_LENGTH: Final = "context_length_exceeded"
"""Code of a fault of kind ``bad_request``, and of the error, by which a prompt is longer than the model's context."""

RETRY_AFTER_S: Final = 1.0
"""Seconds after which a client may ask again, where nobody knows better."""

_NO_HEADERS: Final[Mapping[str, str]] = MappingProxyType({})
_PLAIN_PARAM: Final = re.compile(r"[A-Za-z0-9_.\[\]-]{1,128}")

# Status, type and code of each kind of fault. A fault of the server's own access to a model is none of the client's.
_FAULTS: Final[Mapping[FaultKind, tuple[int, str, str]]] = MappingProxyType(
    {
        "rate_limit": (429, RATE_LIMIT, "rate_limit_exceeded"),
        "overload": (503, OVERLOADED, "overloaded"),
        "quota": (429, "insufficient_quota", "insufficient_quota"),
        "server": (500, SERVER_ERROR, "server_error"),
        "auth": (500, SERVER_ERROR, "backend_refused"),
        "bad_request": (400, INVALID_REQUEST, "invalid_request"),
        "constraint": (400, INVALID_REQUEST, "unsupported_schema"),
        "unreachable": (502, SERVER_ERROR, "backend_unreachable"),
        "untrusted": (500, SERVER_ERROR, "backend_untrusted"),
        "in_progress": (409, INVALID_REQUEST, "idempotency_in_progress"),
        "conflict": (422, INVALID_REQUEST, "idempotency_key_reused"),
        "protocol": (500, SERVER_ERROR, "protocol_error"),
        "unknown_finish": (500, SERVER_ERROR, "unknown_finish"),
        "model": (500, SERVER_ERROR, "model_error"),
    }
)
_WAITS: Final[frozenset[FaultKind]] = frozenset({"rate_limit", "overload", "in_progress"})


class RequestRefused(CommitgateError):  # noqa: N818 - it is an answer to a client, named by what it says
    """Raised when a request cannot be served; it is answered with its status, headers and body.

    Attributes:
        status: HTTP status, 400 to 599.
        type: what sort of error, in OpenAI's words.
        code: short stable name of the fault.
        message: what is wrong, wanted and found, without payload.
        param: the field at fault as a client writes it, such as ``messages[0].content``; None where there is none.
        keyword: the keyword of a schema at fault, or the kind of text: ``regex``, ``grammar``, ``choices``.
        pointer: JSON pointer (RFC 6901) of its place in the schema.
        position: offset of the place in a pattern or grammar, in characters from 0.
        headers: headers that the answer needs, such as ``Retry-After``.
    """

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        type: str = INVALID_REQUEST,
        param: str | None = None,
        keyword: str | None = None,
        pointer: str | None = None,
        position: int | None = None,
        headers: Mapping[str, str] = _NO_HEADERS,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.type = type
        self.code = code
        self.message = message
        # What a client called a field goes back to it, unless it is no plain name: then it may be anything.
        self.param = param if param is None or _PLAIN_PARAM.fullmatch(param) else None
        self.keyword = keyword
        self.pointer = pointer
        self.position = position
        self.headers = headers

    def error_object(self) -> JsonObject:
        """Return the body: ``{"error": {"message", "type", "param", "code"}}``, and the place in a schema."""
        error: JsonObject = {"message": self.message, "type": self.type, "param": self.param, "code": self.code}
        found = {"keyword": self.keyword, "pointer": self.pointer, "position": self.position}
        error |= {name: value for name, value in found.items() if value is not None}
        return {"error": error}

    def body(self) -> bytes:
        """Return the body as JSON in ASCII."""
        return json.dumps(self.error_object()).encode("ascii")


def bad_request(message: str, *, param: str | None = None, code: str = "invalid_value") -> RequestRefused:
    """Return the refusal of a field, or of the whole request."""
    return RequestRefused(400, code, message, param=param)


def too_large(message: str, *, param: str | None = None) -> RequestRefused:
    """Return the refusal of a request that is larger than a limit of the server."""
    return RequestRefused(413, "request_too_large", message, param=param)


def wrong_key() -> RequestRefused:
    """Return the refusal of a request whose bearer token is missing or wrong."""
    return RequestRefused(
        401,
        "invalid_api_key",
        "the bearer token is missing or wrong; send Authorization: Bearer <token>",
        type=AUTHENTICATION,
        headers={"WWW-Authenticate": "Bearer"},
    )


def unknown_model() -> RequestRefused:
    """Return the refusal of a request for a model that is not served."""
    return RequestRefused(
        404, "model_not_found", "no such model is served here; GET /v1/models lists those that are", param="model"
    )


def key_in_progress(retry_after_s: float = RETRY_AFTER_S) -> RequestRefused:
    """Return the refusal of a request whose idempotency key is being worked on."""
    return RequestRefused(
        409,
        "idempotency_in_progress",
        "an earlier request with the same Idempotency-Key is still being worked on; ask again later",
        headers=_retry_after(retry_after_s),
    )


def key_reused() -> RequestRefused:
    """Return the refusal of a request whose idempotency key came with another body before."""
    return RequestRefused(
        422,
        "idempotency_key_reused",
        "the Idempotency-Key belongs to a request with another body; use another key",
    )


def overloaded(retry_after_s: float = RETRY_AFTER_S) -> RequestRefused:
    """Return the refusal of a request for which there is no room."""
    return RequestRefused(
        503,
        "overloaded",
        "the server is working on as many requests as it can hold; ask again later",
        type=OVERLOADED,
        headers=_retry_after(retry_after_s),
    )


def cut_off(limit_s: float) -> RequestRefused:
    """Return the refusal of a request whose answer took longer than the server allows."""
    return RequestRefused(
        504,
        "time_limit",
        f"the answer was not whole after the limit of {limit_s:g} s",
        type=SERVER_ERROR,
        # OpenAI's own clients ask again after any 5xx, unless they are told that it would be no use.
        headers={"x-should-retry": "false"},
    )


def of_contract(
    error: ContractError, *, param: str | None, code: str = "invalid_json_schema", note: str = ""
) -> RequestRefused:
    """Return the refusal of a schema, pattern, grammar or choices; nothing was generated.

    Args:
        error: what is wrong with it.
        param: the field that it came in, where one is known.
        code: the code where the error itself does not tell more.
        note: what a client may not know of how it was read; behind the message.
    """
    match error:
        case UnsupportedError():
            code = "unsupported_schema"
        case UnsatisfiableError():
            code = "unsatisfiable_schema"
        case LimitExceededError():
            code = "schema_too_large"
        case _:
            pass
    return RequestRefused(
        400,
        code,
        f"{error}{note}",
        param=param,
        keyword=error.keyword,
        pointer=error.pointer,
        position=error.position,
    )


def of_fault(fault: Fault) -> RequestRefused:
    """Return the refusal that a failure of the backend becomes."""
    status, error_type, code = _FAULTS[fault.kind]
    if fault.kind == "bad_request":
        code = safe_code(fault.code) or code
    headers: Mapping[str, str] = _NO_HEADERS
    if fault.retry_after_s is not None or fault.kind in _WAITS:
        headers = _retry_after(fault.retry_after_s)
    param = "messages" if code == CONTEXT_LENGTH else None
    return RequestRefused(status, code, fault.message, type=error_type, param=param, headers=headers)


def of_dead_end(dead_end: DeadEndReached) -> RequestRefused:
    """Return the refusal of a request whose answer could not go on; asking again would not help, so it is no 5xx."""
    return RequestRefused(
        422,
        "dead_end",
        f"no token can follow after {dead_end.prefix_tokens} of them, because of the {dead_end.cause}: "
        f"{dead_end.explanation}",
    )


def of_backend(error: BackendError) -> RequestRefused:
    """Return the refusal that an error of the backend becomes; what it says of this machine stays here."""
    message = "the model cannot be loaded" if isinstance(error, ModelLoadError) else "the model failed"
    return RequestRefused(500, "model_error", message, type=SERVER_ERROR)


def ended_early() -> RequestRefused:
    """Return the refusal of a request whose answer broke off without proof of its end."""
    return RequestRefused(500, "incomplete", "the answer broke off before its end", type=SERVER_ERROR)


def _retry_after(seconds: float | None) -> dict[str, str]:
    """Return the header by which a client is told when to ask again, in whole seconds (RFC 9110 section 10.2.3)."""
    wait_s = RETRY_AFTER_S if seconds is None or not isfinite(seconds) else seconds
    return {"Retry-After": str(max(1, ceil(wait_s)))}


__all__ = [
    "AUTHENTICATION",
    "CONTEXT_LENGTH",
    "INVALID_REQUEST",
    "OVERLOADED",
    "RATE_LIMIT",
    "RETRY_AFTER_S",
    "SERVER_ERROR",
    "RequestRefused",
    "bad_request",
    "cut_off",
    "ended_early",
    "key_in_progress",
    "key_reused",
    "of_backend",
    "of_contract",
    "of_dead_end",
    "of_fault",
    "overloaded",
    "too_large",
    "unknown_model",
    "wrong_key",
]

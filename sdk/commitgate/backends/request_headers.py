"""Say which header fields a request to a server carries, and which of them a caller may add.

Source: RFC 9110, sections 5.1 (names), 5.5 (values) and 12.5 (what is accepted).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from types import MappingProxyType

from commitgate.argument import check_kind, wrong_kind
from commitgate.backends.api_key import ApiKey
from commitgate.backends.wire.wire_event import Framing
from commitgate.errors import MisuseError

IDEMPOTENCY_HEADER = "idempotency-key"
"""Names the question to the server: the same for every attempt at it."""

RETRY_COUNT_HEADER = "x-retry-count"
"""How many requests of the call came before, from 0."""

_ACCEPTED: Mapping[Framing, str] = MappingProxyType(
    {"sse": "text/event-stream", "ndjson": "application/x-ndjson", "json": "application/json"}
)
_OWN = frozenset(
    {
        IDEMPOTENCY_HEADER,
        RETRY_COUNT_HEADER,
        "accept",
        "accept-encoding",
        "connection",
        "content-encoding",
        "content-length",
        "content-type",
        "host",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?")


def checked_extra(given: Mapping[str, str], key: ApiKey) -> dict[str, str]:
    """Return the caller's header fields by their names in lower case.

    Args:
        given: as the caller wrote them.
        key: which field the key goes in.

    Raises:
        MisuseError: they are no header fields, or one of them is set here. The message never shows a value.
    """
    check_kind("extra_headers", given, Mapping, "a mapping of names to values")
    found = dict[str, str]()
    for name, value in given.items():
        # Callers without a type checker pass other things.
        for part in (name, value):
            if not isinstance(part, str):  # pyright: ignore[reportUnnecessaryIsInstance] - said above
                raise wrong_kind("a name or value of extra_headers", "a str", part)
        if not _NAME.fullmatch(name):
            raise MisuseError(f"extra_headers must name header fields, found {name!r}")
        if not _VALUE.fullmatch(value):
            raise MisuseError(f"extra_headers[{name!r}] must be one line of visible ASCII, found something else")
        lower = name.lower()
        if lower in _OWN or lower == key.field_name:
            where = "give api_key" if lower == key.field_name else "leave it out"
            raise MisuseError(f"extra_headers must not hold {lower}, which is set for every request; {where}")
        if lower in found:
            raise MisuseError(f"extra_headers holds {lower} twice, in two spellings")
        found[lower] = value
    return found


def base_fields(framing: Framing, *, has_body: bool) -> dict[str, str]:
    """Return the fields that go with any request, by their names in lower case."""
    fields = {"accept": _ACCEPTED[framing], "accept-encoding": "identity", "user-agent": _user_agent()}
    if has_body:
        fields["content-type"] = "application/json"
    return fields


def attempt_fields(idempotency_key: str, attempt: int) -> dict[str, str]:
    """Return the fields that tell a server which question is asked, and how often it was."""
    key = {IDEMPOTENCY_HEADER: idempotency_key} if idempotency_key else {}
    return {**key, RETRY_COUNT_HEADER: str(max(0, attempt - 1))}


@cache
def _user_agent() -> str:
    try:
        return f"commitgate/{version('commitgate')}"
    except PackageNotFoundError:
        return "commitgate"


__all__ = [
    "IDEMPOTENCY_HEADER",
    "RETRY_COUNT_HEADER",
    "attempt_fields",
    "base_fields",
    "checked_extra",
]

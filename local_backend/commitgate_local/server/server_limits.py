"""Define the limits on what one server takes from its clients and does for them at once."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

from commitgate.argument import check_finite, check_int, check_kind
from commitgate.errors import MisuseError
from commitgate.limits import Limits

_SECONDS = ("body_s", "stream_s", "keep_alive_s", "write_s", "drain_s", "idempotency_ttl_s")
_MAY_BE_ZERO = ("queued_requests", "idempotency_entries", "idempotency_bytes", "drain_s")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerLimits:
    """Bound a server. Hitting one is a typed refusal that names it; nothing is cut or lowered in silence.

    Attributes:
        body_bytes: size of a request's body.
        body_s: seconds in which a body must have come.
        messages: messages of one request.
        prompt_characters: characters of all messages of one request together, as the client sent them.
        tools: tools of one request.
        max_tokens: tokens that a request may ask for.
        default_max_tokens: tokens of an answer where the request does not say.
        concurrent_requests: requests that are worked on at once.
        queued_requests: further requests that wait; past them a request is refused at once.
        stream_s: seconds that one answer may take, from the request to its last byte.
        keep_alive_s: seconds of silence after which a stream says that it is alive.
        write_s: seconds in which a client must take what is sent, piece by piece; after that it counts as gone.
        drain_s: seconds that running answers get when the server shuts down.
        idempotency_entries: answers kept for the same key again.
        idempotency_bytes: size of all kept answers together.
        idempotency_ttl_s: seconds for which an answer is kept.
        idempotency_key_characters: length of a key.
        contract: bounds on every schema, pattern and grammar, and on what is generated.

    Raises:
        MisuseError: one is of another type or out of its range, or ``default_max_tokens`` is above ``max_tokens``.
    """

    body_bytes: int = 2_097_152
    body_s: float = 30.0
    messages: int = 1_000
    prompt_characters: int = 400_000
    tools: int = 128
    max_tokens: int = 8_192
    default_max_tokens: int = 1_024
    concurrent_requests: int = 8
    queued_requests: int = 64
    stream_s: float = 600.0
    keep_alive_s: float = 15.0
    write_s: float = 30.0
    drain_s: float = 30.0
    idempotency_entries: int = 1_024
    idempotency_bytes: int = 67_108_864
    idempotency_ttl_s: float = 3_600.0
    idempotency_key_characters: int = 255
    contract: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        check_kind("ServerLimits.contract", self.contract, Limits, "a Limits")
        for entry in fields(self):
            if entry.name != "contract":
                self._check(entry.name)
        if self.default_max_tokens > self.max_tokens:
            raise MisuseError(
                f"ServerLimits.default_max_tokens must be at most max_tokens, found {self.default_max_tokens} and "
                f"{self.max_tokens}"
            )

    def _check(self, name: str) -> None:
        value: object = getattr(self, name)
        label = f"ServerLimits.{name}"
        check_finite(label, value, "a number")
        if name not in _SECONDS:
            check_int(label, value)
        if not isinstance(value, int | float):
            return
        if name in _MAY_BE_ZERO:
            if value < 0:
                raise MisuseError(f"{label} must be >= 0, found {value!r}")
        elif name in _SECONDS:
            if value <= 0:
                raise MisuseError(f"{label} must be > 0, found {value!r}")
        elif value < 1:
            raise MisuseError(f"{label} must be >= 1, found {value!r}")


__all__ = ["ServerLimits"]

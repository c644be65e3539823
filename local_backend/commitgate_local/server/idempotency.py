"""Remember answers by idempotency key, so that a request that is sent again is not worked on again.

Sans-IO: time comes in as an argument. A key is in progress from ``begin`` to ``finish`` or ``release``; only what was
finished is kept, for a time, and makes room for what is newer. What is in progress is never forgotten: the server's
own bound on requests bounds it.

Source: the IETF's draft on the header ``Idempotency-Key``, section 2.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

from commitgate_local.server.refusal import key_in_progress, key_reused
from commitgate_local.server.server_limits import ServerLimits


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredReply:
    """Hold a whole answer as it went over the wire.

    Attributes:
        status: its HTTP status.
        content_type: what its body is.
        body: all of its bytes; of a stream, all frames.
    """

    status: int
    content_type: str
    body: bytes = field(repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class Claim:
    """Hold a key that is in progress. Each one is itself alone: a late one cannot settle a newer one's key.

    Attributes:
        scope: digest of whose key it is and of the key.
        question: digest of the request's body.
    """

    scope: bytes = field(repr=False)
    question: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class _Kept:
    question: bytes
    reply: StoredReply
    until: float


class IdempotencyStore:
    """Remember whole answers within bounds.

    Args:
        limits: gives the number of answers kept, their size together, and the seconds for which they are kept.
    """

    def __init__(self, limits: ServerLimits) -> None:
        self._entries = limits.idempotency_entries
        self._bytes = limits.idempotency_bytes
        self._ttl_s = limits.idempotency_ttl_s
        self._claims: dict[bytes, Claim] = {}
        # In the order in which they were finished; all live equally long, so the first is the first to expire.
        self._kept: OrderedDict[bytes, _Kept] = OrderedDict()
        self._size = 0

    @property
    def kept(self) -> int:
        """Return how many answers are kept."""
        return len(self._kept)

    @property
    def size_bytes(self) -> int:
        """Return the size of the kept answers' bodies together."""
        return self._size

    @property
    def in_progress(self) -> int:
        """Return how many keys are in progress."""
        return len(self._claims)

    def begin(self, scope: bytes, question: bytes, now: float) -> Claim | StoredReply:
        """Claim a key, or return the answer that it has.

        Args:
            scope: digest of whose key it is and of the key.
            question: digest of the request's body.
            now: seconds on a clock that never goes back.

        Raises:
            RequestRefused: the key came with another body before, or is in progress.
        """
        self._expire(now)
        running = self._claims.get(scope)
        kept = self._kept.get(scope)
        known = running.question if running is not None else kept.question if kept is not None else question
        if known != question:
            raise key_reused()
        if running is not None:
            raise key_in_progress()
        if kept is not None:
            return kept.reply
        claim = self._claims[scope] = Claim(scope, question)
        return claim

    def finish(self, claim: Claim, reply: StoredReply, now: float) -> bool:
        """Keep the answer, and let the oldest ones make room; return False where it is too large to be kept.

        A claim that was settled before changes nothing.
        """
        if not self.release(claim) or self._entries == 0 or len(reply.body) > self._bytes:
            return False
        self._expire(now)
        self._kept[claim.scope] = _Kept(claim.question, reply, now + self._ttl_s)
        self._size += len(reply.body)
        while len(self._kept) > self._entries or self._size > self._bytes:
            self._forget_oldest()
        return True

    def release(self, claim: Claim) -> bool:
        """Free the key of a request that came to no answer; return False where the claim was settled before."""
        if self._claims.get(claim.scope) is not claim:
            return False
        del self._claims[claim.scope]
        return True

    def _expire(self, now: float) -> None:
        while self._kept and next(iter(self._kept.values())).until <= now:
            self._forget_oldest()

    def _forget_oldest(self) -> None:
        _, gone = self._kept.popitem(last=False)
        self._size -= len(gone.reply.body)


__all__ = ["Claim", "IdempotencyStore", "StoredReply"]

"""Load the recorded responses of servers: bodies, how they ended, and how each is to be read.

``samples/responses.jsonl`` holds one a line; ``body`` is its bytes, one character a byte.
"""

import json
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Literal

from commitgate.backends.wire.ndjson import NdjsonDecoder
from commitgate.backends.wire.sse import SseDecoder
from commitgate.testing import Replay, replay

_FILE = Path(__file__).parent / "samples" / "responses.jsonl"


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """Hold one response.

    Attributes:
        name: the dialect and the case.
        dialect: what the server speaks.
        status: HTTP status.
        headers: header fields.
        end: how the body ended.
        wanted: how it is to be read.
        body: its bytes.
        split_at: offsets within characters.
    """

    name: str
    dialect: str
    status: int
    headers: dict[str, str]
    end: Literal["clean", "reset"]
    wanted: dict[str, object] = field(repr=False)
    body: bytes = field(repr=False)
    split_at: tuple[int, ...] = ()

    def __str__(self) -> str:
        return self.name

    def replay(self, *, split_at: tuple[int, ...] = (), length: int | None = None, end: str | None = None) -> Replay:
        """Read it, or its beginning."""
        body = self.body[:length]
        cuts = tuple(offset for offset in split_at if offset <= len(body))
        ending = self.end if end is None else end
        assert ending in ("clean", "reset")
        return replay(self.dialect, body, status=self.status, headers=self.headers, split_at=cuts, end=ending)

    def boundaries(self) -> list[int]:
        """Return the offsets behind its events, and the beginning."""
        kind = self.headers.get("content-type", "")
        decoder = NdjsonDecoder() if "ndjson" in kind else SseDecoder()
        return [0, *(at + 1 for at in range(len(self.body)) if decoder.feed(self.body[at : at + 1]))]


@cache
def recorded() -> tuple[Recorded, ...]:
    """Return all of them."""
    lines = _FILE.read_text(encoding="ascii").splitlines()
    return tuple(_loaded(json.loads(line)) for line in lines)


def _loaded(line: dict[str, object]) -> Recorded:
    body, split_at = line.pop("body"), line.pop("split_at", ())
    assert isinstance(body, str)
    assert isinstance(split_at, list | tuple)
    return Recorded(body=body.encode("latin-1"), split_at=tuple(split_at), **line)  # type: ignore[arg-type] - as written


__all__ = ["Recorded", "recorded"]

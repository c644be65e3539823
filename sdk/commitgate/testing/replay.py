"""Read one recorded response of a server as a call would have read it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal, cast

import anyio

from commitgate.argument import check_choice, check_int, check_kind, check_text, wrong_kind
from commitgate.backends.base import Fault, Usage
from commitgate.backends.dialect import Dialect, Expected
from commitgate.backends.dialects.table import DIALECTS
from commitgate.backends.registry import REMOTE, make_remote
from commitgate.backends.remote import RemoteBackend
from commitgate.client import Client
from commitgate.contract import Contract
from commitgate.errors import MisuseError
from commitgate.retry import Retry
from commitgate.testing.recording import RecordedBackend, Recording
from commitgate.testing.wire_reading import ReplayedCall, WireReading

_ANYWHERE = "http://replay.invalid"
"""A base URL for backends that are asked for their dialect alone; nothing is sent there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """Say how a recorded response was read.

    Attributes:
        outcome: without a contract what the wire says, one of ``WireOutcome``; with one the name of the call's ending,
            as ``committed`` or ``truncated``.
        text: the answer's text as received, a cut character as U+FFFD.
        usage: the last counts.
        finish_native: the server's own finish word; None where none was read.
        terminal: the format's own end marker was read.
        tool_calls: the calls of tools.
        reasoning: what the model thought.
        refusal: its words where it declined.
        fault: the failure that the server told of, or that its bytes were.
    """

    outcome: str
    text: str = field(repr=False)
    usage: Usage
    finish_native: str | None
    terminal: bool
    tool_calls: tuple[ReplayedCall, ...] = ()
    reasoning: str = field(default="", repr=False)
    refusal: str = field(default="", repr=False)
    fault: Fault | None = None


def replay(
    backend: str | Dialect,
    body: bytes,
    *,
    contract: object = None,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    split_at: Sequence[int] = (),
    end: Literal["clean", "reset"] = "clean",
) -> Replay:
    """Read one recorded response through a backend's whole reading path.

    Without a contract all that the response may hold is read, calls of tools too. With one it is read as the answer
    to a call: through the contract's translation, the acceptor and the layers.

    Args:
        backend: the name of a backend, as ``vllm``, or of a dialect, as ``vllm_chat``; or a dialect.
        body: the body, as it came.
        contract: what the answer must satisfy; anything that ``Contract.of`` takes. None to read the wire alone.
        status: HTTP status.
        headers: header fields. Without a content type the body is read as the server usually sends it.
        split_at: offsets at which the body is cut into chunks.
        end: whether the body ended or the line broke.

    Raises:
        MisuseError: an argument is none of these.
        ContractError: there is no such contract.
    """
    dialect = _dialect(backend)
    check_kind("body", body, bytes, "bytes")
    check_int("status", status)
    if not 100 <= status <= 599:
        raise MisuseError(f"status must lie in [100, 599], found {status}")
    check_choice("end", end, ("clean", "reset"))
    recording = Recording(status, _checked_headers(headers), _chunks(body, split_at), end == "clean")
    reader = dialect.reader(Expected(offers_tools=True))
    found = WireReading()
    response = recording.response(reader, dialect.facts.framing)
    for event in recording.events(response):
        found.take(event)
    outcome: str = found.outcome
    if contract is not None:
        outcome = _ending(RecordedBackend(dialect, recording), Contract.of(cast("type[object]", contract)))
    return Replay(
        outcome=outcome,
        text=bytes(found.text).decode(errors="replace"),
        usage=found.usage,
        finish_native=response.finish_native,
        terminal=reader.is_terminal,
        tool_calls=tuple(call.joined() for call in found.calls.values()),
        reasoning=bytes(found.reasoning).decode(errors="replace"),
        refusal=found.refusal,
        fault=found.fault,
    )


def _dialect(backend: str | Dialect) -> Dialect:
    if not isinstance(backend, str):
        if not hasattr(backend, "facts") or not hasattr(backend, "reader"):
            raise wrong_kind("backend", "a name or a Dialect", backend)
        return backend
    if backend in DIALECTS:
        return DIALECTS[backend]()
    if backend in REMOTE:
        made = make_remote(backend, base_url=_ANYWHERE, api_key="none")
        assert isinstance(made, RemoteBackend), "the backends of servers are all of one kind"
        return made.dialect
    names = ", ".join(sorted({*DIALECTS, *REMOTE}))
    raise MisuseError(f"there is no backend or dialect {backend!r}; the known ones are: {names}")


def _checked_headers(headers: Mapping[str, str] | None) -> Mapping[str, str]:
    check_kind("headers", headers or {}, Mapping, "a mapping of names to values")
    checked = dict(headers or {})
    for name, value in checked.items():
        check_text("a name of headers", name)
        check_text(f"headers[{name!r}]", value)
    return checked


def _chunks(body: bytes, split_at: Sequence[int]) -> tuple[bytes, ...]:
    check_kind("split_at", split_at, Sequence, "a sequence of offsets")
    for offset in split_at:
        check_int("split_at", offset)
        if not 0 <= offset <= len(body):
            raise MisuseError(f"split_at must lie within the body of {len(body)} bytes, found {offset}")
    return tuple(body[start:stop] for start, stop in pairwise((0, *sorted(split_at), len(body))))


def _ending(backend: RecordedBackend, contract: Contract[object]) -> str:
    """Return how a call ends that gets the response for its answer."""

    async def call() -> str:
        async with Client(backends={backend.name: backend}) as client:
            once = Retry(attempts=1)
            outcome = await client.generate_structured(backend.name, contract, prompt="replay", retry=once)
            return outcome.name

    # In a thread of its own, because the caller may be on an event loop, which cannot run another one.
    with ThreadPoolExecutor(1, "commitgate-replay") as pool:
        return pool.submit(anyio.run, call).result()


__all__ = ["Replay", "replay"]

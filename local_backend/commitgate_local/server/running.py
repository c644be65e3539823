"""Run the application with uvicorn: where it listens, and how it comes to its end.

The first SIGINT or SIGTERM drains: ``/health`` answers 503, nobody is let in, and what runs has ``drain_s`` to come to
its end; then it is cancelled. The second one ends the server at once.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from ipaddress import ip_address
from types import FrameType
from typing import Final

import uvicorn
from starlette.applications import Starlette

from commitgate.argument import check_int, check_kind, check_text
from commitgate.errors import MisuseError
from commitgate_local.server.app import admission_of
from commitgate_local.server.server_limits import ServerLimits
from commitgate_local.server.serving import LOGGER

LOOPBACK: Final = "127.0.0.1"
DEFAULT_PORT: Final = 8000

_IDLE_S: Final = 5
_LAST_WORDS_S: Final = 3
_BACKLOG: Final = 128
_MOST_PORT: Final = 65_535
_MOST_MS: Final = 2**31 - 1


def is_loopback(host: str) -> bool:
    """Say whether only this machine can reach an address."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def check_exposure(host: str, *, has_token: bool, is_open: bool) -> None:
    """Check that nobody opens a server to others by accident.

    Args:
        host: the address to listen at.
        has_token: clients must bring a token.
        is_open: others may ask without one, as was said in so many words.

    Raises:
        MisuseError: others than this machine could ask without a token.
    """
    if not (is_loopback(host) or has_token or is_open):
        raise MisuseError(
            "others can reach this address, and no token guards it: set COMMITGATE_SERVE_TOKEN or --token-file, "
            "or say --allow-anyone"
        )


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens.

    Args:
        host: an address or a name of this machine.
        port: 0 takes a free one.

    Raises:
        MisuseError: the port is out of its range, or nothing can listen there.
    """
    check_text("host", host)
    check_int("port", port)
    if not 0 <= port <= _MOST_PORT:
        raise MisuseError(f"port must lie in 0..{_MOST_PORT}, found {port}")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        found = socket.socket(family, kind, protocol)
        try:
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            found.bind(address)
            found.listen(_BACKLOG)
        except OSError:
            found.close()
            raise
    except OSError as error:
        raise MisuseError(f"nothing can listen at {host} port {port}: {error.strerror}") from error
    return found


class RunningServer:
    """Serve one application until it is told to stop.

    Args:
        app: made by ``create_app``.
        limits: gives ``drain_s``, and the number of connections.
    """

    def __init__(self, app: Starlette, limits: ServerLimits) -> None:
        check_kind("app", app, Starlette, "made by create_app")
        self._app = app
        self._limits = limits
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopping: asyncio.Event | None = None
        self._is_stopped = threading.Event()
        self._server = _Server(
            uvicorn.Config(
                app,
                # Of uvicorn's two parsers the one that bounds the head of a request; by itself it prefers the other.
                http="h11",
                # The application writes its own lines, without queries and headers.
                access_log=False,
                log_config=None,
                lifespan="off",
                ws="none",
                server_header=False,
                proxy_headers=False,
                timeout_keep_alive=_IDLE_S,
                timeout_graceful_shutdown=_LAST_WORDS_S,
                # Every connection costs memory; a request that finds no room is told so while there is some.
                limit_concurrency=4 * (limits.concurrent_requests + limits.queued_requests) + 16,
            ),
            self.stop,
        )

    @property
    def connections(self) -> int:
        """Return how many connections are open."""
        return len(self._server.server_state.connections)

    def run(self, listening: socket.socket) -> None:
        """Serve until ``stop``, or a signal in the main thread. Blocks.

        Args:
            listening: the socket; closed in the end. Who connects before waits a moment.
        """
        _bound_silence(listening, self._limits.write_s)
        asyncio.run(self._serve(listening))

    def stop(self) -> None:
        """Drain and stop; a second time, stop at once. From any thread, or a handler of a signal."""
        if self._is_stopped.is_set():
            self._server.force_exit = self._server.should_exit = True
        self._is_stopped.set()
        if self._loop is not None and self._stopping is not None:
            # A loop that is closed has stopped.
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._stopping.set)

    async def _serve(self, listening: socket.socket) -> None:
        self._stopping = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        if self._is_stopped.is_set():
            self._stopping.set()
        async with asyncio.TaskGroup() as tasks:
            drain = tasks.create_task(self._drain(self._stopping))
            await self._server.serve(sockets=[listening])
            drain.cancel()
            if self._server.force_exit:
                # What still runs is ended by us: cancelled by the loop's own end, it would be told as a fault.
                with suppress(TimeoutError):
                    async with asyncio.timeout(_LAST_WORDS_S):
                        await admission_of(self._app).drain(0)

    async def _drain(self, stopping: asyncio.Event) -> None:
        await stopping.wait()
        LOGGER.info("draining: running answers have %g s", self._limits.drain_s)
        try:
            is_whole = await admission_of(self._app).drain(self._limits.drain_s)
            LOGGER.info("drained" if is_whole else "answers that did not come to their end were cancelled")
        finally:
            self._server.should_exit = True


def _bound_silence(listening: socket.socket, limit_s: float) -> None:
    """Have the system drop a connection whose other end takes nothing for so long; those accepted inherit it.

    An answer that is given up leaves what its client did not take in the system's hands, which would wait for hours.

    Source: RFC 5482, section 4.2; Linux' tcp(7), TCP_USER_TIMEOUT.
    """
    option: int | None = getattr(socket, "TCP_USER_TIMEOUT", None)
    if option is not None and listening.family in (socket.AF_INET, socket.AF_INET6):
        listening.setsockopt(socket.IPPROTO_TCP, option, max(1, min(_MOST_MS, int(limit_s * 1_000))))


class _Server(uvicorn.Server):
    """Hand signals to who drains; uvicorn itself would close its ears before anybody could ask how it stands."""

    def __init__(self, config: uvicorn.Config, on_signal: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_signal = on_signal

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to drain; on the second signal, leave at once."""
        del sig, frame
        self._on_signal()


__all__ = ["DEFAULT_PORT", "LOOPBACK", "RunningServer", "check_exposure", "is_loopback", "listen"]

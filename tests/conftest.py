"""Shared fixtures: every async test runs under asyncio and under trio, and Ctrl-C means what it does at a terminal."""

import signal
from collections.abc import Iterator

import pytest


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """Name the event loop that the test runs under."""
    return str(request.param)


@pytest.fixture(scope="session", autouse=True)
def interrupts_are_heard() -> Iterator[None]:
    """Let SIGINT raise: a shell that starts the tests in the background has them, and their children, ignore it."""
    before = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)

"""Shared fixtures: both event loops, Ctrl-C as at a terminal, a process that is left as it was, Postgres."""

import os
import signal
import sys
from collections.abc import Iterator

import pytest
from ledger.postgres_server import PostgresServer, find_binaries, running_server
from process_state import changes, process_state

# What the fastest precision is depends on the machine, and so would the text that a model writes.
os.environ.setdefault("COMMITGATE_PRECISION", "float32")


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """Name the event loop that the test runs under."""
    return str(request.param)


@pytest.fixture(autouse=True)
def process_is_left_as_it_was() -> Iterator[None]:
    """Fail the test that leaves the process changed, and not one that happens to follow it."""
    before = process_state()
    yield
    left = changes(before, process_state())
    assert not left, f"the test left changed for all that follow: {', '.join(left)}"


@pytest.fixture(autouse=True)
def interrupts_are_heard(process_is_left_as_it_was: None) -> Iterator[None]:
    """Let SIGINT raise, and keep what a test does to the signals and to uncaught errors from the next one.

    A shell that starts the tests in the background has them, and their children, ignore SIGINT; so does the command
    line, run in the process of a test, once it has told how a call ended. It also shows uncaught errors in its own way.
    """
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    hook = sys.excepthook
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    sys.excepthook = hook
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """Run a Postgres server from the system's binaries for as long as the tests run."""
    binaries = find_binaries()
    if binaries is None:
        pytest.skip("no binaries of a Postgres server were found; install postgresql")
    with running_server(binaries) as server:
        yield server


@pytest.fixture
def postgres_url(postgres_server: PostgresServer) -> str:
    """Name an empty schema of the server for the test alone."""
    return postgres_server.new_url()

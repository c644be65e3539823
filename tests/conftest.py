"""Shared fixtures: every async test runs under both event loops, Ctrl-C means what it does at a terminal, Postgres."""

import signal
from collections.abc import Iterator

import pytest
from ledger.postgres_server import PostgresServer, find_binaries, running_server


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """Name the event loop that the test runs under."""
    return str(request.param)


@pytest.fixture(autouse=True)
def interrupts_are_heard() -> Iterator[None]:
    """Let SIGINT raise, and keep what a test does to the signals from the next one.

    A shell that starts the tests in the background has them, and their children, ignore SIGINT; so does the command
    line, run in the process of a test, once it has told how a call ended.
    """
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
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

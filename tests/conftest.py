"""Shared fixtures: every async test runs under asyncio and under trio."""

import pytest


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """Name the event loop that the test runs under."""
    return str(request.param)

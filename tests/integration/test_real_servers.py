"""Make a few calls against real servers, where COMMITGATE_INTEGRATION_TESTS is 1 and they are installed.

``make integration`` installs them, and does the same and much more at length.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from integration.answers import ANSWERS
from integration.disconnects import DISCONNECTS
from integration.kills import KILLS
from integration.parts import Part
from integration.servers import NAMES, Server, ServerName, running, why_not

_UNITS = (
    (ANSWERS, "ticket-1"),
    (ANSWERS, "nonce-0"),
    (ANSWERS, "sum-0"),
    (ANSWERS, "part-1"),
    (DISCONNECTS, "leave-0"),
)

pytestmark = [
    pytest.mark.skipif(
        os.environ.get("COMMITGATE_INTEGRATION_TESTS") != "1",
        reason="asks real servers; set COMMITGATE_INTEGRATION_TESTS=1 after `make integration` installed them",
    ),
    pytest.mark.timeout(900),
]


@pytest.fixture(scope="module", params=NAMES)
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Run one of the real servers for the tests of this module."""
    name: ServerName = request.param
    reason = why_not(name)
    if reason is not None:
        pytest.skip(reason)
    with running(name, Path(tmp_path_factory.mktemp("servers"))) as found:
        yield found


@pytest.mark.anyio
@pytest.mark.parametrize(("part", "unit"), _UNITS, ids=[unit for _, unit in _UNITS])
async def test_real_server_keeps_the_promise(server: Server, part: Part, unit: str) -> None:
    result = await part.run(server, unit)

    assert not result.faults


@pytest.mark.anyio
async def test_call_whose_real_server_is_killed_commits_once(server: Server) -> None:
    result = await KILLS.run(server, "retried-0")

    assert not result.faults
    assert result.counts["effects"] == 1

"""A process that is interrupted while a call lasts: what it closes, what it leaves, and what it says."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from commitgate.ledger import State, ledger_at
from commitgate.retry import operation_key

PROGRAM = Path(__file__).with_name("interrupted_call.py")


def interrupted(loop: str, ledger: Path, number: int) -> tuple[int, str, str]:
    """Start the program, send it a signal while its call waits, and return exit code and what it said."""
    child = subprocess.Popen(
        [sys.executable, PROGRAM, loop, ledger], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    with child:
        try:
            assert child.stdout is not None
            assert child.stdout.readline() == "ready\n"
            child.send_signal(number)
            said, complained = child.communicate(timeout=60)
        finally:
            child.kill()
    return child.returncode, said, complained


async def state_of(ledger: Path) -> tuple[State, str | None]:
    opened = ledger_at(ledger, {})
    try:
        row = await opened.read(operation_key("k"))
    finally:
        await opened.aclose()
    assert row is not None
    return row.state, row.reason


@pytest.mark.anyio
@pytest.mark.parametrize("loop", ["asyncio", "trio"])
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_interrupt_closes_the_stream_gives_the_key_back_and_says_nothing(loop: str, tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.db"
    assert interrupted(loop, ledger, signal.SIGINT) == (130, "0 open\n", "")
    assert await state_of(ledger) == (State.RELEASED, "cancelled")


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_process_that_is_ended_without_notice_leaves_its_claim_to_its_lease(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.db"
    assert interrupted("asyncio", ledger, signal.SIGTERM) == (-signal.SIGTERM, "", "")
    assert await state_of(ledger) == (State.CLAIMED, None)

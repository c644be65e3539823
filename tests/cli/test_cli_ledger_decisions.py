"""``commitgate ledger approve``, ``reject`` and ``reconcile``: what a person says is written down, and nothing runs."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from hashlib import sha256
from pathlib import Path

import anyio
import pytest
from cli.command_shell import Done, Shell
from cli.quick_shell import QuickShell
from cli.stored_ledger import CANARY, SCHEMA, VALUE, change, dump, lose, pay

from commitgate import Client, Committed, EffectContext, EffectFailed, Invalid
from commitgate.testing import ScriptedBackend

DIGEST = sha256(VALUE.encode()).hexdigest()
COMMAND = [sys.executable, "-c", "from commitgate.cli import main; main()", "ledger"]


def told(shell: QuickShell | Shell, key: str) -> dict[str, object]:
    found = json.loads(shell.commitgate("ledger", "show", key, "--json", "--payloads").out)
    assert isinstance(found, dict)
    return found


def call_again(
    place: Path, key: str, effect: Callable[[object, EffectContext], Awaitable[str]] = pay
) -> tuple[object, int]:
    """Make the call with this key again; return its ending, and how many requests it took."""
    backend = ScriptedBackend([{"text": '{"note":"another"}'}, {"finish": "stop"}])

    async def call() -> object:
        async with Client(backends={"whole": backend}, ledger=place) as client:
            return await client.generate_structured(
                "whole", SCHEMA, prompt="go", operation_key=key, effect=effect, approve=lambda value, context: "look"
            )

    return anyio.run(call), len(backend.requests)


def at_terminal(shell: Shell, *arguments: str, answer: str) -> Done:
    """Run a command on a pseudo terminal, and answer its question."""
    master, slave = os.openpty()
    child = subprocess.Popen(
        [*COMMAND, *arguments], cwd=shell.folder, env={**shell.environment, "TERM": "dumb"},
        stdin=slave, stdout=slave, stderr=subprocess.PIPE, encoding="utf-8",
    )  # fmt: skip
    os.close(slave)
    seen = b""
    try:
        while b"[y/N]" not in seen:
            seen += os.read(master, 65_536)
        os.write(master, f"{answer}\n".encode())
        while data := os.read(master, 65_536):
            seen += data
    except OSError:  # Linux's way to say that the other side has closed
        pass
    _, err = child.communicate(timeout=60)
    os.close(master)
    return Done(child.returncode, seen.decode(), err)


def test_an_approval_runs_nothing_and_the_next_call_goes_on_with_it(quick: QuickShell, place: Path) -> None:
    done = quick.commitgate("ledger", "approve", "waiting", "--by", "eve", "--value-digest", DIGEST.upper())
    assert (done.code, done.err) == (0, "")
    assert "Approved by eve" in done.out
    assert "Nothing has run yet: the next call with this key goes on" in done.out
    row = told(quick, "waiting")
    assert (row["state"], row["decided_by"], row["result"]) == ("approved", "eve", None)
    ending, requests = call_again(place, "waiting")
    assert isinstance(ending, Committed)
    assert (ending.value, requests) == ({"note": CANARY}, 0)


def test_approving_twice_says_who_did_it_first(quick: QuickShell, place: Path) -> None:
    done = quick.commitgate("ledger", "approve", "allowed", "--by", "eve", "--yes")
    assert done.code == 0
    assert "approved already, by ann" in done.out
    assert told(quick, "allowed")["decided_by"] == "ann"


def test_another_value_than_the_one_that_was_looked_at_is_not_approved(quick: QuickShell, place: Path) -> None:
    before = dump(place)
    done = quick.commitgate("ledger", "approve", "waiting", "--by", "eve", "--value-digest", "0" * 64)
    assert (done.code, done.out) == (26, "")
    assert "is not the one that was approved" in done.err
    assert quick.commitgate("ledger", "approve", "waiting", "--by", "eve", "--value-digest", "0").code == 2
    assert dump(place) == before


def test_without_a_terminal_a_digest_or_a_yes_is_wanted(quick: QuickShell, place: Path) -> None:
    done = quick.commitgate("ledger", "approve", "waiting", "--by", "eve", stdin="y\n")
    assert (done.code, done.out) == (2, "")
    assert "--value-digest" in done.err
    assert told(quick, "waiting")["state"] == "awaiting_approval"


@pytest.mark.timeout(120)
def test_a_terminal_shows_the_value_and_asks(shell: Shell, place: Path) -> None:
    no = at_terminal(shell, "approve", "waiting", "--by", "eve", answer="")
    assert no.code == 130
    assert f'"{CANARY}"' in no.out
    assert f"look at {CANARY}" in no.out
    assert "nothing was changed" in no.err
    assert told(shell, "waiting")["state"] == "awaiting_approval"
    yes = at_terminal(shell, "approve", "waiting", "--by", "eve", answer="y")
    assert yes.code == 0
    assert told(shell, "waiting")["state"] == "approved"


@pytest.mark.timeout(120)
def test_a_value_that_changes_while_it_is_looked_at_is_not_approved(shell: Shell, place: Path) -> None:
    master, slave = os.openpty()
    child = subprocess.Popen(
        [*COMMAND, "approve", "waiting", "--by", "eve"],
        cwd=shell.folder, env=dict(shell.environment), stdin=slave, stdout=slave, stderr=subprocess.PIPE,
    )  # fmt: skip
    os.close(slave)
    seen = b""
    while b"[y/N]" not in seen:
        seen += os.read(master, 65_536)
    change(place, "UPDATE commitgate_operation SET value = ? WHERE key = ?", b'{"note":"other"}', b"waiting")
    os.write(master, b"y\n")
    child.communicate(timeout=60)
    os.close(master)
    assert child.returncode == 26
    assert told(shell, "waiting")["state"] == "awaiting_approval"


def test_what_expired_is_not_approved(quick: QuickShell, place: Path) -> None:
    change(place, "UPDATE commitgate_operation SET expires_at = ? WHERE key = ?", time.time() - 1, b"waiting")
    done = quick.commitgate("ledger", "approve", "waiting", "--by", "eve", "--yes")
    assert (done.code, done.out) == (26, "")
    assert "expired" in done.err
    assert told(quick, "waiting")["state"] == "rejected"


@pytest.mark.parametrize("key", ["paid", "doubtful", "cut"])
def test_what_waits_for_nobody_is_not_decided(quick: QuickShell, place: Path, key: str) -> None:
    before = dump(place)
    for command in (["approve", key, "--by", "eve", "--yes"], ["reject", key, "--by", "eve"]):
        done = quick.commitgate("ledger", *command)
        assert (done.code, done.out) == (26, "")
        assert "nothing under this key waits for a decision" in done.err
    assert dump(place) == before


@pytest.mark.parametrize("key", ["waiting", "allowed"])
def test_a_rejected_value_is_never_used(quick: QuickShell, place: Path, key: str) -> None:
    done = quick.commitgate("ledger", "reject", key, "--by", "eve", "--reason", f"no {CANARY}")
    assert (done.code, done.err) == (0, "")
    assert "Rejected by eve" in done.out
    assert CANARY not in done.out
    row = told(quick, key)
    assert (row["state"], row["decided_by"], row["reason"]) == ("rejected", "eve", f"no {CANARY}")
    ending, requests = call_again(place, key)
    assert isinstance(ending, Invalid)
    assert requests == 0


def test_rejecting_twice_says_who_did_it_first(quick: QuickShell, place: Path) -> None:
    done = quick.commitgate("ledger", "reject", "forbidden", "--by", "eve")
    assert done.code == 0
    assert "rejected already, by ann" in done.out


@pytest.mark.parametrize(
    "command", [["approve", "never", "--yes"], ["reject", "never"], ["reconcile", "never", "--unknown"]]
)
def test_a_key_without_a_row_is_not_decided(quick: QuickShell, place: Path, command: list[str]) -> None:
    before = dump(place)
    assert quick.commitgate("ledger", *command, "--by", "eve").code == 25
    assert dump(place) == before


@pytest.mark.parametrize("by", ["", " ", "e" * 257])
def test_a_name_is_wanted(quick: QuickShell, place: Path, by: str) -> None:
    for command in (["approve", "waiting", "--yes"], ["reject", "waiting"], ["reconcile", "doubtful", "--unknown"]):
        assert quick.commitgate("ledger", *command, "--by", by).code == 2


def test_an_effect_that_happened_is_replayed_with_the_result_that_was_given(quick: QuickShell, place: Path) -> None:
    done = quick.commitgate(
        "ledger", "reconcile", "doubtful", "--by", "eve", "--applied", "--result", "-", stdin=' "refund 17"\n'
    )
    assert (done.code, done.err) == (0, "")
    row = told(quick, "doubtful")
    assert (row["state"], row["result"], row["decided_by"]) == ("committed", '"refund 17"', "eve")
    ending, requests = call_again(place, "doubtful", lose)
    assert isinstance(ending, Committed)
    assert (ending.result, requests) == ("refund 17", 0)


def test_an_effect_that_happened_and_returned_nothing_is_told_so(quick: QuickShell, place: Path) -> None:
    assert quick.commitgate("ledger", "reconcile", "doubtful", "--by", "eve", "--applied").code == 0
    assert told(quick, "doubtful")["result"] == "null"
    assert quick.commitgate("ledger", "verify").code == 0


def test_an_effect_that_did_not_happen_is_settled_for_good(quick: QuickShell, place: Path) -> None:
    done = quick.commitgate("ledger", "reconcile", "doubtful", "--by", "eve", "--not-applied", "--reason", CANARY)
    assert done.code == 0
    assert CANARY not in done.out
    row = told(quick, "doubtful")
    assert (row["state"], row["reason"], row["result"]) == ("not_applied", CANARY, None)
    assert CANARY not in quick.commitgate("ledger", "list").out
    ending, requests = call_again(place, "doubtful", lose)
    assert isinstance(ending, EffectFailed)
    assert requests == 0


def test_what_nobody_knows_stays_in_doubt(quick: QuickShell, place: Path) -> None:
    assert quick.commitgate("ledger", "reconcile", "doubtful", "--by", "eve", "--unknown").code == 0
    row = told(quick, "doubtful")
    assert (row["state"], row["decided_by"]) == ("in_doubt", "eve")
    assert row["reason"] == "the effect raised OSError"


def test_a_finding_about_an_earlier_try_settles_no_later_one(quick: QuickShell, place: Path) -> None:
    fence = told(quick, "doubtful")["fence"]
    change(place, "UPDATE commitgate_operation SET fence = fence + 1 WHERE key = ?", b"doubtful")
    before = dump(place)
    settle = ("ledger", "reconcile", "doubtful", "--by", "eve", "--not-applied", "--fence")
    assert quick.commitgate(*settle, str(fence)).code == 8
    assert dump(place) == before
    assert quick.commitgate(*settle, str(fence + 1)).code == 0


def test_an_effect_that_is_still_running_is_not_reconciled(quick: QuickShell, place: Path) -> None:
    change(
        place,
        "UPDATE commitgate_operation SET state = 'effect_started', lease_expires_at = ? WHERE key = ?",
        time.time() + 1_000,
        b"doubtful",
    )
    before = dump(place)
    done = quick.commitgate("ledger", "reconcile", "doubtful", "--by", "eve", "--not-applied")
    assert (done.code, done.out) == (7, "")
    assert dump(place) == before
    change(place, "UPDATE commitgate_operation SET lease_expires_at = 1 WHERE key = ?", b"doubtful")
    assert quick.commitgate("ledger", "reconcile", "doubtful", "--by", "eve", "--not-applied").code == 0


def test_a_finding_that_makes_no_sense_is_refused(quick: QuickShell, place: Path) -> None:
    before = dump(place)
    for key, code, finding in (
        ("doubtful", 2, []),
        ("doubtful", 2, ["--applied", "--unknown"]),
        ("doubtful", 2, ["--not-applied", "--result", "1"]),
        ("doubtful", 2, ["--applied", "--result", "refund 17"]),
        ("doubtful", 2, ["--applied", "--result", '{"a":1,"a":2}']),
        ("doubtful", 2, ["--applied", "--result", ""]),
        ("doubtful", 2, ["--unknown", "--reason", "r" * 2_001]),
        ("paid", 26, ["--applied"]),
        ("waiting", 26, ["--not-applied"]),
    ):
        done = quick.commitgate("ledger", "reconcile", key, "--by", "eve", *finding)
        assert (done.code, done.out) == (code, ""), finding
        assert "Traceback" not in done.err
    assert dump(place) == before


def test_help_says_what_not_applied_means(quick: QuickShell) -> None:
    words = " ".join(quick.commitgate("ledger", "reconcile", "--help").out.split())
    assert "nothing of it is still on its way" in words

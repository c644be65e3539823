"""``commitgate ledger list`` and ``show``: what is told, what is hidden, and that looking changes nothing."""

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from cli.command_shell import Done, Shell
from cli.quick_shell import QuickShell
from cli.stored_ledger import CANARY, STATES, VALUE, change, dump

HOSTILE_KEY = "k\x1b[2J\u202e\n" + "ü" * 400
HOSTILE_WORDS = "\x1b]0;owned\x07\u202e" + "x" * 1_000_000


def objects(done: Done) -> list[dict[str, object]]:
    return [json.loads(line) for line in done.out.splitlines()]


def test_list_names_each_key_with_its_state_and_marks_what_needs_somebody(quick: QuickShell, place: Path) -> None:
    done = quick.commitgate("ledger", "list")
    assert (done.code, done.err) == (0, "")
    lines = {line.split()[-1]: line for line in done.out.splitlines() if not line.startswith("    ")}
    assert {key: line[2:].split()[0] for key, line in lines.items() if key in STATES} == STATES
    marks = {key: line[0] for key, line in lines.items() if key in STATES and line[0] != " "}
    assert marks == {"doubtful": "!", "doubtful-by-key": "!", "waiting": "?"}
    assert "the effect raised OSError" in done.out
    assert "6d" in lines["waiting"]


def test_payloads_are_hidden_unless_they_are_asked_for(quick: QuickShell, place: Path) -> None:
    hidden = [quick.commitgate("ledger", "list"), quick.commitgate("ledger", "list", "--json")]
    hidden += [quick.commitgate("ledger", "show", key, "--json") for key in ("paid", "waiting")]
    hidden += [quick.commitgate("ledger", "show", key) for key in ("declined", "forbidden")]
    for done in hidden:
        assert done.code == 0
        assert CANARY not in done.out + done.err
    for command in (["list"], ["list", "--json"], ["show", "paid"], ["show", "paid", "--json"], ["show", "waiting"]):
        assert CANARY in quick.commitgate("ledger", *command, "--payloads").out


def test_list_as_json_lines(quick: QuickShell, place: Path) -> None:
    rows = {row["key"]: row for row in objects(quick.commitgate("ledger", "list", "--json"))}
    assert {key: row["state"] for key, row in rows.items()} == STATES
    assert {key: row["needs"] for key, row in rows.items() if row["needs"]} == {
        "waiting": "approval",
        "doubtful": "reconciliation",
    }
    assert {key for key, row in rows.items() if row["in_doubt"]} == {"doubtful", "doubtful-by-key"}
    assert {key for key, row in rows.items() if row["reason_is_hidden"]} == {"waiting", "forbidden", "declined"}
    assert rows["forbidden"]["decided_by"] == "ann"
    assert rows["cut"]["reason"] == "truncated"


def test_list_of_some_states_and_as_many_as_wanted(quick: QuickShell, place: Path) -> None:
    done = quick.commitgate("ledger", "list", "--json", "--state", "in_doubt", "--state", "released")
    assert {row["key"] for row in objects(done)} == {"doubtful", "doubtful-by-key", "cut"}
    assert len(objects(quick.commitgate("ledger", "list", "--json", "--limit", "2"))) == 2
    assert quick.commitgate("ledger", "list", "--limit", "0").code == 2
    assert quick.commitgate("ledger", "list", "--limit", "1001").code == 2


def test_show_tells_all_of_a_row_and_what_may_be_done(quick: QuickShell, place: Path) -> None:
    done = quick.commitgate("ledger", "show", "doubtful")
    assert done.code == 0
    assert "in_doubt (in doubt)" in done.out
    assert "reconcile it" in done.out
    (row,) = objects(quick.commitgate("ledger", "show", "paid", "--json", "--payloads"))
    assert (row["value"], row["result"]) == (VALUE, f'"{CANARY} 1"')
    assert row["next"] == "nothing: a call with this key replays it"
    assert json.loads(str(row["receipt"]))["effect_key"] == row["effect_key"]
    assert json.loads(str(row["receipt"]))["value_digest"] == row["value_digest"]


def test_missing_key_has_a_code_of_its_own(quick: QuickShell, place: Path) -> None:
    done = quick.commitgate("ledger", "show", "never")
    assert (done.code, done.out) == (25, "")
    assert "has this key" in done.err
    as_json = quick.commitgate("ledger", "show", "never", "--json")
    assert (as_json.report["error"]["code"], as_json.code) == ("no_such_key", 25)
    assert quick.commitgate("ledger", "show", "").code == 2


@pytest.mark.parametrize("command", [["list"], ["show", "k"], ["approve", "k", "--by", "a", "--yes"], ["verify"]])
def test_looking_makes_no_ledger(shell: Shell, command: list[str]) -> None:
    done = shell.commitgate("ledger", *command, "--ledger", "absent.sqlite")
    assert (done.code, done.out) == (5, "")
    assert "does not exist" in done.err
    assert not (shell.folder / "absent.sqlite").exists()


def test_a_file_without_a_ledger_is_left_as_it_is(quick: QuickShell) -> None:
    empty, text = quick.folder / "empty", quick.folder / "text"
    empty.touch()
    text.write_text("no database " * 100, encoding="utf-8")
    change(quick.folder / "shop", "CREATE TABLE operation (key)")
    before = (quick.folder / "shop").read_bytes()
    os.mkfifo(quick.folder / "pipe")
    for name in ("empty", "text", "shop", ".", "pipe"):
        done = quick.commitgate("ledger", "list", "--ledger", name)
        assert (done.code, done.out) == (5, ""), name
        assert "Traceback" not in done.err
    assert empty.read_bytes() == b""
    assert (quick.folder / "shop").read_bytes() == before


def test_a_ledger_in_a_database_of_the_callers_is_found_by_itself(quick: QuickShell, place: Path) -> None:
    change(place, "PRAGMA application_id = 0")
    change(place, "PRAGMA user_version = 7")
    change(place, "CREATE TABLE shop (name)")
    assert len(objects(quick.commitgate("ledger", "list", "--json"))) == len(STATES)
    assert quick.commitgate("ledger", "verify").code == 0
    with closing(sqlite3.connect(place)) as database:
        assert database.execute("PRAGMA application_id").fetchone() == (0,)
        assert database.execute("PRAGMA user_version").fetchone() == (7,)


def test_looking_changes_no_row(quick: QuickShell, place: Path) -> None:
    before = dump(place)
    for command in (
        ["list"],
        ["show", "doubtful", "--payloads"],
        ["verify"],
        ["prune", "--older-than", "1s", "--dry-run"],
    ):
        assert quick.commitgate("ledger", *command).code == 0
    assert dump(place) == before


def test_nothing_in_a_row_steers_the_terminal_or_floods_it(quick: QuickShell, place: Path) -> None:
    value = json.dumps({"note": HOSTILE_WORDS, "lines": list(range(100_000))}, ensure_ascii=False)
    change(
        place,
        "UPDATE commitgate_operation SET key = ?, reason = ?, decided_by = ?, value = ?, effect_name = ? WHERE key = ?",
        HOSTILE_KEY.encode(), *[HOSTILE_WORDS.encode()] * 2, value.encode(), HOSTILE_WORDS, b"doubtful",
    )  # fmt: skip
    listed = quick.commitgate("ledger", "list", "--payloads")
    shown = quick.commitgate("ledger", "show", "--payloads", "--", HOSTILE_KEY)
    for done in (listed, shown):
        assert done.code == 0, done.err
        assert len(done.out) < 50_000
        assert not any(character in done.out for character in "\x1b\x07\u202e")
    assert "cut here" in shown.out
    (row,) = objects(quick.commitgate("ledger", "show", "--json", "--", HOSTILE_KEY))
    assert row["key"] == HOSTILE_KEY


def test_the_damaged_row_of_a_list_is_no_traceback(quick: QuickShell, place: Path) -> None:
    change(place, "UPDATE commitgate_operation SET state = 'lost' WHERE key = ?", b"paid")
    done = quick.commitgate("ledger", "show", "paid")
    assert (done.code, done.out) == (5, "")
    assert done.err.startswith("commitgate: a ledger row is damaged")


def test_what_only_a_hand_could_write_is_told_as_unknown(quick: QuickShell, place: Path) -> None:
    change(place, "UPDATE commitgate_operation SET updated_at = 9e999, created_at = -9e999 WHERE key = ?", b"doubtful")
    assert "changed           ? ago" in quick.commitgate("ledger", "show", "doubtful").out.replace("0s", "?")
    (row,) = objects(quick.commitgate("ledger", "show", "doubtful", "--json"))
    assert (row["updated_at"], row["created_at"]) == (None, None)


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_list_that_nobody_reads_says_so(shell: Shell, place: Path, options: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-c", "from commitgate.cli import main; main()", "ledger", "list", *options]
    done = subprocess.run(
        command, cwd=shell.folder, env=dict(shell.environment), stdout=writer, stderr=subprocess.PIPE, check=False
    )
    os.close(writer)
    assert done.returncode == 23
    assert b"could not be written" in done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("name", ["list", "show", "approve", "reject", "reconcile", "prune", "verify"])
def test_help_has_examples(quick: QuickShell, name: str) -> None:
    done = quick.commitgate("ledger", name, "--help")
    assert done.code == 0
    assert f"  commitgate ledger {name}" in done.out.split("Examples:")[1]

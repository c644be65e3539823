"""``commitgate ledger prune`` and ``verify``, the ledgers that are no file of their own, and what the docs say."""

import json
import math
import re
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from cli.command_shell import Shell
from cli.quick_shell import QuickShell
from cli.stored_ledger import CANARY, STATES, change, dump, fill
from ledger.postgres_server import PASSWORD

from commitgate.cli.command_error import CommandError
from commitgate.cli.exit_codes import ExitCode
from commitgate.cli.ledger import soundness
from commitgate.cli.ledger.duration import read_duration, shown_duration
from commitgate.ledger import PostgresLedger, SqliteLedger
from commitgate.outcome import Receipt
from commitgate.retry import operation_key
from commitgate.run.receipt_json import dump_receipt

DOCS = Path(__file__).parents[2] / "docs"
OLD = 40 * 86_400
SETTLED = {"paid", "noted", "forbidden", "declined", "cut"}
RECEIPT = dump_receipt(Receipt())
NO_EFFECT = "effect_name = NULL, effect_version = NULL, effect_kind = NULL, result = NULL"
DAMAGES = {
    "value of another": ("value = ?", b"[]", "value_digest"),
    "no json": ("value = ?", b"{", "value"),
    "two keys": ("value = ?", b'{"a":1,"a":2}', "value"),
    "no value": ("value = ?", None, "missing_value"),
    "no receipt": ("receipt = ?", None, "missing_receipt"),
    "broken receipt": ("receipt = ?", b'{"tries":1}', "receipt"),
    "blank receipt": ("receipt = ?", RECEIPT, "missing_digest"),
    "receipt of another": ("receipt = ?", "other key", "key_digest"),
    "no result": ("result = ?", None, "missing_result"),
    "broken result": ("result = ?", b"NaN", "result"),
    "result too early": ("state = ?", "in_doubt", "unexpected_result"),
    "result of nothing": ("effect_name = ?", None, "unexpected_result"),
    "receipt of another effect": ("receipt = ?", "other effect", "effect_key"),
    "doubt of nothing": (f"{NO_EFFECT}, state = ?", "in_doubt", "effect"),
    "half an effect": ("effect_kind = ?", None, "effect"),
    "lease": ("lease_expires_at = ?", 1.0, "lease"),
    "no lease": ("state = ?", "effect_started", "lease"),
    "too early": ("state = ?", "claimed", "unexpected_value"),
    "nobody": ("state = ?", "approved", "approval"),
    "counters": ("fence = ?", 0, "counters"),
    "time": ("updated_at = ?", math.inf, "time"),
    "state": ("state = ?", "lost", "damaged"),
}


def age(place: Path) -> None:
    change(place, "UPDATE commitgate_operation SET updated_at = updated_at - ?", OLD)


def copy(place: Path, times: int) -> None:
    """Add rows like the one of the call that was cut."""
    columns = "state, fence, attempt, owner, language_digest, input_fingerprint, created_at, updated_at"
    change(
        place,
        f"""
        WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < ?)
        INSERT INTO commitgate_operation (key, {columns})
        SELECT CAST('many' || n AS BLOB), {columns} FROM number, commitgate_operation WHERE key = ?
        """,
        times,
        b"cut",
    )


def keys(quick: QuickShell) -> set[str]:
    lines = quick.commitgate("ledger", "list", "--json").out.splitlines()
    return {json.loads(line)["key"] for line in lines}


@pytest.mark.parametrize(
    ("text", "seconds"), [("1s", 1), ("45m", 2_700), ("12h", 43_200), ("30d", 2_592_000), ("2w", 1_209_600)]
)
def test_a_length_of_time_is_read(text: str, seconds: int) -> None:
    assert read_duration(text, "--older-than") == seconds


@pytest.mark.parametrize("text", ["", "30", "d", "0d", "-1d", "1.5h", "1d12h", " 1d", "1d\n", "1D", "٣d", "1000000d"])
def test_what_is_no_length_of_time_is_refused(text: str) -> None:
    with pytest.raises(CommandError, match="for example 12h"):
        read_duration(text, "--older-than")


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (0, "0s"),
        (-5, "0s"),
        (119, "119s"),
        (120, "2m"),
        (7_200, "2h"),
        (172_800, "2d"),
        (1e9, "11,574d"),
        (math.inf, "?"),
    ],
)
def test_a_length_of_time_is_shown_short(seconds: float, told: str) -> None:
    assert shown_duration(seconds) == told


def test_pruning_deletes_what_is_settled_and_old_alone(quick: QuickShell, place: Path) -> None:
    young = quick.commitgate("ledger", "prune", "--older-than", "30d", "--yes")
    assert (young.code, young.out.split()[0]) == (0, "0")
    age(place)
    change(place, "UPDATE commitgate_operation SET updated_at = ? WHERE key = ?", time.time(), b"noted")
    done = quick.commitgate("ledger", "prune", "--older-than", "30d", "--yes")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("4 rows were deleted.")
    assert "in doubt" in done.out
    assert keys(quick) == set(STATES) - SETTLED | {"noted"}


def test_counting_deletes_nothing(quick: QuickShell, place: Path) -> None:
    age(place)
    before = dump(place)
    done = quick.commitgate("ledger", "prune", "--older-than", "30d", "--dry-run")
    assert (done.code, done.out.split()[0]) == (0, "5")
    assert quick.commitgate("ledger", "prune", "--older-than", "30d", "--dry-run", "--limit", "2").out.split()[0] == "2"
    assert quick.commitgate("ledger", "prune", "--older-than", "60d", "--dry-run").out.split()[0] == "0"
    assert dump(place) == before


def test_no_more_is_deleted_than_wanted(quick: QuickShell, place: Path) -> None:
    age(place)
    assert quick.commitgate("ledger", "prune", "--older-than", "30d", "--yes", "--limit", "2").out.split()[0] == "2"
    assert len(keys(quick)) == len(STATES) - 2


def test_a_large_ledger_is_pruned_to_its_end(quick: QuickShell, place: Path) -> None:
    copy(place, 2_500)
    age(place)
    done = quick.commitgate("ledger", "prune", "--older-than", "30d", "--yes")
    assert done.out.startswith("2,505 rows were deleted.")
    assert keys(quick) == set(STATES) - SETTLED


def test_without_a_terminal_a_yes_is_wanted(quick: QuickShell, place: Path) -> None:
    age(place)
    done = quick.commitgate("ledger", "prune", "--older-than", "30d", stdin="y\n")
    assert (done.code, done.out) == (2, "")
    assert quick.commitgate("ledger", "prune", "--yes").code == 2
    assert quick.commitgate("ledger", "prune", "--yes", "--older-than", "month").code == 2
    assert keys(quick) == set(STATES)


def test_a_sound_ledger_is_verified(quick: QuickShell, place: Path) -> None:
    before = dump(place)
    done = quick.commitgate("ledger", "verify")
    assert (done.code, done.out, done.err) == (0, f"{len(STATES)} rows: nothing is wrong\n", "")
    as_json = quick.commitgate("ledger", "verify", "--json")
    assert json.loads(as_json.out) == {"rows": len(STATES), "faults": 0, "ok": True}
    assert quick.commitgate("ledger", "verify", "--limit", "4").out.startswith("4 rows")
    assert dump(place) == before


async def store_paid(path: Path, names: list[str], receipt_of: Callable[[str], bytes]) -> None:
    """Copy the row ``paid`` under other keys, each with a receipt of its own."""
    ledger = SqliteLedger(path)
    paid = await ledger.read(operation_key("paid"))
    assert paid is not None
    assert paid.value is not None
    assert paid.result is not None
    for name in names:
        key = operation_key(name)
        claimed = await ledger.claim(key, paid.fingerprint, owner="o", lease_s=60.0, effect_kind=paid.effect_kind)
        fence = claimed.fence
        await ledger.start_effect(key, fence, value=paid.value, receipt=receipt_of(name), lease_s=60.0)
        await ledger.commit(key, fence, result=paid.result)
    await ledger.aclose()


def test_every_damage_is_found_and_no_other(quick: QuickShell, place: Path) -> None:
    digest = json.loads(quick.commitgate("ledger", "show", "paid", "--json").out)["value_digest"]
    receipt = replace(Receipt(), value_digest=digest)
    others = {
        "other key": dump_receipt(replace(receipt, operation_key_digest="0" * 64)),
        "other effect": dump_receipt(replace(receipt, effect_key="0" * 64)),
    }
    anyio.run(store_paid, place, list(DAMAGES), lambda name: dump_receipt(receipt))
    assert quick.commitgate("ledger", "verify").code == 0
    for name, (column, cell, _) in DAMAGES.items():
        stored = others[cell] if isinstance(cell, str) and cell in others else cell
        change(place, f"UPDATE commitgate_operation SET {column} WHERE key = ?", stored, name.encode())
    done = quick.commitgate("ledger", "verify", "--json")
    assert done.code == 9
    *faults, total = [json.loads(line) for line in done.out.splitlines()]
    found = {(fault["key"], fault["fault"]) for fault in faults}
    assert {(name, fault) for name, (_, _, fault) in DAMAGES.items()} <= found
    assert {key for key, _ in found} == set(DAMAGES)
    assert total == {"rows": len(STATES) + len(DAMAGES), "faults": len(faults), "ok": False}
    text = quick.commitgate("ledger", "verify")
    assert text.code == 9
    assert "value of another: the value is not the one of which the receipt holds the digest (value_digest)" in text.out
    assert CANARY not in text.out + done.out


def test_a_damaged_file_is_found(quick: QuickShell, place: Path) -> None:
    change(place, "PRAGMA writable_schema = ON")
    change(place, "UPDATE commitgate_operation SET key = CAST(key AS TEXT) WHERE key = ?", b"cut")
    done = quick.commitgate("ledger", "verify")
    assert done.code == 9
    assert "the file: 1 rows have a key that is no bytes: no call finds them (hidden_rows)" in done.out
    data = bytearray(place.read_bytes())
    size = int.from_bytes(data[16:18], "big")
    for page in range(2, len(data) // size):
        data[page * size + 8 : page * size + 200] = b"\xff" * 192
    place.write_bytes(data)
    broken = quick.commitgate("ledger", "verify")
    assert broken.code in (5, 9)
    assert "Traceback" not in broken.out + broken.err
    assert "SQLite" in broken.out or "damaged" in broken.err


def test_many_faults_are_bounded_in_text(quick: QuickShell, place: Path) -> None:
    copy(place, 300)
    change(place, "UPDATE commitgate_operation SET state = 'lost' WHERE CAST(key AS TEXT) LIKE 'many%'")
    done = quick.commitgate("ledger", "verify")
    assert done.code == 9
    assert len(done.out.splitlines()) == 202
    assert done.out.splitlines()[-2:] == [
        "and 100 more; --json gives all",
        f"{300 + len(STATES)} rows: 300 faults: restore these rows from a copy",
    ]
    assert len(quick.commitgate("ledger", "verify", "--json").out.splitlines()) == 301


def test_an_unusable_postgres_is_told_without_its_password(quick: QuickShell, monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"postgresql://me:{PASSWORD}@127.0.0.1:1/shop"
    monkeypatch.setenv("COMMITGATE_LEDGER", url)
    for given in ([], ["--ledger", url], ["--ledger", url.replace(":1/", ":x/")]):
        done = quick.commitgate("ledger", "list", *given)
        assert done.code in (2, 5)
        assert PASSWORD not in done.out + done.err
        assert "Traceback" not in done.err


def test_a_postgres_ledger_is_looked_after(shell: Shell, quick: QuickShell, postgres_url: str) -> None:
    absent = quick.commitgate("ledger", "list", "--ledger", postgres_url)
    assert (absent.code, absent.out) == (5, "")
    assert "no tables of a ledger" in absent.err

    async def made() -> None:
        ledger = PostgresLedger(postgres_url)
        await fill(ledger)
        await ledger.aclose()

    anyio.run(made)
    listed = quick.commitgate("ledger", "list", "--json", "--ledger", postgres_url)
    assert {row["key"]: row["state"] for row in map(json.loads, listed.out.splitlines())} == STATES
    commands = (
        ["show", "paid"],
        ["approve", "waiting", "--by", "eve", "--yes"],
        ["reject", "allowed", "--by", "eve"],
        ["reconcile", "doubtful", "--by", "eve", "--not-applied"],
        ["prune", "--older-than", "30d", "--dry-run"],
        ["prune", "--older-than", "30d", "--yes"],
        ["verify"],
    )
    for command in commands:
        done = quick.commitgate("ledger", *command, "--ledger", postgres_url)
        assert (done.code, done.err) == (0, ""), command
        assert PASSWORD not in done.out
        assert CANARY not in done.out
    assert shell.commitgate("ledger", "show", "never", "--ledger", postgres_url).code == 25


def test_the_documented_codes_are_those_of_the_ledger() -> None:
    section = (DOCS / "outcomes.md").read_text(encoding="utf-8").split("## The ledger", 1)[1].split("\n## ", 1)[0]
    documented = {(name, int(code)) for name, code in re.findall(r"^\| `(\w+)` \| (\d+) \|", section, re.MULTILINE)}
    assert documented == {(code.label, int(code)) for code in (ExitCode.NO_SUCH_KEY, ExitCode.WRONG_STATE)}


def test_the_documented_faults_are_those_that_are_looked_for() -> None:
    section = (DOCS / "ledger-cli.md").read_text(encoding="utf-8").split("## Look for damage", 1)[1]
    documented = [
        name for row in re.findall(r"^\| (`.+?) \|", section, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)
    ]
    of_rows = set(re.findall(r'yield "(\w+)"', Path(soundness.__file__).read_text(encoding="utf-8")))
    assert sorted(documented) == sorted(of_rows | {"damaged", "integrity", "hidden_rows", "unreadable"})


def test_the_documented_fields_are_those_of_a_listed_row(quick: QuickShell, place: Path) -> None:
    section = (DOCS / "ledger-cli.md").read_text(encoding="utf-8").split("gives one JSON object a line", 1)[1]
    table = section.split("`show --json` has more", 1)[0]
    documented = [
        name for row in re.findall(r"^\| (`.+?) \|", table, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)
    ]
    rows = quick.commitgate("ledger", "list", "--json", "--payloads").out.splitlines()
    assert documented == list(json.loads(rows[0]))

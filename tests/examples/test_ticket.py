"""The ticket example: its e-mails, its rules and its run."""

import json
import re
import sqlite3
import subprocess
import sys
from collections.abc import Mapping
from contextlib import closing
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest
from rich.console import Console

from commitgate import Client, Committed, Invalid
from commitgate.testing import ScriptedBackend

EXAMPLE = Path(__file__).parents[2] / "examples" / "ticket"
EMAILS = sorted((EXAMPLE / "emails").glob("*.eml"))
STOP = {"finish": "stop"}


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Import the example's program as it imports its own modules."""
    monkeypatch.syspath_prepend(str(EXAMPLE))
    return import_module("run")


def ticket(**changed: object) -> str:
    return json.dumps({"id": None, "priority": "low", "evidence": [], "summary": "It leaks."} | changed)


def test_files_are_programs_that_can_be_read_at_once() -> None:
    assert all(len(path.read_text(encoding="utf-8").splitlines()) <= 80 for path in EXAMPLE.glob("*.py"))


def test_emails_are_many_and_in_several_languages() -> None:
    texts = [path.read_text(encoding="utf-8") for path in EMAILS]
    languages = {match[1] for text in texts if (match := re.search(r"^Content-Language: (\w+)$", text, re.MULTILINE))}
    assert len(EMAILS) >= 12
    assert len(languages) >= 5


@pytest.mark.parametrize("path", EMAILS, ids=lambda path: path.stem)
def test_every_email_can_be_read(program: ModuleType, path: Path) -> None:
    mail = program.read_mail(path)
    assert mail.message_id
    assert len(mail.text.splitlines()) > 4
    assert all(evidence in mail.text for evidence in mail.visible_evidence)


@pytest.mark.parametrize("path", EMAILS, ids=lambda path: path.stem)
def test_emails_name_reserved_domains_alone(path: Path) -> None:
    domains = re.findall(r"@([\w.-]+)", path.read_text(encoding="utf-8"))
    assert all(domain.rstrip(".").endswith(".example") for domain in domains)


async def run_one(program: ModuleType, folder: Path, name: str, *scripts: list[Mapping[str, object]]) -> list[object]:
    """Run one e-mail several times, each against a model that plays a script."""
    table = program.TicketTable(folder / "tickets.sqlite")
    outcomes: list[object] = []
    for script in scripts:
        backends = {"local": ScriptedBackend(script, chunking="bytes")}
        async with Client(backends=backends, ledger=folder / "ledger.sqlite") as client:
            outcomes.append(await program.extract(client, Console(quiet=True), table, name, ""))
    return [*outcomes, table.rows()]


@pytest.mark.anyio
async def test_high_priority_without_evidence_opens_no_ticket(program: ModuleType, tmp_path: Path) -> None:
    outcome, rows = await run_one(program, tmp_path, "01-pump-leaks", [{"text": ticket(priority="high")}, STOP])
    assert isinstance(outcome, Invalid)
    assert [failure.code for failure in outcome.failures] == ["high_without_evidence"]
    assert rows == []


@pytest.mark.anyio
async def test_evidence_of_another_customer_opens_no_ticket(program: ModuleType, tmp_path: Path) -> None:
    text = ticket(evidence=["A-1101", "A-999"])
    outcome, rows = await run_one(program, tmp_path, "11-hostile", [{"text": text}, STOP])
    assert isinstance(outcome, Invalid)
    assert [(failure.code, failure.pointer) for failure in outcome.failures] == [
        ("evidence_not_visible", "/evidence/1")
    ]
    assert rows == []


@pytest.mark.anyio
async def test_ticket_that_is_cut_off_is_not_opened(program: ModuleType, tmp_path: Path) -> None:
    outcome, rows = await run_one(program, tmp_path, "02-charged-twice", [{"text": ticket()}])
    assert not isinstance(outcome, Committed)
    assert rows == []


@pytest.mark.anyio
async def test_second_run_opens_no_second_ticket(program: ModuleType, tmp_path: Path) -> None:
    text = ticket(priority="high", evidence=["A-101"])
    first, second, rows = await run_one(
        program, tmp_path, "01-pump-leaks", [{"text": text}, STOP], [{"fault": "server"}]
    )
    assert isinstance(first, Committed)
    assert isinstance(second, Committed)
    assert (first.is_replayed, second.is_replayed) == (False, True)
    assert (first.result, second.result) == (1, 1)
    assert second.value == first.value
    assert [row[2:4] for row in rows] == [("high", '["A-101"]')]


@pytest.mark.model
@pytest.mark.timeout(600)
def test_demo_commits_only_what_the_rules_allow_and_replays(tmp_path: Path) -> None:
    out = run_demo(tmp_path)
    rows = tickets(tmp_path)
    assert len(rows) == 2, "two of the three e-mails become tickets"
    assert "the rules layer refused the answer: evidence_not_visible" in out
    assert len(rows) == len(set(re.findall(r"committed +ticket number (\d+)", out)))
    assert "A-999" not in "".join(evidence for _, evidence in rows)
    assert all(priority != "high" or evidence != "[]" for priority, evidence in rows)
    again = run_demo(tmp_path)
    assert again.count("the model was not asked") >= len(rows)
    assert tickets(tmp_path)[: len(rows)] == rows


def run_demo(folder: Path) -> str:
    command = [sys.executable, str(EXAMPLE / "run.py"), str(folder)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=280)
    assert done.returncode == 0, done.stderr
    return done.stdout


def tickets(folder: Path) -> list[tuple[str, str]]:
    with closing(sqlite3.connect(folder / "tickets.sqlite")) as database:
        return database.execute("SELECT priority, evidence FROM tickets ORDER BY number").fetchall()

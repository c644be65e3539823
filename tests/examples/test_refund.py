"""The refund example: its mails, its checks, its crash, and its run with the bundled model."""

import json
import re
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import aclosing, closing
from importlib import import_module
from pathlib import Path
from textwrap import dedent
from types import ModuleType
from typing import Any

import pytest
from guide import blocks_of

from commitgate import Client, Committed, EffectFailed, EffectRejected, Invalid, Layer, NeedsApproval
from commitgate.testing import ScriptedBackend

EXAMPLE = Path(__file__).parents[2] / "examples" / "refund"
CHILD = Path(__file__).with_name("scripted_clerk.py")
STOP = {"finish": "stop"}

Answer = Mapping[str, object]


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Import the example's program as it imports its own modules."""
    monkeypatch.syspath_prepend(str(EXAMPLE))
    return import_module("refunds")


def refund(order_id: str, cents: int) -> Answer:
    return {"calls": [{"name": "refund", "arguments": {"order_id": order_id, "cents": cents}}]}


def said(text: str) -> Answer:
    return {"answer": text}


def scripted(*turns: Answer) -> ScriptedBackend:
    """Return a model that writes these turns, one a request, and fails when it is asked for more."""
    scripts = [[{"text": json.dumps(turn)}, STOP] for turn in turns]
    first, *rest = (*scripts, [{"fault": "server"}])
    return ScriptedBackend(first, then=rest, name="local")


async def work(
    program: ModuleType, folder: Path, name: str, *turns: Answer, person: str = "clerk"
) -> tuple[Any, list[tuple[str, int]], int]:
    """Work on one mail; return the ending, the shop's refunds and how often the model was asked."""
    shop, backend = program.Shop(folder), scripted(*turns)
    principal = program.CLERK if person == "clerk" else program.TRAINEE
    async with (
        aclosing(program.ledger_of(shop)) as ledger,
        Client(backends={"local": backend}, ledger=ledger, lease_s=0.2) as client,
    ):
        outcome = await program.work(client, program.tools_of(shop), name, principal)
    return outcome, shop.refunds(), len(backend.requests)


def test_files_are_programs_that_can_be_read_at_once() -> None:
    assert all(len(path.read_text(encoding="utf-8").splitlines()) <= 80 for path in EXAMPLE.glob("*.py"))


def test_guide_shows_what_stands_in_the_files() -> None:
    texts = [dedent(path.read_text(encoding="utf-8")) for path in EXAMPLE.glob("*.py")]
    blocks = blocks_of("refunds.md")
    assert len(blocks) >= 3
    for block in blocks:
        lines = [line.strip() for line in block.strip().splitlines()]
        assert any("\n".join(lines) in re.sub(r"(?m)^ +", "", text) for text in texts), block


def test_every_mail_is_of_an_order_of_the_shop(program: ModuleType, tmp_path: Path) -> None:
    shop = program.Shop(tmp_path)
    for mail in import_module("mails").MAILS.values():
        (order_id,) = re.findall(r"A-\d{4}", mail)
        assert shop.find(order_id) is not None


@pytest.mark.anyio
async def test_clerk_refunds_a_small_amount_alone(program: ModuleType, tmp_path: Path) -> None:
    outcome, refunds, asked = await work(program, tmp_path, "tea-pot", refund("A-1001", 2450), said("Done."))
    assert isinstance(outcome, Committed)
    assert (outcome.value, refunds, asked) == ("Done.", [("A-1001", 2450)], 2)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("turn", "code"),
    [
        (refund("A-1001", 2451), "wrong_amount"),
        (refund("A-1001", 1200), "wrong_amount"),
        (refund("A-9999", 1), "no_such_order"),
    ],
    ids=["more", "less", "no order"],
)
async def test_amount_that_was_not_paid_is_not_paid_back(
    program: ModuleType, tmp_path: Path, turn: Answer, code: str
) -> None:
    outcome, refunds, _ = await work(program, tmp_path, "tea-pot", turn, said("I paid it back."))
    assert isinstance(outcome, Committed), "the model may say what it likes"
    (call,) = outcome.result
    assert (call.outcome.layer, call.outcome.failures[0].code) == (Layer.EVIDENCE, code)
    assert refunds == []


def test_shop_itself_pays_back_no_more_than_was_paid(program: ModuleType, tmp_path: Path) -> None:
    shop = program.Shop(tmp_path)
    with closing(sqlite3.connect(shop.database)) as database:
        for order_id, cents in (("A-1001", 2451), ("A-9999", 1)):
            with pytest.raises(EffectRejected):
                shop.pay_back(order_id, cents, database)


@pytest.mark.anyio
async def test_model_is_told_what_was_paid_and_may_correct_itself(program: ModuleType, tmp_path: Path) -> None:
    turns = (refund("A-1001", 1200), refund("A-1001", 2450), said("Done."))
    outcome, refunds, _ = await work(program, tmp_path, "tea-pot", *turns)
    assert isinstance(outcome, Committed)
    assert refunds == [("A-1001", 2450)]


@pytest.mark.anyio
async def test_refund_that_the_model_repeats_is_paid_once(program: ModuleType, tmp_path: Path) -> None:
    turn = refund("A-1001", 2450)
    outcome, refunds, _ = await work(program, tmp_path, "tea-pot", turn, turn, said("Done."))
    assert [type(call.outcome) for call in outcome.result] == [Committed, EffectFailed]
    assert refunds == [("A-1001", 2450)]


@pytest.mark.anyio
async def test_trainee_may_not_refund(program: ModuleType, tmp_path: Path) -> None:
    outcome, refunds, _ = await work(program, tmp_path, "mirror", refund("A-1004", 5600), person="trainee")
    assert isinstance(outcome, Invalid)
    assert (outcome.layer, refunds) == (Layer.AUTHORIZE, [])


@pytest.mark.anyio
async def test_large_refund_waits_for_the_supervisor_and_happens_once(program: ModuleType, tmp_path: Path) -> None:
    waiting, refunds, _ = await work(program, tmp_path, "lamp", refund("A-1002", 18900))
    assert isinstance(waiting, NeedsApproval)
    assert refunds == []
    shop = program.Shop(tmp_path)
    async with aclosing(program.ledger_of(shop)) as ledger:
        for _ in range(2):
            await program.decide(ledger, program.tools_of(shop))
            assert shop.refunds() == [("A-1002", 18900)]
    outcome, refunds, asked = await work(program, tmp_path, "lamp", said("Done."))
    assert isinstance(outcome, Committed)
    assert (refunds, asked) == ([("A-1002", 18900)], 1), "the turn with the call was stored"


def be_killed(folder: Path) -> int:
    return subprocess.run([sys.executable, str(CHILD), str(folder), "radio"], timeout=60).returncode


@pytest.mark.anyio
async def test_run_goes_on_where_the_next_release_shows_other_solved_cases(
    program: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await work(program, tmp_path, "lamp", refund("A-1002", 18900))
    monkeypatch.setattr("mails.SOLVED", ())
    outcome, _, asked = await work(program, tmp_path, "lamp")
    assert isinstance(outcome, NeedsApproval)
    assert asked == 0


@pytest.mark.anyio
async def test_process_that_dies_in_the_refund_leaves_none_and_the_next_one_makes_it(
    program: ModuleType, tmp_path: Path
) -> None:
    assert be_killed(tmp_path) == -signal.SIGKILL
    assert program.Shop(tmp_path).refunds() == []
    outcome, refunds, asked = await work(program, tmp_path, "radio", said("Done."))
    assert isinstance(outcome, Committed)
    assert [(call.call.turn, call.has_run) for call in outcome.result] == [(1, True)]
    assert (refunds, asked) == ([("A-1003", 7900)], 1), "the turn with the call was stored"


def play_the_day(program: ModuleType, monkeypatch: pytest.MonkeyPatch, *turns: Answer) -> ScriptedBackend:
    """Let a script answer in place of the bundled model, in this process and in the one that is killed."""
    backend = scripted(*turns)
    monkeypatch.setattr("commitgate.backends.local.LocalBackend", lambda: backend)
    monkeypatch.setattr(program.agent, "__file__", str(CHILD))
    return backend


DAY: Sequence[Answer] = (
    refund("A-1001", 2450),
    said("Tea pot."),
    refund("A-1002", 18900),
    said("Lamp."),
    refund("A-1004", 5600),
    said("Radio."),
    {"calls": [{"name": "look_up_order", "arguments": {"order_id": "A-1005"}}]},
    {"calls": [{"name": "write_to_customer", "arguments": {"text": "Hello."}}]},
    said("I refunded 3300 cents."),
)


@pytest.mark.anyio
async def test_whole_day_ends_well_and_can_be_repeated(
    program: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    backend = play_the_day(program, monkeypatch, *DAY)
    for _ in range(2):
        assert await program.main(tmp_path) == 0
        # The trainee's call was refused, so it is no stored ending; its turn is.
        assert len(backend.requests) == len(DAY)
        assert program.Shop(tmp_path).refunds() == program.EXPECTED
        assert (tmp_path / "letters.txt").read_text(encoding="utf-8") == "Hello.\n"
    out = capfd.readouterr().out
    assert out.count("the process ended with -9; refunds of A-1003: 0") == 1
    assert out.count("waits: ") == 1
    assert out.count("\nevery refund is there, once\n") == 2
    assert 'the run ends; the model says: "I refunded 3300 cents."' in out


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("change", "is_right"),
    [
        ("SELECT 1", True),
        ("UPDATE refunds SET order_id = 'A-1004' WHERE order_id = 'A-1001'", False),
        ("UPDATE refunds SET order_id = 'A-1001' WHERE order_id = 'A-1005'", False),
        ("INSERT INTO refunds (order_id, cents) VALUES ('A-1004', 5600)", False),
    ],
    ids=["right", "missing", "twice", "without a call"],
)
async def test_refund_that_is_missing_or_there_twice_is_found(
    program: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str, is_right: bool
) -> None:
    monkeypatch.setattr(program, "EXPECTED", [("A-1001", 2450)])
    await work(program, tmp_path, "tea-pot", refund("A-1001", 2450), said("Done."))
    await work(program, tmp_path, "clock", refund("A-1005", 3300), said("Done."))
    shop = program.Shop(tmp_path)
    with closing(sqlite3.connect(shop.database)) as database, database:
        database.execute(change)
    async with aclosing(program.ledger_of(shop)) as ledger:
        assert await program.is_told_right(shop, ledger) is is_right


@pytest.mark.model
@pytest.mark.timeout(900)
def test_bundled_model_works_on_the_whole_day(tmp_path: Path) -> None:
    command = [sys.executable, str(EXAMPLE / "refunds.py"), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=880)
    assert done.returncode == 0, done.stdout + done.stderr
    with closing(sqlite3.connect(tmp_path / "shop.db")) as database:
        refunds = dict(database.execute("SELECT order_id, sum(cents) FROM refunds GROUP BY order_id").fetchall())
        assert database.execute("SELECT count(*) FROM refunds").fetchone() == (len(refunds),)
    assert refunds.items() >= {"A-1001": 2450, "A-1002": 18900, "A-1003": 7900}.items()
    assert "A-1004" not in refunds
    assert "the process ended with -9; refunds of A-1003: 0" in done.stdout
    assert "turn 1 from the ledger, the model was not asked: refund" in done.stdout.partition("-9;")[2]

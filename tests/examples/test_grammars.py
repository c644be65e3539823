"""The grammar examples: SQL that resolves, arithmetic that Python reads, and what their programs let through."""

import ast
import re
import sqlite3
import subprocess
import sys
from collections.abc import Mapping
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest
from automaton.text_walking import write_many

from commitgate import Client, Committed, Grammar, Invalid, Outcome
from commitgate.automaton import Automaton, compile
from commitgate.testing import ScriptedBackend

EXAMPLE = Path(__file__).parents[2] / "examples" / "grammars"
STOP = {"finish": "stop"}
SAMPLES = 200


@pytest.fixture
def sql_program(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(EXAMPLE))
    return import_module("sql_questions")


@pytest.fixture
def arithmetic_program(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(EXAMPLE))
    return import_module("arithmetic_questions")


@pytest.fixture
def database() -> sqlite3.Connection:
    found = sqlite3.connect(":memory:")
    found.executescript((EXAMPLE / "orders.sql").read_text(encoding="utf-8"))
    return found


def orders(start: str | None = None) -> Automaton:
    grammar = Grammar((EXAMPLE / "orders.gbnf").read_text(encoding="utf-8"), start=start)
    return compile(grammar, dialect="generate")


def arithmetic() -> Automaton:
    grammar = Grammar((EXAMPLE / "arithmetic.lark").read_text(encoding="utf-8"), syntax="lark")
    return compile(grammar, dialect="generate")


def test_files_are_programs_that_can_be_read_at_once() -> None:
    assert all(len(path.read_text(encoding="utf-8").splitlines()) <= 80 for path in EXAMPLE.glob("*.py"))


@pytest.mark.parametrize(("start", "length"), [(None, 60), (None, 160), ("change", 120)])
def test_every_sampled_statement_is_one_that_sqlite_can_plan(
    database: sqlite3.Connection, start: str | None, length: int
) -> None:
    texts = [text.decode() for text in write_many(orders(start).start, 5, SAMPLES, length=length)]
    assert len(texts) == SAMPLES
    for text in texts:
        database.execute(f"EXPLAIN {text}").close()
    verbs = {text.split()[0] for text in texts}
    assert verbs == ({"SELECT"} if start is None else {"INSERT", "UPDATE"})


def test_samples_use_the_whole_dialect() -> None:
    texts = b"\n".join(write_many(orders().start, 7, SAMPLES, length=300)).decode()
    words = "WHERE|LIKE|IN|BETWEEN|IS NULL|AND|OR|NOT|JOIN|GROUP BY|HAVING|ORDER BY|LIMIT|OFFSET|COUNT|SUM|DISTINCT"
    missing = [word for word in words.split("|") if re.search(rf"\b{word}\b", texts) is None]
    assert missing == []


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM orders;",
        "SELECT name, city FROM customers WHERE city = 'Oslo' OR (NOT id > 3 AND phone IS NOT NULL)",
        "SELECT COUNT(DISTINCT product) FROM orders WHERE product LIKE 'l%' AND amount NOT BETWEEN 10 AND 99.50",
        "SELECT city, SUM(amount) FROM customers JOIN orders ON customers.id = orders.customer_id\n"
        "WHERE orders.product IN ('lamp', 'it''s') GROUP BY city HAVING COUNT(*) > 1 ORDER BY SUM(amount) DESC LIMIT 3",
        "SELECT product FROM orders WHERE customer_id IN (SELECT id FROM customers WHERE id = 2) LIMIT 5 OFFSET 1",
        "SELECT id FROM orders WHERE amount > (SELECT AVG(amount) FROM orders) AND ordered_on < '2026-03-01'",
    ],
)
def test_questions_that_sqlite_and_the_grammar_both_read(database: sqlite3.Connection, text: str) -> None:
    database.execute(f"EXPLAIN {text}").close()
    assert orders().accepts(text.encode())


@pytest.mark.parametrize(
    "text",
    [
        "SELECT total FROM orders",
        "SELECT name FROM orders",
        "SELECT id FROM customers JOIN orders ON customers.id = orders.customer_id",
        "SELECT name FROM customers WHERE COUNT(*) > 1",
        "SELECT name FROM customers WHERE name = 'it's'",
        "SELECT name FROM customers WHERE (id = 1",
        "SELECT name FROM customers HAVING id",
        "SELECT name FROM customers; DELETE FROM orders",
        "SELECT name FROM customers -- and more",
        "DELETE FROM orders",
        "SELECT sql FROM sqlite_master",
        "SELECT load_extension('x')",
        "",
    ],
)
def test_what_resolves_to_nothing_or_does_more_than_read_is_refused(text: str) -> None:
    assert not orders().accepts(text.encode())


def test_every_sampled_expression_is_one_that_python_reads() -> None:
    texts = [text.decode() for text in write_many(arithmetic().start, 5, SAMPLES, length=80)]
    assert len(texts) == SAMPLES
    kinds = {type(node) for text in texts for node in ast.walk(ast.parse(text, mode="eval"))}
    assert kinds >= {ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.USub, ast.UAdd, ast.Call, ast.Name, ast.Constant}


@pytest.mark.parametrize(
    "text",
    ["1", "2 + 3*4", "-x ** -2", "((1.50))", "max(1, min(a, b_2), f())", "a/b/c - -d", "1-2-3", "iffy + is_", "0.5"],
)
def test_expressions_that_python_and_the_grammar_both_read(text: str) -> None:
    ast.parse(text, mode="eval")
    assert arithmetic().accepts(text.encode())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1 +",
        "* 2",
        "(1",
        "1)",
        "1 2",
        "01",
        "1.",
        "2 *** 3",
        "f(,)",
        "f(1,)",
        "if",
        "1 + not",
        "a.b",
        "a[0]",
        "a == b",
    ],
)
def test_what_is_no_arithmetic_is_refused(text: str) -> None:
    assert not arithmetic().accepts(text.encode())


def backend(*script: Mapping[str, object]) -> Client:
    return Client(backends={"local": ScriptedBackend([*script, STOP], chunking="bytes")})


async def query(program: ModuleType, text: str, *, caller: str = "clerk") -> Outcome[str]:
    async with backend({"text": text}) as client:
        return await program.ask(client, program.OrderDatabase(), "?", caller=caller)


@pytest.mark.anyio
async def test_query_that_passed_runs(sql_program: ModuleType) -> None:
    outcome = await query(sql_program, "SELECT name FROM customers WHERE city = 'oslo';")
    assert isinstance(outcome, Committed)
    assert sql_program.OrderDatabase().rows(outcome.value) == [("Ada",), ("Cleo",)]


@pytest.mark.anyio
@pytest.mark.parametrize(
    "text",
    [
        "SELECT phone FROM customers",
        "SELECT * FROM customers",
        "SELECT name FROM customers ORDER BY phone",
        "SELECT COUNT(*) FROM customers JOIN orders ON customers.id = orders.customer_id WHERE phone LIKE '%1'",
        "SELECT id FROM orders WHERE customer_id IN (SELECT id FROM customers WHERE phone IS NULL)",
    ],
)
async def test_telephone_numbers_are_for_the_manager_alone(sql_program: ModuleType, text: str) -> None:
    refused = await query(sql_program, text)
    assert isinstance(refused, Invalid)
    assert (refused.layer, [failure.code for failure in refused.failures]) == ("authorize", ["private_column"])
    assert isinstance(await query(sql_program, text, caller="manager"), Committed)


@pytest.mark.parametrize(
    "text", ["DELETE FROM orders", "PRAGMA query_only = 0", "SELECT nothing FROM orders", "ATTACH 'x' AS y"]
)
def test_database_refuses_by_itself_what_does_not_only_read(sql_program: ModuleType, text: str) -> None:
    database = sql_program.OrderDatabase()
    assert database.can_be_planned(text).code == "no_plan"
    with pytest.raises(sqlite3.Error):
        database.rows(text)
    assert database.rows("SELECT COUNT(*) FROM orders") == [(6,)]


async def expression(program: ModuleType, text: str) -> Outcome[str]:
    async with backend({"text": text}) as client:
        return await program.ask(client, "?")


@pytest.mark.anyio
@pytest.mark.parametrize("text", ["1 / 0", "nothing + 1", "open(1)", "9 ** 99", "9 ** 64 ** 64", "max()", "abs(-1)"])
async def test_expression_without_a_value_is_refused(arithmetic_program: ModuleType, text: str) -> None:
    outcome = await expression(arithmetic_program, text)
    assert isinstance(outcome, Invalid)
    assert [failure.code for failure in outcome.failures] == ["no_value"]


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("text", "wanted"),
    [("1 + 2*3", "7"), ("-2 ** 2", "-4"), ("2 ** -2", "1/4"), ("0.1 + 0.2", "3/10"), ("max(2, dozen) - max(1)", "11")],
)
async def test_expression_is_worked_out_exactly(arithmetic_program: ModuleType, text: str, wanted: str) -> None:
    outcome = await expression(arithmetic_program, text)
    assert isinstance(outcome, Committed)
    assert arithmetic_program.calculate(outcome.value) == Fraction(wanted)


SHORT = {
    "sql_questions.py": ["Which orders are for a lamp?", "What is the phone number of Dev?"],
    "arithmetic_questions.py": ["What is 12 plus 30?", "What is 5 divided by 0?"],
}


@pytest.mark.model
@pytest.mark.timeout(600)
@pytest.mark.parametrize("program", SHORT)
def test_demo_works_on_every_question_and_shows_no_telephone_number(program: str) -> None:
    command = [sys.executable, str(EXAMPLE / program), *SHORT[program]]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=580)
    assert done.returncode == 0, done.stderr
    # What a model this small writes may differ between machines; that it ends in a way with a name may not.
    ends = re.findall(r"^  (?:= |invalid: |truncated: )|^  SELECT [^(]*$", done.stdout, re.MULTILINE)
    assert len(ends) >= len(SHORT[program]), done.stdout
    assert "555-01" not in done.stdout

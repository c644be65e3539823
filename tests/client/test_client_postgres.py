"""A client whose ledger is a Postgres database, named by its URL: effects whose rows lie in the same database."""

from typing import Any

import psycopg
import pytest
from ledger.postgres_server import PostgresServer
from scripts import GOOD, Pay

from commitgate import once, transactional
from commitgate.client import Client
from commitgate.effect import EffectContext, TransactionContext
from commitgate.outcome import Committed, EffectFailed
from commitgate.testing import ScriptedBackend

pytestmark = pytest.mark.anyio


@pytest.fixture
def shop_url(postgres_url: str) -> str:
    with psycopg.connect(postgres_url) as connection:
        connection.execute("CREATE TABLE payment (id text PRIMARY KEY, amount integer CHECK (amount < 1000000))")
    return postgres_url


def payments(url: str) -> int:
    with psycopg.connect(url) as connection:
        return len(connection.execute("SELECT * FROM payment").fetchall())


@transactional(name="shop.pay", version="1")
def pay(value: Pay, context: TransactionContext) -> str:
    context.connection.execute("INSERT INTO payment VALUES (%s, %s)", (context.key, value.amount))
    return "paid"


async def call(client: Client, effect: Any, key: str = "case-4711") -> object:
    return await client.generate_structured("scripted", Pay, prompt="x", operation_key=key, effect=effect)


async def test_a_transactional_effect_is_committed_with_its_rows_and_replayed(shop_url: str) -> None:
    backend = ScriptedBackend(GOOD)
    async with Client(backends={"scripted": backend}, ledger=shop_url) as client:
        first = await call(client, pay)
        again = await call(client, pay)
    assert isinstance(first, Committed)
    assert isinstance(again, Committed)
    assert first.result == again.result == "paid"
    assert payments(shop_url) == 1


async def test_a_connection_that_is_lost_in_the_effect_is_made_good_within_the_call(
    postgres_server: PostgresServer, shop_url: str
) -> None:
    runs: list[int] = []

    @transactional(name="shop.pay", version="1")
    def pay_while_the_server_restarts(value: Pay, context: TransactionContext) -> str:
        runs.append(context.fence)
        (pid,) = context.connection.execute("SELECT pg_backend_pid()").fetchone() or (0,)
        if len(runs) == 1:
            with postgres_server.connect() as other:
                other.execute("SELECT pg_terminate_backend(%s, 10000)", (pid,))
        return pay(value, context)

    async with Client(backends={"scripted": ScriptedBackend(GOOD)}, ledger=shop_url) as client:
        outcome = await call(client, pay_while_the_server_restarts)
    assert isinstance(outcome, Committed)
    assert runs == [1, 1]
    assert payments(shop_url) == 1


async def test_an_effect_that_the_database_refuses_leaves_nothing_behind(shop_url: str) -> None:
    @transactional(name="shop.pay", version="1")
    def pay_twice(value: Pay, context: TransactionContext) -> str:
        pay(value, context)
        return pay(value, context)

    async with Client(backends={"scripted": ScriptedBackend(GOOD)}, ledger=shop_url) as client:
        outcome = await call(client, pay_twice)
    assert isinstance(outcome, EffectFailed)
    assert payments(shop_url) == 0


async def test_an_effect_outside_of_the_database_runs_once(shop_url: str) -> None:
    ran: list[str] = []

    @once(name="shop.mail", version="1")
    async def mail(value: Pay, context: EffectContext) -> str:
        ran.append(context.key)
        return "sent"

    async with Client(backends={"scripted": ScriptedBackend(GOOD)}, ledger=shop_url) as client:
        outcomes = [await call(client, mail) for _ in range(2)]
    assert [type(outcome) for outcome in outcomes] == [Committed, Committed]
    assert len(ran) == 1

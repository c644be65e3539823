"""A ledger with one row of each way in which a call can leave one, made by real calls."""

import sqlite3
from contextlib import closing
from pathlib import Path

import anyio

from commitgate import Client, EffectContext, EffectRejected, by_key
from commitgate.ledger import Ledger, SqliteLedger
from commitgate.retry import operation_key
from commitgate.testing import ScriptedBackend

CANARY = "canary-3f9c"  # stands in every payload, and must not be seen unless it is asked for
SCHEMA = {"type": "object", "properties": {"note": {"type": "string"}}, "required": ["note"]}
VALUE = f'{{"note":"{CANARY}"}}'
PERSON = "ann"
STATES = {
    "paid": "committed",
    "noted": "committed",
    "waiting": "awaiting_approval",
    "allowed": "approved",
    "forbidden": "rejected",
    "doubtful": "in_doubt",
    "doubtful-by-key": "in_doubt",
    "declined": "failed_before_effect",
    "cut": "released",
}


async def pay(value: object, context: EffectContext) -> str:
    return f"{CANARY} {context.attempt}"


async def decline(value: object, context: EffectContext) -> str:
    raise EffectRejected(f"no {CANARY}")


async def lose(value: object, context: EffectContext) -> str:
    raise OSError(CANARY)


@by_key(name="lose_by_key", version="1")
async def lose_by_key(value: object, context: EffectContext) -> str:
    raise OSError(CANARY)


async def fill(ledger: Ledger | Path) -> None:
    """Make the rows of ``STATES``."""
    whole = ScriptedBackend([{"text": VALUE}, {"finish": "stop"}])
    cut = ScriptedBackend([{"text": VALUE[:5]}, {"finish": "length"}])
    async with Client(backends={"whole": whole, "cut": cut}, ledger=ledger) as client:

        async def call(key: str, **asked: object) -> None:
            model = "cut" if key == "cut" else "whole"
            await client.generate_structured(model, SCHEMA, prompt="go", operation_key=key, **asked)  # pyright: ignore

        def ask(value: object, context: object) -> str:
            return f"look at {CANARY}"

        await call("paid", effect=pay)
        await call("noted")
        for key in ("waiting", "allowed", "forbidden"):
            await call(key, effect=pay, approve=ask)
        await call("doubtful", effect=lose)
        await call("doubtful-by-key", effect=lose_by_key)
        await call("declined", effect=decline)
        await call("cut", effect=pay)
        await client.reject("forbidden", by=PERSON, reason=f"not {CANARY}")
    await _approve(ledger, "allowed")


async def _approve(ledger: Ledger | Path, key: str) -> None:
    opened = SqliteLedger(ledger) if isinstance(ledger, Path) else ledger
    await opened.approve(operation_key(key), by=PERSON)
    if opened is not ledger:
        await opened.aclose()


def filled(path: Path) -> Path:
    """Make the rows in a new file, and return its path."""
    anyio.run(fill, path)
    return path


def change(path: Path, statement: str, *parameters: object) -> None:
    """Change a file by hand."""
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(statement, parameters)


def dump(path: Path) -> list[tuple[object, ...]]:
    """Return all rows of a file, to see that nothing changed."""
    with closing(sqlite3.connect(path)) as database:
        return sorted(database.execute("SELECT * FROM commitgate_operation"))

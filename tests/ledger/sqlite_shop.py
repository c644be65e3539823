"""A shop's database, which a SQLite ledger shares, and an effect that writes to it."""

import sqlite3
from pathlib import Path
from typing import Any

from commitgate.effect_kind import EffectKind
from commitgate.ledger import Claimed, Fingerprint, Ledger
from commitgate.ledger.transaction import Transaction
from commitgate.retry import OperationKey, operation_key

KEY = operation_key("case-4711")
SHOP = """
    PRAGMA synchronous = OFF;
    CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE refund (
        id INTEGER PRIMARY KEY,
        customer INTEGER REFERENCES customer (id),
        late INTEGER REFERENCES customer (id) DEFERRABLE INITIALLY DEFERRED,
        cents INTEGER CHECK (cents > 0),
        note TEXT UNIQUE
    );
    CREATE TABLE strict_note (note TEXT UNIQUE ON CONFLICT ROLLBACK);
    CREATE TABLE bad (id INTEGER);
    CREATE TRIGGER bad_meddles AFTER INSERT ON bad BEGIN UPDATE commitgate_operation SET fence = 99; END;
    INSERT INTO customer VALUES (1, 'Ada');
    INSERT INTO strict_note VALUES ('taken');
    PRAGMA user_version = 7;
    PRAGMA application_id = 1234;
"""
REFUND = "INSERT INTO refund (customer, cents) VALUES (1, 500)"


def make_shop(path: Path) -> None:
    """Make the database."""
    connection = sqlite3.connect(path)
    connection.executescript(SHOP)
    connection.close()


async def start(ledger: Ledger, fingerprint: Fingerprint, *, key: OperationKey = KEY, owner: str = "first") -> int:
    """Claim the key and start its transactional effect, or go on with a started one; return the fence."""
    claimed = await ledger.claim(key, fingerprint, owner=owner, lease_s=30.0, effect_kind=EffectKind.TRANSACTIONAL)
    assert isinstance(claimed, Claimed)
    if claimed.resumed is None:
        await ledger.start_effect(key, claimed.fence, value=b"1", receipt=b"{}", lease_s=30.0)
    return claimed.fence


async def claim_of(ledger: Ledger, fingerprint: Fingerprint, name: str) -> int:
    """Claim the key of that name; return the fence."""
    claimed = await ledger.claim(operation_key(name), fingerprint, owner=name, lease_s=30.0)
    assert isinstance(claimed, Claimed)
    return claimed.fence


def ask(path: Path, statement: str) -> list[tuple[Any, ...]]:
    """Return what a connection of its own finds."""
    connection = sqlite3.connect(path)
    try:
        return connection.execute(statement).fetchall()
    finally:
        connection.close()


def refunds(path: Path) -> int:
    """Count the refunds that are there."""
    return ask(path, "SELECT count(*) FROM refund")[0][0]


def refund(transaction: Transaction) -> bytes:
    """Refund: the effect."""
    transaction.execute(REFUND)
    return b'"T-1"'

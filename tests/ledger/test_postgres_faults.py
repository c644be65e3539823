"""A COMMIT that is lost, or the answer to it: the error says that nobody knows, and reading the key back settles it."""

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import anyio
import psycopg
import pytest
from ledger.postgres_proxy import Loss, Proxy, running_proxy
from ledger.postgres_server import PostgresServer

from commitgate.effect_kind import EffectKind
from commitgate.errors import LedgerUnavailableError
from commitgate.ledger import Claimed, Fingerprint, PostgresLedger, Record, State
from commitgate.ledger.transaction import Transaction
from commitgate.retry import OperationKey, operation_key

pytestmark = pytest.mark.anyio

KEY = operation_key("case-4711")


@pytest.fixture
def proxy(postgres_server: PostgresServer) -> Iterator[tuple[Proxy, Callable[[str], str]]]:
    """Run a proxy; give it with what turns a URL of the server into one that leads through it."""
    with tempfile.TemporaryDirectory(prefix="commitgate-proxy-", dir="/tmp") as name:
        folder = Path(name)

        def through(url: str) -> str:
            return url.replace(postgres_server.folder.name, folder.name)

        with running_proxy(folder, postgres_server.folder) as proxy:
            yield proxy, through


def refund(connection: Transaction) -> bytes:
    connection.execute("INSERT INTO refund VALUES (1)")
    return b'"T-1"'


def refunds(url: str) -> int:
    with psycopg.connect(url) as connection:
        return len(connection.execute("SELECT * FROM refund").fetchall())


class Steps:
    """Take each kind of step on a row that is ready for it, and say in which state it then is."""

    def __init__(self, ledger: PostgresLedger, fingerprint: Fingerprint) -> None:
        self.ledger = ledger
        self.fingerprint = fingerprint

    async def claim(self) -> int:
        claimed = await self.ledger.claim(
            KEY, self.fingerprint, owner="first", lease_s=30.0, effect_kind=EffectKind.TRANSACTIONAL
        )
        assert isinstance(claimed, Claimed)
        return claimed.fence

    async def start(self) -> None:
        await self.ledger.start_effect(KEY, 1, value=b"1", receipt=b"{}", lease_s=30.0)

    async def commit_value(self) -> None:
        await self.ledger.commit_value(KEY, 1, value=b"1", receipt=b"{}")

    async def commit(self) -> None:
        await self.ledger.commit(KEY, 1, result=b"2")

    async def transact(self) -> None:
        await self.ledger.transact(KEY, 1, refund)


CASES = [
    ([], "claim", None, State.CLAIMED),
    (["claim"], "start", State.CLAIMED, State.EFFECT_STARTED),
    (["claim"], "commit_value", State.CLAIMED, State.COMMITTED),
    (["claim", "start"], "commit", State.EFFECT_STARTED, State.COMMITTED),
    (["claim", "start"], "transact", State.EFFECT_STARTED, State.COMMITTED),
]


@pytest.mark.parametrize("loss", [Loss.REQUEST, Loss.ANSWER])
@pytest.mark.parametrize(("earlier", "step", "before", "after"), CASES, ids=[case[1] for case in CASES])
async def test_a_commit_whose_answer_is_lost_is_settled_by_reading_back(
    proxy: tuple[Proxy, Callable[[str], str]],
    postgres_url: str,
    fingerprint: Fingerprint,
    loss: Loss,
    earlier: list[str],
    step: str,
    before: State | None,
    after: State,
) -> None:
    cut, through = proxy
    with psycopg.connect(postgres_url) as connection:
        connection.execute("CREATE TABLE refund (id integer PRIMARY KEY)")
    ledger = PostgresLedger(through(postgres_url))
    await ledger.list()
    steps = Steps(ledger, fingerprint)
    for name in earlier:
        await getattr(steps, name)()
    cut.loss = loss
    with pytest.raises(LedgerUnavailableError, match="read the key back"):
        await getattr(steps, step)()
    row = await ledger.read(KEY)
    assert (None if row is None else row.state) is (after if loss is Loss.ANSWER else before)
    is_refunded = step == "transact" and loss is Loss.ANSWER
    assert refunds(postgres_url) == is_refunded
    await ledger.aclose()


@pytest.mark.parametrize("use", ["read", "extend"])
async def test_reading_back_waits_for_a_commit_that_is_still_on_its_way(
    proxy: tuple[Proxy, Callable[[str], str]],
    postgres_server: PostgresServer,
    postgres_url: str,
    fingerprint: Fingerprint,
    use: str,
) -> None:
    cut, through = proxy
    ledger = PostgresLedger(through(postgres_url))
    steps = Steps(ledger, fingerprint)
    await steps.claim()
    cut.loss = Loss.LATE
    with pytest.raises(LedgerUnavailableError):
        await steps.commit_value()
    found: list[object] = []

    async def look() -> None:
        if use == "read":
            found.append(await ledger.read(KEY))
        else:
            with pytest.raises(Exception, match="settled by another"):
                await ledger.extend(KEY, 1, lease_s=30.0)
            found.append(await ledger.read(KEY))

    async with anyio.create_task_group() as group:
        group.start_soon(look)
        await anyio.to_thread.run_sync(postgres_server.wait_until_blocked)
        assert found == []
        cut.go_on.set()
    (row,) = found
    assert isinstance(row, Record)
    assert (row.state, row.value) == (State.COMMITTED, b"1")
    await ledger.aclose()


async def test_only_the_connection_that_was_lost_is_given_up(
    proxy: tuple[Proxy, Callable[[str], str]], postgres_url: str, fingerprint: Fingerprint
) -> None:
    cut, through = proxy
    ledger = PostgresLedger(through(postgres_url), connections=2)
    await ledger.list()

    async def claim(name: str) -> None:
        key: OperationKey = operation_key(name)
        await ledger.claim(key, fingerprint, owner="first", lease_s=30.0)

    for number in range(6):
        cut.loss = Loss.ANSWER
        with pytest.raises(LedgerUnavailableError):
            await claim(str(number))
        await claim(f"{number} and another")
    assert len(await ledger.list()) == 12
    assert cut.commits >= 12
    await ledger.aclose()

"""What a replay hands over is what was chosen; and what a rule does to a value reaches nobody else."""

from dataclasses import dataclass, field, replace
from decimal import Decimal
from threading import get_ident
from typing import Annotated, Any
from uuid import uuid4

import pytest
from pydantic import AfterValidator, BaseModel, Field, PrivateAttr, SecretStr, field_validator
from scripts import PAY, PAYMENT, STOP, Pay, Payments, client_with

from commitgate.effect import EffectContext
from commitgate.errors import EffectRejected, StoredValueError
from commitgate.ledger import MemoryLedger, State
from commitgate.outcome import Committed, EffectFailed, InDoubt, Invalid
from commitgate.retry.keys import operation_key
from commitgate.testing import ScriptedBackend
from commitgate.worker_thread import LARGE_TEXT_BYTES

pytestmark = pytest.mark.anyio


class Seen:
    """Remember which values an effect was run with."""

    effect_name = "seen"

    def __init__(self) -> None:
        self.values: list[Any] = []

    async def __call__(self, value: object, context: EffectContext) -> None:
        self.values.append(value)


async def ask(ledger: MemoryLedger, schema: Any, text: str = PAYMENT, **options: Any) -> Any:
    async with client_with(ScriptedBackend([{"text": text}, STOP]), ledger) as client:
        return await client.generate_structured("scripted", schema, **{"prompt": "x", "operation_key": "k", **options})


def fresh() -> str:
    return uuid4().hex


class Stamped(BaseModel):
    a: int
    nonce: str = Field(default_factory=fresh)


@dataclass
class StampedData:
    a: int
    nonce: str = field(default_factory=fresh)


class Named(BaseModel):
    plain: Annotated[int, Field(validation_alias="a")]
    nonce: Annotated[str, Field(serialization_alias="token", default_factory=fresh)]


class Exact(BaseModel):
    a: Decimal
    rate: Decimal = Decimal("0.10")


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        (Stamped, '{"a":1}'),
        (StampedData, '{"a":1}'),
        (list[Stamped], '[{"a":1},{"a":2}]'),
        (Named, '{"a":1}'),
        (Exact, '{"a":0.10000000000000000000001}'),
        (dict[str, Any], '{"a":[1,2.5,null,true,"x"]}'),
    ],
    ids=str,
)
async def test_effect_caller_and_replay_get_one_and_the_same_value(schema: Any, text: str) -> None:
    ledger, seen = MemoryLedger(), Seen()
    first, again = [await ask(ledger, schema, text, effect=seen) for _ in range(2)]
    assert isinstance(first, Committed)
    assert isinstance(again, Committed)
    assert again.is_replayed
    assert seen.values == [first.value]
    assert again.value == first.value
    assert repr(again.value) == repr(first.value)


class Secret(BaseModel):
    a: SecretStr


class Growing(BaseModel):
    a: Annotated[str, AfterValidator(lambda text: text + "!")]


class Hidden(BaseModel):
    a: str = Field(default="none", exclude=True)


class Changing(BaseModel):
    a: str
    _nonce: str = PrivateAttr(default_factory=fresh)


@pytest.mark.parametrize("schema", [Secret, Growing, Hidden, Changing])
async def test_value_that_cannot_be_stored_is_refused_before_its_effect(schema: Any) -> None:
    ledger, seen = MemoryLedger(), Seen()
    outcome = await ask(ledger, schema, '{"a":"canary"}', effect=seen)
    assert isinstance(outcome, Invalid)
    assert (outcome.layer, [failure.code for failure in outcome.failures]) == ("type", ["not_storable"])
    assert not outcome.failures[0].retryable
    assert "canary" not in repr(outcome) + outcome.summary()
    assert seen.values == []
    (row,) = await ledger.list()
    assert (row.state, row.value) == (State.RELEASED, None)
    assert (await ask(ledger, schema, '{"a":"canary"}', operation_key=None)).name == "committed"


class Clock:
    today = 5


class Due(BaseModel):
    due: int

    @field_validator("due")
    @classmethod
    def is_in_the_future(cls, due: int) -> int:
        if due <= Clock.today:
            raise ValueError("canary")
        return due


async def rejecting(value: Due, context: EffectContext) -> None:
    raise EffectRejected("closed")


async def breaking(value: Due, context: EffectContext) -> None:
    raise ConnectionError("gone")


async def test_committed_value_that_cannot_be_loaded_is_an_error_and_no_ending(monkeypatch: pytest.MonkeyPatch) -> None:
    ledger, seen = MemoryLedger(), Seen()
    assert (await ask(ledger, Due, '{"due":10}', effect=seen)).name == "committed"
    monkeypatch.setattr(Clock, "today", 20)
    with pytest.raises(StoredValueError, match=r"committed.*value_error at /due") as caught:
        await ask(ledger, Due, '{"due":10}', effect=seen)
    assert "canary" not in str(caught.value)
    assert len(seen.values) == 1


@pytest.mark.parametrize(("effect", "ending"), [(rejecting, EffectFailed), (breaking, InDoubt)])
async def test_other_settled_endings_need_no_value_and_keep_their_receipt(
    effect: Any, ending: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = MemoryLedger()
    first = await ask(ledger, Due, '{"due":10}', effect=effect)
    monkeypatch.setattr(Clock, "today", 20)
    again = await ask(ledger, Due, '{"due":10}', effect=effect)
    assert isinstance(first, ending)
    assert isinstance(again, ending)
    assert (again.reason, again.receipt) == (first.reason, first.receipt)
    assert again.receipt.attempts == 1


async def test_text_of_a_replay_is_json_of_the_value() -> None:
    ledger = MemoryLedger()
    await ask(ledger, Pay, '{ "to" : "bob", "amount" : 1e2 }')
    again = await ask(ledger, Pay)
    assert Pay.model_validate_json(again.text) == Pay(amount=100, to="bob")


def emptying(value: Any) -> None:
    value.clear()
    value["evil"] = "x"


def lowering(value: Any) -> None:
    value.amount = -1


async def test_rule_that_changes_plain_json_changes_nothing() -> None:
    ledger, seen = MemoryLedger(), Seen()
    outcome = await ask(ledger, PAY, rules=[emptying], effect=seen)
    assert outcome.value == {"amount": 100, "to": "bob"}
    assert seen.values == [outcome.value]
    assert (await ask(ledger, PAY, rules=[emptying], effect=seen)).value == outcome.value


@pytest.mark.parametrize("key", [None, "k"])
async def test_rule_that_changes_a_model_changes_nothing(key: str | None) -> None:
    payments = Payments()
    effect = payments if key else None
    outcome = await ask(MemoryLedger(), Pay, rules=[lowering], operation_key=key, effect=effect)
    assert outcome.value == Pay(amount=100, to="bob")
    assert payments.made == ([outcome.value] if key else [])


async def test_rule_sees_the_value_as_no_other_rule_has_changed_it() -> None:
    seen: list[Any] = []
    outcome = await ask(MemoryLedger(), Pay, rules=[lowering, seen.append, emptying])
    assert seen == [Pay(amount=100, to="bob")]
    assert [failure.code for failure in outcome.failures] == ["rule_error"]


class Uncopyable(BaseModel):
    a: int

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Any:
        raise RuntimeError("canary")


async def test_value_that_cannot_be_copied_for_a_rule_is_refused() -> None:
    outcome = await ask(MemoryLedger(), Uncopyable, '{"a":1}', rules=[lambda value: None])
    assert [failure.code for failure in outcome.failures] == ["not_copyable"]
    assert "canary" not in outcome.summary()
    assert (await ask(MemoryLedger(), Uncopyable, '{"a":1}')).name == "committed"


def damage(ledger: MemoryLedger, key: str = "k", **changes: Any) -> None:
    """Change the key's row as a hand with a database tool could."""
    rows = ledger._rows  # pyright: ignore[reportPrivateUsage] - no legal step writes such a row
    rows[operation_key(key)] = replace(rows[operation_key(key)], **changes)


@pytest.mark.parametrize(
    "change",
    [
        {"value": b'{"amount":100,"to":"eve"}'},
        {"value": b'{"b":1}'},
        {"value": None},
        {"value": b'{"b":1}', "receipt": b"[]"},
        {"result": None},
        {"result": b"{"},
        {"result": b"\xff"},
    ],
    ids=str,
)
async def test_damaged_row_hands_over_nothing(change: Any) -> None:
    ledger = MemoryLedger()
    await ask(ledger, PAY, effect=paid)
    damage(ledger, **change)
    with pytest.raises(StoredValueError) as caught:
        await ask(ledger, PAY, effect=paid)
    assert "eve" not in str(caught.value)


async def paid(value: object, context: EffectContext) -> str:
    return "paid"


UNREADABLE = [
    None,
    b"",
    b"{",
    b"\xff",
    b"[]",
    b"null",
    b'{"usage":null}',
    b'{"usage":{"words":1}}',
    b'{"finish":"later word"}',
    b'{"layers":[{"layer":"later"}]}',
    b'{"layers":[1]}',
]


@pytest.mark.parametrize("receipt", UNREADABLE, ids=repr)
@pytest.mark.parametrize("schema", [PAY, Pay])
async def test_receipt_that_cannot_be_read_hides_no_value(receipt: bytes | None, schema: Any) -> None:
    ledger = MemoryLedger()
    first = await ask(ledger, schema, effect=paid)
    damage(ledger, receipt=receipt)
    again = await ask(ledger, schema, effect=paid)
    assert again.is_replayed
    assert (again.value, again.result) == (first.value, "paid")
    assert again.receipt.contract_name == first.receipt.contract_name


async def test_receipt_that_cannot_be_read_hides_no_doubt() -> None:
    ledger = MemoryLedger()
    await ask(ledger, Due, '{"due":10}', effect=breaking)
    damage(ledger, receipt=b"{")
    assert isinstance(await ask(ledger, Due, '{"due":10}', effect=breaking), InDoubt)


async def test_large_value_is_made_again_beside_the_event_loop() -> None:
    threads: list[int] = []

    class Large(BaseModel):
        text: str

        @field_validator("text")
        @classmethod
        def note(cls, text: str) -> str:
            threads.append(get_ident())
            return text

    ledger, text = MemoryLedger(), f'{{"text":"{"x" * LARGE_TEXT_BYTES}"}}'
    for _ in range(2):
        outcome = await ask(ledger, Large, text, effect=Seen())
        assert isinstance(outcome, Committed)
    async with client_with(ScriptedBackend([]), ledger) as client:
        assert isinstance(await client.outcome("k", Large), Committed)
    assert threads
    assert get_ident() not in threads

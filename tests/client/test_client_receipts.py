"""What a receipt tells, on every ending, and that nothing tells more than it should."""

import logging
from hashlib import sha256
from typing import Any

import pytest
from pydantic import BaseModel
from scripts import GOOD, PAYMENT, STOP, Pay, Payments, client_with

from commitgate.backends.base import FinishReason, Usage
from commitgate.contract import Contract
from commitgate.errors import EndingError, KeyConflictError
from commitgate.gate.layers import Layer
from commitgate.gate.rules import RuleViolation
from commitgate.ledger import MemoryLedger
from commitgate.outcome import Committed, Outcome, Receipt
from commitgate.preview import Preview
from commitgate.retry.keys import effect_key, operation_key, operation_key_digest
from commitgate.run.receipt_json import dump_receipt, load_receipt
from commitgate.testing import ScriptedBackend, Step

pytestmark = pytest.mark.anyio

NEVER: Step = {"wait": None}


async def ask(script: list[Step], schema: Any = Pay, **options: Any) -> Outcome[Any, Any]:
    async with client_with(ScriptedBackend(script)) as client:
        return await client.generate_structured("scripted/m", schema, **{"prompt": "x", **options})


def passed(outcome: Outcome[Any, Any]) -> dict[Layer, bool | None]:
    return {record.layer: record.passed for record in outcome.receipt.layers}


async def test_receipt_of_a_commit_tells_all_that_is_known() -> None:
    contract = Contract.of(Pay, name="payment", version="3")
    script: list[Step] = [
        {"text": '{"amount":1', "legal_mass": 0.5, "tokens": 3},
        {"text": "00", "forced": True, "tokens": 1},
        {"text": ',"to":"bob"}', "legal_mass": 1.0, "tokens": 4},
        {"usage": [11, 8]},
        {"finish": "stop", "native": "end_turn"},
    ]
    payments = Payments()
    outcome = await ask(script, contract, effect=payments, operation_key="k")
    assert isinstance(outcome, Committed)
    receipt = outcome.receipt
    key = operation_key("k")
    assert (receipt.contract_name, receipt.contract_version) == ("payment", "3")
    assert (receipt.language_digest, receipt.full_digest) == (contract.language_digest, contract.full_digest)
    assert receipt.text_digest == sha256(PAYMENT.encode()).hexdigest()
    assert receipt.value_digest == sha256(PAYMENT.encode()).hexdigest()
    assert (receipt.backend, receipt.model, receipt.attempts) == ("scripted", "m", 1)
    assert (receipt.compile_result, receipt.finish, receipt.finish_native) == (
        "compiled",
        FinishReason.STOP,
        "end_turn",
    )
    assert (receipt.legal_mass_min, receipt.legal_mass_mean) == (0.5, 0.75)
    assert receipt.usage == Usage(11, 8)
    assert receipt.operation_key_digest == operation_key_digest(key)
    assert receipt.effect_key == effect_key(key, "payments", "1")
    assert receipt.is_accept_state is True
    for time in (receipt.compile_s, receipt.time_to_first_token_s, receipt.time_per_token_s):
        assert time is not None
        assert time >= 0
    # No rule, no evidence check and nobody who authorizes was given: those layers did not run.
    asked = {Layer.FINISH, Layer.ACCEPT, Layer.PARSE, Layer.SCHEMA, Layer.TYPE, Layer.CONTENT}
    assert passed(outcome) == {layer: True if layer in asked else None for layer in Layer}


@pytest.mark.parametrize(
    ("script", "wanted", "is_accepting"),
    [
        (GOOD, (True, True, True, True, True, None, True), True),
        ([{"text": PAYMENT}, {"finish": "length"}], (False, True, None, None, None, None), True),
        ([{"text": PAYMENT}, {"finish": "content_filter"}], (False, True, None, None, None, None), True),
        ([{"text": PAYMENT}], (False, None, None, None, None, None), True),
        ([{"text": PAYMENT[:5]}, {"finish": "length"}], (False, False, None, None, None, None), False),
        ([{"text": PAYMENT[:5]}, STOP], (True, False, None, None, None, None), False),
        ([{"text": '{"amount":"1","to":"b"}'}, STOP], (True, False, True, False, None, None), False),
        ([{"text": "Sure!"}, STOP], (True, False, False, None, None, None), False),
        ([{"refusal": "no"}, STOP], (False, False, None, None, None, None), False),
        ([NEVER], (None, None, None, None, None, None), False),
    ],
)
async def test_layers_are_recorded_as_far_as_they_ran(
    script: list[Step], wanted: tuple[bool | None, ...], is_accepting: bool
) -> None:
    from commitgate.timeouts import Timeouts

    outcome = await ask(script, timeouts=Timeouts(first_event_s=0.02 if NEVER in script else None))
    assert tuple(passed(outcome).values()) == (*wanted, *[None] * (len(Layer) - len(wanted)))
    assert list(passed(outcome)) == list(Layer)
    assert outcome.receipt.is_accept_state is is_accepting
    for record in outcome.receipt.layers:
        assert record.ran is (record.passed is not None)
        assert bool(record.failures) is (record.passed is False and record.layer in (Layer.PARSE, Layer.SCHEMA))


async def test_receipt_survives_the_ledger() -> None:
    outcome = await ask(GOOD, operation_key="k")
    assert load_receipt(dump_receipt(outcome.receipt)) == outcome.receipt
    assert load_receipt(dump_receipt(Receipt())) == Receipt()


CANARY = "canary4711"


class Secret(BaseModel):
    amount: int
    notes: dict[str, str]


TEXT = f'{{"amount":1,"notes":{{"{CANARY}":"{CANARY}"}}}}'
SECRET_SCRIPTS: list[list[Step]] = [
    [{"text": TEXT}, STOP],
    [{"text": TEXT}],
    [{"text": TEXT}, {"finish": "length"}],
    [{"text": TEXT}, {"finish": "content_filter"}],
    [{"text": TEXT[:-4]}, STOP],
    [{"text": TEXT + CANARY}, STOP],
    [{"text": CANARY}, STOP],
    [{"text": CANARY}, {"finish": "refusal"}],
    [{"refusal": CANARY}, STOP],
    [{"text": TEXT.replace(":1", f':"{CANARY}"')}, STOP],
    [{"text": TEXT.replace(f'"{CANARY}"}}', "1}")}, STOP],
    [{"text": TEXT.replace("}}", f',"{CANARY}":"x"}}}}')}, STOP],
    [{"text": TEXT.replace("}}", f',"{CANARY}":"x"}}}}')}],
    [{"text": TEXT}, NEVER],
    [{"text": TEXT}, {"fault": "server"}],
    [{"text": TEXT}, {"dead_end": "schema"}],
    [{"text": TEXT}, STOP, {"text": CANARY}],
]


def refuse(value: Secret) -> RuleViolation:
    return RuleViolation("no", "refused", data=value.amount)


@pytest.mark.parametrize("rules", [[], [refuse]], ids=["accepting", "refusing"])
@pytest.mark.parametrize("script", SECRET_SCRIPTS, ids=range(len(SECRET_SCRIPTS)))
async def test_nothing_shows_prompt_output_value_or_key(
    script: list[Step], rules: list[Any], caplog: pytest.LogCaptureFixture
) -> None:
    from commitgate.timeouts import Timeouts

    caplog.set_level(logging.DEBUG)
    ledger = MemoryLedger()
    shown: list[object] = []
    async with (
        client_with(ScriptedBackend(script), ledger) as client,
        client.stream_structured(
            "scripted",
            Secret,
            prompt=CANARY,
            system=CANARY,
            rules=rules,
            operation_key=CANARY,
            input_fingerprint=CANARY,
            timeouts=Timeouts(idle_s=0.05 if NEVER in script else None),
        ) as run,
    ):
        shown += [run, *[item async for item in run]]
        outcome = await run.outcome()
        if isinstance(outcome, Committed):
            with pytest.raises(KeyConflictError) as conflict:
                await client.generate_structured("scripted", {"type": "integer"}, prompt=CANARY, operation_key=CANARY)
            shown.append(conflict.value)
    shown += [outcome, outcome.receipt, client]
    if not isinstance(outcome, Committed):
        with pytest.raises(EndingError) as ending:
            outcome.unwrap()
        shown += [ending.value, outcome.summary()]
    for thing in shown:
        assert CANARY not in repr(thing)
        assert CANARY not in str(thing)
    assert CANARY not in caplog.text


def test_finish_word_that_is_no_character_can_be_stored() -> None:
    receipt = Receipt(finish_native="\ud800")
    assert load_receipt(dump_receipt(receipt)).finish_native == "\ud800"


@pytest.mark.parametrize("mass", [float("nan"), float("inf")])
async def test_mass_that_is_no_number_is_left_out(mass: float) -> None:
    script: list[Step] = [{"text": "{", "legal_mass": 0.5}, {"text": PAYMENT[1:], "legal_mass": mass}, STOP]
    masses: list[float | None] = []
    async with (
        client_with(ScriptedBackend(script)) as client,
        client.stream_structured("scripted", Pay, prompt="x") as run,
    ):
        async for item in run:
            assert isinstance(item, Preview)
            masses.append(item.legal_mass)
        receipt = (await run.outcome()).receipt
    assert masses[-1] == 0.5
    assert (receipt.legal_mass_min, receipt.legal_mass_mean) == (0.5, 0.5)


@pytest.mark.parametrize("count", [10**400, 2**60, 1, 0])
async def test_counts_that_say_no_time_give_none(count: int) -> None:
    outcome = await ask([{"text": PAYMENT[:9]}, {"text": PAYMENT[9:]}, {"usage": [1, count]}, STOP])
    assert isinstance(outcome, Committed)
    assert outcome.receipt.time_per_token_s is None
    assert outcome.receipt.usage.output_tokens == count

"""Streams of the real world and the ending that each must have."""

import json
from random import Random
from typing import Any

import pytest
from scripts import GOOD, PAY, PAYMENT, STOP, Pay, Payments, client_with

from commitgate.contract import Contract
from commitgate.gate.layers import Layer
from commitgate.gate.rules import RuleViolation
from commitgate.limits import Limits
from commitgate.outcome import Committed, Invalid, Outcome, Unavailable, Violated
from commitgate.retry import Retry
from commitgate.testing import Chunking, ScriptedBackend, Step

pytestmark = pytest.mark.anyio


def positive(payment: Pay) -> RuleViolation | None:
    return None if payment.amount > 0 else RuleViolation("positive", "amount must be > 0", "/amount")


async def ask(
    script: list[Step], *, chunking: Chunking = "whole", **options: Any
) -> tuple[Outcome[Any, Any], Payments]:
    """Make one paying call; return how it ended and which payments were made."""
    payments = Payments()
    backend = ScriptedBackend(script, chunking=chunking)
    # One request each: what may be asked again has tests of its own, in time that jumps.
    once = Retry(attempts=1)
    options = {"prompt": "pay", "effect": payments, "operation_key": "case", "retry": once, **options}
    async with client_with(backend) as client:
        outcome = await client.generate_structured("scripted", options.pop("schema", Pay), **options)
    assert backend.open_streams == 0
    return outcome, payments


ENDINGS: list[tuple[str, list[Step], str]] = [
    ("a whole answer", GOOD, "committed"),
    ("valid JSON, but the limit cut it", [{"text": PAYMENT}, {"finish": "length"}], "truncated"),
    ("valid JSON, but filtered", [{"text": PAYMENT}, {"finish": "content_filter"}], "filtered"),
    ("prose and the word refusal", [{"text": "I cannot help"}, {"finish": "refusal"}], "refused"),
    ("a refusal in words", [{"refusal": "I cannot help"}, STOP], "refused"),
    ("valid JSON, and the line just ends", [{"text": PAYMENT}, {"close": "eof"}], "disconnected"),
    ("half an answer, and the line breaks", [{"text": PAYMENT[:10]}, {"close": "rst"}], "disconnected"),
    ("the line breaks after the finish", [*GOOD, {"close": "rst"}], "committed"),
    ("the provider takes its finish back", [*GOOD, {"fault": "server"}], "unavailable"),
    ("the provider fails midway", [{"text": PAYMENT[:10]}, {"fault": "overload"}], "unavailable"),
    ("the provider fails at once", [{"fault": "rate_limit", "status": 429}], "unavailable"),
    ("a finish that nobody knows", [{"text": PAYMENT}, {"finish": "eos_maybe"}], "unavailable"),
    ("prose before the JSON", [{"text": "Sure! "}, {"text": PAYMENT}, STOP], "violated"),
    ("stop in the middle", [{"text": PAYMENT[:12]}, STOP], "violated"),
    ("white space without end", [{"text": "{" + " " * 2_000}, {"finish": "length"}], "violated"),
    ("JSON outside the schema", [{"text": '{"amount":"100","to":"bob"}'}, STOP], "invalid"),
    ("no token was legal", [{"text": PAYMENT[:9]}, {"dead_end": "tokenizer"}], "dead_end"),
]


@pytest.mark.parametrize("chunking", ["whole", "bytes", 3, Random(7)], ids=["whole", "bytes", "threes", "random"])
@pytest.mark.parametrize(("script", "wanted"), [case[1:] for case in ENDINGS], ids=[case[0] for case in ENDINGS])
async def test_stream_has_its_ending(script: list[Step], wanted: str, chunking: Chunking) -> None:
    outcome, payments = await ask(script, chunking=chunking)
    assert outcome.name == wanted
    assert len(payments.made) == (wanted == "committed")


async def test_whole_answer_is_committed_with_value_and_result() -> None:
    outcome, payments = await ask(GOOD)
    assert isinstance(outcome, Committed)
    assert outcome.value == Pay(amount=100, to="bob")
    assert outcome.result == "paid 100"
    assert outcome.text == PAYMENT
    assert outcome.unwrap() is outcome.value
    assert payments.made == [Pay(amount=100, to="bob")]


@pytest.mark.parametrize("finish", [None, "length", "content_filter", "stop"])
async def test_cut_at_any_byte_commits_nothing(finish: str | None) -> None:
    wanted = {None: "disconnected", "length": "truncated", "content_filter": "filtered", "stop": "violated"}[finish]
    last = len(PAYMENT) if finish == "stop" else len(PAYMENT) + 1
    for cut in range(last):
        steps: list[Step] = [{"text": PAYMENT[:cut]}] if cut else []
        outcome, payments = await ask([*steps, *([] if finish is None else [{"finish": finish}])])
        assert outcome.name == wanted, cut
        assert payments.made == [], cut
        assert outcome.partial_text == PAYMENT[:cut]


async def test_prose_is_placed_at_its_first_byte() -> None:
    outcome, _ = await ask([{"text": "Sure! "}, {"text": PAYMENT}, STOP])
    assert isinstance(outcome, Violated)
    assert (outcome.kind, outcome.position) == ("not_json", 0)
    assert outcome.partial_text == "Sure! " + PAYMENT


async def test_answer_past_its_limit_is_violated() -> None:
    from commitgate.contract import Contract
    from commitgate.limits import Limits

    contract = Contract.of(Pay, limits=Limits(text_bytes=1_000))
    outcome, _ = await ask([{"text": '{"to":"'}, {"text": "x" * 100_000}], schema=contract)
    assert isinstance(outcome, Violated)
    assert (outcome.kind, outcome.position) == ("limit", 1_000)


@pytest.mark.parametrize("chunking", ["whole", "bytes", 7])
async def test_text_that_needs_too_many_states_has_an_ending_with_its_text(chunking: Chunking) -> None:
    from commitgate.contract import Contract
    from commitgate.limits import Limits

    # Each number of characters that are left is a state of its own.
    text = json.dumps("x" * 1_000)
    contract = Contract.of({"type": "string", "maxLength": 5_000}, limits=Limits(states=400))
    outcome, _ = await ask([{"text": text}, STOP], schema=contract, effect=None, chunking=chunking)
    assert isinstance(outcome, Violated)
    assert outcome.kind == "limit"
    assert "states" in outcome.explanation
    assert 0 < outcome.position < len(text)
    assert outcome.partial_text == text
    receipt = outcome.receipt
    assert (receipt.compile_result, receipt.attempts, receipt.is_accept_state) == ("compiled", 1, False)
    whole, _ = await ask([{"text": text}, STOP], schema=contract, effect=None)
    assert isinstance(whole, Violated)
    assert whole.position == outcome.position


@pytest.mark.parametrize(
    ("schema", "text", "pointers"),
    [
        (Pay, '{"amount":"100","to":"bob"}', ["/amount"]),
        ({"type": "array", "items": {"type": "integer"}}, '[1,2,"x"]', ["/2"]),
        (PAY, '{"amount":1.5,"to":"b"}', ["/amount"]),
        (PAY, '{"amount":1}', [""]),
    ],
)
async def test_json_outside_the_schema_names_the_place(schema: object, text: str, pointers: list[str]) -> None:
    outcome, _ = await ask([{"text": text}, STOP], schema=schema, effect=None)
    assert isinstance(outcome, Invalid)
    assert outcome.layer is Layer.SCHEMA
    assert [failure.pointer for failure in outcome.failures] == pointers


async def test_equal_keys_are_refused_by_the_parse() -> None:
    outcome, _ = await ask([{"text": '{"amount":1,"amount":2,"to":"b"}'}, STOP])
    assert isinstance(outcome, Invalid)
    assert (outcome.layer, outcome.failures[0].code) == (Layer.PARSE, "duplicate_key")


async def test_number_that_the_type_cannot_hold_is_invalid() -> None:
    schema = {"type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"]}
    outcome, _ = await ask([{"text": '{"x":1e400}'}, STOP], schema=schema, effect=None)
    assert isinstance(outcome, Invalid)
    assert (outcome.layer, outcome.failures[0].code) == (Layer.TYPE, "not_representable")


@pytest.mark.parametrize(("number", "wanted"), [("1e3", 1000), ("9007199254740993", 9007199254740993), ("1.0", 1)])
async def test_integers_are_exact_however_they_are_spelled(number: str, wanted: int) -> None:
    outcome, _ = await ask([{"text": f'{{"amount":{number},"to":"b"}}'}, STOP])
    assert isinstance(outcome, Committed)
    assert outcome.value.amount == wanted
    assert type(outcome.value.amount) is int


async def test_refusing_rule_is_invalid_and_pays_nothing() -> None:
    calls: list[Pay] = []

    async def limit(payment: Pay) -> RuleViolation:
        calls.append(payment)
        return RuleViolation("limit", "over the limit", "/amount")

    outcome, payments = await ask(GOOD, rules=[positive, limit])
    assert isinstance(outcome, Invalid)
    assert (outcome.layer, outcome.failures[0].pointer) == (Layer.RULES, "/amount")
    assert (len(calls), payments.made) == (1, [])


async def test_rules_do_not_run_on_what_the_schema_refused() -> None:
    calls: list[Pay] = []
    outcome, _ = await ask([{"text": '{"amount":"x","to":"b"}'}, STOP], rules=[calls.append])
    assert isinstance(outcome, Invalid)
    assert outcome.layer is Layer.SCHEMA
    assert calls == []


async def test_broken_rule_is_no_verdict_on_the_value_and_no_commit() -> None:
    def broken(payment: Pay) -> None:
        raise ZeroDivisionError

    outcome, payments = await ask(GOOD, rules=[broken])
    assert isinstance(outcome, Invalid)
    assert (outcome.failures[0].code, outcome.failures[0].retryable) == ("rule_error", False)
    assert payments.made == []


async def test_rules_of_the_contract_and_of_the_call_both_count() -> None:
    from commitgate.contract import Contract

    def refuse(payment: Pay) -> RuleViolation:
        return RuleViolation("own", "no")

    outcome, _ = await ask(
        [{"text": '{"amount":-1,"to":"b"}'}, STOP], schema=Contract.of(Pay, rules=[refuse]), rules=[positive]
    )
    assert isinstance(outcome, Invalid)
    assert [failure.code for failure in outcome.failures] == ["own", "positive"]


async def test_large_answer_is_judged_too() -> None:
    text = '{"amount":1,"to":"' + "x" * 200_000 + '"}'
    outcome, _ = await ask([{"text": text}, STOP])
    assert isinstance(outcome, Committed)
    assert len(outcome.value.to) == 200_000


async def test_fault_carries_what_the_provider_said() -> None:
    outcome, _ = await ask([{"fault": "rate_limit", "status": 429, "code": "rpm", "retry_after_s": 3.0}])
    assert isinstance(outcome, Unavailable)
    assert (outcome.kind, outcome.status, outcome.code, outcome.retry_after_s) == ("rate_limit", 429, "rpm", 3.0)


async def test_breaking_backend_raises_and_releases_the_key() -> None:
    with pytest.raises(RuntimeError, match="broken wire"):
        await ask([{"raise": RuntimeError("broken wire")}])


@pytest.mark.parametrize(
    ("text", "kind", "position"),
    [
        ('{"kkkkkkkkkk":1}', "limit", 11),
        ('[{"a":["k"],"\\"kkkkkkkk":1}]', "limit", 22),
        ('["kkkkkkkkkk",{"kkkkkkkk":1,]', "not_json", 28),
        ('{"kkkkkkkk":"kkkkkkkkkk\n"}', "not_json", 23),
    ],
)
async def test_key_longer_than_the_contract_allows_is_a_limit(text: str, kind: str, position: int) -> None:
    contract = Contract.json_schema({}, limits=Limits(key_bytes=9))
    outcome, _ = await ask([{"text": text}, STOP], schema=contract)
    assert isinstance(outcome, Violated)
    assert (outcome.kind, outcome.position) == (kind, position)


async def test_long_text_that_the_schema_refuses_is_no_limit() -> None:
    contract = Contract.json_schema({"items": {"maxLength": 12}}, limits=Limits(key_bytes=9))
    outcome, _ = await ask([{"text": '["","kkkkkkkkkkkkkk'}, STOP], schema=contract)
    assert isinstance(outcome, Violated)
    assert outcome.kind == "constraint"

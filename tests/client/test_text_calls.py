"""Calls for a text that is no JSON: a pattern, a grammar, choices, a machine; and for any JSON."""

from contextlib import AbstractAsyncContextManager
from typing import TypeVar, assert_type

import anyio
import pytest
from client.scripts import STOP, client_with

from commitgate import (
    AnyJson,
    Choices,
    Committed,
    CompileFailed,
    Contract,
    Edge,
    EffectContext,
    Grammar,
    Invalid,
    Layer,
    Machine,
    NeedsApproval,
    Outcome,
    Preview,
    Refused,
    Regex,
    Reset,
    Retry,
    Risk,
    RuleViolation,
    Sampling,
    Truncated,
    Unsupported,
    Violated,
    each_untrusted,
    refuse_hidden_characters,
)
from commitgate.backends.base import EventStream, GenerationRequest
from commitgate.errors import (
    ContractError,
    KeyConflictError,
    MisuseError,
    NotationError,
    StoredValueError,
    UnsupportedError,
)
from commitgate.json_value import JsonValue
from commitgate.languages import Language, TextSource
from commitgate.ledger import MemoryLedger
from commitgate.testing import ScriptedBackend, Step

pytestmark = pytest.mark.anyio

V = TypeVar("V")

CODE = Regex("[A-Z]{2}-[0-9]+")
WALK = Machine(
    start="idle",
    accepting=["done"],
    edges=[Edge("idle", "open ", "run"), Edge("run", Regex("[0-9]+"), "done"), Edge("done", ";", "run")],
)
SUM_LARK = 'start: INT ("+" INT)*\n%import common.INT'
TEXTS: list[tuple[TextSource, str, str]] = [
    (CODE, "AB-12", "regex"),
    (Grammar('root ::= [0-9]+ ("+" root)?'), "1+22+3", "grammar"),
    (Grammar(SUM_LARK, "lark"), "1+22", "grammar"),
    (Choices(["yes", "no", "not sure"]), "not sure", "choices"),
    (WALK, "open 12;7", "machine"),
]


class Unconstrained(ScriptedBackend):
    """Enforce no contract."""

    def open(self, request: GenerationRequest) -> AbstractAsyncContextManager[EventStream]:
        if request.is_constrained:
            raise UnsupportedError("it constrains nothing", keyword="regex", pointer="", reason="it cannot")
        return super().open(request)


def script(text: str, finish: Step = STOP) -> list[Step]:
    middle = len(text) // 2
    return [{"text": text[:middle]}, {"text": text[middle:]}, finish]


async def call(source: Language[V] | Contract[V], text: str) -> Outcome[V, None]:
    """Make one call, with a backend that writes a text."""
    async with client_with(ScriptedBackend(script(text))) as client:
        return await client.generate_structured("scripted", source, prompt="x")


@pytest.mark.parametrize(("source", "text", "kind"), TEXTS)
async def test_value_is_the_text_itself(source: TextSource, text: str, kind: str) -> None:
    async with client_with(ScriptedBackend(script(text))) as client:
        outcome = await client.generate_structured("scripted", source, prompt="x")
    assert_type(outcome, Outcome[str, None])
    assert isinstance(outcome, Committed)
    assert (outcome.value, outcome.text) == (text, text)
    assert outcome.receipt.contract_name == kind
    ran = {record.layer: record.ran for record in outcome.receipt.layers}
    assert (ran[Layer.ACCEPT], ran[Layer.PARSE], ran[Layer.SCHEMA], ran[Layer.TYPE]) == (True, False, False, True)
    assert outcome.receipt.is_accept_state is True


@pytest.mark.parametrize(("source", "text", "kind"), TEXTS)
async def test_contract_of_it_gives_the_same(source: TextSource, text: str, kind: str) -> None:
    contract = Contract.of(source, name=f"my {kind}")
    async with client_with(ScriptedBackend(script(text))) as client:
        outcome = await client.generate_structured("scripted", contract, prompt="x")
    assert_type(outcome, Outcome[str, None])
    assert outcome.unwrap() == text
    assert outcome.receipt.contract_name == f"my {kind}"


@pytest.mark.parametrize("text", ['{"a": [1, 2.5]}', "17", "null"])
async def test_any_json_gives_plain_json(text: str) -> None:
    async with client_with(ScriptedBackend(script(text))) as client:
        outcome = await client.generate_structured("scripted", AnyJson(), prompt="x")
    assert_type(outcome, Outcome[JsonValue, None])
    assert isinstance(outcome, Committed)
    assert outcome.value == {'{"a": [1, 2.5]}': {"a": [1, 2.5]}, "17": 17, "null": None}[text]


async def test_any_json_may_want_an_object_and_bounds_its_depth() -> None:
    for asked, text in ((AnyJson(root="object"), "17"), (AnyJson(nesting=1), "[[1]]")):
        assert isinstance(await call(asked, text), Invalid | Violated)


@pytest.mark.parametrize(
    ("text", "position"), [("AB-1x", 4), ("[1]", 0), ('{"refusal": "no"}', 0), ("AB-1\n", 4), ("I am sorry", 1)]
)
async def test_text_outside_is_a_violation_of_the_constraint(text: str, position: int) -> None:
    outcome = await call(CODE, text)
    assert isinstance(outcome, Violated)
    assert (outcome.kind, outcome.position) == ("constraint", position)
    assert outcome.partial_text == text


async def test_prefix_of_a_text_is_never_committed() -> None:
    assert isinstance(await call(WALK, "open "), Violated)
    async with client_with(ScriptedBackend(script("AB-1", {"finish": "length"}))) as client:
        assert isinstance(await client.generate_structured("scripted", CODE, prompt="x"), Truncated)


async def test_long_white_space_that_the_grammar_allows_is_content() -> None:
    text = "a" + "\n" * 3_000 + "b"
    assert (await call(Regex(r"a\s*b"), text)).unwrap() == text


@pytest.mark.parametrize(
    ("source", "keyword", "position"),
    [
        (Regex("ab("), "regex", 2),
        (Grammar("root ::= ["), "grammar", 9),
        (Choices([]), "choices", None),
        (Machine(start="a", accepting=["b"], edges=[]), "machine", None),
        (Grammar('root ::= "a" root'), "grammar", None),
        (Regex("(a{1000}){1000}b" * 10_000), "regex", None),
    ],
)
async def test_faulty_source_ends_the_call_before_any_request(
    source: TextSource, keyword: str, position: int | None
) -> None:
    backend, ledger = ScriptedBackend(script("ab")), MemoryLedger()
    async with client_with(backend, ledger) as client:
        outcome = await client.generate_structured("scripted", source, prompt="x", operation_key="k")
    assert isinstance(outcome, CompileFailed)
    assert outcome.keyword == keyword
    assert position is None or outcome.position == position
    assert (backend.requests, outcome.receipt.compile_result) == ([], "failed")
    assert not await ledger.list()
    with pytest.raises(ContractError) as raised:
        Contract.of(source)
    assert raised.value.position == outcome.position


async def test_what_no_automaton_holds_is_unsupported_with_its_place() -> None:
    outcome = await call(Regex(r"(a)b\1"), "aba")
    assert isinstance(outcome, Unsupported)
    assert (outcome.keyword, outcome.pointer, outcome.position) == ("regex", "", 4)
    assert "regex at character 4 cannot be enforced" in outcome.summary()


async def test_contract_of_a_faulty_source_raises_by_itself() -> None:
    with pytest.raises(NotationError) as raised:
        Contract.of(Regex("ab("))
    assert raised.value.position == 2


async def test_model_may_decline_in_place_of_a_text() -> None:
    contract = Contract.of(CODE, refusal=True)
    for text in ('{"refusal": "not allowed"}', ' {"refusal":"not allowed"}'):
        outcome = await call(contract, text)
        assert isinstance(outcome, Refused)
        assert outcome.text == "not allowed"
    assert (await call(contract, "AB-1")).unwrap() == "AB-1"


async def test_rules_see_the_text_and_the_model_is_asked_for_a_text_again() -> None:
    seen = list[str]()

    def small(text: str) -> RuleViolation | None:
        seen.append(text)
        return None if len(text) < 6 else RuleViolation("too_long", "five characters at most")

    backend = ScriptedBackend(script("AB-1234"), then=[script("AB-1")])
    async with client_with(backend) as client:
        outcome = await client.generate_structured("scripted", CODE, prompt="x", rules=[small], retry=Retry(reasks=1))
    assert outcome.unwrap() == "AB-1"
    assert seen == ["AB-1234", "AB-1"]
    *_, answer, reasons = backend.requests[1].messages
    assert answer.content == "AB-1234"
    assert "the whole text" in reasons.content
    assert "JSON" not in reasons.content


async def test_blank_text_that_a_rule_refuses_can_be_asked_for_again() -> None:
    backend = ScriptedBackend([STOP], then=[script("x")])
    async with client_with(backend) as client:
        outcome = await client.generate_structured(
            "scripted",
            Choices(["", "x"]),
            prompt="x",
            rules=[lambda text: None if text else RuleViolation("empty", "say something")],
            retry=Retry(reasks=1),
        )
    assert outcome.unwrap() == "x"
    assert backend.requests[1].messages[-2].content == '""'


async def test_draft_may_fall_back_to_the_prompt() -> None:
    contract = Contract.of(CODE, risk=Risk.DRAFT)
    for text, is_good in (("AB-1", True), ("sorry", False)):
        async with client_with(Unconstrained(script(text))) as client:
            outcome = await client.generate_structured("scripted", contract, prompt="x", fallback="prompt_only")
        assert isinstance(outcome, Committed if is_good else Violated)


@pytest.mark.parametrize("text", ["AB-1", "ZZ-000"])
async def test_effect_runs_once_under_a_key_and_the_text_is_replayed(text: str) -> None:
    done = list[str]()

    async def keep(value: str, context: EffectContext) -> str:
        done.append(value)
        return context.key

    ledger, backend, other = MemoryLedger(), ScriptedBackend(script(text)), Regex("[A-Z0-9-]+")
    async with client_with(backend, ledger) as client:
        outcomes = [
            await client.generate_structured("scripted", CODE, prompt="x", effect=keep, operation_key="k")
            for _ in range(2)
        ]
        told = await client.outcome("k", CODE)
        plain = await client.outcome("k")
        with pytest.raises(KeyConflictError):
            await client.generate_structured("scripted", other, prompt="x", effect=keep, operation_key="k")
    assert [each.unwrap() for each in outcomes] == [text, text]
    assert isinstance(outcomes[1], Committed)
    assert (outcomes[1].is_replayed, done, len(backend.requests)) == (True, [text], 1)
    assert told is not None
    assert plain is not None
    assert told.unwrap() == plain.unwrap() == text
    (row,) = await ledger.list()
    assert row.value == f'"{text}"'.encode()


@pytest.mark.parametrize("text", ['"', "\\", "\n\t", "\x00\x1f", "é€😀", "null", ""])
async def test_every_character_survives_the_ledger(text: str) -> None:
    async with client_with(ScriptedBackend(script(text))) as client:
        for _ in range(2):
            outcome = await client.generate_structured("scripted", Regex("(?s:.*)"), prompt="x", operation_key="k")
            assert outcome.unwrap() == text


async def test_value_of_another_contract_is_not_read_as_a_text() -> None:
    async with client_with(ScriptedBackend(script("[1]"))) as client:
        await client.generate_structured("scripted", AnyJson(), prompt="x", operation_key="k")
        with pytest.raises(StoredValueError):
            await client.outcome("k", CODE)


async def test_person_decides_about_a_text() -> None:
    done = list[str]()

    async def keep(value: str, context: EffectContext) -> None:
        done.append(value)

    async with client_with(ScriptedBackend(script("AB-1"))) as client:
        outcome = await client.generate_structured(
            "scripted", CODE, prompt="x", effect=keep, operation_key="k", approve=lambda text, context: text == "AB-1"
        )
        assert isinstance(outcome, NeedsApproval)
        assert outcome.partial_text == "AB-1"
        (waiting,) = await client.approvals()
        assert waiting.value_json == b'"AB-1"'
        assert done == []
        approved = await client.approve("k", by="anna", schema=CODE, effect=keep)
    assert approved.unwrap() == "AB-1"
    assert done == ["AB-1"]


async def test_previews_are_the_text_so_far_and_final_at_the_end() -> None:
    backend = ScriptedBackend([{"text": "A"}, {"text": "B-"}, {"text": "1"}, STOP])
    seen = list[tuple[object, bool]]()
    async with client_with(backend) as client, client.stream_structured("scripted", CODE, prompt="x") as run:
        async for item in run:
            assert isinstance(item, Preview)
            seen.append((item.value, "" in item.final_paths))
        outcome = await run.outcome()
    assert_type(outcome, Outcome[str, None])
    assert outcome.unwrap() == "AB-1"
    assert seen[-1] == ("AB-1", True)
    assert not any(is_final for _, is_final in seen[:-1])
    assert all("AB-1".startswith(str(value)) for value, _ in seen)


async def test_character_cut_between_deltas_is_held_back() -> None:
    halves = "é".encode()
    backend = ScriptedBackend([{"text": halves[:1]}, {"text": halves[1:]}, STOP])
    async with client_with(backend) as client, client.stream_structured("scripted", Regex("é"), prompt="x") as run:
        values = [item.value async for item in run if isinstance(item, Preview)]
        assert (await run.outcome()).unwrap() == "é"
    assert set(values) <= {None, "é"}


async def test_dropped_attempt_takes_its_text_back() -> None:
    first: list[Step] = [{"text": "AB-"}, {"close": "rst"}]
    backend = ScriptedBackend(first, then=[script("AB-1")])
    async with (
        client_with(backend) as client,
        client.stream_structured("scripted", CODE, prompt="x", retry=Retry(restarts=1, backoff_s=0.001)) as run,
    ):
        items = [item async for item in run]
        assert (await run.outcome()).unwrap() == "AB-1"
    assert any(isinstance(item, Reset) for item in items)


async def test_kind_of_numbers_is_a_misuse_of_a_text_before_anything_is_sent() -> None:
    backend = ScriptedBackend(script("AB-1"))
    async with client_with(backend) as client:
        for source in (CODE, Contract.of(CODE)):
            with pytest.raises(MisuseError, match="numbers"):
                await client.generate_structured("scripted", source, prompt="x", numbers="decimal")
    assert not backend.requests


async def test_text_with_hidden_characters_is_refused_where_asked_for() -> None:
    content = [each_untrusted(refuse_hidden_characters)]
    async with client_with(ScriptedBackend(script("a\u202eb"))) as client:
        outcome = await client.generate_structured("scripted", Regex(".*"), prompt="x", content=content)
    assert isinstance(outcome, Invalid)
    assert (outcome.layer, outcome.failures[0].code) == (Layer.CONTENT, "bidi_control")


async def test_items_of_a_text_are_a_misuse() -> None:
    async with (
        client_with(ScriptedBackend(script("AB-1"))) as client,
        client.stream_structured("scripted", CODE, prompt="x") as run,
    ):
        with pytest.raises(MisuseError, match="no JSON"):
            async for _ in run.items(""):
                pass
        assert (await run.outcome()).unwrap() == "AB-1"


async def test_call_for_a_text_can_be_cancelled() -> None:
    backend = ScriptedBackend([{"text": "AB-1"}, {"wait": None}])
    async with client_with(backend) as client, client.stream_structured("scripted", CODE, prompt="x") as run:
        async for _ in run:
            run.cancel()
        outcome = await run.outcome()
    assert (outcome.name, outcome.partial_text if not isinstance(outcome, Committed) else "") == ("cancelled", "AB-1")


async def test_many_calls_for_texts_run_beside_each_other() -> None:
    values = list[str]()

    async def one(number: int) -> None:
        async with client_with(ScriptedBackend(script(f"AB-{number}"))) as client:
            values.append((await client.generate_structured("scripted", CODE, prompt="x")).unwrap())

    async with anyio.create_task_group() as tasks:
        for number in range(8):
            tasks.start_soon(one, number)
    assert sorted(values) == [f"AB-{number}" for number in range(8)]


async def test_sampling_bounds_the_text() -> None:
    backend = ScriptedBackend(script("AB-1"))
    async with client_with(backend) as client:
        await client.generate_structured("scripted", CODE, prompt="x", sampling=Sampling(max_tokens=7))
    (request,) = backend.requests
    assert (request.sampling.max_tokens, request.contract.text) == (7, CODE)

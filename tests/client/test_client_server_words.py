"""Ask a server in its own words: what is sent, what comes back in the contract's shape, and when nothing is sent."""

from typing import Any

import pytest
from client.scripts import GOOD, PAY, PAYMENT, STOP, Pay, Payments, client_with

from commitgate import Committed, Contract, Invalid, Preview, Risk, Truncated, Unavailable, Unsupported, Violated
from commitgate.backends.base import Standing
from commitgate.backends.dialects.openai_chat import OpenAIChatDialect
from commitgate.backends.translation import Difference, Form, Restorer, Translation, translate
from commitgate.backends.translation.shapes import TextShape
from commitgate.backends.translation.unwrapping import Unwrapping
from commitgate.errors import MisuseError, UnsupportedError
from commitgate.testing import ScriptedBackend, Step

pytestmark = pytest.mark.anyio

CHECKED = Difference(kind="checked", pointer="/properties/to", keyword="maxLength", reason="it ignores it")
WRAPPED = {"type": "object", "properties": {"value": PAY}, "required": ["value"], "additionalProperties": False}


class Wrapped:
    """Be a value that is a member of an object."""

    is_same = False
    is_wrapped = True

    def restorer(self) -> Restorer:
        return Unwrapping()


class Server(ScriptedBackend):
    """Play a script as a server would whose words are made here."""

    def __init__(self, script: list[Step], **said: Any) -> None:
        super().__init__(script, then=said.pop("then", ()))
        self.shows_schema = said.pop("shows_schema", False)
        self.tells_in_finish = said.pop("tells_in_finish", False)
        self._standing = Standing(
            is_proven=said.pop("is_proven", True),
            reason="run commitgate probe",
            is_reachable=said.pop("is_reachable", True),
        )
        self._said = said
        self.translated: list[Contract[object]] = []

    def translate(self, contract: Contract[object], *, tools: object) -> Translation:
        del tools
        self.translated.append(contract)
        if "refuses" in self._said:
            raise UnsupportedError("it cannot be said", pointer="/x", keyword="not", reason="it has no word for it")
        form: Form = self._said.get("form", "json_schema")
        sent = self._said.get("sent", contract)
        return Translation(
            sent=sent,
            form=form,
            schema=sent.schema,
            shape=self._said.get("shape", TextShape()),
            differences=self._said.get("differences", ()),
            table="2026-11",
        )

    async def standing(self, model: str) -> Standing:
        del model
        return self._standing


def wrapped(script: list[Step], **said: Any) -> Server:
    return Server(script, sent=Contract.json_schema(WRAPPED), shape=Wrapped(), **said)


async def ask(backend: ScriptedBackend, schema: Any = Pay, **arguments: Any) -> Any:
    async with client_with(backend) as client:
        return await client.generate_structured("scripted", schema, prompt="pay bob", **arguments)


async def test_value_comes_back_in_the_contracts_shape() -> None:
    outcome = await ask(wrapped([{"text": f'{{"value": {PAYMENT}}}'}, STOP]))
    assert isinstance(outcome, Committed)
    assert outcome.value == Pay(amount=100, to="bob")
    assert outcome.text == f'{{"value": {PAYMENT}}}'


@pytest.mark.parametrize("chunking", ["whole", "bytes"])
async def test_previews_show_the_contracts_shape(chunking: Any) -> None:
    backend = wrapped([{"text": f'{{"value": {PAYMENT}}}'}, STOP])
    backend._chunking = chunking
    shown: list[object] = []
    async with client_with(backend) as client, client.stream_structured("scripted", Pay, prompt="x") as run:
        async for item in run:
            assert isinstance(item, Preview)
            shown.append(item.value)
        assert isinstance(await run.outcome(), Committed)
    assert shown[-1] == {"amount": 100, "to": "bob"}
    assert all("value" not in value for value in shown if isinstance(value, dict))


async def test_contracts_own_text_is_outside_of_what_was_sent() -> None:
    outcome = await ask(wrapped([{"text": PAYMENT}, STOP], tells_in_finish=True))
    assert isinstance(outcome, Violated)


async def test_run_tells_what_was_sent() -> None:
    backend = Server(GOOD, differences=(CHECKED,))
    async with client_with(backend) as client, client.stream_structured("scripted", Pay, prompt="x") as run:
        outcome = await run.outcome()
        assert run.differences == (CHECKED,)
        assert run.sent_schema == Contract.of(Pay).schema
    assert outcome.receipt.differences == (CHECKED,)
    assert outcome.receipt.enforcement_table == "2026-11"
    assert outcome.receipt.sent_digest == outcome.receipt.language_digest


async def test_receipt_of_a_replay_tells_what_was_sent_then() -> None:
    payments = Payments()
    backend = Server(GOOD, differences=(CHECKED,))
    async with client_with(backend) as client:
        for _ in range(2):
            outcome = await client.generate_structured("scripted", Pay, prompt="x", effect=payments, operation_key="k")
            assert outcome.receipt.differences == (CHECKED,)
    assert len(payments.made) == 1


@pytest.mark.parametrize(
    ("said", "form", "is_shown"),
    [
        ({"shows_schema": True}, "json_schema", False),
        ({"shows_schema": True}, "prompt", True),
        ({"shows_schema": False}, "json_schema", True),
    ],
)
async def test_model_is_shown_the_schema_where_the_server_does_not(said: Any, form: str, is_shown: bool) -> None:
    backend = Server(GOOD, form=form, **said)
    await ask(backend)
    roles = [message.role for message in backend.requests[0].messages]
    assert ("system" in roles) is is_shown


async def test_model_is_shown_the_form_in_which_it_must_write() -> None:
    backend = wrapped([{"text": f'{{"value": {PAYMENT}}}'}, STOP])
    await ask(backend)
    assert "- value: an object" in backend.requests[0].messages[0].content


async def test_stream_of_a_server_that_does_not_refuse_in_words_ends_at_the_first_impossible_byte() -> None:
    backend = Server([{"text": '{"amount":1,"x'}, {"text": '":1}'}, STOP])
    outcome = await ask(backend, PAY)
    assert isinstance(outcome, Violated)
    assert outcome.receipt.finish is None
    assert outcome.receipt.first_violation == outcome.position == 13
    assert outcome.receipt.tokens_saved == 511


async def test_watching_reads_to_the_end_and_comes_to_the_same_verdict() -> None:
    text = '{"amount":"1","to":"bob"}'
    backend = Server([{"text": text[:14]}, {"text": text[14:]}, {"usage": [3, 9]}, STOP])
    outcome = await ask(backend, watch=True)
    assert isinstance(outcome, Invalid)
    assert outcome.partial_text == text
    assert outcome.receipt.first_violation == 10
    assert outcome.receipt.tokens_saved is None
    assert outcome.receipt.usage.output_tokens == 9


async def test_watching_keeps_more_than_what_is_hidden_otherwise() -> None:
    prose = "x" * 20_000
    outcome = await ask(Server([{"text": prose}, STOP]), watch=True)
    assert isinstance(outcome, Violated)
    assert outcome.partial_text == prose
    assert outcome.receipt.first_violation == 0


async def test_contract_that_is_checked_afterwards_is_not_decoded() -> None:
    backend = Server(GOOD, differences=(CHECKED,))
    outcome = await ask(backend, require="decoded")
    assert isinstance(outcome, Unsupported)
    assert (outcome.keyword, outcome.pointer) == ("maxLength", "/properties/to")
    assert backend.requests == []


async def test_prompt_alone_is_not_decoded() -> None:
    backend = Server(GOOD, form="prompt")
    assert isinstance(await ask(backend, require="decoded"), Unsupported)
    assert backend.requests == []


async def test_keyword_that_no_automaton_enforces_is_not_decoded_here_either() -> None:
    schema = {"type": "array", "items": {"type": "number"}, "uniqueItems": True}
    backend = ScriptedBackend([{"text": "[1]"}, STOP])
    outcome = await ask(backend, schema, require="decoded")
    assert isinstance(outcome, Unsupported)
    assert outcome.keyword == "uniqueItems"
    assert isinstance(await ask(ScriptedBackend(GOOD), require="decoded"), Committed)


async def test_effect_needs_a_server_that_was_probed() -> None:
    payments = Payments()
    backend = Server(GOOD, is_proven=False)
    outcome = await ask(backend, effect=payments, operation_key="k")
    assert isinstance(outcome, Unsupported)
    assert "commitgate probe" in outcome.summary()
    assert backend.requests == []
    assert payments.made == []


async def test_effect_on_a_server_that_is_down_is_not_called_unsupported() -> None:
    payments = Payments()
    backend = Server(GOOD, is_proven=False, is_reachable=False)
    outcome = await ask(backend, effect=payments, operation_key="k")
    assert isinstance(outcome, Unavailable)
    assert outcome.kind == "unreachable"
    assert payments.made == []


@pytest.mark.parametrize(("risk", "is_asked"), [(Risk.EFFECT, False), (Risk.RECORD, True)])
async def test_contract_of_an_effect_needs_a_server_that_was_probed(risk: Risk, is_asked: bool) -> None:
    backend = Server(GOOD, is_proven=False)
    await ask(backend, Contract.of(Pay, risk=risk))
    assert bool(backend.requests) is is_asked


async def test_contract_that_a_server_has_no_words_for_is_unsupported() -> None:
    backend = Server(GOOD, refuses=True)
    outcome = await ask(backend)
    assert isinstance(outcome, Unsupported)
    assert outcome.pointer == "/x"
    assert backend.requests == []


async def test_draft_falls_back_to_the_prompt_where_the_server_has_no_words() -> None:
    backend = Server(GOOD, refuses=True, shows_schema=True)
    outcome = await ask(backend, Contract.of(Pay, risk=Risk.DRAFT), fallback="prompt_only")
    assert isinstance(outcome, Committed)
    assert outcome.receipt.fallback == "prompt_only"
    assert not backend.requests[0].is_constrained
    assert backend.requests[0].messages[0].role == "system"


REFUSED: list[Step] = [{"fault": "constraint", "message": "the server answered with status 400", "status": 400}]


async def test_constraint_that_the_server_refuses_is_unsupported() -> None:
    outcome = await ask(Server(REFUSED))
    assert isinstance(outcome, Unsupported)
    assert outcome.receipt.attempts == 1


async def test_draft_falls_back_to_the_prompt_where_the_server_refuses_the_constraint() -> None:
    backend = wrapped(REFUSED, then=[GOOD], shows_schema=True)
    outcome = await ask(backend, Contract.of(Pay, risk=Risk.DRAFT), fallback="prompt_only")
    assert isinstance(outcome, Committed)
    assert outcome.receipt.fallback == "prompt_only"
    assert outcome.receipt.sent_digest is None
    constrained, plain = backend.requests
    assert (constrained.is_constrained, plain.is_constrained) == (True, False)
    assert plain.translation is None
    assert [message.role for message in constrained.messages] == ["user"]
    assert [message.role for message in plain.messages] == ["system", "user"]


async def test_fallback_and_decoded_contradict_each_other() -> None:
    with pytest.raises(MisuseError, match="contradict"):
        await ask(Server(GOOD), Contract.of(Pay, risk=Risk.DRAFT), fallback="prompt_only", require="decoded")


@pytest.mark.parametrize("wrong", [{"require": "all"}, {"require": None}, {"watch": 1}])
async def test_other_words_are_misuse(wrong: Any) -> None:
    with pytest.raises(MisuseError):
        await ask(Server(GOOD), **wrong)


async def test_wrapped_answer_that_was_cut_is_truncated() -> None:
    outcome = await ask(wrapped([{"text": '{"value": {"amount": 1'}, {"finish": "length"}]))
    assert isinstance(outcome, Truncated)


async def test_replacement_characters_are_told() -> None:
    outcome = await ask(ScriptedBackend([{"text": '{"amount":1,"to":"b\ufffd"}'}, STOP]))
    assert isinstance(outcome, Committed)
    assert outcome.receipt.warnings == ("replacement_character",)


OPTIONAL = {
    "type": "object",
    "properties": {"amount": {"type": "integer"}, "note": {"type": "string"}},
    "required": ["amount"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("text", "pointers"),
    [
        ('{"amount":"1","note":null}', ["/amount"]),
        ('{"amount":1,"note":2}', ["/note"]),
        ('{"note":null}', [""]),
        ('[{"note":null}]', [""]),
    ],
)
async def test_fault_is_named_in_the_contracts_shape(text: str, pointers: list[str]) -> None:
    contract = Contract.json_schema(OPTIONAL)
    said = translate(contract, OpenAIChatDialect().facts)
    assert not said.shape.is_same
    backend = Server([{"text": text}, STOP], sent=said.sent, shape=said.shape, tells_in_finish=True)
    outcome = await ask(backend, contract)
    assert isinstance(outcome, Invalid)
    assert [failure.pointer for failure in outcome.failures] == pointers


@pytest.mark.parametrize("text", ['{"amount":1,"note":nul', '{"amount":1,"amount":2,"note":null}', "note: null"])
async def test_text_without_a_shape_is_a_violation(text: str) -> None:
    contract = Contract.json_schema(OPTIONAL)
    said = translate(contract, OpenAIChatDialect().facts)
    backend = Server([{"text": text}, STOP], sent=said.sent, shape=said.shape, tells_in_finish=True)
    assert isinstance(await ask(backend, contract), Violated)

"""The value that an answer proposes, out of the text as a server wrote it."""

from typing import Any

from evaluation.suites import PAYMENT, RIGHT

from commitgate import Contract, Layer, Regex
from commitgate.backends.openai_responses import OpenAIResponsesBackend
from commitgate.evaluation.proposal import Proposals
from commitgate.gate.layers import Failure
from commitgate.outcome import Committed, Invalid, Receipt
from commitgate.testing import ScriptedBackend

OPTIONAL = Contract.json_schema(
    {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "string"}},
        "required": ["a"],
        "additionalProperties": False,
    }
)
SERVER = OpenAIResponsesBackend(api_key="k", base_url="http://127.0.0.1:9/v1")


def refused(text: str) -> Invalid:
    failure = Failure(layer=Layer.RULES, code="no", pointer="", message="no")
    return Invalid(layer=Layer.RULES, failures=(failure,), receipt=Receipt(), partial_text=text)


def test_value_that_the_gate_refused_is_made_out_of_its_text() -> None:
    found = Proposals(PAYMENT, ScriptedBackend([])).of(refused(RIGHT), is_constrained=True)
    assert found is not None
    assert found.json == found.typed == {"amount": 5, "to": "ann"}


def test_null_that_stands_for_an_absent_field_on_the_wire_is_taken_out() -> None:
    proposals = Proposals(OPTIONAL, SERVER)
    text = '{"a":1,"b":null}'
    for outcome in (refused(text), Committed(value={"a": 1}, text=text, receipt=Receipt())):
        found = proposals.of(outcome, is_constrained=True)
        assert found is not None
        assert found.json == found.typed == {"a": 1}


def test_answer_by_the_prompt_alone_has_the_contracts_own_shape() -> None:
    assert Proposals(OPTIONAL, SERVER).of(refused('{"a":1,"b":null}'), is_constrained=False) is None


def test_text_that_is_no_json_is_the_value_itself() -> None:
    contract: Contract[Any] = Contract.of(Regex("[a-z]+"), name="word")
    found = Proposals(contract, SERVER).of(refused("null"), is_constrained=True)
    assert found is not None
    assert found.json == found.typed == "null"


def test_value_that_was_committed_is_handed_on_as_it_is() -> None:
    value = object()
    found = Proposals(PAYMENT, SERVER).of(Committed(value=value, text=RIGHT, receipt=Receipt()), is_constrained=False)
    assert found is not None
    assert found.typed is value


def test_damaged_text_proposes_nothing() -> None:
    assert Proposals(PAYMENT, SERVER).of(refused('{"amount":'), is_constrained=False) is None

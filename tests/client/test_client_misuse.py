"""Arguments of the wrong kind: each is refused early, by its name, with the type wanted and the type found."""

from collections.abc import Callable
from typing import Any

import pytest
from scripts import GOOD, Pay, Payments, client_with

from commitgate.backends.base import Message, Sampling
from commitgate.client import Client
from commitgate.errors import MisuseError
from commitgate.ledger import FaultLedger, MemoryLedger, ledger_at
from commitgate.testing import ScriptedBackend
from commitgate.timeouts import Timeouts

pytestmark = pytest.mark.anyio

SURROGATE = "caf\udce9"


async def test_messages_may_be_dicts_of_role_and_content() -> None:
    backend = ScriptedBackend(GOOD)
    given = [{"role": "system", "content": "be brief"}, Message("user", "pay"), {"content": "no", "role": "assistant"}]
    async with client_with(backend) as client:
        outcome = await client.generate_structured("scripted", Pay, messages=given, prompt_schema="none")
    assert outcome.name == "committed"
    (request,) = backend.requests
    assert request.messages == (Message("system", "be brief"), Message("user", "pay"), Message("assistant", "no"))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"prompt": 5}, "prompt must be a str, found int"),
        ({"prompt": b"x"}, "prompt must be a str, found bytes"),
        ({"system": 5}, "system must be a str, found int"),
        ({"messages": "hello"}, "messages must be a list of Message or dict, found str"),
        ({"messages": 5}, "messages must be a list of Message or dict, found int"),
        ({"messages": {"role": "user", "content": "x"}}, "messages must be a list of Message or dict, found dict"),
        ({"messages": Message("user", "x")}, "messages must be a list of Message or dict, found Message"),
        ({"messages": [("user", "x")]}, "messages[0] must be a Message or a dict, found tuple"),
        ({"messages": [Message("user", "x"), None]}, "messages[1] must be a Message or a dict, found NoneType"),
        ({"messages": [{"role": "user"}]}, "messages[0] must have exactly the keys role and content"),
        (
            {"messages": [{"role": "user", "content": "x", "name": "canary"}]},
            "messages[0] must have exactly the keys role and content",
        ),
        (
            {"messages": [{"role": "user", "content": [{"type": "text"}]}]},
            "messages[0]: content must be a str, found list",
        ),
        ({"messages": [{"role": 3, "content": "x"}]}, "messages[0]: role must be a str, found int"),
        ({"messages": [{"role": "robot", "content": "x"}]}, "messages[0]: role must be"),
        ({"messages": [{"role": "user", "content": " "}]}, "messages[0]: content is blank"),
        ({"sampling": 5}, "sampling must be a Sampling, found int"),
        ({"sampling": {"seed": 1}}, "sampling must be a Sampling, found dict"),
        ({"timeouts": 5}, "timeouts must be a Timeouts, found int"),
        ({"rules": 5}, "rules must be a list of functions, found int"),
        ({"rules": lambda value: None}, "rules must be a list of functions, found function"),
        ({"rules": [print, 5]}, "rules[1] must be a function of the value, found int"),
        ({"operation_key": 5}, "operation_key must be a str, found int"),
        ({"operation_key": "k", "input_fingerprint": 5}, "input_fingerprint must be a str, found int"),
        ({"forced": "yes"}, "forced must be a bool, found str"),
        ({"prompt_schema": 5}, "prompt_schema must be"),
        ({"numbers": ["float"]}, "numbers must be"),
        ({"model": 5}, "model must be a str, found int"),
        ({"model": None}, "model must be a str, found NoneType"),
        ({"prompt": SURROGATE}, "prompt must be text that UTF-8 can encode"),
        ({"system": SURROGATE}, "system must be text that UTF-8 can encode"),
        (
            {"messages": [{"role": "user", "content": SURROGATE}]},
            "messages[0]: content must be text that UTF-8 can encode",
        ),
        ({"model": f"scripted/{SURROGATE}"}, "model must be text that UTF-8 can encode"),
        (
            {"operation_key": "k", "input_fingerprint": SURROGATE},
            "input_fingerprint must be text that UTF-8 can encode",
        ),
        ({"operation_key": SURROGATE}, "operation_key must be text that UTF-8 can encode"),
    ],
    ids=lambda case: case if isinstance(case, str) else "",
)
async def test_wrong_argument_is_named_with_what_was_wanted(options: dict[str, Any], said: str) -> None:
    backend = ScriptedBackend(GOOD)
    options = {"model": "scripted", "schema": Pay, **options}
    async with client_with(backend) as client:
        for call in (client.generate_structured, client.stream_structured):
            with pytest.raises(MisuseError) as caught:
                await call(**options)  # pyright: ignore[reportGeneralTypeIssues] - it raises before it returns anything
            assert said in str(caught.value)
            assert "canary" not in str(caught.value)
    assert backend.requests == []


async def test_effect_whose_name_utf_8_cannot_encode_is_refused() -> None:
    payments = Payments()
    payments.effect_name = SURROGATE
    async with client_with(ScriptedBackend(GOOD)) as client:
        with pytest.raises(MisuseError, match="effect_name must be text that UTF-8 can encode"):
            client.stream_structured("scripted", Pay, prompt="x", effect=payments, operation_key="k")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"ledger": 5}, "ledger must be a path or a Ledger, found int"),
        ({"ledger": b"x.sqlite"}, "ledger must be a path or a Ledger, found bytes"),
        ({"ledger": {}}, "ledger must be a path or a Ledger, found dict"),
        ({"backends": 5}, "backends must be a mapping of names to backends, found int"),
        ({"backends": [ScriptedBackend(GOOD)]}, "backends must be a mapping of names to backends, found list"),
        ({"backends": {5: ScriptedBackend(GOOD)}}, "a backend's name must be a str, found int"),
        ({"backends": {"scripted": 5}}, "backends['scripted'] must be a Backend, found int"),
        ({"backends": {"scripted": ScriptedBackend}}, "backends['scripted'] must be a Backend, found type"),
    ],
    ids=str,
)
def test_wrong_argument_of_the_client_is_refused_when_it_is_made(options: dict[str, Any], said: str) -> None:
    with pytest.raises(MisuseError) as caught:
        Client(**options)
    assert said in str(caught.value)


@pytest.mark.parametrize("missing", ["claim", "propose", "reconcile", "now", "has_transactions", "scan"])
def test_ledger_that_lacks_a_method_is_refused_before_anything_is_sent(missing: str) -> None:
    kept = {
        name: value for name, value in vars(FaultLedger).items() if name not in (missing, "__dict__", "__weakref__")
    }
    partial: Any = type("Partial", (), kept)(MemoryLedger(), None)
    with pytest.raises(MisuseError, match="ledger must be a path or a Ledger, found Partial"):
        Client(ledger=partial)


def test_place_that_is_no_ledger_is_refused() -> None:
    wrong: Any = 5
    with pytest.raises(MisuseError, match="ledger must be a path or a Ledger, found int"):
        ledger_at(wrong, {})


WRONG_VALUES: list[tuple[Callable[..., object], dict[str, object], str]] = [
    (Message, {"role": "user", "content": 5}, "content must be a str, found int"),
    (Message, {"role": 5, "content": "x"}, "role must be a str, found int"),
    (Message, {"role": "robot", "content": "x"}, "role must be 'system', 'user' or 'assistant'"),
    (Message, {"role": "user", "content": " \n"}, "content is blank"),
    (Message, {"role": "user", "content": SURROGATE}, "content must be text that UTF-8 can encode"),
    (Sampling, {"temperature": "1"}, "temperature must be a number, found str"),
    (Sampling, {"temperature": True}, "temperature must be a number, found bool"),
    (Sampling, {"temperature": 10**400}, "temperature must be a number, found one that is not finite"),
    (Sampling, {"top_p": "1"}, "top_p must be a number, found str"),
    (Sampling, {"top_p": float("nan")}, "top_p must"),
    (Sampling, {"top_k": 1.5}, "top_k must be an int, found float"),
    (Sampling, {"top_k": True}, "top_k must be an int, found bool"),
    (Sampling, {"max_tokens": 1.5}, "max_tokens must be an int, found float"),
    (Sampling, {"max_tokens": None}, "max_tokens must be an int, found NoneType"),
    (Sampling, {"seed": "a"}, "seed must be an int, found str"),
    (Sampling, {"seed": 1.5}, "seed must be an int, found float"),
    (Timeouts, {"total_s": "5"}, "total_s must be a number of seconds > 0 or None, found str"),
    (Timeouts, {"total_s": 10**400}, "total_s must be a number of seconds > 0 or None, found one that is not finite"),
]


@pytest.mark.parametrize(("make", "options", "said"), WRONG_VALUES, ids=[case[2] for case in WRONG_VALUES])
def test_wrong_value_is_named_with_what_was_wanted(
    make: Callable[..., object], options: dict[str, object], said: str
) -> None:
    with pytest.raises(MisuseError) as caught:
        make(**options)
    assert said in str(caught.value)


def takes_value_alone(value: object) -> int:
    """Stand for an effect that forgot its context."""
    return 1


def takes_keywords_alone(value: object, *, context: object) -> int:
    """Stand for an effect that cannot be called by position."""
    return 1


@pytest.mark.parametrize("effect", [takes_value_alone, takes_keywords_alone])
async def test_effect_that_cannot_be_called_is_refused_before_the_model_is_asked(effect: Any) -> None:
    async with Client(backends={"s": ScriptedBackend([])}, ledger=MemoryLedger()) as client:
        with pytest.raises(MisuseError, match=r"must take \(value, context\)"):
            await client.generate_structured("s/m", {"type": "integer"}, effect=effect, operation_key="k")


async def test_rule_that_cannot_be_called_is_refused_before_the_model_is_asked() -> None:
    def takes_two(value: object, other: object) -> None:
        """Stand for a rule that wants more than it gets."""

    rule: Any = takes_two
    async with Client(backends={"s": ScriptedBackend([])}) as client:
        with pytest.raises(MisuseError, match=r"rules\[0\] must take \(value\)"):
            await client.generate_structured("s/m", {"type": "integer"}, rules=[rule])

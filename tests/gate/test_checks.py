"""The caller's checks: each layer's no stops the rest, and a broken check is told from a refusing one."""

import asyncio
import functools
from collections.abc import Iterator
from typing import Any

import anyio
import anyio.to_thread
import pytest
from deliberating import LAYERS, Blocking, checks_of, codes, deliberate, judge_of
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from commitgate.errors import MisuseError
from commitgate.gate.check_context import CheckContext
from commitgate.gate.checks import Checks
from commitgate.gate.judge import Chosen
from commitgate.gate.layers import Layer
from commitgate.gate.rules import RuleViolation
from commitgate.gate.verdict import Outside
from commitgate.outcome import Invalid, NeedsApproval, Receipt, Violated

pytestmark = pytest.mark.anyio

NO = RuleViolation("no", "not so", "/amount", data={"limit": 5})


def content(value: object, *others: object) -> None:
    return None


def refusing(value: object, *others: object) -> RuleViolation:
    return NO


async def refusing_later(value: object, *others: object) -> list[RuleViolation]:
    await anyio.lowlevel.checkpoint()
    return [RuleViolation("a", "first"), RuleViolation("b", "second")]


def yielding(value: object, *others: object) -> Iterator[RuleViolation]:
    yield RuleViolation("c", "third")
    yield RuleViolation("d", "fourth")


@pytest.fixture(params=list(LAYERS))
def layer(request: pytest.FixtureRequest) -> str:
    """Name each argument that takes checks which may refuse."""
    return str(request.param)


async def test_content_checks_let_the_value_be_chosen(layer: str) -> None:
    assert await deliberate(**{layer: [content, content]}) is None
    assert await deliberate() is None


async def test_all_checks_of_a_layer_run_and_all_failures_are_kept_in_order(layer: str) -> None:
    ending = await deliberate(**{layer: [refusing, content, refusing_later, yielding]})
    assert codes(ending) == ["no", "a", "b", "c", "d"]
    assert isinstance(ending, Invalid)
    assert ending.layer is LAYERS[layer]
    first = ending.failures[0]
    assert (first.layer, first.pointer, first.message, first.data) == (ending.layer, "/amount", "not so", {"limit": 5})


async def test_only_authorization_is_never_worth_asking_again_for(layer: str) -> None:
    ending = await deliberate(**{layer: refusing})
    assert isinstance(ending, Invalid)
    assert ending.failures[0].retryable is (layer != "authorize")


@pytest.mark.parametrize("later", ["content", "evidence", "approve", "authorize"])
@pytest.mark.parametrize("earlier", ["rules", "content", "evidence", "approve"])
async def test_no_of_a_layer_keeps_later_ones_from_being_asked(earlier: str, later: str) -> None:
    order = ["rules", "content", "evidence", "approve", "authorize"]
    if order.index(later) <= order.index(earlier):
        return
    asked: list[object] = []
    no = (lambda value, context: 1 / 0) if earlier == "approve" else refusing
    ending = await deliberate(**{earlier: no, later: lambda *given: asked.append(given)})
    assert isinstance(ending, Invalid)
    assert asked == []


async def test_checks_are_asked_in_the_order_of_the_layers() -> None:
    asked: list[str] = []

    def note(name: str) -> Any:
        return lambda *given: asked.append(name)

    names = ["authorize", "approve", "evidence", "content", "rules"]
    assert await deliberate(**{name: note(name) for name in names}) is None
    assert asked == ["rules", "content", "evidence", "approve", "authorize"]


async def test_records_tell_which_layers_ran() -> None:
    judge = judge_of()
    chosen = judge.choose(b"1")
    assert isinstance(chosen, Chosen)
    assert await judge.deliberate(1, checks_of(rules=content, authorize=content), CheckContext()) is None
    assert [(record.layer, record.passed) for record in judge.records] == [
        (Layer.PARSE, True),
        (Layer.SCHEMA, True),
        (Layer.TYPE, True),
        (Layer.RULES, True),
        (Layer.CONTENT, True),
        (Layer.EVIDENCE, None),
        (Layer.AUTHORIZE, True),
    ]
    assert all(record.ran is (record.passed is not None) for record in judge.records)
    judge.choose(b"2")
    await judge.deliberate(2, checks_of(evidence=refusing), CheckContext())
    last = judge.records[-1]
    assert (last.layer, last.ran, last.passed) == (Layer.EVIDENCE, True, False)
    assert [failure.code for failure in last.failures] == ["no"]


def breaking(value: object, *others: object) -> None:
    raise ZeroDivisionError("canary")


async def breaking_later(value: object, *others: object) -> None:
    raise TimeoutError("canary")


def breaking_midway(value: object, *others: object) -> Iterator[RuleViolation]:
    yield RuleViolation("a", "first")
    raise KeyError("canary")


class Stopping:
    """Raise what a generator ends with, out of an object that is called."""

    def __call__(self, value: object, *others: object) -> None:
        raise StopIteration("canary")


BROKEN = {
    "rules": "rule_error",
    "content": "content_error",
    "evidence": "evidence_error",
    "authorize": "authorize_error",
}


@pytest.mark.parametrize(
    "broken",
    [
        breaking,
        breaking_later,
        breaking_midway,
        Stopping(),
        functools.partial(breaking),
        lambda *given: "no",
        lambda *given: 3,
        lambda *given: ["no"],
        lambda *given: {"code": 1},
    ],
)
async def test_broken_check_is_a_fault_of_its_own_and_nothing_is_chosen(layer: str, broken: Any) -> None:
    ending = await deliberate(**{layer: [broken, refusing]})
    assert codes(ending) == [BROKEN[layer], "no"]
    assert isinstance(ending, Invalid)
    first = ending.failures[0]
    assert (ending.layer, first.layer, first.retryable) == (LAYERS[layer], LAYERS[layer], False)
    assert "canary" not in repr(ending)
    assert "canary" not in first.message


@pytest.mark.parametrize("returned", [True, False])
async def test_only_authorization_answers_with_a_bool(layer: str, returned: bool) -> None:
    ending = await deliberate(**{layer: lambda *given: returned})
    if layer != "authorize":
        assert codes(ending) == [BROKEN[layer]]
        assert isinstance(ending, Invalid)
        assert "returned bool, but must return None, a RuleViolation" in ending.failures[0].message
    elif returned:
        assert ending is None
    else:
        assert codes(ending) == ["not_authorized"]


@pytest.mark.parametrize("returned", [0, 1, "yes"])
async def test_authorization_takes_nothing_else_for_a_bool(returned: Any) -> None:
    assert codes(await deliberate(authorize=lambda value, context: returned)) == ["authorize_error"]


async def test_exception_of_a_broken_check_hangs_on_its_failure(layer: str) -> None:
    ending = await deliberate(**{layer: breaking})
    assert isinstance(ending, Invalid)
    assert isinstance(ending.failures[0].cause, ZeroDivisionError)


class Amount(BaseModel):
    amounts: list[int]


async def test_what_a_check_does_to_its_value_is_seen_by_nobody(layer: str) -> None:
    seen: list[object] = []

    def emptying(value: Amount, *others: object) -> None:
        seen.append(list(value.amounts))
        value.amounts.clear()

    judge = judge_of(Amount)
    chosen = judge.choose(b'{"amounts":[1]}')
    assert isinstance(chosen, Chosen)
    await judge.deliberate(chosen.value, checks_of(**{layer: [emptying, emptying]}), CheckContext())
    assert seen == [[1], [1]]
    assert chosen.value == Amount(amounts=[1])


class Uncopyable(BaseModel):
    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Any:
        raise RuntimeError("canary")


async def test_value_that_cannot_be_copied_is_refused_only_where_a_check_needs_a_copy(layer: str) -> None:
    ending = await deliberate("{}", Uncopyable, **{layer: content})
    assert codes(ending) == ["not_copyable"]
    assert "canary" not in repr(ending)
    assert await deliberate("{}", Uncopyable) is None


@pytest.mark.parametrize("word", ["evidence", "authorize", "approve"])
async def test_context_says_for_whom_and_what_is_judged(word: str) -> None:
    seen: list[CheckContext] = []
    judge = judge_of()
    judge.choose(b"1")
    context = CheckContext(principal="canary", contract_name="int")
    await judge.deliberate(1, checks_of(**{word: lambda value, given: seen.append(given)}), context)
    assert seen == [context]
    assert "canary" not in repr(context)


@pytest.mark.parametrize("word", ["evidence", "authorize", "approve"])
async def test_sync_check_that_looks_things_up_runs_where_it_may_block(word: str) -> None:
    async def asynchronous(value: object, context: object) -> None:
        return None

    class Asynchronous:
        async def __call__(self, value: object, context: object) -> None:
            return None

    blocking = Blocking()
    await deliberate(run_blocking=blocking, **{word: [content, asynchronous, Asynchronous()], "rules": content})
    assert blocking.runs == 1


async def test_iterator_of_a_lookup_is_read_where_it_may_block() -> None:
    import threading

    read_in: list[int] = []

    def looking(value: object, context: object) -> Iterator[RuleViolation]:
        read_in.append(threading.get_ident())
        yield NO

    ending = await deliberate(run_blocking=anyio.to_thread.run_sync, evidence=looking)
    assert codes(ending) == ["no"]
    assert read_in != [threading.get_ident()]


async def test_exception_out_of_a_worker_thread_is_the_checks_own(layer: str) -> None:
    ending = await deliberate(run_blocking=anyio.to_thread.run_sync, **{layer: [Stopping(), breaking]})
    assert codes(ending) == [BROKEN[layer]] * 2


async def test_cancellation_that_was_asked_for_passes_through_a_check(layer: str) -> None:
    async def endless(value: object, *others: object) -> None:
        await anyio.sleep_forever()

    with anyio.move_on_after(0) as scope:
        await deliberate(**{layer: endless})
    assert scope.cancelled_caught


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_cancellation_out_of_a_checks_own_task_is_a_fault_of_the_check(layer: str) -> None:
    async def awaits_what_was_cancelled(value: object, *others: object) -> None:
        task = asyncio.ensure_future(asyncio.sleep(0))
        task.cancel()
        await task

    assert codes(await deliberate(**{layer: awaits_what_was_cancelled})) == [BROKEN[layer]]


async def test_program_that_is_stopped_inside_a_check_stops(layer: str) -> None:
    def stopping(value: object, *others: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await deliberate(**{layer: stopping})


@pytest.mark.parametrize(
    ("answer", "reason"), [(True, "a person must decide"), ("over 1000", "over 1000"), (" ", "a person must decide")]
)
async def test_approval_asks_for_a_person_with_a_reason(answer: Any, reason: str) -> None:
    ending = await deliberate(approve=lambda value, context: answer)
    assert isinstance(ending, NeedsApproval)
    assert ending.reason == reason
    assert "over 1000" not in repr(ending)
    assert "over 1000" not in ending.summary()


@pytest.mark.parametrize("answer", [None, False])
async def test_approval_that_needs_nobody_goes_on(answer: Any) -> None:
    assert await deliberate(approve=lambda value, context: answer) is None


async def test_every_reason_for_a_person_is_told() -> None:
    ending = await deliberate(approve=[lambda v, c: "first", lambda v, c: None, lambda v, c: "second"])
    assert isinstance(ending, NeedsApproval)
    assert ending.reason == "first; second"


@pytest.mark.parametrize("answer", [3, [], NO, {"a": 1}])
async def test_approval_that_answers_otherwise_is_broken_and_nothing_is_allowed(answer: Any) -> None:
    asked: list[object] = []
    ending = await deliberate(
        approve=lambda value, context: answer, authorize=lambda value, context: asked.append(value)
    )
    assert codes(ending) == ["approve_error"]
    assert isinstance(ending, Invalid)
    assert ending.layer is Layer.AUTHORIZE
    assert not ending.failures[0].retryable
    assert asked == []


async def test_denial_beats_a_person_who_must_decide() -> None:
    ending = await deliberate(approve=lambda value, context: True, authorize=lambda value, context: False)
    assert codes(ending) == ["not_authorized"]


async def test_person_is_asked_about_what_the_principal_may_do() -> None:
    asked: list[object] = []
    ending = await deliberate(
        principal="ann",
        approve=lambda value, context: True,
        authorize=lambda value, context: asked.append(context.principal),
    )
    assert isinstance(ending, NeedsApproval)
    assert asked == ["ann"]


async def test_stored_value_is_authorized_again_and_nothing_else_is_asked() -> None:
    asked: list[str] = []
    judge = judge_of()
    checks = checks_of(
        rules=lambda value: asked.append("rules"),
        evidence=lambda value, context: asked.append("evidence"),
        approve=lambda value, context: True,
        authorize=lambda value, context: context.principal == "ann",
    )
    assert await judge.authorize(1, checks, CheckContext(principal="ann", is_replay=True)) is None
    refused = await judge.authorize(1, checks, CheckContext(principal="eve", is_replay=True))
    assert codes(refused) == ["not_authorized"]
    assert asked == []
    assert [(record.layer, record.passed) for record in judge.records] == [(Layer.AUTHORIZE, False)]


async def test_value_is_judged_once_and_only_after_it_was_chosen() -> None:
    judge = judge_of()
    with pytest.raises(MisuseError):
        await judge.deliberate(1, Checks(), CheckContext())
    judge.choose(b'"no int"')
    with pytest.raises(MisuseError):
        await judge.deliberate(1, Checks(), CheckContext())
    judge.choose(b"1")
    assert await judge.deliberate(1, Checks(), CheckContext()) is None
    with pytest.raises(MisuseError):
        await judge.deliberate(1, Checks(), CheckContext())


async def test_text_outside_the_contract_is_never_chosen() -> None:
    judge = judge_of()
    violation = Violated(kind="constraint", position=0, explanation="", receipt=Receipt())
    ending = judge.explain(Outside(b'"x"', violation))
    assert isinstance(ending, Invalid)
    assert ending.layer is Layer.SCHEMA
    assert judge.explain(Outside(b"1", violation)) is violation
    assert [(record.layer, record.passed) for record in judge.records] == [(Layer.PARSE, True), (Layer.SCHEMA, True)]
    with pytest.raises(MisuseError):
        await judge.deliberate(1, Checks(), CheckContext())


WORDS = ["rules", "content", "evidence", "approve", "authorize"]


@given(st.lists(st.sampled_from(["skip", "yes", "no", "broken", "person"]), min_size=5, max_size=5))
def test_first_no_in_the_order_of_the_layers_is_the_ending(answers: list[str]) -> None:
    def check(word: str, answer: str) -> Any:
        if answer == "broken":
            return breaking
        if word == "approve":
            return lambda *given: answer == "person"
        return refusing if answer == "no" else content

    given_checks = {word: check(word, answer) for word, answer in zip(WORDS, answers, strict=True) if answer != "skip"}
    stops = [
        word
        for word, answer in zip(WORDS, answers, strict=True)
        if answer == "broken" or (answer == "no" and word != "approve")
    ]
    ending = anyio.run(lambda: deliberate(**given_checks))
    if stops:
        assert isinstance(ending, Invalid)
        assert ending.layer is LAYERS.get(stops[0], Layer.AUTHORIZE)
    elif answers[3] == "person":
        assert isinstance(ending, NeedsApproval)
    else:
        assert ending is None


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"rules": [lambda: None]}, r"rules\[0\] must take \(value\)"),
        ({"content": [3]}, r"content\[0\] must be a function of the value, found int"),
        ({"evidence": [lambda value: None]}, r"evidence\[0\] must take \(value, context\)"),
        ({"evidence": content}, "evidence must be a list of functions, found function"),
        ({"authorize": lambda value: None}, r"authorize must take \(value, context\)"),
        ({"authorize": [content]}, "authorize must be a function of the value and its context, found list"),
        ({"approve": 3}, "approve must be a function of the value and its context, found int"),
    ],
)
def test_check_that_cannot_be_called_is_refused_before_it_is(given: Any, words: str) -> None:
    with pytest.raises(MisuseError, match=words):
        Checks[Any].of(**given)


def test_joined_checks_ask_the_first_ones_first() -> None:
    one, two = Checks[Any].of(rules=[content], authorize=content), Checks[Any].of(rules=[refusing], authorize=refusing)
    joined = one.joined(two)
    assert joined.rules == (content, refusing)
    assert joined.authorize == (content, refusing)
    assert joined.approve == ()


@pytest.mark.parametrize("pointer", ["", "/", "/amount", "/lines/0/a~1b~0", "//", "/not there", "/line\nbreak"])
def test_violation_may_point_anywhere(pointer: str) -> None:
    assert RuleViolation("no", "not so", pointer).pointer == pointer


@pytest.mark.parametrize(
    "pointer", ["canary", "canary/0", "#/canary", "/canary~2", "/canary~", " ", "$.canary", "/a\n~"]
)
def test_violation_that_points_by_what_is_no_pointer_is_misuse(pointer: str) -> None:
    with pytest.raises(MisuseError, match=r"RuleViolation\.pointer must be a JSON pointer") as raised:
        RuleViolation("no", "not so", pointer)
    assert "canary" not in str(raised.value)


async def test_pointer_that_is_none_is_a_fault_of_the_check(layer: str) -> None:
    def slipping(value: object, *others: object) -> RuleViolation:
        return RuleViolation("no", "not so", "amount")

    ending = await deliberate(**{layer: [slipping]})
    assert codes(ending) == [BROKEN[layer]]


async def test_pointer_that_names_nothing_is_handed_on(layer: str) -> None:
    def missing(value: object, *others: object) -> RuleViolation:
        return RuleViolation("no", "must be there", "/nobody/7")

    ending = await deliberate(**{layer: [missing]})
    assert isinstance(ending, Invalid)
    assert [failure.pointer for failure in ending.failures] == ["/nobody/7"]

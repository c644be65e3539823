"""What one answer to a probe proves."""

from dataclasses import replace
from random import Random
from typing import Any

import pytest

from commitgate.backends.base import Fault, Finish, FinishReason
from commitgate.backends.dialect import Answer
from commitgate.probe.judge import Judgement, judge, judge_repeated, judge_whole, settle, with_control
from commitgate.probe.plan import (
    ask_choice,
    ask_cut,
    ask_enum,
    ask_grammar,
    ask_invalid_grammar,
    ask_invalid_pattern,
    ask_invalid_schema,
    ask_order,
    ask_pattern,
    ask_property,
    ask_tool,
)
from commitgate.probe.question import Question, Reply
from commitgate.probe.result import Verdict

DRAW = Random(7).randrange
STOP = Finish(FinishReason.STOP, "stop")
LENGTH = Finish(FinishReason.LENGTH, "length")
UNKNOWN = Finish(FinishReason.UNKNOWN, "odd")
ENUM = ask_enum(DRAW)


def reply(text: str | bytes = b"", finish: Finish | None = STOP, **more: Any) -> Reply:
    return Reply(text=text.encode() if isinstance(text, str) else text, finish=finish, **more)


INSIDE = f'{{"v": "{ENUM.nonce}"}}'


@pytest.mark.parametrize(
    ("text", "finish", "verdict"),
    [
        (INSIDE, STOP, Verdict.ENFORCED),
        (INSIDE, LENGTH, Verdict.ENFORCED),
        (INSIDE, UNKNOWN, Verdict.ENFORCED),
        (f' \n{{ "v" :"{ENUM.nonce}"}}\n', STOP, Verdict.ENFORCED),
        ("hello", STOP, Verdict.DROPPED),
        ("hello hello hel", LENGTH, Verdict.DROPPED),
        ('"hello"', STOP, Verdict.DROPPED),
        (f"```json\n{INSIDE}\n```", STOP, Verdict.DROPPED),
        (f"{INSIDE} I hope this helps.", STOP, Verdict.DROPPED),
        ('{"v": "hello"}', STOP, Verdict.PARTIAL),
        ('{"answer": true}', STOP, Verdict.PARTIAL),
        ('{" Fernando and the', LENGTH, Verdict.PARTIAL),
        ("{}", STOP, Verdict.PARTIAL),
        ("[]", STOP, Verdict.DROPPED),
        (f'{{"v": "{ENUM.nonce[:4]}', LENGTH, Verdict.UNCLEAR),
        (f'{{"v": "{ENUM.nonce[:4]}', STOP, Verdict.DROPPED),
        (f'{{"v": "{ENUM.nonce[:4]}', None, Verdict.UNCLEAR),
        ("", STOP, Verdict.UNCLEAR),
        ("", LENGTH, Verdict.UNCLEAR),
        ("  \n\n  ", LENGTH, Verdict.UNCLEAR),
        (b"\xff\xfe", STOP, Verdict.DROPPED),
        ("\x1b[31mhello", STOP, Verdict.DROPPED),
    ],
)
def test_answer_against_a_schema(text: str, finish: Finish | None, verdict: Verdict) -> None:
    assert judge(ENUM, reply(text, finish)).verdict is verdict


CHOICE, PATTERN, GRAMMAR = ask_choice(DRAW), ask_pattern(DRAW), ask_grammar(DRAW, "gbnf")


@pytest.mark.parametrize(
    ("question", "text", "verdict"),
    [
        (CHOICE, CHOICE.nonce, Verdict.ENFORCED),
        (CHOICE, f'"{CHOICE.nonce}"', Verdict.DROPPED),
        (CHOICE, f"{CHOICE.nonce}\n", Verdict.DROPPED),
        (CHOICE, f"{CHOICE.nonce}.", Verdict.DROPPED),
        (CHOICE, "4", Verdict.DROPPED),
        (PATTERN, f"{PATTERN.nonce}-ABC", Verdict.ENFORCED),
        (PATTERN, "Hello", Verdict.DROPPED),
        (PATTERN, f"{PATTERN.nonce}-ABCD", Verdict.DROPPED),
        (GRAMMAR, f"{GRAMMAR.nonce}42", Verdict.ENFORCED),
        (GRAMMAR, "hello", Verdict.DROPPED),
        (GRAMMAR, "{}", Verdict.DROPPED),
    ],
)
def test_answer_against_a_text(question: Question, text: str, verdict: Verdict) -> None:
    assert judge(question, reply(text)).verdict is verdict


def test_lark_grammar_is_judged_too() -> None:
    question = ask_grammar(DRAW, "lark")
    assert judge(question, reply(f"{question.nonce}42")).verdict is Verdict.ENFORCED
    assert judge(question, reply(f"{question.nonce}4x")).verdict is Verdict.DROPPED


@pytest.mark.parametrize(
    ("came", "verdict"),
    [
        (reply(INSIDE[:8], None, is_late=True), Verdict.UNCLEAR),
        (reply("hello", is_refused=True), Verdict.UNCLEAR),
        (reply("", Finish(FinishReason.REFUSAL, "refusal")), Verdict.UNCLEAR),
        (reply("", Finish(FinishReason.CONTENT_FILTER, "SAFETY")), Verdict.UNCLEAR),
        (reply(INSIDE, fault=Fault("server", "broke", status=500)), Verdict.UNCLEAR),
        (reply("", None, fault=Fault("bad_request", "no", status=400)), Verdict.REJECTED),
        (reply("", None, fault=Fault("constraint", "no", status=400)), Verdict.REJECTED),
        (Reply(is_unasked=True), Verdict.NOT_TOLD),
    ],
)
def test_what_is_no_answer_proves_nothing(came: Reply, verdict: Verdict) -> None:
    assert judge(ENUM, came).verdict is verdict


@pytest.mark.parametrize("text", ["", " \n", f'{{"v": "{ENUM.nonce[:3]}'])
def test_answer_that_was_cut_wants_more_room(text: str) -> None:
    assert judge(ENUM, reply(text, LENGTH)).wants_room
    assert not judge(ENUM, reply("hello", LENGTH)).wants_room


@pytest.mark.parametrize(
    "ask", [ask_invalid_schema, ask_invalid_pattern, lambda draw: ask_invalid_grammar(draw, "gbnf")]
)
@pytest.mark.parametrize(
    ("came", "verdict"),
    [
        (reply("", None, fault=Fault("constraint", "no", status=400)), Verdict.REJECTED),
        (reply("", None, fault=Fault("bad_request", "no", status=400, detail="Invalid schema")), Verdict.REJECTED),
        (reply("", None, fault=Fault("server", "no", status=500, detail="failed to parse grammar")), Verdict.REJECTED),
        (reply("", None, fault=Fault("bad_request", "no", status=400, detail="unknown field")), Verdict.UNCLEAR),
        (reply("", None, fault=Fault("server", "no", status=500, detail="Internal server error")), Verdict.UNCLEAR),
        (reply("", None, fault=Fault("auth", "no", status=401)), Verdict.UNCLEAR),
        (reply("", None, is_late=True), Verdict.UNCLEAR),
        (reply("", None), Verdict.UNCLEAR),
        (reply("hello"), Verdict.DROPPED),
        (reply(""), Verdict.DROPPED),
        (reply("{", LENGTH), Verdict.DROPPED),
    ],
)
def test_what_nothing_can_enforce_must_be_refused(ask: Any, came: Reply, verdict: Verdict) -> None:
    assert judge(ask(DRAW), came).verdict is verdict


def test_keys_must_come_in_the_order_of_the_schema() -> None:
    question = ask_order(DRAW)
    texts = {order: "{" + ", ".join(f'"{key}": "{question.nonce}"' for key in order) + "}" for order in ("zam", "amz")}
    assert judge(question, reply(texts["zam"])).verdict is Verdict.ENFORCED
    assert judge(question, reply(texts["amz"])).verdict is Verdict.DROPPED


def test_arguments_of_a_strict_tool_must_be_valid() -> None:
    question = ask_tool(DRAW)
    for arguments, verdict in (
        (f'{{"v": "{question.nonce}"}}', Verdict.ENFORCED),
        ('{"v": "hello"}', Verdict.DROPPED),
        ("{}", Verdict.DROPPED),
        ("{", Verdict.DROPPED),
    ):
        assert judge(question, reply(arguments=arguments.encode())).verdict is verdict
    assert judge(question, reply("Done!")).verdict is Verdict.DROPPED
    assert judge(question, reply("Let me", LENGTH)).verdict is Verdict.UNCLEAR
    assert judge(question, reply("", LENGTH, arguments=b'{"v')).verdict is Verdict.UNCLEAR


def test_cut_answer_must_be_called_cut() -> None:
    question = ask_cut(DRAW)
    start = f'{{"v": "{question.nonce[:20]}'
    paused = Finish(FinishReason.PAUSED, "pause_turn")
    for came, verdict in (
        (reply(start, LENGTH), Verdict.YES),
        (reply("hello", LENGTH), Verdict.YES),
        (reply(start, paused), Verdict.YES),
        (reply(start, STOP), Verdict.NO),
        (reply(start, UNKNOWN), Verdict.NO),
        (reply("hello hello", STOP, output_tokens=question.max_tokens), Verdict.NO),
        (reply("hello", STOP, output_tokens=2), Verdict.UNCLEAR),
        (reply(start, None), Verdict.UNCLEAR),
        (reply(f'{{"v": "{question.nonce}"}}', STOP), Verdict.UNCLEAR),
    ):
        assert judge(question, came).verdict is verdict, came


def test_whole_answers_must_be_called_whole() -> None:
    assert judge_whole([reply(), reply()]).verdict is Verdict.YES
    assert judge_whole([reply(), reply("", UNKNOWN)]).verdict is Verdict.NO
    assert judge_whole([reply("", LENGTH)]).verdict is Verdict.NOT_TOLD
    assert judge_whole([]).verdict is Verdict.NOT_TOLD


def answer(body: str = "{}", status: int = 200, **headers: str) -> Answer:
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(status=status, headers=fields, body=body.encode())


@pytest.mark.parametrize(
    ("first", "second", "verdict"),
    [
        (answer('{"id": "a"}'), answer('{"id": "a"}'), Verdict.YES),
        (answer('data: {"id":"a"}\n\n'), answer('data: {"id":"b"}\n\n'), Verdict.NO),
        (answer('{"responseId": "a"}'), answer('{"responseId": "b"}'), Verdict.NO),
        (answer('{"created_at":"12:00"}'), answer('{"created_at":"12:01"}'), Verdict.NO),
        (answer('{"id": "a"}'), answer('{"id": "b"}', idempotency_replayed="true"), Verdict.YES),
        (answer(), answer(), Verdict.NOT_TOLD),
        (answer(), answer(status=409), Verdict.YES),
        (answer(), answer(status=422), Verdict.YES),
        (answer(), answer(status=500), Verdict.NOT_TOLD),
        (answer(status=422), answer(status=422), Verdict.NOT_TOLD),
        (answer(status=0), answer(), Verdict.NOT_TOLD),
    ],
)
def test_repeated_key(first: Answer, second: Answer, verdict: Verdict) -> None:
    assert judge_repeated(first, second).verdict is verdict


def test_late_answer_that_lies_outside_already_is_dropped() -> None:
    assert judge(ENUM, reply("hello", None, is_late=True)).verdict is Verdict.DROPPED
    assert judge(ENUM, reply('{"v": "', None, is_late=True)).verdict is Verdict.UNCLEAR
    assert judge(ENUM, reply("", None, is_late=True)).verdict is Verdict.UNCLEAR


def of(*verdicts: Verdict) -> list[Judgement]:
    return [Judgement(verdict=each, reason=str(number)) for number, each in enumerate(verdicts)]


E, U = Verdict.ENFORCED, Verdict.UNCLEAR


@pytest.mark.parametrize(
    ("verdicts", "settled"),
    [
        ([E], None),
        ([E, E], E),
        ([E, U], None),
        ([E, U, E], E),
        ([U], None),
        ([U, U], U),
        ([U, E, U], U),
        ([U, E, E], E),
        ([Verdict.DROPPED], Verdict.DROPPED),
        ([E, Verdict.DROPPED], Verdict.DROPPED),
        ([E, Verdict.PARTIAL], Verdict.PARTIAL),
        ([Verdict.REJECTED], Verdict.REJECTED),
        ([Verdict.YES], Verdict.YES),
        ([U, Verdict.NO], Verdict.NO),
        ([Verdict.NOT_TOLD], Verdict.NOT_TOLD),
    ],
)
def test_one_answer_outside_decides_and_two_inside_must_agree(verdicts: list[Verdict], settled: Verdict | None) -> None:
    found = settle(of(*verdicts), trials=2)
    assert (None if found is None else found.verdict) == settled


def test_keyword_counts_only_where_the_model_breaks_it_without() -> None:
    (kept,) = of(E)
    (broken,) = of(Verdict.DROPPED)
    assert with_control(kept, broken).verdict is E
    assert with_control(kept, kept).verdict is U
    assert with_control(broken, kept).verdict is Verdict.DROPPED


def test_reasons_hold_no_word_of_the_model_or_the_server() -> None:
    secret = "swordfish"
    fault = Fault("server", "it broke", status=500, detail=secret)
    for came in (reply(secret), reply(secret, LENGTH), reply("", None, fault=fault), reply(f'{{"{secret}": 1}}')):
        for question in (ENUM, CHOICE, ask_cut(DRAW), ask_invalid_schema(DRAW)):
            found = judge(question, came)
            assert secret not in found.reason
            assert secret not in repr(found)


def test_questions_that_lead_out_of_their_constraint_do_not_name_it() -> None:
    for ask in (ask_enum, ask_property, ask_choice, ask_pattern, ask_tool, ask_cut):
        question = ask(DRAW)
        assert question.nonce
        assert question.nonce not in question.prompt
        assert replace(question, prompt="").prompt == ""

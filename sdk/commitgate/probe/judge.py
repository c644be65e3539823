"""Say what an answer to a probe proves, and what the answers to all of them come to. Plain functions of what came back.

Outside of the constraint is a proof that nothing enforced it, whatever else the text is: a model too weak to follow the
prompt proves it too. Inside of it is a proof only because the prompt led out of it, and only from two answers on. What
was cut, refused, empty or failed proves nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

from commitgate.automaton import Automaton, compile
from commitgate.backends.base import Fault, FinishReason
from commitgate.backends.dialect import Answer
from commitgate.backends.remote_stream import REPLAYED_HEADER
from commitgate.contract import Contract
from commitgate.errors import LimitExceededError
from commitgate.gate.layers import Failure
from commitgate.gate.schema_layer import SchemaLayer
from commitgate.gate.strict_parse import strict_parse
from commitgate.json_value import JsonObject
from commitgate.languages import AnyJson
from commitgate.probe.question import Question, Reply
from commitgate.probe.result import Verdict

_NESTING = 16
_NAMES_CONSTRAINT = re.compile(
    r"schema|grammar|regex|pattern|structured|response_format|json_schema|guided|constraint|unrecognized type", re.I
)
_REFUSING = frozenset({"constraint", "bad_request"})

_OK = 200
_KNOWS_KEY = frozenset({409, 422})
_ID = re.compile(rb'"(?:id|responseId|created_at)" *: *"(?P<id>[^"\\]{1,200})"')

FATAL_FAULTS = frozenset({"auth", "quota", "unreachable", "untrusted"})
"""Failures after which nothing more is asked: every further request would fail like this one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """Hold what one answer proves.

    Attributes:
        verdict: it.
        reason: why, in words.
        answer: what the model wrote, where it was looked at.
        wants_room: with more tokens it might have told more.
    """

    verdict: Verdict
    reason: str
    answer: bytes = field(default=b"", repr=False)
    wants_room: bool = False


def judge(question: Question, reply: Reply) -> Judgement:
    """Return what one answer proves."""
    if reply.is_unasked:
        return Judgement(verdict=Verdict.NOT_TOLD, reason="this backend has no way to ask for it")
    if question.expects == "refusal":
        return _of_refusal(question, reply)
    broken = _of_failure(question, reply)
    if broken is not None:
        return broken
    match question.expects:
        case "inside":
            return _of_constraint(question, reply)
        case "order":
            return _of_order(question, reply)
        case "tool":
            return _of_call(question, reply)
        case "cut":
            return _of_cut(question, reply)
        case "keyword":
            return _of_keyword(question, reply)


def settle(judgements: Sequence[Judgement], *, trials: int) -> Judgement | None:
    """Return what the answers so far come to; None where one more is wanted.

    The first answer that decides by itself does. Answers that lie in the constraint count once ``trials`` of them
    agree; what tells nothing is asked once more.
    """
    last = judgements[-1]
    if last.verdict not in (Verdict.ENFORCED, Verdict.UNCLEAR):
        return last
    agreeing = [each for each in judgements if each.verdict is Verdict.ENFORCED]
    if len(agreeing) >= trials:
        return last if last.verdict is Verdict.ENFORCED else agreeing[-1]
    unclear = [each for each in judgements if each.verdict is Verdict.UNCLEAR]
    return unclear[-1] if len(unclear) > 1 else None


def _of_refusal(question: Question, reply: Reply) -> Judgement:
    fault = reply.fault
    if fault is None:
        if reply.is_late:
            return Judgement(verdict=Verdict.UNCLEAR, reason="no answer came in time")
        if reply.finish is None and not reply.text:
            return Judgement(verdict=Verdict.UNCLEAR, reason="the stream ended without an answer and without a refusal")
        return Judgement(
            verdict=Verdict.DROPPED,
            reason="it took what nothing can enforce and answered all the same",
            answer=reply.text,
        )
    told = fault_words(fault)
    is_named = question.nonce in (fault.detail or "") or bool(_NAMES_CONSTRAINT.search(fault.detail or ""))
    if fault.kind == "constraint" or (fault.kind in (*_REFUSING, "server") and is_named):
        return Judgement(verdict=Verdict.REJECTED, reason=f"refused, as it should be ({told})")
    if fault.kind in _REFUSING:
        return Judgement(verdict=Verdict.UNCLEAR, reason=f"refused, but it does not say that it was for this ({told})")
    return Judgement(verdict=Verdict.UNCLEAR, reason=f"it failed in another way ({told})")


def _of_failure(question: Question, reply: Reply) -> Judgement | None:
    fault = reply.fault
    if fault is not None:
        told = fault_words(fault)
        if fault.kind in _REFUSING:
            return Judgement(verdict=Verdict.REJECTED, reason=f"the server refuses to be asked so ({told})")
        return Judgement(verdict=Verdict.UNCLEAR, reason=f"the request failed ({told})")
    if reply.is_late and not (question.expects == "inside" and _is_outside(question, reply)):
        return Judgement(verdict=Verdict.UNCLEAR, reason="no whole answer came in time", answer=reply.text)
    word = None if reply.finish is None else reply.finish.reason
    if reply.is_refused or word in (FinishReason.REFUSAL, FinishReason.CONTENT_FILTER):
        return Judgement(verdict=Verdict.UNCLEAR, reason="the model or a filter declined", answer=reply.text)
    return None


def fault_words(fault: Fault) -> str:
    """Return what is told of a failure: its kind, status, code and message, and none of the server's own words."""
    parts = [fault.kind, None if fault.status is None else f"status {fault.status}", fault.code]
    return f"{', '.join(part for part in parts if part)}: {fault.message}"


def _of_constraint(question: Question, reply: Reply) -> Judgement:
    text = reply.text
    if not text.strip():
        return _empty(reply)
    is_inside, is_whole = _walk(compile(question.translation.sent), text)
    if is_inside and is_whole:
        return Judgement(verdict=Verdict.ENFORCED, reason="the answer lies in the constraint", answer=text)
    if is_inside:
        return _unfinished(reply)
    if question.translation.form == "json_schema" and _walk(_any_object(), text)[0]:
        return Judgement(verdict=Verdict.PARTIAL, reason="the answer is JSON, but not of the schema", answer=text)
    return Judgement(verdict=Verdict.DROPPED, reason="the answer lies outside of the constraint", answer=text)


def _is_outside(question: Question, reply: Reply) -> bool:
    """Say whether what came is no start of what the constraint allows, however it might go on."""
    return bool(reply.text.strip()) and not _walk(compile(question.translation.sent), reply.text)[0]


def _empty(reply: Reply) -> Judgement:
    is_cut = _is_cut(reply)
    return Judgement(
        verdict=Verdict.UNCLEAR,
        reason="nothing of the answer came before it was cut" if is_cut else "the answer is empty",
        answer=reply.text,
        wants_room=is_cut,
    )


def _unfinished(reply: Reply) -> Judgement:
    if _is_cut(reply) or reply.finish is None:
        reason = "the answer was cut before it was whole"
        return Judgement(verdict=Verdict.UNCLEAR, reason=reason, answer=reply.text, wants_room=_is_cut(reply))
    return Judgement(
        verdict=Verdict.DROPPED,
        reason="the answer ended where the constraint lets none end",
        answer=reply.text,
    )


def _is_cut(reply: Reply) -> bool:
    return reply.finish is not None and reply.finish.reason in (FinishReason.LENGTH, FinishReason.PAUSED)


def _walk(automaton: Automaton, text: bytes) -> tuple[bool, bool]:
    """Return whether a text can still become one of the language, and whether it is one."""
    acceptor = automaton.acceptor()
    try:
        return acceptor.feed(text), acceptor.is_accepting
    except LimitExceededError:
        return False, False


def _any_object() -> Automaton:
    return compile(Contract.of(AnyJson(_NESTING, root="object")))


def _of_order(question: Question, reply: Reply) -> Judgement:
    found = _of_constraint(question, reply)
    if found.verdict is not Verdict.ENFORCED:
        return found
    schema = cast("dict[str, JsonObject]", question.translation.schema)
    # It parses, for it lies in the constraint.
    if list(json.loads(reply.text)) == list(schema["properties"]):
        return found
    return Judgement(verdict=Verdict.DROPPED, reason="the keys come in another order", answer=reply.text)


def _of_call(question: Question, reply: Reply) -> Judgement:
    if reply.arguments is None:
        if _is_cut(reply):
            return Judgement(
                verdict=Verdict.UNCLEAR, reason="cut before a call came", answer=reply.text, wants_room=True
            )
        reason = "it had to call the tool, and wrote words in its place"
        return Judgement(verdict=Verdict.DROPPED, reason=reason, answer=reply.text)
    found = _valid(question, reply.arguments)
    if found is None and _is_cut(reply):
        return Judgement(verdict=Verdict.UNCLEAR, reason="the call was cut", answer=reply.arguments, wants_room=True)
    if found:
        return Judgement(verdict=Verdict.ENFORCED, reason="the arguments are valid", answer=reply.arguments)
    return Judgement(verdict=Verdict.DROPPED, reason="the arguments break their schema", answer=reply.arguments)


def _valid(question: Question, text: bytes) -> bool | None:
    """Return whether a text is valid under the question's schema; None where it is no JSON."""
    parsed = strict_parse(text, nesting=_NESTING)
    return None if isinstance(parsed, Failure) else not SchemaLayer(question.schema).judge(parsed.value)


def _of_keyword(question: Question, reply: Reply) -> Judgement:
    text = reply.text
    if not text.strip():
        return _empty(reply)
    found = _valid(question, text)
    if found is None and _is_cut(reply):
        return _unfinished(reply)
    if found is None:
        return Judgement(verdict=Verdict.DROPPED, reason="the answer is no JSON", answer=text)
    if found:
        return Judgement(verdict=Verdict.ENFORCED, reason="the answer keeps to the keyword", answer=text)
    return Judgement(verdict=Verdict.DROPPED, reason="the answer breaks the keyword", answer=text)


def with_control(found: Judgement, control: Judgement) -> Judgement:
    """Return what a keyword's answers prove, once the same was asked without the keyword.

    Args:
        found: what the answers with the keyword came to.
        control: what the answer without it is under the schema with it.
    """
    if found.verdict is not Verdict.ENFORCED or control.verdict is Verdict.DROPPED:
        return found
    return Judgement(
        verdict=Verdict.UNCLEAR,
        reason="the answers keep to the keyword, but so does one that was asked without it",
        answer=found.answer,
    )


def _of_cut(question: Question, reply: Reply) -> Judgement:
    reason = None if reply.finish is None else reply.finish.reason
    if reason in (FinishReason.LENGTH, FinishReason.PAUSED):
        return Judgement(verdict=Verdict.YES, reason="it says so", answer=reply.text)
    if reason is None:
        return Judgement(verdict=Verdict.UNCLEAR, reason="the stream ended without a word", answer=reply.text)
    is_inside, is_whole = _walk(compile(question.translation.sent), reply.text)
    if is_whole:
        return Judgement(verdict=Verdict.UNCLEAR, reason="it wrote more than it was allowed to", answer=reply.text)
    if reason is FinishReason.UNKNOWN:
        return Judgement(verdict=Verdict.NO, reason="its finish word is not known", answer=reply.text)
    is_full = (reply.output_tokens or 0) >= question.max_tokens
    if is_inside or is_full:
        return Judgement(verdict=Verdict.NO, reason="it says that a cut answer is whole", answer=reply.text)
    return Judgement(verdict=Verdict.UNCLEAR, reason="the answer is another text, and ended early", answer=reply.text)


def judge_whole(replies: Sequence[Reply]) -> Judgement:
    """Return whether the server calls whole answers whole.

    Args:
        replies: answers that lie in their constraints, and are whole.
    """
    told = [reply.finish for reply in replies if reply.finish is not None and not _is_cut(reply)]
    if not told:
        return Judgement(verdict=Verdict.NOT_TOLD, reason="no answer was whole")
    if all(finish.reason is FinishReason.STOP for finish in told):
        return Judgement(verdict=Verdict.YES, reason="it says so")
    return Judgement(verdict=Verdict.NO, reason="its finish word for a whole answer is not known, or means another end")


def judge_repeated(first: Answer, second: Answer) -> Judgement:
    """Return whether a server answered the second of two equal requests with one key from its memory."""
    if first.status == _OK and second.status in _KNOWS_KEY:
        return Judgement(verdict=Verdict.YES, reason=f"it knows the key (status {second.status})")
    if first.status != _OK or second.status != _OK:
        return Judgement(verdict=Verdict.NOT_TOLD, reason="one of the two requests came to no answer")
    if second.headers.get(REPLAYED_HEADER, "").lower() == "true":
        return Judgement(verdict=Verdict.YES, reason="it says that the answer is the one before")
    ids = [_ID.search(answer.body) for answer in (first, second)]
    if ids[0] is None or ids[1] is None:
        return Judgement(verdict=Verdict.NOT_TOLD, reason="its answers have no id by which to tell")
    if ids[0]["id"] == ids[1]["id"]:
        return Judgement(verdict=Verdict.YES, reason="both answers have one id")
    return Judgement(verdict=Verdict.NO, reason="it worked on the request again")


__all__ = [
    "FATAL_FAULTS",
    "Judgement",
    "fault_words",
    "judge",
    "judge_repeated",
    "judge_whole",
    "settle",
    "with_control",
]

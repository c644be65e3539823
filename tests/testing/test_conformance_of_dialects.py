"""Every dialect of this project keeps the laws, and one that breaks any of them is caught by its name."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from dataclasses import replace
from itertools import count
from typing import Any

import pytest
from testing.recorded_answers import TEXT, answers_of, chat_answer, whole_answer

from commitgate.backends.base import Finish, FinishReason, GenerationRequest, StreamEvent, TextDelta
from commitgate.backends.dialect import Answer, Expected, Outgoing, ServerFacts, ServerIdentity
from commitgate.backends.dialects.chat_dialect import ChatDialect
from commitgate.backends.dialects.chat_reading import ChatReader
from commitgate.backends.dialects.openai_chat import OpenAIChatDialect
from commitgate.backends.dialects.table import DIALECTS
from commitgate.backends.dialects.vllm_chat import VllmChatDialect
from commitgate.backends.wire.wire_event import WireEvent
from commitgate.errors import MisuseError
from commitgate.testing import ConformanceError, Law, RecordedAnswer, check_dialect, laws

NOT_FOR_ALL = frozenset({Law.REASONING_APART, Law.MARKER_PROVES_NOTHING, Law.ERROR_WINS, Law.JUNK_IGNORED})
"""Laws that need an answer of a kind which not every server was recorded with."""

PAYLOAD = ("Quito", "2850")


@pytest.mark.parametrize("name", sorted(DIALECTS))
def test_dialect_keeps_the_laws(name: str) -> None:
    tried = check_dialect(DIALECTS[name](), answers_of(name))
    assert tried | NOT_FOR_ALL >= {law for law in laws() if law.of != "backend"}


def test_every_law_of_dialects_is_tried_for_some() -> None:
    assert check_dialect(VllmChatDialect(), answers_of("vllm_chat")) == {law for law in laws() if law.of != "backend"}


class Reading(VllmChatDialect):
    """Read with another reader."""

    def __init__(self, kind: Callable[[Expected], ChatReader]) -> None:
        super().__init__()
        self._kind = kind

    def reader(self, expected: Expected) -> ChatReader:
        return self._kind(expected)


class MarkerIsTheEnd(ChatReader):
    def read(self, event: WireEvent) -> Iterable[StreamEvent]:
        return [Finish(FinishReason.STOP, "stop")] if event.value is None else super().read(event)


class ThoughtsAreText(ChatReader):
    def read(self, event: WireEvent) -> Iterable[StreamEvent]:
        found = [*super().read(event)]
        return [TextDelta(each.data) if hasattr(each, "data") else each for each in found]


class ThoughtsAreLost(ChatReader):
    def read(self, event: WireEvent) -> Iterable[StreamEvent]:
        return [each for each in super().read(event) if type(each).__name__ != "ReasoningDelta"]


class CutIsTheEnd(ChatReader):
    def close(self) -> Iterable[StreamEvent]:
        return [Finish(FinishReason.STOP, "stop")] if self.finish_native is None else ()


class CutIsCompleted(ChatReader):
    def close(self) -> Iterable[StreamEvent]:
        return [TextDelta(b"!}")] if self.finish_native is None else ()


class EndIsGuessed(ChatReader):
    """Take a text that looks whole for one."""

    def read(self, event: WireEvent) -> Iterable[StreamEvent]:
        for found in super().read(event):
            yield found
            if isinstance(found, TextDelta) and found.data.endswith(b"}"):
                self.finish_native = "stop"
                yield Finish(FinishReason.STOP, "stop")


class BreaksWhenItIsWhole(ChatReader):
    def close(self) -> Iterable[StreamEvent]:
        raise KeyError("Quito")


class WordIsTranslated(ChatReader):
    def close(self) -> Iterable[StreamEvent]:
        self.finish_native = "END"
        return super().close()


class ErrorsAreUnheardOf(ChatReader):
    def read(self, event: WireEvent) -> Iterable[StreamEvent]:
        if event.value is not None and "choices" not in event.value:
            raise KeyError("Quito")
        return super().read(event)


class OneForAll(Reading):
    """Give out one reader, as new, whoever reads with it still."""

    def __init__(self) -> None:
        super().__init__(ChatReader)
        self._one = ChatReader(Expected(offers_tools=True))

    def reader(self, expected: Expected) -> ChatReader:
        self._one.__init__(expected)  # type: ignore[misc] - as a reader that is set back would do
        return self._one


THOUGHTFUL = chat_answer(
    {"reasoning_content": "hills, then"},
    {"content": TEXT[:7]},
    {"content": TEXT[7:]},
    reasoning="hills, then",
    name="thoughtful",
)


@pytest.mark.parametrize(
    ("kind", "law"),
    [
        (MarkerIsTheEnd, Law.MARKER_PROVES_NOTHING),
        (ThoughtsAreText, Law.REASONING_APART),
        (ThoughtsAreLost, Law.REASONING_APART),
        (CutIsTheEnd, Law.END_PROVEN),
        (CutIsCompleted, Law.TEXT_GROWS),
        (EndIsGuessed, Law.END_PROVEN),
        (ErrorsAreUnheardOf, Law.ERROR_WINS),
        (BreaksWhenItIsWhole, Law.ANSWER_READ),
        (WordIsTranslated, Law.ANSWER_READ),
    ],
)
def test_wrong_reading_is_caught(kind: Callable[[Expected], ChatReader], law: Law) -> None:
    recordings = [THOUGHTFUL] if law is Law.REASONING_APART else [whole_answer()]
    raised = caught(Reading(kind), recordings)
    assert raised.law is law
    assert raised.recording == recordings[0].name
    assert raised.place


def test_readers_that_touch_each_other_are_caught() -> None:
    other = replace(THOUGHTFUL, name="other")
    assert caught(OneForAll(), [whole_answer(), other]).law is Law.READERS_APART


def test_answer_that_is_read_otherwise_than_recorded_is_caught() -> None:
    wrong = replace(whole_answer(), name="wrong", outcome="truncated")
    raised = caught(VllmChatDialect(), [whole_answer(), wrong])
    assert (raised.law, raised.recording) == (Law.ANSWER_READ, "wrong")


class Writing(VllmChatDialect):
    """Change what is written."""

    def __init__(self, change: Callable[[GenerationRequest, dict[str, Any]], Any]) -> None:
        super().__init__()
        self._change = change

    def write(self, request: GenerationRequest) -> Outgoing:
        outgoing = super().write(request)
        body = dict(outgoing.body or {})
        self._change(request, body)
        return replace(outgoing, body=body)


def no_constraint(request: GenerationRequest, body: dict[str, Any]) -> None:
    body.pop("response_format", None)
    body.pop("structured_outputs", None)


def another_constraint(request: GenerationRequest, body: dict[str, Any]) -> None:
    schema = request.contract.schema
    body["hint"] = schema if isinstance(schema, dict) else {}


def constraint_anyhow(request: GenerationRequest, body: dict[str, Any]) -> None:
    assert request.translation is not None
    body["hint"] = request.translation.sent.schema


def key_in_the_body(request: GenerationRequest, body: dict[str, Any]) -> None:
    body["api_key"] = os.environ["VLLM_API_KEY"]


def question_in_the_body(request: GenerationRequest, body: dict[str, Any]) -> None:
    body["user"] = request.idempotency_key


def attempt_in_the_body(request: GenerationRequest, body: dict[str, Any]) -> None:
    body["try"] = request.attempt


_numbers = count()


def number_in_the_body(request: GenerationRequest, body: dict[str, Any]) -> None:
    body["id"] = next(_numbers)


def no_limit(request: GenerationRequest, body: dict[str, Any]) -> None:
    body.pop("max_tokens", None)
    body.pop("max_completion_tokens", None)


def no_message(request: GenerationRequest, body: dict[str, Any]) -> None:
    body["messages"] = []


def no_json(request: GenerationRequest, body: dict[str, Any]) -> None:
    body["temperature"] = float("nan")


def breaking(request: GenerationRequest, body: dict[str, Any]) -> None:
    raise KeyError("Quito")


def translation_changed(request: GenerationRequest, body: dict[str, Any]) -> None:
    assert request.translation is not None
    body.update(deepcopy(body))
    if isinstance(request.translation.schema, dict):
        request.translation.schema["title"] = "mine"


@pytest.mark.parametrize(
    ("change", "law"),
    [
        (no_constraint, Law.CONSTRAINT_SENT),
        (breaking, Law.CONSTRAINT_SENT),
        (another_constraint, Law.CONSTRAINT_TRANSLATED),
        (constraint_anyhow, Law.CONSTRAINT_TRANSLATED),
        (key_in_the_body, Law.REQUEST_KEYLESS),
        (question_in_the_body, Law.REQUEST_KEYLESS),
        (attempt_in_the_body, Law.REQUEST_SAME),
        (number_in_the_body, Law.REQUEST_SAME),
        (translation_changed, Law.REQUEST_SAME),
        (no_limit, Law.REQUEST_WHOLE),
        (no_message, Law.REQUEST_WHOLE),
        (no_json, Law.REQUEST_JSON),
    ],
)
def test_wrong_writing_is_caught(change: Callable[[GenerationRequest, dict[str, Any]], Any], law: Law) -> None:
    raised = caught(Writing(change), [whole_answer()])
    assert raised.law is law
    assert raised.place.startswith("form ")


class WithoutTools(OpenAIChatDialect):
    def write(self, request: GenerationRequest) -> Outgoing:
        outgoing = super().write(request)
        plain = request.tools is None
        body = {name: value for name, value in (outgoing.body or {}).items() if plain or name != "tools"}
        return replace(outgoing, body=body)


class ExpectingNoCalls(OpenAIChatDialect):
    def expected(self, request: GenerationRequest) -> Expected:
        return replace(super().expected(request), offers_tools=False)


class AlwaysExpectingCalls(VllmChatDialect):
    def expected(self, request: GenerationRequest) -> Expected:
        return replace(super().expected(request), offers_tools=True)


@pytest.mark.parametrize("kind", [WithoutTools, ExpectingNoCalls, AlwaysExpectingCalls])
def test_wrong_offers_of_tools_are_caught(kind: type[ChatDialect]) -> None:
    assert caught(kind(), [whole_answer()]).law is Law.TOOLS_OFFERED


class AskingModels(VllmChatDialect):
    def handshake(self, model: str) -> Sequence[Outgoing]:
        return [Outgoing(method="POST", path="/chat/completions", body={})]


class Trusting(VllmChatDialect):
    def identify(self, model: str, answers: Sequence[Answer]) -> ServerIdentity:
        return ServerIdentity(is_ready=True)


class Careless(VllmChatDialect):
    def identify(self, model: str, answers: Sequence[Answer]) -> ServerIdentity:
        return ServerIdentity(is_ready=answers[0].body[0] == 123)


@pytest.mark.parametrize("kind", [AskingModels, Trusting, Careless])
def test_wrong_handshake_is_caught(kind: type[VllmChatDialect]) -> None:
    assert caught(kind(), [whole_answer()]).law is Law.HANDSHAKE


class Knowing(VllmChatDialect):
    """Know something else."""

    def __init__(self, **changes: Any) -> None:
        super().__init__()
        self._changes = changes

    @property
    def facts(self) -> ServerFacts:
        return replace(super().facts, **self._changes)


@pytest.mark.parametrize(
    "changes",
    [
        {"name": "my/server"},
        {"title": " "},
        {"vendor": "nobody"},
        {"base_url": "http://me:secret@far"},
        {"base_url_variable": "far url"},
        {"version_segment": "/v1"},
        {"key_variables": ("a key",)},
        {"key_variables": (), "needs_key": True},
        {"key_header": "cookie"},
        {"forms": frozenset({"json_schema", "prompt"})},
        {"notations": frozenset()},
        {"framing": "xml"},
        {"proof_of_end": ""},
        {"end_marker": ""},
    ],
    ids=str,
)
def test_wrong_facts_are_caught(changes: dict[str, Any]) -> None:
    raised = caught(Knowing(**changes), [whole_answer()])
    assert raised.law is Law.FACTS
    assert raised.place.removeprefix("facts.") in changes


def test_recordings_that_prove_nothing_are_refused() -> None:
    truncated = chat_answer({"content": "{"}, finish="length", outcome="truncated")
    for recordings in ([], [truncated], [whole_answer(), whole_answer()]):
        with pytest.raises(MisuseError):
            check_dialect(VllmChatDialect(), recordings)
    with pytest.raises(MisuseError):
        check_dialect(VllmChatDialect(), ["an answer"])  # type: ignore[list-item]
    with pytest.raises(MisuseError):
        check_dialect("vllm_chat", [whole_answer()])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "changes", [{"name": ""}, {"body": "text"}, {"outcome": "fine"}, {"end": "soon"}, {"status": "200"}], ids=str
)
def test_recording_of_another_kind_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(MisuseError):
        replace(whole_answer(), **changes)


def test_laws_have_words() -> None:
    assert len({law.says for law in laws()}) == len(laws())
    assert {law.of for law in laws()} == {"dialect", "backend", "each"}


def caught(dialect: ChatDialect, recordings: list[RecordedAnswer]) -> ConformanceError:
    """Return the error about a dialect that breaks a law; it holds nothing of what was sent."""
    with pytest.raises(ConformanceError) as raised:
        check_dialect(dialect, recordings)
    assert isinstance(raised.value, AssertionError)
    assert not any(word in str(raised.value) for word in PAYLOAD)
    return raised.value

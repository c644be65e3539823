"""Read the messages of a chat: texts of a few roles, calls of tools and their results.

A model here reads three roles, so calls are written as the turn in which this server lets a model call tools, and their
results as a message that says that they are data. Images, sounds and files are refused: nothing here could see them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from commitgate.backends.base import Message, Role
from commitgate.errors import MisuseError
from commitgate.gate.layers import Failure
from commitgate.gate.strict_parse import PARSER_NESTING, strict_parse
from commitgate.json_value import JsonValue
from commitgate.tools.results import MOST_RESULT_CHARACTERS, MOST_RESULTS_CHARACTERS, CallReport, told_results
from commitgate.tools.turn import ARGUMENTS, CALLS, MAX_CALLS, NAME
from commitgate_local.server.refusal import bad_request, too_large
from commitgate_local.server.request_fields import Fields, wrong_kind
from commitgate_local.server.server_limits import ServerLimits

_ROLES: Final[dict[str, Role]] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
}
_TOOL: Final = "tool"
_OF_ROLE: Final[dict[str, frozenset[str]]] = {
    "system": frozenset({"role", "content"}),
    "developer": frozenset({"role", "content"}),
    "user": frozenset({"role", "content"}),
    # What a client got as an answer it sends back, members that say nothing here included. What a model thought before
    # an answer is not shown to it again: models are trained without their former thoughts.
    "assistant": frozenset({"role", "content", "refusal", "tool_calls", "annotations", "reasoning_content"}),
    # Some clients repeat the tool's name; the call says it already.
    _TOOL: frozenset({"role", "content", "tool_call_id", "name"}),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Call:
    id: str
    name: str
    arguments: str = field(repr=False)


def read_messages(body: Fields, limits: ServerLimits) -> tuple[Message, ...]:
    """Return the messages of a request's body as a model gets them, never empty.

    Raises:
        RequestRefused: one is malformed, blank, of another kind than text, or too long; or calls and results of tools
            do not belong together.
    """
    given = body.items("messages")
    if given is None:
        raise body.missing("messages")
    if not given:
        raise bad_request("messages is empty", param="messages")
    if len(given) > limits.messages:
        raise too_large(f"messages holds {len(given)} messages, the limit is {limits.messages}", param="messages")
    reading = _Reading(limits.prompt_characters)
    for index, each in enumerate(given):
        reading.read(Fields.of(each, f"messages[{index}]"))
    return reading.finished()


class _Reading:
    """Read messages in order, and keep in mind which calls still have no result."""

    def __init__(self, most_characters: int) -> None:
        self._found: list[Message] = []
        self._most_characters = most_characters
        self._characters = 0
        self._calls: tuple[_Call, ...] = ()
        self._results: dict[str, str] = {}

    def read(self, given: Fields) -> None:
        role = given.required_text("role")
        if role not in _OF_ROLE:
            wanted = ", ".join(_OF_ROLE)
            raise bad_request(f"{given.place('role')} must be one of {wanted}", param=given.place("role"))
        given.check_known(_OF_ROLE[role])
        if role == _TOOL:
            self._read_result(given)
            return
        self._end_results(given.place("role"))
        given.text("reasoning_content")
        calls = tuple(_calls(given)) if role == "assistant" else ()
        text = _content(given)
        if role == "assistant" and text is None:
            text = given.text("refusal")
        if text is None and not calls:
            raise given.missing("content")
        self._count(sum(len(call.arguments) for call in calls) + len(text or ""), given.place("content"))
        parts = ([text] if text is not None and (text.strip() or not calls) else []) + ([_turn(calls)] if calls else [])
        self._add(_ROLES[role], "\n".join(parts), given.place("content"))
        self._calls = calls

    def finished(self) -> tuple[Message, ...]:
        """Return all messages."""
        self._end_results("messages")
        return tuple(self._found)

    def _read_result(self, given: Fields) -> None:
        text, place = _content(given), given.place("tool_call_id")
        if text is None:
            raise given.missing("content")
        name = given.required_text("tool_call_id")
        if all(call.id != name for call in self._calls):
            raise bad_request(f"{place} names no call of the assistant's message before it", param=place)
        if name in self._results:
            raise bad_request(f"{place} names a call that has a result already", param=place)
        self._count(len(text), given.place("content"))
        room = min(MOST_RESULT_CHARACTERS, MOST_RESULTS_CHARACTERS // len(self._calls))
        if len(_json(text)) > room:
            raise too_large(
                f"{given.place('content')} is longer than {room} characters as JSON, the limit for one of "
                f"{len(self._calls)} results",
                param=given.place("content"),
            )
        self._results[name] = text

    def _end_results(self, place: str) -> None:
        """Write the results of the calls before, if there were any."""
        calls, results = self._calls, self._results
        self._calls, self._results = (), {}
        if not calls:
            return
        if len(results) < len(calls):
            raise bad_request(
                f"{len(calls) - len(results)} of {len(calls)} calls of tools have no result before {place}; send a "
                "message of role tool for each",
                param="messages",
            )
        reports = [
            CallReport(ordinal=ordinal, name=call.name, kind="result", result_json=_json(results[call.id]).encode())
            for ordinal, call in enumerate(calls, 1)
        ]
        self._add("user", told_results(reports), "messages")

    def _count(self, characters: int, place: str) -> None:
        self._characters += characters
        if self._characters > self._most_characters:
            raise too_large(f"the messages hold more than {self._most_characters} characters", param=place)

    def _add(self, role: Role, text: str, place: str) -> None:
        try:
            self._found.append(Message(role, text))
        except MisuseError:
            raise bad_request(f"{place} is blank; leave the message out", param=place) from None


def _content(given: Fields) -> str | None:
    """Return the text of a message; the parts of one that is made of several are joined as they are."""
    value = given.value("content")
    if value is None or isinstance(value, str):
        return value
    if not isinstance(value, list):
        raise wrong_kind(given.place("content"), "a string or an array of parts", value)
    return "".join(_part(Fields.of(part, f"{given.place('content')}[{index}]")) for index, part in enumerate(value))


def _part(part: Fields) -> str:
    kind = part.required_text("type")
    if kind not in ("text", "refusal"):
        raise bad_request(
            f"{part.place('type')} must be text: the model here reads nothing else",
            param=part.place("type"),
            code="unsupported_content",
        )
    part.check_known({"type", kind})
    return part.required_text(kind)


def _calls(given: Fields) -> Iterator[_Call]:
    """Yield the calls of an assistant's message."""
    place, seen = given.place("tool_calls"), set[str]()
    items: Sequence[JsonValue] = given.items("tool_calls") or ()
    if len(items) > MAX_CALLS:
        raise too_large(f"{place} holds {len(items)} calls, the limit is {MAX_CALLS}", param=place)
    for index, each in enumerate(items):
        call = Fields.of(each, f"{place}[{index}]")
        # Pieces of a stream that were put together may still carry the index of their call.
        call.check_known({"id", "type", "function", "index"})
        if call.word("type", ("function",)) is None:
            raise call.missing("type")
        function = call.fields("function")
        if function is None:
            raise call.missing("function")
        function.check_known({"name", "arguments"})
        name, found = call.required_text("id"), function.required_text("name")
        if name in seen:
            raise bad_request(f"{call.place('id')} is that of another call of the message", param=call.place("id"))
        seen.add(name)
        yield _Call(id=name, name=found, arguments=_arguments(function))


def _arguments(function: Fields) -> str:
    text = function.required_text("arguments").strip() or "{}"
    place = function.place("arguments")
    if isinstance(strict_parse(text.encode(), nesting=PARSER_NESTING), Failure):
        raise bad_request(f"{place} must be JSON", param=place)
    return text


def _turn(calls: Sequence[_Call]) -> str:
    """Return calls as the turn in which a model here writes them, the arguments as they were spelled."""
    written = (f'{{"{NAME}": {_json(call.name)}, "{ARGUMENTS}": {call.arguments}}}' for call in calls)
    return f'{{"{CALLS}": [{", ".join(written)}]}}'


def _json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


__all__ = ["read_messages"]

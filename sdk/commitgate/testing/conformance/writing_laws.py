"""Hold what a dialect writes to its laws. Each request has words in it that stand nowhere else."""

from __future__ import annotations

import json
import os
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Literal

from commitgate.automaton.json_schema.plain_json import canonical
from commitgate.backends.base import GenerationRequest, Message, Sampling
from commitgate.backends.dialect import Dialect, Outgoing, ServerFacts
from commitgate.backends.translation import SAME, Form, Translation
from commitgate.contract import Contract
from commitgate.json_value import JsonObject, JsonValue
from commitgate.languages import Choices, Grammar, Regex
from commitgate.testing.conformance.law import ConformanceError, Law
from commitgate.tools.offer import OfferedTool, ToolOffer

_SENT, _KEPT, _SAID, _TOOL = "zqsentq", "zqkeptq", "zqsaidq", "zqtoolq"
_KEY = "zq-key-of-nobody"
_IDEMPOTENCY = "zq-idempotency"
_MOST_TOKENS = 4_099
_OF_OTHERS = frozenset({"authorization", "api-key", "x-api-key", "x-goog-api-key", "idempotency-key", "content-length"})
"""Header fields that a dialect leaves to who carries its requests."""


def check_writing(dialect: Dialect) -> Iterator[Law]:
    """Yield each law that was tried and kept.

    Raises:
        ConformanceError: one is broken.
    """
    for form, notation in _forms(dialect.facts):
        yield from WritingTrial(dialect, form, notation).run()
    yield from _check_tools(dialect)


@dataclass(frozen=True, slots=True)
class WritingTrial:
    """Try one form of constraint."""

    dialect: Dialect
    form: Form
    notation: Literal["gbnf", "lark"] | None

    def run(self) -> Iterator[Law]:
        """Yield each law that was tried and kept."""
        request = _request(_translation(self.form, self.notation))
        before = deepcopy(request.translation)
        outgoing = written(self.dialect, request, self.place)
        self._check_constraint(outgoing)
        yield Law.CONSTRAINT_SENT
        yield Law.CONSTRAINT_TRANSLATED
        self._check_request(outgoing)
        yield Law.REQUEST_WHOLE
        yield Law.REQUEST_JSON
        self._check_key(outgoing)
        yield Law.REQUEST_KEYLESS
        again = written(self.dialect, replace(request, attempt=2), self.place)
        if _spelled(again) != _spelled(outgoing):
            raise self._broken(Law.REQUEST_SAME, "the second one differs from the first")
        if request.translation != before:
            raise self._broken(Law.REQUEST_SAME, "writing changed the translation")
        yield Law.REQUEST_SAME

    @property
    def place(self) -> str:
        """Return which form it is, in words."""
        return f"form {self.form}" if self.notation is None else f"form {self.form} in {self.notation}"

    def _check_constraint(self, outgoing: Outgoing) -> None:
        body = outgoing.body or {}
        for wanted in _constraints(_translation(self.form, self.notation)):
            if not _holds(body, wanted):
                raise self._broken(Law.CONSTRAINT_SENT, "it is not there")
        if _KEPT in _spelled(outgoing):
            raise self._broken(Law.CONSTRAINT_TRANSLATED, "words of the contract are there that the translation lacks")
        if self.form == "prompt" and _SENT in _spelled(outgoing):
            raise self._broken(Law.CONSTRAINT_TRANSLATED, "a constraint is there though none is to be sent")

    def _check_request(self, outgoing: Outgoing) -> None:
        if outgoing.method != "POST" or not outgoing.path.startswith("/") or not isinstance(outgoing.body, dict):
            raise self._broken(Law.REQUEST_JSON, "it is none")
        if _SAID not in _spelled(outgoing):
            raise self._broken(Law.REQUEST_WHOLE, "the user's message is not there")
        if not _holds(outgoing.body, _MOST_TOKENS):
            raise self._broken(Law.REQUEST_WHOLE, "the limit on tokens is not there")

    def _check_key(self, outgoing: Outgoing) -> None:
        everywhere = f"{outgoing.path} {_spelled(outgoing)} {' '.join(outgoing.headers.values())}"
        if _KEY in everywhere:
            raise self._broken(Law.REQUEST_KEYLESS, "the key of the environment is there")
        if _IDEMPOTENCY in everywhere:
            raise self._broken(Law.REQUEST_KEYLESS, "the idempotency key is there, which goes in its own header field")
        if _OF_OTHERS & {name.lower() for name in outgoing.headers}:
            raise self._broken(Law.REQUEST_KEYLESS, "it sets a header field that is set by who carries it")

    def _broken(self, law: Law, found: str) -> ConformanceError:
        return ConformanceError(law, found, place=self.place)


def written(dialect: Dialect, request: GenerationRequest, place: str) -> Outgoing:
    """Return a request as a dialect writes it, with a key in the environment.

    Raises:
        ConformanceError: it is not written, or is no JSON.
    """
    try:
        with _keys_of(dialect.facts):
            outgoing = dialect.write(request)
    except Exception as error:
        raise ConformanceError(Law.CONSTRAINT_SENT, f"writing it raised {type(error).__name__}", place=place) from error
    try:
        json.dumps(outgoing.body, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ConformanceError(Law.REQUEST_JSON, "its body is none", place=place) from error
    return outgoing


def _check_tools(dialect: Dialect) -> Iterator[Law]:
    law, offers = Law.TOOLS_OFFERED, dialect.facts.offers_tools
    plain = _request(_translation("prompt", None))
    if dialect.expected(plain).offers_tools:
        raise ConformanceError(law, "calls are expected where no tools were offered", place="a request without tools")
    if offers:
        asked = tool_request(plain)
        body = written(dialect, asked, "a request with tools").body or {}
        parameters = asked.translation.tools[_TOOL] if asked.translation is not None else {}
        if not (_holds(body, _TOOL) and _holds(body, parameters)):
            raise ConformanceError(law, "a tool, or its parameters, is not there", place="a request with tools")
        if not dialect.expected(asked).offers_tools:
            raise ConformanceError(law, "no calls are expected", place="a request with tools")
    yield law


def tool_request(plain: GenerationRequest) -> GenerationRequest:
    """Return a request with a tool in it that the server is told of in its own form."""
    parameters: JsonObject = {"type": "object", "properties": {_TOOL: {"type": "string"}}}
    offered = OfferedTool(name=_TOOL, description="Use it.", parameters=parameters)
    offer = ToolOffer(tools=(offered,), most_calls=8, answer="text", instruction="There is a tool.")
    translation = Translation(sent=plain.contract, form="prompt", shape=SAME, tools={_TOOL: parameters})
    return replace(plain, messages=offer.told(plain.messages), tools=offer, translation=translation)


def _forms(facts: ServerFacts) -> Iterator[tuple[Form, Literal["gbnf", "lark"] | None]]:
    for form in sorted(facts.forms - {"grammar"}):
        yield form, None
    for notation in sorted(facts.notations):
        yield "grammar", notation
    yield "prompt", None


def _translation(form: Form, notation: Literal["gbnf", "lark"] | None) -> Translation:
    contract = _contract(form, notation, _SENT)
    match form:
        case "json_schema":
            return Translation(sent=contract, form=form, shape=SAME, schema=_schema(_SENT))
        case "regex":
            return Translation(sent=contract, form=form, shape=SAME, pattern=f"{_SENT}[ab]")
        case "choices":
            return Translation(sent=contract, form=form, shape=SAME, choices=(f"{_SENT}a", f"{_SENT}b"))
        case "grammar":
            return Translation(
                sent=contract, form=form, shape=SAME, grammar=_grammar(notation, _SENT), notation=notation
            )
        case "prompt":
            return Translation(sent=contract, form=form, shape=SAME)


def _contract(form: Form, notation: Literal["gbnf", "lark"] | None, word: str) -> Contract[object]:
    match form:
        case "regex":
            return Contract[object].of(Regex(f"{word}[ab]"), name="asked")
        case "choices":
            return Contract[object].of(Choices([f"{word}a", f"{word}b"]), name="asked")
        case "grammar":
            return Contract[object].of(Grammar(_grammar(notation, word), syntax=notation or "gbnf"), name="asked")
        case _:
            return Contract[object].of(_schema(word), name="asked")


def _schema(word: str) -> JsonObject:
    return {
        "type": "object",
        "properties": {word: {"type": "string", "enum": [f"{word}a", f"{word}b"]}},
        "required": [word],
        "additionalProperties": False,
    }


def _grammar(notation: Literal["gbnf", "lark"] | None, word: str) -> str:
    return f'start: "{word}"\n' if notation == "lark" else f'root ::= "{word}"\n'


def _request(translation: Translation) -> GenerationRequest:
    return GenerationRequest(
        model="m",
        contract=_contract("json_schema", None, _KEPT),
        messages=(Message("user", f"Say {_SAID}."),),
        sampling=Sampling(max_tokens=_MOST_TOKENS),
        idempotency_key=_IDEMPOTENCY,
        is_constrained=translation.form != "prompt",
        translation=translation,
    )


def _constraints(translation: Translation) -> tuple[JsonValue, ...]:
    match translation.form:
        case "json_schema":
            return (translation.schema,)
        case "regex":
            return (translation.pattern,)
        case "grammar":
            return (translation.grammar,)
        case "choices":
            return translation.choices
        case "prompt":
            return ()


def _holds(value: JsonValue, wanted: JsonValue) -> bool:
    """Say that a value holds another one, at any depth; a text holds its parts, and JSON that is written in it."""
    if isinstance(value, str):
        return wanted in value if isinstance(wanted, str) else _is_json_of(value, wanted)
    if value == wanted and type(value) is type(wanted):
        return True
    if isinstance(value, dict):
        return any(_holds(each, wanted) for each in (*value, *value.values()))
    return isinstance(value, list) and any(_holds(each, wanted) for each in value)


def _is_json_of(text: str, wanted: JsonValue) -> bool:
    if not text.startswith("{"):
        return False
    try:
        return bool(json.loads(text) == wanted)
    except ValueError:
        return False


def _spelled(outgoing: Outgoing) -> str:
    return f"{outgoing.method} {outgoing.path} {canonical(outgoing.body or {})}"


@contextmanager
def _keys_of(facts: ServerFacts) -> Generator[None]:
    """Let the environment hold a key for as long as the block runs."""
    before = {name: os.environ.get(name) for name in facts.key_variables}
    os.environ.update(dict.fromkeys(before, _KEY))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


__all__ = ["WritingTrial", "check_writing", "tool_request", "written"]

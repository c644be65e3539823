"""Make of a request what a backend takes: a contract that is enforced whole, or a refusal before any token.

Building a contract compiles its schema and may take long: call this outside of an event loop's thread.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Never, assert_never, cast

from commitgate.backends.base import GenerationRequest
from commitgate.contract import Contract
from commitgate.errors import ContractError
from commitgate.json_value import JsonObject
from commitgate.languages import AnyJson, Grammar
from commitgate.limits import Limits
from commitgate.run.conversation import Conversation, PromptSchema
from commitgate.style import Style
from commitgate.tools.tool import Tool
from commitgate.tools.tool_set import AnyTool, ToolSet
from commitgate.tools.turn_language import TurnLanguage
from commitgate_local.server.chat_format import AnswerFormat, JsonFormat, SchemaFormat, TextFormat
from commitgate_local.server.chat_request import ChatRequest
from commitgate_local.server.chat_tool import FunctionTool, ToolUse
from commitgate_local.server.refusal import RequestRefused, bad_request, of_contract
from commitgate_local.server.server_limits import ServerLimits

if TYPE_CHECKING:
    from pydantic import BaseModel

_WORDS: JsonObject = {"type": "string"}
_COMPACT = Style(white_space="compact")


class ReplyForm(StrEnum):
    """Say how what a model writes becomes a message."""

    TEXT = "text"
    """As it stands."""
    WORDS_OR_CALLS = "words_or_calls"
    """A turn: calls of tools, or an answer that is a text, of which the client gets the characters."""
    JSON_OR_CALLS = "json_or_calls"
    """A turn: calls of tools, or an answer that is JSON, of which the client gets the spelling."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedChat:
    """Hold what a backend is asked, and what becomes of its answer.

    Attributes:
        generation: the request to the backend.
        form: how its answer becomes a message.
        param: the field of the body that its contract came from, for errors that only the backend can find; None where
            it is not constrained.
    """

    generation: GenerationRequest
    form: ReplyForm
    param: str | None = None


def prepare_chat(
    request: ChatRequest,
    *,
    limits: ServerLimits,
    model: str = "",
    prompt_schema: PromptSchema = "none",
) -> PreparedChat:
    """Return what a backend is asked. Blocks while schemas are compiled.

    Args:
        request: what the client asks for.
        limits: the server's limits.
        model: the model's name as the backend knows it.
        prompt_schema: ``none`` hands the client's messages on as they are; ``append`` shows the model the schema, for
            clients that rely on the server for it. Tools are told of in any case.

    Raises:
        RequestRefused: a schema or another language cannot be enforced, or does not go with the rest.
    """
    answer = contract_of(request.answer_format, limits.contract)
    if request.tools is not None:
        return _prepared_turn(request, request.tools, answer, limits, model)
    messages = request.messages
    if answer is not None and prompt_schema == "append":
        messages = Conversation(messages).to_send(answer, prompt_schema)
    generation = GenerationRequest(
        model=model,
        contract=Contract.json_schema(True) if answer is None else answer,
        messages=messages,
        sampling=request.sampling,
        is_constrained=answer is not None,
    )
    param = None if request.answer_format is None else request.answer_format.param
    return PreparedChat(generation=generation, form=ReplyForm.TEXT, param=param)


def contract_of(asked: AnswerFormat | None, limits: Limits) -> Contract[object] | None:
    """Return the contract of the form of an answer; None where it may be any text.

    Raises:
        RequestRefused: it cannot be built; or a keyword of it cannot be decoded, and the client did not say that it
            need not be: the client would get an answer as if it had been.
    """
    try:
        match asked:
            case None:
                return None
            case SchemaFormat():
                style = _COMPACT if asked.is_compact else None
                contract = Contract.json_schema(asked.schema, limits=limits, style=style)
                if asked.is_strict:
                    _check_decoded(contract, asked.param)
                return contract
            case JsonFormat():
                style = _COMPACT if asked.is_compact else None
                return Contract.of(AnyJson(root="object"), limits=limits, style=style)
            case TextFormat():
                return Contract.of(asked.language, limits=limits)
            case _:
                assert_never(asked)
    except ContractError as error:
        code = "invalid_language" if isinstance(asked, TextFormat) else "invalid_json_schema"
        param = "response_format" if asked is None else asked.param
        raise of_contract(error, param=param, code=code, note=_note(asked)) from error


def _note(asked: AnswerFormat | None) -> str:
    """Return how a grammar was read, where the client did not say so itself."""
    is_lark = isinstance(asked, TextFormat) and isinstance(asked.language, Grammar) and asked.language.syntax == "lark"
    return "; it was read as Lark, because it has no ::= as GBNF has" if is_lark else ""


def _prepared_turn(
    request: ChatRequest, use: ToolUse, answer: Contract[object] | None, limits: ServerLimits, model: str
) -> PreparedChat:
    if isinstance(request.answer_format, TextFormat):
        raise bad_request(
            f"{request.answer_format.param} does not go with tools: a turn is JSON; give a JSON Schema, or set "
            'tool_choice to "none"',
            param=request.answer_format.param,
        )
    is_words = answer is None
    if use.mode == "required":
        answer = None
    elif answer is None:
        answer = Contract.json_schema(_WORDS, limits=limits.contract)
    language = _language(use, answer, limits.contract)
    generation = GenerationRequest(
        model=model,
        contract=language.contract,
        messages=language.offer.told(request.messages),
        sampling=request.sampling,
        tools=language.offer,
    )
    form = ReplyForm.WORDS_OR_CALLS if is_words else ReplyForm.JSON_OR_CALLS
    return PreparedChat(generation=generation, form=form, param="tools")


def _language(use: ToolUse, answer: Contract[object] | None, limits: Limits) -> TurnLanguage:
    tools = ToolSet.of([_tool(each, limits) for each in use.tools])
    try:
        language = TurnLanguage(tools, answer=answer, most_calls=use.most_calls)
    except ContractError as error:
        raise of_contract(error, param="tools", code="invalid_function_parameters") from error
    if all(each.is_strict for each in use.tools) and (answer is None or _undecoded(answer) is None):
        _check_decoded(language.contract, "tools")
    return language


def _tool(given: FunctionTool, limits: Limits) -> AnyTool:
    """Return a tool that describes what the client will run."""
    try:
        contract = Contract.json_schema(given.parameters, limits=limits)
    except ContractError as error:
        raise of_contract(error, param=given.param, code="invalid_function_parameters") from error
    if given.is_strict:
        _check_decoded(contract, given.param)
    return Tool(
        _never_run,
        name=given.name,
        description=given.description,
        kind="read",
        version="1",
        contract=cast("Contract[BaseModel]", contract),
        effect=_never_run,
    )


def _never_run(*_: object) -> Never:
    raise AssertionError("the client runs its tools; here they are only described")


def _check_decoded(contract: Contract[object], param: str) -> None:
    """Check that every keyword is enforced while the answer is written.

    Raises:
        RequestRefused: one is not.
    """
    found = _undecoded(contract)
    if found is None:
        return
    keyword, pointer, reason = found
    raise RequestRefused(
        400,
        "unsupported_schema",
        f"the keyword {keyword} at {pointer or 'the root'} cannot be enforced while the answer is written: {reason}; "
        'rewrite it, or say "strict": false where what can be enforced is enough',
        param=param,
        keyword=keyword,
        pointer=pointer,
    )


def _undecoded(contract: Contract[object]) -> tuple[str, str, str] | None:
    """Return keyword, pointer and reason of the first keyword that decoding does not enforce; None where none."""
    from commitgate.automaton.json_schema import Satisfiability

    if not isinstance(contract.analysis, Satisfiability):
        return None
    rows = contract.analysis.support
    return next(((row.keyword, row.pointer, row.reason) for row in rows if row.level == "checked"), None)


__all__ = ["PreparedChat", "ReplyForm", "contract_of", "prepare_chat"]

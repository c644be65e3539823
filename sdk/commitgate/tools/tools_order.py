"""Hold what a caller asked for of tools, and refuse what contradicts itself before anything is sent or written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, Literal, TypeAlias, cast

from typing_extensions import TypeVar

from commitgate.argument import check_choice, check_int, check_kind, check_text
from commitgate.backends.base import Backend, Message, Sampling
from commitgate.contract import Contract
from commitgate.errors import MisuseError
from commitgate.languages import Choices, Grammar, Machine, Regex
from commitgate.reasoning import Reasoning
from commitgate.retry import Retry
from commitgate.retry.keys import OperationKey, given_fingerprint, messages_fingerprint
from commitgate.run.conversation import Conversation, MessageLike
from commitgate.run.order import InProgress, check_expiry, check_larger
from commitgate.timeouts import Timeouts
from commitgate.tools.keys import run_key
from commitgate.tools.tool_set import AnyTool, ToolSet

if TYPE_CHECKING:
    from commitgate.tools.turn_language import TurnLanguage

A = TypeVar("A", default=str)

CutTurns: TypeAlias = Literal["end", "tell"]
"""What to do with a turn that was cut by the limit on its tokens: end the run, or tell the model that it was cut."""

DEFAULT_TURNS = 8
"""Most turns of a run where the caller does not say."""

MAX_TURNS = 1_000
"""Most turns that a run can be allowed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolsOrder(Generic[A]):
    """Hold one run of tools as asked for.

    Attributes:
        backend: whom to ask.
        model: the model's name at the backend.
        tools: what may be called.
        answer: what may be answered, as ``Contract.of`` takes it; None for words.
        must_call: a turn may not answer.
        messages: the caller's words.
        sampling: how tokens are drawn.
        reasoning: how the model may think before each turn.
        principal: who asks.
        key: the run's operation key; None keeps no record.
        input_digest: what the input is, for every turn of the run.
        timeouts: limits on the waits.
        retry: what may be asked again.
        forced: as in the request.
        most_turns: most turns.
        most_calls: most calls in one turn.
        strict_limit: a turn that counts as many tokens as its limit allowed is taken for a cut one.
        cut_turns: what to do with a cut turn.
        in_progress: what to do where another call holds a key.
        approval_expires_s: seconds that a person may take to decide; None without a limit.
    """

    backend: Backend = field(repr=False)
    model: str
    tools: ToolSet = field(repr=False)
    answer: object = field(repr=False)
    must_call: bool
    messages: tuple[Message, ...] = field(repr=False)
    sampling: Sampling
    reasoning: Reasoning | None
    principal: object = field(repr=False)
    key: OperationKey | None = field(repr=False)
    input_digest: str = field(repr=False)
    timeouts: Timeouts
    retry: Retry
    forced: bool
    most_turns: int
    most_calls: int
    strict_limit: bool
    cut_turns: CutTurns
    in_progress: InProgress
    approval_expires_s: float | None

    @staticmethod
    def of(
        backend: Backend,
        model: str,
        *,
        tools: Sequence[AnyTool],
        answer: object,
        must_call: bool,
        prompt: str | None,
        messages: Sequence[MessageLike] | None,
        system: str | None,
        sampling: Sampling | None,
        reasoning: Reasoning | None,
        principal: object,
        operation_key: str | None,
        input_fingerprint: str | None,
        timeouts: Timeouts | None,
        retry: Retry | None,
        forced: bool,
        most_turns: int,
        most_calls: int,
        strict_limit: bool,
        cut_turns: CutTurns,
        in_progress: InProgress,
        approval_expires_s: float | None,
    ) -> ToolsOrder[A]:
        """Check what was asked for; the arguments are those of ``Client.stream_tools``.

        Raises:
            MisuseError: it contradicts itself, or an argument is of another type.
        """
        found = ToolSet.of(tools)
        _check_answer(answer)
        key = checked_key(found, operation_key, input_fingerprint)
        for name, value, kind in (
            ("sampling", sampling, Sampling),
            ("reasoning", reasoning, Reasoning),
            ("timeouts", timeouts, Timeouts),
            ("retry", retry, Retry),
            ("must_call", must_call, bool),
            ("forced", forced, bool),
            ("strict_limit", strict_limit, bool),
        ):
            if value is not None:
                check_kind(name, value, kind, f"a {kind.__name__}")
        check_int("most_turns", most_turns)
        if not 1 <= most_turns <= MAX_TURNS:
            raise MisuseError(f"most_turns must lie in [1, {MAX_TURNS}], found {most_turns}")
        check_choice("cut_turns", cut_turns, ("end", "tell"))
        check_choice("in_progress", in_progress, ("raise", "wait"))
        check_expiry(approval_expires_s)
        check_larger(retry or Retry(), sampling or Sampling())
        words = _words(prompt, messages, system)
        digest = messages_fingerprint(words) if input_fingerprint is None else given_fingerprint(input_fingerprint)
        return ToolsOrder(
            backend=backend,
            model=model,
            tools=found,
            answer=answer,
            must_call=must_call,
            messages=words,
            sampling=sampling or Sampling(),
            reasoning=reasoning,
            principal=principal,
            key=key,
            input_digest=digest,
            timeouts=timeouts or Timeouts(),
            retry=retry or Retry(),
            forced=forced,
            most_turns=most_turns,
            most_calls=most_calls,
            strict_limit=strict_limit,
            cut_turns=cut_turns,
            in_progress=in_progress,
            approval_expires_s=approval_expires_s,
        )

    def language(self) -> TurnLanguage:
        """Return the language of its turns: CPU work for a worker thread.

        Raises:
            MisuseError: ``most_calls`` is out of range, or ``answer`` is no schema or asks for a person.
            ContractError: the answer's schema cannot be enforced; or the tools and the answer are larger together than
                a limit allows.
        """
        from commitgate.tools.turn_language import TurnLanguage

        answer = None if self.must_call else _answer(self.answer)
        return TurnLanguage(self.tools, answer=answer, most_calls=self.most_calls)


def _check_answer(answer: object) -> None:
    """Check that an answer is JSON, as the turn is in which it stands.

    Raises:
        MisuseError: it is a text that is no JSON.
    """
    source = cast("Contract[object]", answer).text if isinstance(answer, Contract) else answer
    if isinstance(source, Regex | Grammar | Choices | Machine):
        raise MisuseError(
            f"answer must be JSON, as the turn is in which it stands, found a {type(source).__name__}; ask for a str "
            "with a pattern or a Literal, or ask for the text with generate_structured once the tools have run"
        )


def checked_key(tools: ToolSet, operation_key: str | None, input_fingerprint: str | None = None) -> OperationKey | None:
    """Check the key of a run of tools.

    Raises:
        MisuseError: it cannot name one; or there is none, and a tool does more than read.
    """
    if input_fingerprint is not None:
        check_text("input_fingerprint", input_fingerprint)
    if operation_key is not None:
        return run_key(operation_key)
    if input_fingerprint is not None:
        raise MisuseError("input_fingerprint is for the ledger; give an operation_key too")
    doing = [tool.name for tool in tools if tool.kind != "read"]
    if doing:
        raise MisuseError(
            f"the tool {doing[0]} does more than read, so it needs an operation_key: without one it could happen twice"
        )
    return None


def _words(prompt: str | None, messages: Sequence[MessageLike] | None, system: str | None) -> tuple[Message, ...]:
    words = Conversation.of(prompt, messages, system).messages
    if all(message.role == "system" for message in words):
        raise MisuseError("give prompt or messages: tools alone do not say what is wanted")
    return words


def _answer(answer: object) -> Contract[object]:
    contract = Contract.of(cast("type[object]", str if answer is None else answer))
    if contract.approve:
        raise MisuseError("an answer does nothing, so no person need allow it; give approve to a tool")
    return contract


__all__ = ["DEFAULT_TURNS", "MAX_TURNS", "CutTurns", "ToolsOrder", "checked_key"]

"""Ask for one turn: an ordinary call with a key of its own and no effect, so that it is stored whole."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Generic, cast

from typing_extensions import TypeVar

from commitgate.backends.base import Message
from commitgate.errors import KeyConflictError
from commitgate.gate.checks import Checks
from commitgate.gate.exact_json import encode
from commitgate.gate.layers import Layer
from commitgate.json_value import JsonValue
from commitgate.outcome import Committed, Failed, Invalid, Outcome, Truncated
from commitgate.preview import Preview, Reset
from commitgate.retry.keys import OperationKey
from commitgate.run.conversation import Conversation
from commitgate.run.order import Order
from commitgate.run.question import MOST_QUOTED_CHARACTERS, reasons
from commitgate.timeouts import Timeouts
from commitgate.tools.call_result import is_told
from commitgate.tools.keys import turn_key, turns_of
from commitgate.tools.refusal_record import RefusalRecord
from commitgate.tools.steps import Settings, Steps
from commitgate.tools.tools_order import ToolsOrder
from commitgate.tools.turn import Turn
from commitgate.tools.turn_faults import turn_faults
from commitgate.tools.turn_language import TurnLanguage, read_turn
from commitgate.worker_thread import aside, run_in_thread

if TYPE_CHECKING:
    from commitgate.contract import Contract

A = TypeVar("A", default=str)
T = TypeVar("T")


class Turns(Generic[A]):
    """Ask for the turns of one run.

    Args:
        order: what was asked for.
        language: what a turn may be.
        steps: runs the steps.
        settings: what they have in common.
    """

    def __init__(self, order: ToolsOrder[A], language: TurnLanguage, steps: Steps, settings: Settings) -> None:
        self._order = order
        self._language = language
        self._steps = steps
        self._settings = settings

    async def ask(
        self,
        number: int,
        messages: Sequence[Message],
        *,
        show: Callable[[Preview | Reset], None] | None,
    ) -> Outcome[JsonValue, None]:
        """Ask for a turn, or find it in the ledger.

        Args:
            number: which turn, from 1.
            messages: the conversation until then.
            show: takes previews; None where nobody looks.

        A turn outside the language is asked for again, with what is wrong with it, as often as ``Retry.reasks`` says.

        Returns:
            ``Committed`` where it is whole, fits the language, and is stored where there is a key. Nothing else may
            set off a call.

        Raises:
            KeyConflictError: the ledger has calls of this turn, and not the turn: it was deleted.
        """
        if self._order.key is not None:
            await self._steps.wait_for(self._check_not_deleted(self._order.key, number))
        asked = tuple(messages)
        reasks = self._order.retry.reasks
        while True:
            outcome = await self._ask(number, asked, show)
            if not isinstance(outcome, Invalid) or not is_told(outcome) or not reasks:
                return outcome
            reasks -= 1
            asked = (*asked, *_corrected(outcome))

    async def _check_not_deleted(self, run: OperationKey, number: int) -> None:
        """Check that no turn is asked for anew of which calls were made: the model would have them made again."""
        ledger = self._steps.shared.ledger()
        key = turn_key(run, number)
        if await ledger.read(key) is not None:
            return
        # Rows are deleted in the order of their age: where the first turn is there, so is all that came after it.
        prefix = (turns_of(run) if number == 1 else f"{key}/").encode()
        later = await ledger.scan(after=prefix, limit=1)
        # Another run may have stored the turn meanwhile; it does so before any call of it.
        if later and later[0].key.startswith(prefix) and await ledger.read(key) is None:
            raise KeyConflictError(
                f"turn {number} of this run is not in the ledger, though later rows of the run are: it was deleted, or "
                "they are another operation's. Nothing was asked or done; look at what they did, and use another "
                "operation_key for what is left",
                differs=("turn",),
            )

    async def _ask(
        self, number: int, messages: tuple[Message, ...], show: Callable[[Preview | Reset], None] | None
    ) -> Outcome[JsonValue, None]:
        timeouts = self._settings.remaining()
        if timeouts is None:
            return self._settings.timed_out()
        outcome = self._settings.whole(await self._steps.run(self._step(number, messages, timeouts), show=show))
        return outcome if isinstance(outcome, Committed) else await self._explained(outcome)

    def _step(self, number: int, messages: tuple[Message, ...], timeouts: Timeouts) -> Order[JsonValue, None]:
        order = self._order
        return Order(
            backend=order.backend,
            model=order.model,
            schema=self._language.contract,
            conversation=Conversation(self._language.offer.told(messages)),
            sampling=order.sampling,
            checks=Checks[JsonValue](),
            principal=None,
            effect=None,
            key=None if order.key is None else turn_key(order.key, number),
            input_fingerprint=None,
            timeouts=timeouts,
            # What is wrong with a turn is told from its tools, which the call itself knows nothing of.
            retry=replace(order.retry, reasks=0),
            fallback=None,
            prompt_schema="none",
            numbers=None,
            forced=order.forced,
            in_progress=order.in_progress,
            approval_expires_s=None,
            input_digest=order.input_digest,
            tools=self._language.offer,
            strict_limit=order.strict_limit,
            reasoning=order.reasoning,
            acts=any(tool.kind != "read" for tool in self._language.tools),
        )

    async def read(self, outcome: Committed[JsonValue, None], number: int) -> Turn[A] | Failed:
        """Take a turn apart, and judge its answer where it has one.

        Returns:
            The turn; or why it cannot be taken: its answer is ``Invalid``, which is on record where the run has a key;
            or it was stored by a run without ``strict_limit``, and this one takes it for a cut one.
        """
        if self._order.strict_limit and "usage_equals_limit" in outcome.receipt.warnings:
            return Truncated(kind="max_tokens", partial_text=outcome.text, receipt=outcome.receipt)
        data = outcome.text.encode()
        written = await aside(data, lambda: read_turn(data, number))
        # The same text for a turn that was just written and for one that was stored, however it was spelled.
        text = (await aside(data, lambda: encode(outcome.value))).decode()
        if written.answer_json is None:
            return Turn(number=number, calls=written.calls, answer=None, text=text)
        answered = await self._answer(written.answer_json, number)
        if isinstance(answered, Committed):
            return Turn(number=number, calls=(), answer=answered.value, text=text)
        return answered

    async def _answer(self, answer_json: bytes, number: int) -> Outcome[A, object]:
        record = None
        if self._order.key is not None:
            key = turn_key(self._order.key, number)
            record = RefusalRecord(key=key, given=answer_json, steps=self._steps, settings=self._settings)
            refused = await record.read()
            if refused is not None:
                return refused
        contract = cast("Contract[A] | None", self._language.answer)
        assert contract is not None, "the language has no answer where none is allowed"
        order = self._settings.order(contract, answer_json, None, effect=None)
        if order is None:
            return self._settings.timed_out()
        outcome = self._settings.whole(await self._steps.run(order))
        return await record.keep(outcome) if record is not None and isinstance(outcome, Invalid) else outcome

    async def _explained(self, ending: Failed) -> Failed:
        if not isinstance(ending, Invalid) or ending.layer is not Layer.SCHEMA:
            return ending
        data = ending.partial_text.encode()
        faults = await run_in_thread(lambda: turn_faults(self._language, data))
        return replace(ending, failures=faults) if faults else ending


def _corrected(refused: Invalid) -> tuple[Message, Message]:
    quoted = refused.partial_text[:MOST_QUOTED_CHARACTERS]
    return Message("assistant", quoted), Message("user", reasons(refused.failures))


__all__ = ["Turns"]

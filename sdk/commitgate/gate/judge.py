"""Take a whole text through the layers, in the order of their table, and keep a record of each.

The clock comes in as an argument, and so does what runs functions that may block.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from commitgate.contract import Contract
from commitgate.errors import MisuseError
from commitgate.gate.asking import RunBlocking, run_here
from commitgate.gate.check_context import CheckContext
from commitgate.gate.checks import Checks
from commitgate.gate.deliberation import Deliberation
from commitgate.gate.exact_json import encode
from commitgate.gate.layer_states import Stage, Step
from commitgate.gate.layers import Failure, Layer, LayerRecord
from commitgate.gate.schema_layer import SchemaLayer
from commitgate.gate.stored_value import store
from commitgate.gate.strict_parse import BREAKS_JSON, Parsed, strict_parse
from commitgate.gate.type_layer import Typed, TypeLayer
from commitgate.gate.verdict import Outside
from commitgate.gate.way import Way
from commitgate.json_value import JsonValue
from commitgate.outcome import Failed, Invalid, NeedsApproval, Receipt

T = TypeVar("T")

NOT_UTF8 = "not_utf8"
"""Code of a text that is no JSON and is not UTF-8. No automaton of such a text passes one."""

_NOT_UTF8 = "the text is not UTF-8"


@dataclass(frozen=True, slots=True)
class Chosen(Generic[T]):
    """Hold a value that passed parse, schema and type.

    Attributes:
        value: it.
        value_json: its JSON; of a kept value the one from which the same value can be made again.
    """

    value: T = field(repr=False)
    value_json: bytes = field(repr=False)


class Judge(Generic[T]):
    """Judge texts of one contract, one at a time. Building it compiles the schema: CPU work for a worker thread.

    Args:
        contract: what a text must satisfy.
        clock: seconds, from any start.
        must_keep: values will be stored, so the type layer refuses one that cannot be made again from its JSON.
        run_blocking: runs sync functions that look things up: evidence, ``authorize``, ``approve``.

    Raises:
        SchemaError: the contract's schema cannot be checked.
    """

    def __init__(
        self,
        contract: Contract[T],
        *,
        clock: Callable[[], float],
        must_keep: bool = False,
        run_blocking: RunBlocking = run_here,
    ) -> None:
        self._contract = contract
        self._must_keep = must_keep
        self._run_blocking = run_blocking
        self._nesting = contract.limits.nesting
        self._schema = (
            SchemaLayer(contract.schema, formats=contract.formats, documents=contract.documents)
            if contract.text is None
            else None
        )
        self._type = TypeLayer(contract)
        self._way = Way(clock)

    @property
    def records(self) -> list[LayerRecord]:
        """Return one record for each layer that the last text met, in order; always the same list."""
        return self._way.records

    def choose(self, text: bytes) -> Chosen[T] | Invalid:
        """Take a text of which the end is proven through parse, schema and type.

        A text that is no JSON is the value itself: it has neither parse nor schema.
        """
        self._way.begin(Stage.FINISH, Step.PASSED, Step.PASSED)
        if self._schema is None:
            return self._choose_text(text)
        parsed = self._parse(text)
        if not isinstance(parsed, Parsed) or self._check_schema(parsed.value):
            return self._refused()
        return self._make(parsed.value) or self._refused()

    def explain(self, outside: Outside) -> Failed:
        """Say what is wrong with a text that the acceptor refused: outside the contract, or no JSON at all."""
        self._way.begin(Stage.FINISH, Step.PASSED, Step.FAILED)
        if self._schema is None:
            self._pass_by_json()
            return outside.violation
        parsed = self._parse(outside.text)
        if not isinstance(parsed, Parsed):
            return outside.violation if parsed.code in BREAKS_JSON else self._refused()
        return self._refused() if self._check_schema(parsed.value) else outside.violation

    async def deliberate(self, value: T, checks: Checks[T], context: CheckContext) -> Invalid | NeedsApproval | None:
        """Ask all checks about the value that was chosen last: rules, content, evidence, approval, authorization.

        Each check gets a copy of its own: what one does to it changes neither what the others see nor what is handed
        over. A layer asks all its checks; where one of them says no, no later layer is asked.

        Args:
            value: it.
            checks: the contract's and the call's.
            context: for whom.

        Returns:
            None where the value may be acted on now.

        Raises:
            MisuseError: no value was chosen, or it was judged already.
        """
        if self._way.stage is not Stage.RULES:
            raise MisuseError("a value is judged once, after it was chosen")
        return await self._deliberation(value, checks, context).run()

    async def reconsider(self, value: T, checks: Checks[T], context: CheckContext) -> Invalid | None:
        """Ask all checks again about a value that an earlier call chose and a person approved.

        What the schema and the type say of it cannot have changed; what rules and authorities say may have.
        """
        self._way.begin(Stage.RULES)
        ending = await self._deliberation(value, replace(checks, approve=()), context).run()
        assert not isinstance(ending, NeedsApproval), "nobody is left to ask for a person"
        return ending

    async def authorize(self, value: T, checks: Checks[T], context: CheckContext) -> Invalid | None:
        """Ask whether the principal may have a value that an earlier call chose; nothing else is asked again."""
        self._way.begin(Stage.AUTHORIZE)
        ending = await self._deliberation(value, checks, context).run()
        assert not isinstance(ending, NeedsApproval), "no step leads from AUTHORIZE to WAITING"
        return ending

    def _deliberation(self, value: T, checks: Checks[T], context: CheckContext) -> Deliberation[T]:
        return Deliberation(
            way=self._way,
            value=value,
            checks=checks,
            context=context,
            show_pointer=self._type.shown_pointer,
            run_blocking=self._run_blocking,
        )

    def _choose_text(self, text: bytes) -> Chosen[T] | Invalid:
        self._pass_by_json()
        try:
            value = text.decode()
        except UnicodeDecodeError as error:
            data: JsonValue = {"position": error.start}
            self._take((Failure(layer=Layer.TYPE, code=NOT_UTF8, pointer="", message=_NOT_UTF8, data=data),))
            return self._refused()
        return self._make(value) or self._refused()

    def _pass_by_json(self) -> None:
        self._way.take(Step.SKIPPED)
        self._way.take(Step.SKIPPED)

    def _parse(self, text: bytes) -> Parsed | Failure:
        parsed = strict_parse(text, nesting=self._nesting)
        self._take(() if isinstance(parsed, Parsed) else (parsed,))
        return parsed

    def _check_schema(self, value: JsonValue) -> tuple[Failure, ...]:
        assert self._schema is not None, "asked of JSON alone"
        failures = self._schema.judge(value)
        self._take(failures)
        return failures

    def _make(self, value: JsonValue) -> Chosen[T] | None:
        typed = self._type.judge(value)
        made = self._keep(value, typed.value) if isinstance(typed, Typed) else typed
        self._take(() if isinstance(made, Chosen) else made)
        return made if isinstance(made, Chosen) else None

    def _keep(self, parsed: JsonValue, typed: T) -> Chosen[T] | tuple[Failure, ...]:
        if not self._must_keep:
            return Chosen(typed, encode(parsed))
        stored = store(self._contract, parsed, typed)
        return (stored,) if isinstance(stored, Failure) else Chosen(*stored)

    def _take(self, failures: tuple[Failure, ...]) -> None:
        self._way.take(Step.FAILED if failures else Step.PASSED, failures)

    def _refused(self) -> Invalid:
        record = self.records[-1]
        return Invalid(layer=record.layer, failures=record.failures, receipt=Receipt())


__all__ = ["NOT_UTF8", "Chosen", "Judge"]

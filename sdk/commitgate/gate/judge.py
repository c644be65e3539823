"""Take a whole text through the layers, in their order, and keep a record of each.

parse -> schema -> type -> rules. Each runs only after the one before it said yes. The clock comes in as an argument.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from commitgate.contract import Contract
from commitgate.gate.exact_json import encode
from commitgate.gate.layers import Failure, Layer, LayerRecord
from commitgate.gate.rules import Rule, judge_rules
from commitgate.gate.schema_layer import SchemaLayer
from commitgate.gate.stored_value import store
from commitgate.gate.strict_parse import BREAKS_JSON, Parsed, strict_parse
from commitgate.gate.type_layer import Typed, TypeLayer
from commitgate.gate.verdict import Outside
from commitgate.json_value import JsonValue
from commitgate.outcome import Failed, Invalid, Receipt

T = TypeVar("T")

NOT_COPYABLE = "not_copyable"
"""Code of a value of which no rule could be given a copy of its own."""


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
    """Judge texts of one contract. Building it compiles the schema: CPU work for a worker thread.

    Args:
        contract: what a text must satisfy.
        clock: seconds, from any start.
        must_keep: values will be stored, so the type layer refuses one that cannot be made again from its JSON.

    Attributes:
        records: one record for each layer that ran, in order.

    Raises:
        SchemaError: the contract's schema cannot be checked.
    """

    def __init__(self, contract: Contract[T], *, clock: Callable[[], float], must_keep: bool = False) -> None:
        self._contract = contract
        self._clock = clock
        self._must_keep = must_keep
        self._nesting = contract.limits.nesting
        self._schema = SchemaLayer(contract.schema, formats=contract.formats, documents=contract.documents)
        self._type = TypeLayer(contract)
        self.records: list[LayerRecord] = []

    def choose(self, text: bytes) -> Chosen[T] | Invalid:
        """Take a text of which the end is proven through parse, schema and type."""
        parsed = self._parse(text)
        if not isinstance(parsed, Parsed):
            return _invalid(Layer.PARSE, (parsed,))
        failures = self._check_schema(parsed.value)
        if failures:
            return _invalid(Layer.SCHEMA, failures)
        chosen = self._make(parsed.value)
        return chosen if isinstance(chosen, Chosen) else _invalid(Layer.TYPE, chosen)

    def explain(self, outside: Outside) -> Failed:
        """Say what is wrong with a text that the acceptor refused: outside the contract, or no JSON at all."""
        parsed = self._parse(outside.text)
        if not isinstance(parsed, Parsed):
            return outside.violation if parsed.code in BREAKS_JSON else _invalid(Layer.PARSE, (parsed,))
        failures = self._check_schema(parsed.value)
        return _invalid(Layer.SCHEMA, failures) if failures else outside.violation

    async def check_rules(self, rules: Sequence[Rule[T]], value: T) -> Invalid | None:
        """Ask all rules about the value; return None where all are content.

        Each gets a copy of its own: what one does to it changes neither what the others see nor what is handed over.
        """
        start = self._clock()
        failures: tuple[Failure, ...] = ()
        for rule in rules:
            copy = _copy_of(value)
            failures += await judge_rules([rule], copy.value) if isinstance(copy, Typed) else (copy,)
        self._record(Layer.RULES, start, failures)
        return _invalid(Layer.RULES, failures) if failures else None

    def _parse(self, text: bytes) -> Parsed | Failure:
        start = self._clock()
        parsed = strict_parse(text, nesting=self._nesting)
        self._record(Layer.PARSE, start, () if isinstance(parsed, Parsed) else (parsed,))
        return parsed

    def _check_schema(self, value: JsonValue) -> tuple[Failure, ...]:
        start = self._clock()
        failures = self._schema.judge(value)
        self._record(Layer.SCHEMA, start, failures)
        return failures

    def _make(self, value: JsonValue) -> Chosen[T] | tuple[Failure, ...]:
        start = self._clock()
        typed = self._type.judge(value)
        made = self._keep(value, typed.value) if isinstance(typed, Typed) else typed
        self._record(Layer.TYPE, start, () if isinstance(made, Chosen) else made)
        return made

    def _keep(self, parsed: JsonValue, typed: T) -> Chosen[T] | tuple[Failure, ...]:
        if not self._must_keep:
            return Chosen(typed, encode(parsed))
        stored = store(self._contract, parsed, typed)
        return (stored,) if isinstance(stored, Failure) else Chosen(*stored)

    def _record(self, layer: Layer, start: float, failures: tuple[Failure, ...]) -> None:
        elapsed = self._clock() - start
        record = LayerRecord(layer=layer, ran=True, passed=not failures, time_s=elapsed, failures=failures)
        self.records.append(record)


def _copy_of(value: T) -> Typed[T] | Failure:
    try:
        return Typed(deepcopy(value))
    except Exception as error:  # noqa: BLE001 - copying runs code of the caller's classes, which may raise anything
        message = f"the value cannot be copied for a rule ({type(error).__name__}); give the type plainer fields"
        return Failure(layer=Layer.RULES, code=NOT_COPYABLE, pointer="", message=message, retryable=False)


def _invalid(layer: Layer, failures: tuple[Failure, ...]) -> Invalid:
    return Invalid(layer=layer, failures=failures, receipt=Receipt())


__all__ = ["NOT_COPYABLE", "Chosen", "Judge"]

"""Take a whole text through the layers, in their order, and keep a record of each.

parse -> schema -> type -> rules. Each runs only after the one before it said yes. The clock comes in as an argument.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from commitgate.contract import Contract
from commitgate.gate.exact_json import encode
from commitgate.gate.layers import Failure, Layer, LayerRecord
from commitgate.gate.rules import Rule, judge_rules
from commitgate.gate.schema_layer import SchemaLayer
from commitgate.gate.strict_parse import BREAKS_JSON, Parsed, strict_parse
from commitgate.gate.type_layer import Typed, TypeLayer
from commitgate.gate.verdict import Outside
from commitgate.json_value import JsonValue
from commitgate.outcome import Failed, Invalid, Receipt

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Chosen(Generic[T]):
    """Hold a value that passed parse, schema and type.

    Attributes:
        value: it.
        value_json: its exact JSON, from which the same value can be made again.
    """

    value: T = field(repr=False)
    value_json: bytes = field(repr=False)


class Judge(Generic[T]):
    """Judge texts of one contract. Building it compiles the schema: CPU work for a worker thread.

    Args:
        contract: what a text must satisfy.
        clock: seconds, from any start.

    Attributes:
        records: one record for each layer that ran, in order.

    Raises:
        SchemaError: the contract's schema cannot be checked.
    """

    def __init__(self, contract: Contract[T], *, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._nesting = contract.limits.nesting
        self._schema = SchemaLayer(contract.schema)
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
        typed = self._make(parsed.value)
        if not isinstance(typed, Typed):
            return _invalid(Layer.TYPE, typed)
        return Chosen(typed.value, encode(parsed.value))

    def explain(self, outside: Outside) -> Failed:
        """Say what is wrong with a text that the acceptor refused: outside the contract, or no JSON at all."""
        parsed = self._parse(outside.text)
        if not isinstance(parsed, Parsed):
            return outside.violation if parsed.code in BREAKS_JSON else _invalid(Layer.PARSE, (parsed,))
        failures = self._check_schema(parsed.value)
        return _invalid(Layer.SCHEMA, failures) if failures else outside.violation

    async def check_rules(self, rules: Sequence[Rule[T]], value: T) -> Invalid | None:
        """Ask all rules about the value; return None where all are content."""
        start = self._clock()
        failures = await judge_rules(rules, value)
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

    def _make(self, value: JsonValue) -> Typed[T] | tuple[Failure, ...]:
        start = self._clock()
        typed = self._type.judge(value)
        self._record(Layer.TYPE, start, () if isinstance(typed, Typed) else typed)
        return typed

    def _record(self, layer: Layer, start: float, failures: tuple[Failure, ...]) -> None:
        elapsed = self._clock() - start
        record = LayerRecord(layer=layer, ran=True, passed=not failures, time_s=elapsed, failures=failures)
        self.records.append(record)


def _invalid(layer: Layer, failures: tuple[Failure, ...]) -> Invalid:
    return Invalid(layer=layer, failures=failures, receipt=Receipt())


__all__ = ["Chosen", "Judge"]

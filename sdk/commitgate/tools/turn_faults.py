"""Say what is wrong with a turn that its contract refused, from the tool that it calls.

The contract of a turn is one of alternatives; all that it can say is that none of them holds. Whoever reads why must
know which tool does not exist, or which argument does not fit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from commitgate.contract import Contract
from commitgate.gate.layers import Failure, Layer
from commitgate.gate.schema_layer import FAILURES_KEPT, SchemaLayer
from commitgate.gate.strict_parse import Parsed, strict_parse
from commitgate.json_value import JsonValue
from commitgate.pointer import child
from commitgate.tools.turn import ANSWER, ARGUMENTS, CALLS, NAME
from commitgate.tools.turn_language import TurnLanguage

UNKNOWN_TOOL = "unknown_tool"
"""Code of a call of a tool that was not offered."""


def turn_faults(language: TurnLanguage, text: bytes) -> tuple[Failure, ...]:
    """Return what is wrong with a turn, call by call; empty where that cannot be told.

    Args:
        language: what it had to be.
        text: it, as received.
    """
    parsed = strict_parse(text, nesting=language.contract.limits.nesting)
    if not isinstance(parsed, Parsed) or not isinstance(parsed.value, dict):
        return ()
    return tuple(islice(_faults(language, parsed.value), FAILURES_KEPT))


def _faults(language: TurnLanguage, turn: dict[str, JsonValue]) -> Iterator[Failure]:
    calls = turn.get(CALLS)
    if isinstance(calls, list):
        most = language.offer.most_calls
        if len(calls) > most:
            yield _fault("maxItems", f"a turn may have at most {most} calls", CALLS)
        for index, call in enumerate(calls[:most]):
            if isinstance(call, dict):
                yield from _faults_of_call(language, call, index)
    elif ANSWER in turn and language.answer is not None:
        yield from _judged(language.answer, turn[ANSWER], child("", ANSWER))


def _faults_of_call(language: TurnLanguage, call: dict[str, JsonValue], index: int) -> Iterator[Failure]:
    name = call.get(NAME)
    if not isinstance(name, str) or name not in language.tools:
        yield _fault(UNKNOWN_TOOL, "no tool of this name was offered", CALLS, index, NAME)
    elif ARGUMENTS in call:
        contract = language.tools[name].contract
        yield from _judged(contract, call[ARGUMENTS], child("", CALLS, index, ARGUMENTS))


def _judged(contract: Contract[object], value: JsonValue, place: str) -> Iterator[Failure]:
    layer = SchemaLayer(contract.schema, formats=contract.formats, documents=contract.documents)
    for failure in layer.judge(value):
        data = failure.data
        if isinstance(data, dict):
            data = {key: f"{place}{at}" if key == "pointer" else at for key, at in data.items()}
        yield replace(failure, pointer=place + failure.pointer, data=data)


def _fault(code: str, message: str, *path: str | int) -> Failure:
    return Failure(layer=Layer.SCHEMA, code=code, pointer=child("", *path), message=message)


__all__ = ["UNKNOWN_TOOL", "turn_faults"]

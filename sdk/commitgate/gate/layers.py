"""Name the layers that an answer passes, in their order, and what each leaves on record."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from commitgate.json_value import JsonValue


class Layer(StrEnum):
    """Name one layer. The order of definition is the order in which an answer passes them."""

    FINISH = "finish"
    ACCEPT = "accept"
    PARSE = "parse"
    SCHEMA = "schema"
    TYPE = "type"
    RULES = "rules"
    CONTENT = "content"
    EVIDENCE = "evidence"
    AUTHORIZE = "authorize"


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Say what one layer found wrong. Never holds model text in what ``repr`` shows.

    Attributes:
        layer: the layer that said no.
        code: stable short name of the fault, for programs: a JSON Schema keyword, or a rule's own code.
        pointer: JSON pointer (RFC 6901) into the value, ``""`` for its root.
        message: what was wanted, in words, without the value that was found.
        data: facts for programs (the value found, a limit); left out of ``repr``.
        retryable: asking the model again may help.
        cause: the exception of the caller's code that stands behind it, where one does; left out of ``repr``.
    """

    layer: Layer
    code: str
    pointer: str
    message: str
    data: JsonValue = field(default=None, repr=False, hash=False)
    retryable: bool = True
    cause: BaseException | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerRecord:
    """Record how one layer went.

    Attributes:
        layer: which one.
        ran: it was reached, applies to this kind of contract, and had something to ask.
        passed: its verdict; None where it did not run.
        time_s: seconds that it took; 0.0 where it did not run.
        failures: what it found, empty where it passed or did not run.
    """

    layer: Layer
    ran: bool
    passed: bool | None
    time_s: float = 0.0
    failures: tuple[Failure, ...] = ()


__all__ = ["Failure", "Layer", "LayerRecord"]

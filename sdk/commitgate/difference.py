"""Name where a constraint as a server was sent it is not the contract's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

DifferenceKind: TypeAlias = Literal["checked", "narrowed", "nullable", "wrapped", "rewritten"]
"""``checked``: not sent, enforced by the gate after generation. ``narrowed``: the server allows less than the contract.
``nullable``: an optional property is required and may be null, which is taken out again. ``wrapped``: the value is a
member of an object, which is taken off again. ``rewritten``: said in other words that mean the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Name one place where the constraint as sent is not the contract's.

    Attributes:
        kind: what sort of difference.
        pointer: JSON pointer (RFC 6901) of the place in the contract's schema; of a tool's parameters in theirs.
        keyword: the keyword; of a text that is no JSON ``regex``, ``grammar``, ``choices`` or ``machine``.
        reason: why, in words, without payload.
        tool: the tool whose parameters it is about; None for the answer.
    """

    kind: DifferenceKind
    pointer: str
    keyword: str
    reason: str
    tool: str | None = None


__all__ = ["Difference", "DifferenceKind"]

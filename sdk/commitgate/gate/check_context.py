"""Tell checks that look further than the value what call they are part of."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckContext:
    """Say for whom a value is judged. Handed to evidence checks, ``authorize`` and ``approve``.

    Attributes:
        principal: who asks, as the caller names it; None where the call names nobody. Left out of ``repr``.
        is_replay: the value was committed by an earlier call and is about to be handed out again.
        contract_name: the contract's name.
    """

    principal: object = field(default=None, repr=False)
    is_replay: bool = False
    contract_name: str = ""


__all__ = ["CheckContext"]

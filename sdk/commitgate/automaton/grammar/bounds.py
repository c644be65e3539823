"""Refuse what is larger than a limit, in the words of texts that are no schema."""

from __future__ import annotations

from commitgate.errors import LimitExceededError
from commitgate.languages import TextKind
from commitgate.limits import Limits

_NAMES: dict[TextKind, str] = {
    "regex": "the pattern",
    "grammar": "the grammar",
    "choices": "the list of choices",
    "machine": "the machine",
}


def check_size(
    limit_name: str, found: int, limits: Limits, keyword: TextKind, *, position: int | None = None, pointer: str = ""
) -> None:
    """Check that no more was found than a limit allows.

    Args:
        limit_name: a field of ``Limits``.
        found: how much there is; counting may stop one past the limit.
        limits: holds the limit.
        keyword: what is read.
        position: where it was passed, in characters of the text; None where no place is.
        pointer: where it was passed in a machine.

    Raises:
        LimitExceededError: there is more.
    """
    limit = getattr(limits, limit_name)
    assert isinstance(limit, int)
    if found <= limit:
        return
    where = pointer and f" at {pointer}" if position is None else f" at character {position}"
    raise LimitExceededError(
        f"{_NAMES[keyword]} exceeds Limits.{limit_name} = {limit}{where}; make it smaller or raise the limit",
        limit_name=limit_name,
        limit=limit,
        found=found,
        keyword=keyword,
        position=position,
        pointer=pointer,
    )


__all__ = ["check_size"]

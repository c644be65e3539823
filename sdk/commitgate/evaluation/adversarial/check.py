"""Define what a check is, what it comes to, and what it is handed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

if TYPE_CHECKING:
    from commitgate.evaluation.adversarial.stage import Scene

Group: TypeAlias = Literal["values", "streams", "changes", "content", "hostile"]
"""``values``: legal answers of every size and shape. ``streams``: answers that are cut, lost, late or left.
``changes``: a backend that is another one than before. ``content``: texts that lie, or give orders. ``hostile``:
contracts that are made to hurt."""

CheckVerdict: TypeAlias = Literal["passed", "failed", "skipped"]
"""``skipped``: it cannot be asked of this backend, or what came tells nothing; the reason says which."""

GROUPS: tuple[Group, ...] = get_args(Group)
"""The groups, in the order of a report."""
VERDICTS: tuple[CheckVerdict, ...] = get_args(CheckVerdict)
"""The verdicts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Hold what one look at a backend found.

    Attributes:
        verdict: whether the law holds.
        reason: why not, or why that cannot be told, in words without payload; empty where it holds.
        ending: how the call that tells it ended, as ``committed`` or ``truncated (max_tokens)``; empty where there was
            none.
    """

    verdict: CheckVerdict
    reason: str = ""
    ending: str = ""


Run: TypeAlias = "Callable[[Scene], Awaitable[Found]]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """Hold one check.

    Attributes:
        name: its name within its group.
        group: what sort of trial it is.
        about: what is set up, in words.
        law: what must hold, in words.
        run: tries it.
    """

    name: str
    group: Group
    about: str
    law: str
    run: Run = field(repr=False)

    @property
    def id(self) -> str:
        """Return what names it in reports and ratchets."""
        return f"{self.group}/{self.name}"


def passed(ending: str = "") -> Found:
    """Return that the law holds."""
    return Found(verdict="passed", ending=ending)


def failed(reason: str, ending: str = "") -> Found:
    """Return that the law is broken."""
    return Found(verdict="failed", reason=reason, ending=ending)


def skipped(reason: str, ending: str = "") -> Found:
    """Return that it cannot be asked, or that what came tells nothing."""
    return Found(verdict="skipped", reason=reason, ending=ending)


def all_of(*found: Found) -> Found:
    """Return the first that is broken; else the first that tells nothing; else the last."""
    for verdict in ("failed", "skipped"):
        for each in found:
            if each.verdict == verdict:
                return each
    return found[-1]


__all__ = [
    "GROUPS",
    "VERDICTS",
    "Check",
    "CheckVerdict",
    "Found",
    "Group",
    "Run",
    "all_of",
    "failed",
    "passed",
    "skipped",
]

"""Ask a suite's own authority and scorer about a value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from commitgate.argument import check_pointer
from commitgate.errors import MisuseError
from commitgate.evaluation.caller_code import checked_score
from commitgate.evaluation.content import Raised
from commitgate.evaluation.judged import Judged
from commitgate.evaluation.layer import Measure
from commitgate.evaluation.proposal import Proposal
from commitgate.evaluation.setup import Planned, Setup


async def denied_places(setup: Setup, planned: Planned, proposal: Proposal, judged: Judged) -> tuple[str, ...] | None:
    """Return what the suite's authority does not bear out; None where there is none, or it broke."""
    authority = setup.suite.authority
    if authority is None:
        return None
    found = await setup.caller.ask(authority, planned.case, proposal.typed, at="authority")
    if isinstance(found, Raised):
        judged.note(found)
        return None
    try:
        if not isinstance(found, Sequence) or isinstance(found, str | bytes):
            raise MisuseError("an authority must return a list of places")
        places = tuple(cast("Sequence[object]", found))
        for place in places:
            check_pointer("a place", place)
    except MisuseError as error:
        judged.note(Raised(type(error).__qualname__, "authority"))
        return None
    return cast("tuple[str, ...]", places)


async def judge_quality(setup: Setup, planned: Planned, value: object, judged: Judged) -> None:
    """Note the caller's own score of a committed value."""
    suite = setup.suite
    if suite.scorer is None:
        return
    found = await setup.caller.ask(suite.scorer, planned.case, value, at="scorer")
    try:
        score = found if isinstance(found, Raised) else checked_score(found)
    except MisuseError as error:
        score = Raised(type(error).__qualname__, "scorer")
    if isinstance(score, Raised):
        judged.note(score)
        return
    judged.score = score
    judged.layers.take(Measure.QUALITY, *([("low_score", "")] if score < suite.least_score else []))


__all__ = ["denied_places", "judge_quality"]

"""List all checks, in the order in which they are tried."""

from __future__ import annotations

from collections.abc import Sequence

from commitgate.errors import MisuseError
from commitgate.evaluation.adversarial.change_checks import change_checks
from commitgate.evaluation.adversarial.check import GROUPS, Check
from commitgate.evaluation.adversarial.content_checks import content_checks
from commitgate.evaluation.adversarial.cut_checks import cut_checks
from commitgate.evaluation.adversarial.hostile_checks import hostile_checks
from commitgate.evaluation.adversarial.key_checks import key_checks
from commitgate.evaluation.adversarial.order_checks import order_checks
from commitgate.evaluation.adversarial.tool_checks import tool_checks
from commitgate.evaluation.adversarial.value_checks import value_checks
from commitgate.evaluation.adversarial.waiting_checks import waiting_checks


def checks(only: Sequence[str] | None = None) -> tuple[Check, ...]:
    """Return the checks.

    Args:
        only: names of groups and ids of checks; None takes all.

    Raises:
        MisuseError: one of them is neither.
    """
    found = (
        *value_checks(),
        *cut_checks(),
        *waiting_checks(),
        *key_checks(),
        *change_checks(),
        *content_checks(),
        *order_checks(),
        *tool_checks(),
        *hostile_checks(),
    )
    if only is None:
        return found
    wanted = set(only)
    unknown = sorted(wanted - {each.id for each in found} - set(GROUPS))
    if unknown:
        raise MisuseError(
            f"only has {len(unknown)} names that are no check and no group; groups are {', '.join(GROUPS)}, and a "
            "check is named group/name, as in a report"
        )
    return tuple(each for each in found if each.id in wanted or each.group in wanted)


__all__ = ["checks"]

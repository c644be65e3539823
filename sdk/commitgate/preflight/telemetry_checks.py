"""Check that somebody is told how calls go."""

from __future__ import annotations

import ast

from commitgate.preflight.check import Check, check
from commitgate.preflight.code_names import keyword_of
from commitgate.preflight.code_scan import CodeScan

_INSTEAD = "give Client(observers=[...]): without it nobody sees a rate of refusals, doubts or truncations rise"


def observed(code: CodeScan | None, *, observers: int | None) -> Check:
    """Return whether calls are watched.

    Args:
        code: the caller's calls; None where no code was given.
        observers: how many observers the caller has; None where nobody said.
    """
    if observers is not None:
        if observers:
            return check("observed", "passed", f"{observers} observer{'' if observers == 1 else 's'}")
        return check("observed", "warned", "no observer watches calls", _INSTEAD)
    if code is None or not code.clients:
        return check("observed", "warned", "nobody looked: no code that makes a Client was given", _INSTEAD)
    blind = [each.place for each in code.clients if not each.is_open and _is_blind(keyword_of(each.call, "observers"))]
    if blind:
        told = f"clients without an observer: {len(blind)} of {len(code.clients)}"
        return check("observed", "warned", told, _INSTEAD, blind)
    return check("observed", "passed", "every client has observers")


def _is_blind(node: ast.expr | None) -> bool:
    return node is None or (isinstance(node, ast.List | ast.Tuple | ast.Set) and not node.elts)


__all__ = ["observed"]

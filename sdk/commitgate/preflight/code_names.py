"""Resolve the names that a Python file uses to full dotted names, by its imports alone; nothing is run. Sans-IO."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

import commitgate


def imported_names(tree: ast.AST) -> dict[str, str]:
    """Return what each imported name of a file stands for, as ``{"Client": "commitgate.Client"}``."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                # "import a.b" binds a; "import a.b as c" binds c to a.b.
                bound = alias.asname or alias.name.partition(".")[0]
                found[bound] = alias.name if alias.asname else bound
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            if base == "commitgate" and any(alias.name == "*" for alias in node.names):
                found.update({name: f"{base}.{name}" for name in commitgate.__all__})
            found.update({alias.asname or alias.name: f"{base}.{alias.name}" for alias in node.names})
    return found


def dotted(node: ast.expr, names: Mapping[str, str]) -> str | None:
    """Return the full name of an expression such as ``cg.Risk.EFFECT``; None where it is no name."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join((names.get(node.id, node.id), *reversed(parts)))


def assignments(tree: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Yield each name that is given a value by a plain assignment, with that value."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    yield target.id, node.value
        elif isinstance(node, ast.AnnAssign) and node.value is not None and isinstance(node.target, ast.Name):
            yield node.target.id, node.value


def keyword_of(call: ast.Call, name: str) -> ast.expr | None:
    """Return what a call gives for a keyword; None where it does not, or gives a plain None."""
    for each in call.keywords:
        if each.arg == name:
            is_none = isinstance(each.value, ast.Constant) and each.value.value is None
            return None if is_none else each.value
    return None


__all__ = ["assignments", "dotted", "imported_names", "keyword_of"]

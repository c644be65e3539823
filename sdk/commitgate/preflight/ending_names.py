"""Tell which endings an expression in a function means, by looking its names up where the function would."""

from __future__ import annotations

import ast
import builtins
import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from importlib import import_module
from types import ModuleType, UnionType
from typing import TypeAlias, Union, cast, get_args, get_origin

from commitgate.endings import ENDINGS
from commitgate.outcome import Ending

Names: TypeAlias = "frozenset[str]"
"""Names of endings, as ``refused``."""

ALL: Names = frozenset(ENDINGS)
NOTHING: Names = frozenset()


class EndingNames:
    """Look names up as a function does: what it imports by itself, its closure, its module, the builtins.

    Args:
        function: it.
        tree: its definition.
    """

    def __init__(self, function: Callable[..., object], tree: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._known: dict[str, object] = dict(vars(builtins))
        self._known |= cast("dict[str, object]", getattr(function, "__globals__", {}))
        with suppress(TypeError, ValueError):
            self._known |= inspect.getclosurevars(function).nonlocals
        self._known |= dict(_imported_in(tree, cast("dict[str, object]", getattr(function, "__globals__", {}))))

    def object_of(self, node: ast.expr) -> object:
        """Return what a name, or a name with attributes, stands for; None where nobody can say without running it."""
        if isinstance(node, ast.Name):
            return self._known.get(node.id)
        if isinstance(node, ast.Attribute):
            holder = self.object_of(node.value)
            # Other objects may run code of their own when they are asked for an attribute.
            return vars(holder).get(node.attr) if isinstance(holder, ModuleType | type) else None
        return None

    def endings_of(self, node: ast.expr) -> list[Names]:
        """Return the endings that classes stand for, those of each class by itself; empty where it is of no ending."""
        if isinstance(node, ast.Tuple):
            return [found for item in node.elts for found in self.endings_of(item)]
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            return self.endings_of(node.left) + self.endings_of(node.right)
        return list(_endings(self.object_of(node)))

    def errors_of(self, node: ast.expr | None) -> list[Names]:
        """Return the endings whose exceptions an ``except`` catches, those of each class by itself."""
        if node is None:
            return [ALL - {"committed"}]
        if isinstance(node, ast.Tuple):
            return [found for item in node.elts for found in self.errors_of(item)]
        caught = self.object_of(node)
        if not isinstance(caught, type):
            return []
        found = frozenset(
            name
            for name, kind in ENDINGS.items()
            if issubclass(kind, Ending) and issubclass(cast("type", kind.error), caught)
        )
        return [found] if found else []


def _endings(found: object) -> Iterator[Names]:
    if get_origin(found) in (Union, UnionType):
        # A union names each of its classes.
        for each in get_args(found):
            yield from _endings(each)
        return
    kind = get_origin(found) or found
    if isinstance(kind, type):
        names = frozenset(name for name, each in ENDINGS.items() if issubclass(each, kind))
        if names and kind is not object:
            yield names


def _imported_in(tree: ast.AST, known: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    package = known.get("__package__")
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            name = "." * node.level + (node.module or "")
            try:
                module = import_module(name, package if isinstance(package, str) else None)
            except Exception:  # noqa: BLE001 - whatever the caller's code raises, its names are not known then
                continue
            yield from (
                (alias.asname or alias.name, vars(module)[alias.name])
                for alias in node.names
                if alias.name in vars(module)
            )


__all__ = ["ALL", "NOTHING", "EndingNames", "Names"]

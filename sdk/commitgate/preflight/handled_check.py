"""Check that the caller's code has a handler for each ending: by types, else by the names in its branches."""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Callable, Iterable
from dataclasses import fields
from pathlib import Path
from typing import cast

from commitgate.endings import ENDINGS, Handlers
from commitgate.preflight.branch_reading import Reading, read_branches
from commitgate.preflight.branch_tests import find_subject
from commitgate.preflight.check import Check, check
from commitgate.preflight.ending_names import EndingNames, Names
from commitgate.preflight.ending_types import Checked, TypeVerdict, type_verdict
from commitgate.worker_thread import run_in_thread

_INSTEAD = "give each of them a branch of its own, or make the branches Handlers of commitgate.endings"


async def handled_check(handlers: object, *, types: bool = True) -> Check:
    """Return whether every ending is handled.

    Args:
        handlers: a ``Handlers``, or a function that tells endings apart; None where nobody gave any.
        types: ask a type checker, where one is installed.
    """
    if handlers is None:
        instead = "give --handlers file.py:NAME: a Handlers, or the function that matches over the outcome"
        return check("handled", "warned", "nobody looked: no handlers were given", instead)
    if isinstance(handlers, Handlers):
        return _of_handlers(cast("Handlers[object, object, object]", handlers))
    found = await run_in_thread(lambda: _read(handlers))
    if isinstance(found, str):
        return check("handled", "failed", found, "give a Handlers, or a function that matches over an Outcome")
    checked, reading, is_by_word = found
    if not types:
        verdict = TypeVerdict(reason="no type checker was asked")
    elif is_by_word:
        verdict = TypeVerdict(reason="it goes by the words in name, of which types know nothing")
    else:
        verdict = await type_verdict(checked)
    return _told(checked, reading, verdict)


def _of_handlers(handlers: Handlers[object, object, object]) -> Check:
    """Say what handlers there are; each of them is there, or the object could not have been made."""
    by_function: dict[int, list[str]] = {}
    for entry in fields(handlers):
        by_function.setdefault(id(getattr(handlers, entry.name)), []).append(entry.name)
    shared = [", ".join(names) for names in by_function.values() if len(names) > 1]
    told = f"a Handlers has one function for each of {len(ENDINGS)} endings"
    return check("handled", "passed", told, "", [f"one function for: {names}" for names in shared])


def _read(handlers: object) -> tuple[Checked, Reading, bool] | str:
    function = _function(handlers)
    if function is None:
        return f"a {type(handlers).__name__} is neither a Handlers nor a function whose code can be read"
    try:
        file = Path(inspect.getsourcefile(function) or "")
        text = file.read_text(encoding="utf-8")
        tree = _definition(ast.parse(text), function)
    except (OSError, TypeError, ValueError, SyntaxError):
        tree, file, text = None, Path(), ""
    if tree is None:
        return "the code of the function cannot be read"
    names = EndingNames(function, tree)
    subject = find_subject(tree, names)
    reading = Reading() if subject is None else read_branches(tree.body, subject, names)
    if subject is None or not reading.line:
        return f"{file.name}:{tree.lineno}: nothing in {tree.name} tells endings apart"
    package = getattr(function, "__globals__", {}).get("__package__")
    made = Checked(file=file, text=text, tree=tree, subject=subject.name, line=reading.line, package=package or None)
    return made, reading, any(map(subject.goes_by_word, tree.body))


def _function(handlers: object) -> Callable[..., object] | None:
    found = handlers
    while isinstance(found, functools.partial):
        found = cast("object", found.func)
    if not inspect.isroutine(found) and not isinstance(found, type):
        found = getattr(type(found), "__call__", None)  # noqa: B004 - its code is looked at, not whether there is any
    found = inspect.unwrap(cast("Callable[..., object]", found)) if callable(found) else None
    found = getattr(found, "__func__", found)
    return found if inspect.isfunction(found) and found.__name__ != "<lambda>" else None


def _definition(module: ast.Module, function: Callable[..., object]) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    first = function.__code__.co_firstlineno
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = [node.lineno, *(mark.lineno for mark in node.decorator_list)]
            if min(lines) == first and node.name == getattr(function, "__name__", None):
                return node
    return None


def _told(checked: Checked, reading: Reading, verdict: TypeVerdict) -> Check:
    file = checked.file.name
    way = (
        f"by types ({verdict.checker})"
        if verdict.has_decided
        else f"by the names in the branches of {checked.tree.name}, as {verdict.reason}"
    )
    missing = reading.missing | verdict.missing
    places = [
        f"{file}:{each.line}: takes {_listed(each.names)} together{_silent(each.is_silent)}"
        for each in reading.swallows
    ]
    places += [f"{file}:{reading.line}: raises {_listed(reading.raised)}"] if reading.raised else []
    places += verdict.faults
    if missing:
        told = f"{_listed(missing)} {'has' if len(missing) == 1 else 'have'} no handler ({way})"
        return check("handled", "failed", told, _INSTEAD, [f"{file}:{reading.line}", *places])
    silent = [each for each in reading.swallows if each.is_silent]
    if silent:
        lost = _listed(frozenset[str]().union(*(each.names for each in silent)))
        return check("handled", "failed", f"{lost} are passed over without a word ({way})", _INSTEAD, places)
    if reading.swallows or reading.raised or verdict.faults:
        own = f"{len(reading.named)} of {len(ENDINGS)} endings have a branch of their own"
        rest = [f"{len(reading.swallowed)} are taken together"] if reading.swallows else []
        rest += [f"{len(reading.raised)} leave as exceptions"] if reading.raised else []
        return check("handled", "warned", f"{', '.join([own, *rest])} ({way})", _INSTEAD, places)
    told = f"each of {len(ENDINGS)} endings has a branch of its own ({way})"
    return check("handled", "passed", told, "", [f"{file}:{reading.line}"])


def _listed(names: Names | Iterable[str]) -> str:
    found = set(names)
    return ", ".join(name for name in ENDINGS if name in found)


def _silent(is_silent: bool) -> str:
    return ", and does nothing" if is_silent else ""


__all__ = ["handled_check"]

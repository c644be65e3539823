"""Find the calls of this library in the caller's code, by reading it; nothing of it is run.

What an expression gives can be read where it is written out: a constant, a call, a name assigned in the same files.
What hides behind ``**options`` cannot, and is told as such.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from commitgate.preflight.code_names import assignments, dotted, imported_names, keyword_of

CallMethod: TypeAlias = Literal["generate_structured", "stream_structured", "run_tools", "stream_tools"]

_METHODS = frozenset({"generate_structured", "stream_structured", "run_tools", "stream_tools"})
_OF_TOOLS = frozenset({"run_tools", "stream_tools"})
_OWN = "commitgate"
_MAKERS = frozenset({"of", "json_schema"})
_READING = "read"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSite:
    """Hold one call that asks a model.

    Attributes:
        place: ``file:line``.
        method: which call.
        acts: something is done because of its value, as far as the code says.
        given: what each keyword is given; keywords with a plain None are left out.
        is_open: further keywords come from a dict that cannot be read.
        names: what imported names of its file stand for.
    """

    place: str
    method: str
    acts: bool
    given: Mapping[str, ast.expr] = field(repr=False)
    is_open: bool
    names: Mapping[str, str] = field(repr=False)

    def has(self, keyword: str) -> bool:
        """Say whether the call gives a keyword."""
        return keyword in self.given


@dataclass(frozen=True, slots=True, kw_only=True)
class MakingSite:
    """Hold one place at which something of this library is made: a client, a backend.

    Attributes:
        place: ``file:line``.
        made: its full name, as ``commitgate.Client``.
        call: the call.
        names: what imported names of its file stand for.
        is_open: as of ``CallSite``.
    """

    place: str
    made: str
    call: ast.Call = field(repr=False)
    names: Mapping[str, str] = field(repr=False)
    is_open: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeScan:
    """Hold what was found in the caller's code.

    Attributes:
        files: how many files were read.
        unread: files that could not be read, each with why.
        calls: every call that asks a model.
        makings: every place at which something of this library is made.
        values: what each name is assigned, in all files; of one assigned twice the last.
    """

    files: int = 0
    unread: tuple[str, ...] = ()
    calls: tuple[CallSite, ...] = ()
    makings: tuple[MakingSite, ...] = ()
    values: Mapping[str, ast.expr] = field(default_factory=dict[str, ast.expr], repr=False)

    @property
    def acting(self) -> tuple[CallSite, ...]:
        """Return the calls because of which something is done."""
        return tuple(each for each in self.calls if each.acts)

    @property
    def clients(self) -> tuple[MakingSite, ...]:
        """Return the places at which a client is made."""
        return tuple(each for each in self.makings if each.made.rpartition(".")[2] == "Client")

    def gives(self, keyword: str) -> bool:
        """Say whether there are calls, and each of those that act gives a keyword; each at all where none acts."""
        calls = self.acting or self.calls
        return bool(calls) and all(each.has(keyword) for each in calls)

    def value(self, node: ast.expr) -> ast.expr:
        """Return what a name was assigned, once; anything else as it is."""
        return self.values.get(node.id, node) if isinstance(node, ast.Name) else node


def scan(files: Sequence[tuple[str, str]], *, acting_names: frozenset[str] = frozenset()) -> CodeScan:
    """Return what is found in the texts of files.

    Args:
        files: each file's name, as it is told, with its text.
        acting_names: names of contracts of which it is known that something is done because of their values.
    """
    read: list[tuple[str, ast.Module, dict[str, str]]] = []
    unread: list[str] = []
    for name, text in files:
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            line = f" at line {error.lineno}" if isinstance(error, SyntaxError) else ""
            unread.append(f"{name}: {type(error).__name__}{line}")
        else:
            read.append((name, tree, imported_names(tree)))
    values = {name: value for _, tree, _ in read for name, value in assignments(tree)}
    acting = acting_names | {name for _, tree, names in read for name in _acting_contracts(tree, names)}
    has_acting_tools = any(_acts_as_tool(tree, names) for _, tree, names in read)
    return CodeScan(
        files=len(read),
        unread=tuple(unread),
        calls=tuple(site for name, tree, names in read for site in _calls(name, tree, names, acting, has_acting_tools)),
        makings=tuple(site for name, tree, names in read for site in _makings(name, tree, names)),
        values=values,
    )


def _calls(
    file: str, tree: ast.Module, names: Mapping[str, str], acting: frozenset[str] | set[str], has_acting_tools: bool
) -> Iterator[CallSite]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        method = node.func.attr
        if method not in _METHODS:
            continue
        given = {each.arg: each.value for each in node.keywords if each.arg and keyword_of(node, each.arg) is not None}
        if method in _OF_TOOLS:
            acts = has_acting_tools
        else:
            schema = given.get("schema") or (node.args[1] if len(node.args) > 1 else None)
            acts = "effect" in given or (schema is not None and _is_acting(schema, names, acting))
        yield CallSite(
            place=f"{file}:{node.lineno}",
            method=method,
            acts=acts,
            given=given,
            is_open=any(each.arg is None for each in node.keywords),
            names=names,
        )


def _is_acting(schema: ast.expr, names: Mapping[str, str], acting: frozenset[str] | set[str]) -> bool:
    if isinstance(schema, ast.Call):
        return _has_risk_of_effect(schema, names)
    found = dotted(schema, names)
    return found is not None and found.rpartition(".")[2] in acting


def _acting_contracts(tree: ast.Module, names: Mapping[str, str]) -> Iterator[str]:
    for name, value in assignments(tree):
        if isinstance(value, ast.Call) and _has_risk_of_effect(value, names):
            yield name


def _has_risk_of_effect(call: ast.Call, names: Mapping[str, str]) -> bool:
    risk = keyword_of(call, "risk")
    found = None if risk is None else dotted(risk, names)
    return found is not None and found.endswith("Risk.EFFECT")


def _acts_as_tool(tree: ast.Module, names: Mapping[str, str]) -> bool:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for mark in node.decorator_list:
                made = dotted(mark.func, names) if isinstance(mark, ast.Call) else None
                if made is None or not made.startswith(_OWN) or made.rpartition(".")[2] != "tool":
                    continue
                kind = keyword_of(mark, "effect") if isinstance(mark, ast.Call) else None
                if not (isinstance(kind, ast.Constant) and kind.value == _READING):
                    return True
    return False


def _makings(file: str, tree: ast.Module, names: Mapping[str, str]) -> Iterator[MakingSite]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        made = dotted(node.func, names)
        if made is None or not made.startswith(f"{_OWN}.") or made.rpartition(".")[2] in _MAKERS:
            continue
        is_open = any(each.arg is None for each in node.keywords)
        yield MakingSite(place=f"{file}:{node.lineno}", made=made, call=node, names=names, is_open=is_open)


__all__ = ["CallMethod", "CallSite", "CodeScan", "MakingSite", "scan"]

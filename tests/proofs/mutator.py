"""Change a module in one small place at a time, as a slip of its author might have.

Left alone: docstrings, annotations, decorators, imports, ``__all__``, assertions (they state what cannot happen) and
the words of messages.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from proofs.part import SDK

Put = Callable[[ast.AST], None]

_ENUMS = {
    "gate/states.py": ("State", "Signal", "Ruling"),
    "gate/layers.py": ("Layer",),
    "backends/base.py": ("FinishReason",),
    "ledger/record.py": ("State",),
    "ledger/states.py": ("Guard",),
    "ledger/steps.py": ("Finding",),
}
"""Enumerations of which one member takes the place of another. They are read, not imported: code may be changed.

Two may have one name as long as no member of theirs has.
"""

_COMPARE: Mapping[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_ARITHMETIC: Mapping[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult,
}
_TOLD_BY_WHAT_STOOD_THERE = ("case removed", "entry dropped", "removed", "order")
_NAMES = {"any": "all", "all": "any", "min": "max", "max": "min"}
_CODE = re.compile(r"[a-z_]{2,30}\Z")
_QUANTIFIER = re.compile(rb"(?<!\\)(?:[*+](?!\])|\?(?![:P=!<]))|\\d|\\Z")
_SWAPPED = {b"*": b"+", b"+": b"*", b"?": b"", rb"\d": rb"\w", rb"\Z": b""}


@dataclass(frozen=True, slots=True)
class Mutant:
    """Name one change.

    Attributes:
        index: its number in the module.
        line: the line of the source.
        name: what identifies it while lines move: the function, the kind, what stood there and what stands there now,
            and where that is not unique which of them.
    """

    index: int
    line: int
    name: str


@dataclass(frozen=True, slots=True)
class _Change:
    line: int
    name: str
    apply: Callable[[], None]


def mutants_of(source: str) -> list[Mutant]:
    """Return the mutants of a module."""
    found: list[Mutant] = []
    seen: dict[str, int] = {}
    for index, change in enumerate(_changes(ast.parse(source))):
        seen[change.name] = seen.get(change.name, 0) + 1
        suffix = f" #{seen[change.name]}" if seen[change.name] > 1 else ""
        found.append(Mutant(index, change.line, change.name + suffix))
    return found


def mutated(source: str, index: int) -> ast.Module:
    """Return the syntax tree of a module with one change made."""
    tree = ast.parse(source)
    for number, change in enumerate(_changes(tree)):
        if number == index:
            change.apply()
            return ast.fix_missing_locations(tree)
    raise IndexError(index)


def _changes(tree: ast.Module) -> Iterator[_Change]:
    return _Walk().block(tree.body, "module")


def _members(name: str, member: str) -> list[str]:
    """Return the members of the enumeration of that name that has this one; none where there is no such."""
    return next((members for members in _enumerations().get(name, ()) if member in members), [])


@cache
def _enumerations() -> Mapping[str, list[list[str]]]:
    """Return the names of the members of each enumeration."""
    found: dict[str, list[list[str]]] = {}
    for path, names in _ENUMS.items():
        for node in ast.parse((SDK / path).read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and node.name in names:
                members = [ast.unparse(entry.targets[0]) for entry in node.body if isinstance(entry, ast.Assign)]
                found.setdefault(node.name, []).append(members)
    return found


class _Walk:
    """Walk a tree and yield its changes; nothing is changed before a change is applied."""

    def block(self, body: list[ast.stmt], place: str) -> Iterator[_Change]:
        for number, statement in enumerate(body):
            yield from self._statement(statement, place, _putter(body, number))

    def _statement(self, node: ast.stmt, place: str, put: Put) -> Iterator[_Change]:
        match node:
            case ast.Import() | ast.ImportFrom() | ast.Assert() | ast.Pass() | ast.Expr(value=ast.Constant()):
                return
            case ast.Expr(value=ast.Call(func=ast.Name(id="assert_never"))):
                return
            case ast.ClassDef():
                if not any(
                    isinstance(base, ast.Name) and base.id in ("Enum", "StrEnum", "Protocol") for base in node.bases
                ):
                    yield from self.block(node.body, node.name)
                return
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                inner = node.name if place == "module" else f"{place}.{node.name}"
                for number, default in enumerate(node.args.defaults):
                    yield from self._expression(default, inner, _putter(node.args.defaults, number))
                for number, default in enumerate(node.args.kw_defaults):
                    if default is not None:
                        yield from self._expression(default, inner, _putter(node.args.kw_defaults, number))
                yield from self.block(node.body, inner)
                return
            case ast.Assign(targets=[ast.Name(id="__all__" | "__slots__")]) | ast.If(test=ast.Name(id="TYPE_CHECKING")):
                return
            case _:
                yield from self._removal(node, place, put)
        for field, value in ast.iter_fields(node):
            if isinstance(value, list):
                yield from self._list(value, place)
            elif isinstance(value, ast.expr) and field not in ("annotation", "returns", "msg", "target"):
                yield from self._expression(value, place, _setter(node, field))
        if isinstance(node, ast.AugAssign) and type(node.op) in _ARITHMETIC:
            yield _change(node, place, "operator", _ARITHMETIC[type(node.op)](), _setter(node, "op"), node.op)
        if isinstance(node, ast.If):
            for value in (True, False):
                yield _change(node.test, place, "condition", ast.Constant(value), _setter(node, "test"))

    def _list(self, values: list[ast.AST], place: str) -> Iterator[_Change]:
        for number, value in enumerate(values):
            if isinstance(value, ast.stmt):
                yield from self._statement(value, place, _putter(values, number))
            elif isinstance(value, ast.expr):
                yield from self._expression(value, place, _putter(values, number))
            elif isinstance(value, ast.match_case):
                if not (isinstance(value.pattern, ast.MatchAs) and value.pattern.pattern is None):
                    never = ast.match_case(value.pattern, ast.Constant(False), value.body)
                    yield _change(value.pattern, place, "case removed", never, _putter(values, number), value.pattern)
                yield from self.block(value.body, place)
                if value.guard is not None:
                    yield from self._expression(value.guard, place, _setter(value, "guard"))
            elif isinstance(value, ast.ExceptHandler):
                yield from self.block(value.body, place)
            elif isinstance(value, ast.withitem):
                yield from self._expression(value.context_expr, place, _setter(value, "context_expr"))

    def _removal(self, node: ast.stmt, place: str, put: Put) -> Iterator[_Change]:
        match node:
            case ast.Return(value=ast.expr() as value) if not (isinstance(value, ast.Constant) and value.value is None):
                yield _change(node, place, "returned", ast.Return(ast.Constant(None)), put)
            case ast.Expr() | ast.Raise() | ast.Continue() | ast.Break() | ast.AugAssign():
                yield _change(node, place, "removed", ast.Pass(), put)
            case ast.Assign(targets=[ast.Attribute()]):
                yield _change(node, place, "removed", ast.Pass(), put)
            case _:
                return

    def _expression(self, node: ast.expr, place: str, put: Put) -> Iterator[_Change]:
        yield from self._own(node, place, put)
        if isinstance(node, ast.JoinedStr | ast.Lambda):
            if isinstance(node, ast.Lambda):
                yield from self._expression(node.body, place, _setter(node, "body"))
            return
        for field, value in ast.iter_fields(node):
            if isinstance(value, ast.expr):
                yield from self._expression(value, place, _setter(node, field))
            elif isinstance(value, list):
                for number, item in enumerate(value):
                    if isinstance(item, ast.expr):
                        yield from self._expression(item, place, _putter(value, number))
                    elif isinstance(item, ast.keyword):
                        yield from self._expression(item.value, place, _setter(item, "value"))
                    elif isinstance(item, ast.comprehension):
                        yield from self._comprehension(item, place)

    def _comprehension(self, node: ast.comprehension, place: str) -> Iterator[_Change]:
        yield from self._expression(node.iter, place, _setter(node, "iter"))
        for number, test in enumerate(node.ifs):
            yield _change(test, place, "filter removed", ast.Constant(True), _putter(node.ifs, number))
            yield from self._expression(test, place, _putter(node.ifs, number))

    def _own(self, node: ast.expr, place: str, put: Put) -> Iterator[_Change]:
        match node:
            case ast.Compare(ops=[operator]):
                for other in _COMPARE.get(type(operator), ()):
                    yield _change(node, place, "comparison", ast.Compare(node.left, [other()], node.comparators), put)
            case ast.BoolOp():
                other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
                yield _change(node, place, "boolean", ast.BoolOp(other, node.values), put)
                for number in range(len(node.values)):
                    rest = [value for at, value in enumerate(node.values) if at != number]
                    kept = rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)
                    yield _change(node, place, "operand dropped", kept, put)
            case ast.UnaryOp(op=ast.Not()):
                yield _change(node, place, "not dropped", node.operand, put)
            case ast.BinOp() if type(node.op) in _ARITHMETIC:
                other = _ARITHMETIC[type(node.op)]()
                yield _change(node, place, "operator", ast.BinOp(node.left, other, node.right), put)
            case ast.IfExp():
                yield _change(node, place, "branch", node.body, put)
                yield _change(node, place, "branch", node.orelse, put)
            case ast.Constant():
                for value in _other_constants(node.value):
                    yield _change(node, place, "constant", ast.Constant(value), put)
            case ast.Attribute(value=ast.Name(id=name)) if node.attr in (others := _members(name, node.attr)):
                following = others[(others.index(node.attr) + 1) % len(others)]
                yield _change(node, place, "member", ast.Attribute(node.value, following, ast.Load()), put)
            case ast.Slice():
                if node.lower is not None:
                    yield _change(node, place, "slice", ast.Slice(None, node.upper, node.step), put)
                if node.upper is not None:
                    yield _change(node, place, "slice", ast.Slice(node.lower, None, node.step), put)
            case ast.Call(func=ast.Name(id=name)) if name in _NAMES:
                other = ast.Call(ast.Name(_NAMES[name], ast.Load()), node.args, node.keywords)
                yield _change(node, place, "function", other, put)
            case ast.Call(func=ast.Name(id="replace"), args=[row]):
                for number, change in enumerate(node.keywords):
                    rest = node.keywords[:number] + node.keywords[number + 1 :]
                    kept = ast.Call(node.func, [row], rest)
                    yield _change(node, place, "entry dropped", kept, put, change)
            case ast.Tuple(elts=[ast.Call(), ast.Call(), *_] as rows):
                yield from _rows(node, rows, place, put)
            case ast.Dict():
                for number, key in enumerate(node.keys):
                    kept = [at for at in range(len(node.keys)) if at != number]
                    rest = ast.Dict([node.keys[at] for at in kept], [node.values[at] for at in kept])
                    yield _change(
                        key or node.values[number], place, "entry dropped", rest, put, key or node.values[number]
                    )
            case _:
                return


def _rows(node: ast.Tuple, rows: list[ast.expr], place: str, put: Put) -> Iterator[_Change]:
    """Change a table: drop a row, or let the next one of the same first two cells come before it."""
    for number, row in enumerate(rows):
        before, after = rows[:number], rows[number + 1 :]
        yield _change(row, place, "entry dropped", ast.Tuple(before + after, ast.Load()), put)
        if after and _beginning(row) == _beginning(after[0]):
            swapped = ast.Tuple([*before, after[0], row, *after[1:]], ast.Load())
            yield _change(row, place, "order", swapped, put)


def _beginning(row: ast.expr) -> list[str]:
    return [ast.unparse(cell) for cell in row.args[:2]] if isinstance(row, ast.Call) else [ast.unparse(row)]


def _other_constants(value: object) -> list[object]:
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int | float):
        return [value + 1, value - 1]
    if isinstance(value, str):
        return ["mutated"] if _CODE.match(value) else []
    if isinstance(value, bytes):
        swapped = [
            value[: found.start()] + _SWAPPED[found[0]] + value[found.end() :] for found in _QUANTIFIER.finditer(value)
        ]
        return swapped or [b"~"]
    return []


def _putter(values: list[object], number: int) -> Put:
    return lambda node: values.__setitem__(number, node)


def _setter(node: ast.AST, field: str) -> Put:
    return lambda new: setattr(node, field, new)


def _change(
    node: ast.expr | ast.stmt | ast.pattern, place: str, kind: str, new: ast.AST, put: Put, old: ast.AST | None = None
) -> _Change:
    before, after = _text(old or node), "" if kind in _TOLD_BY_WHAT_STOOD_THERE else _text(new)
    return _Change(node.lineno, f"{place}: {kind}: {before}" + (f" -> {after}" if after else ""), lambda: put(new))


def _text(node: ast.AST) -> str:
    match node:
        case ast.operator():
            return type(node).__name__
        case _:
            words = " ".join(ast.unparse(ast.fix_missing_locations(node)).split())
            return words if len(words) <= 90 else f"{words[:60]} … {words[-25:]}"

"""Tell what the tests of a function say about an outcome: which endings pass them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import assert_never

from commitgate.endings import ENDINGS, handle
from commitgate.preflight.ending_names import ALL, NOTHING, EndingNames, Names


@dataclass(frozen=True, slots=True)
class Cover:
    """Say which endings pass a test.

    Attributes:
        names: those that may.
        groups: the same by the classes that are named: several in one group go by one class, or by none.
        is_exact: all of these pass; False where something else is asked, too.
    """

    names: Names
    groups: tuple[Names, ...]
    is_exact: bool = True


class Subject:
    """Know one variable that holds an outcome.

    Args:
        name: of the variable.
        names: looks names up.
    """

    def __init__(self, name: str, names: EndingNames) -> None:
        self.name = name
        self._names = names

    def is_matched(self, node: ast.expr) -> bool:
        """Say whether a ``match`` is over the outcome, or its name."""
        return self._is_it(node) or self._is_name(node)

    def cover_of_pattern(self, pattern: ast.pattern, left: Names) -> Cover:
        """Return which endings a pattern takes of those that are left."""
        match pattern:
            case ast.MatchAs(pattern=None) | ast.MatchStar():
                return Cover(left, (left,))
            case ast.MatchAs(pattern=ast.pattern() as inner):
                return self.cover_of_pattern(inner, left)
            case ast.MatchOr(patterns=patterns):
                return _joined([self.cover_of_pattern(each, left) for each in patterns])
            case ast.MatchValue(value=ast.Constant(value=str() as word)) if word in ENDINGS:
                return Cover(frozenset({word}), (frozenset({word}),))
            case ast.MatchClass(cls=kind):
                inner = [*pattern.patterns, *pattern.kwd_patterns]
                is_exact = all(isinstance(each, ast.MatchAs) and each.pattern is None for each in inner)
                return _of_groups(self._names.endings_of(kind), is_exact=is_exact)
            case _:
                return Cover(NOTHING, ())

    def cover_of_test(self, test: ast.expr, left: Names) -> Cover | None:
        """Return which endings pass the test of an ``if``; None where it does not ask about the ending."""
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                inner = self.cover_of_test(operand, left)
                if inner is None:
                    return None
                rest = left - inner.names
                return Cover(rest, (rest,), inner.is_exact)
            case ast.BoolOp(op=ast.Or(), values=values):
                found = [cover for each in values if (cover := self.cover_of_test(each, left)) is not None]
                return _joined(found) if len(found) == len(values) else None
            case ast.BoolOp(op=ast.And(), values=values):
                found = [cover for each in values if (cover := self.cover_of_test(each, left)) is not None]
                return Cover(found[0].names, found[0].groups, is_exact=False) if found else None
            case ast.Call(func=ast.Name(id="isinstance"), args=[asked, kinds]) if self._is_it(asked):
                groups = self._names.endings_of(kinds)
                return _of_groups(groups) if groups else None
            case ast.Compare(
                left=asked, ops=[ast.Eq() | ast.In() | ast.NotEq() | ast.NotIn() as sign], comparators=[it]
            ):
                return self._compared(asked, sign, it, left)
            case _:
                return None

    def _compared(self, asked: ast.expr, sign: ast.cmpop, it: ast.expr, left: Names) -> Cover | None:
        if not self._is_name(asked):
            return None
        items = it.elts if isinstance(it, ast.Tuple | ast.List | ast.Set) else [it]
        words = {each.value for each in items if isinstance(each, ast.Constant) and isinstance(each.value, str)}
        groups = tuple(frozenset({name}) for name in ENDINGS if name in words)
        if isinstance(sign, ast.NotEq | ast.NotIn):
            rest = left - NOTHING.union(*groups)
            return Cover(rest, (rest,))
        return Cover(NOTHING.union(*groups), groups)

    def tells_apart(self, statement: ast.stmt) -> bool:
        """Say whether a statement, or one in it, tells endings apart."""
        for node in _nodes_of(statement):
            if isinstance(node, ast.Match) and self.is_matched(node.subject):
                return True
            if isinstance(node, ast.If) and self.cover_of_test(node.test, ALL) is not None:
                return True
            if isinstance(node, ast.Call) and (self._is_unwrapping(node) or self._is_handing(node)):
                return True
        return False

    def goes_by_word(self, statement: ast.stmt) -> bool:
        """Say whether a statement tells endings apart by their names."""
        return any(
            (isinstance(node, ast.Match) and self._is_name(node.subject))
            or (isinstance(node, ast.Compare) and self._is_name(node.left))
            for node in _nodes_of(statement)
        )

    def is_unwrapped(self, statement: ast.stmt) -> bool:
        """Say whether a statement calls ``unwrap()``."""
        return any(isinstance(node, ast.Call) and self._is_unwrapping(node) for node in _nodes_of(statement))

    def is_handed_over(self, statement: ast.stmt) -> bool:
        """Say whether a statement hands the outcome to handlers of every ending."""
        return any(isinstance(node, ast.Call) and self._is_handing(node) for node in _nodes_of(statement))

    def is_never(self, body: Sequence[ast.stmt]) -> bool:
        """Say whether statements only tell the type checker that no ending is left."""
        statement = body[0]
        call = statement.value if isinstance(statement, ast.Expr | ast.Return) else None
        return isinstance(call, ast.Call) and self._names.object_of(call.func) is assert_never

    def _is_unwrapping(self, call: ast.Call) -> bool:
        return isinstance(call.func, ast.Attribute) and call.func.attr == "unwrap" and self._is_it(call.func.value)

    def _is_handing(self, call: ast.Call) -> bool:
        is_given = any(self._is_it(each) for each in [*call.args, *(word.value for word in call.keywords)])
        return is_given and self._names.object_of(call.func) is handle

    def _is_it(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and node.id == self.name

    def _is_name(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Attribute) and node.attr == "name" and self._is_it(node.value)


def find_subject(tree: ast.FunctionDef | ast.AsyncFunctionDef, names: EndingNames) -> Subject | None:
    """Return the variable by which a function tells endings apart, a parameter before all others."""
    parameters = [each.arg for each in [*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs]]
    used = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name)]
    for name in dict.fromkeys([*parameters, *used]):
        subject = Subject(name, names)
        if any(_speaks_of_endings(subject, statement, names) for statement in tree.body):
            return subject
    return None


def _speaks_of_endings(subject: Subject, statement: ast.stmt, names: EndingNames) -> bool:
    """Say whether a statement tells endings apart, and not merely matches over something."""
    if not subject.tells_apart(statement):
        return False
    for node in _nodes_of(statement):
        if not isinstance(node, ast.Match):
            continue
        if subject.is_matched(node.subject):
            kinds = [each for case in node.cases for each in ast.walk(case.pattern)]
            return any(
                (isinstance(each, ast.MatchClass) and bool(names.endings_of(each.cls)))
                or (isinstance(each, ast.Constant) and each.value in ENDINGS)
                for each in kinds
            )
    return True


def _nodes_of(statement: ast.stmt) -> Iterator[ast.AST]:
    """Yield a statement and all in it, without the functions that are only defined there."""
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            continue
        yield node
        waiting.extend(reversed(list(ast.iter_child_nodes(node))))


def _joined(covers: Sequence[Cover]) -> Cover:
    exact = [each for each in covers if each.is_exact]
    groups = tuple(group for each in exact for group in each.groups)
    return Cover(NOTHING.union(*(each.names for each in exact)), groups, is_exact=bool(exact))


def _of_groups(groups: Sequence[Names], *, is_exact: bool = True) -> Cover:
    return Cover(NOTHING.union(*groups), tuple(groups), is_exact)


__all__ = ["Cover", "Subject", "find_subject"]

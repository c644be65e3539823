"""Read how a function branches over an outcome: which endings have a branch, which are swallowed, which are forgotten.

It goes through the statements with the set of endings that can still be meant, and takes out of it what a branch takes.
``match`` over classes or names, ``isinstance``, ``unwrap()`` with what catches its exceptions, and ``handle()`` are
understood; nothing is run. A branch counts as an ending's own where it names its class, or where no other is left.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from commitgate.preflight.branch_tests import Cover, Subject
from commitgate.preflight.ending_names import ALL, NOTHING, EndingNames, Names

_Handling: TypeAlias = "list[tuple[list[Names], list[ast.stmt]]]"


@dataclass(frozen=True, slots=True)
class Swallow:
    """Say that one branch takes several endings without naming them.

    Attributes:
        line: of the branch.
        names: the endings.
        is_silent: the branch does nothing at all.
    """

    line: int
    names: Names
    is_silent: bool


@dataclass(slots=True)
class Reading:
    """Hold what was read of one function.

    Attributes:
        line: of the first statement that tells endings apart; 0 where there is none.
        named: endings that have a branch.
        swallows: branches that take several.
        raised: endings that leave the function as an exception.
        missing: endings of which the function takes no note.
    """

    line: int = 0
    named: Names = NOTHING
    swallows: list[Swallow] = field(default_factory=list[Swallow])
    raised: Names = NOTHING
    missing: Names = NOTHING

    @property
    def swallowed(self) -> Names:
        """Return the endings that are swallowed with others."""
        return NOTHING.union(*(each.names for each in self.swallows)) if self.swallows else NOTHING


def read_branches(body: Sequence[ast.stmt], subject: Subject, names: EndingNames) -> Reading:
    """Return how a function branches.

    Args:
        body: its statements.
        subject: knows the outcome.
        names: looks names up.
    """
    reader = _Reader(subject, names)
    left = reader.read(body, ALL)
    reading = reader.reading
    if reading.line:
        reading.missing |= left
    return reading


class _Reader:
    def __init__(self, subject: Subject, names: EndingNames) -> None:
        self.reading = Reading()
        self._subject = subject
        self._names = names
        self._catching: _Handling = []

    def read(self, body: Sequence[ast.stmt], left: Names) -> Names:
        """Read statements in their order; return the endings that none of them took."""
        for number, statement in enumerate(body):
            if not left:
                break
            if self._is_plain(statement) and self._tells(body[number + 1 :]):
                # It is done for every ending, and those are told apart further down.
                continue
            left = self._statement(statement, left)
        return left

    def _is_plain(self, statement: ast.stmt) -> bool:
        return isinstance(statement, ast.Expr | ast.Assign | ast.AnnAssign | ast.AugAssign) and not self._tells(
            [statement]
        )

    def _statement(self, statement: ast.stmt, left: Names) -> Names:
        match statement:
            case ast.Match() if self._subject.is_matched(statement.subject):
                self._note(statement)
                return self._cases(statement, left)
            case ast.If():
                return self._if(statement, left)
            case ast.Try():
                return self._try(statement, left)
            case ast.With() | ast.AsyncWith() | ast.For() | ast.AsyncFor() | ast.While():
                return self.read(statement.body, left)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                return left
            case _:
                return self._plain(statement, left)

    def _cases(self, statement: ast.Match, left: Names) -> Names:
        for case in statement.cases:
            cover = self._subject.cover_of_pattern(case.pattern, left)
            taken = cover.names & left
            if not taken:
                continue
            if case.guard is not None or not cover.is_exact:
                continue
            self._branch(case.body, taken, cover)
            left -= taken
        return left

    def _if(self, statement: ast.If, left: Names) -> Names:
        cover = self._subject.cover_of_test(statement.test, left)
        if cover is None:
            # It asks something else: what stands in it may or may not be done.
            return self.read(statement.orelse, left) if self._tells(statement.orelse) else self._inside(statement, left)
        self._note(statement)
        taken = cover.names & left
        if taken and cover.is_exact:
            self._branch(statement.body, taken, cover)
            left -= taken
        if not statement.orelse:
            return left
        if self._tells(statement.orelse):
            return self.read(statement.orelse, left)
        if left:
            self._branch(statement.orelse, left, Cover(names=left, groups=(left,)))
        return NOTHING

    def _inside(self, statement: ast.If, left: Names) -> Names:
        if self._tells(statement.body):
            self.read(statement.body, left)
        return left

    def _try(self, statement: ast.Try, left: Names) -> Names:
        handlers: _Handling = [(self._names.errors_of(handler.type), handler.body) for handler in statement.handlers]
        self._catching = handlers + self._catching
        try:
            left = self.read([*statement.body, *statement.orelse], left)
        finally:
            self._catching = self._catching[len(handlers) :]
        return self.read(statement.finalbody, left) if self._tells(statement.finalbody) else left

    def _plain(self, statement: ast.stmt, left: Names) -> Names:
        if self._subject.is_handed_over(statement):
            self._note(statement)
            self._name(left)
            return NOTHING
        if self._subject.is_unwrapped(statement):
            self._note(statement)
            self._thrown(left - {"committed"})
            self._name(left & {"committed"})
            return NOTHING
        if not self.reading.line:
            return left
        self._branch([statement], left, Cover(names=left, groups=(left,)))
        return NOTHING

    def _branch(self, body: Sequence[ast.stmt], taken: Names, cover: Cover) -> None:
        """Note that a branch takes endings, each by its class or several together."""
        if self._tells(body):
            taken = self.read(body, taken)
            if not taken:
                return
        if self._subject.is_never(body):
            self.reading.missing |= taken
        elif isinstance(body[0], ast.Raise):
            self.reading.raised |= taken
        else:
            for group in cover.groups:
                self._take(group & taken, body)

    def _take(self, group: Names, body: Sequence[ast.stmt]) -> None:
        if len(group) <= 1:
            self._name(group)
        else:
            self.reading.swallows.append(Swallow(body[0].lineno, group, all(map(_is_silent, body))))

    def _thrown(self, left: Names) -> None:
        """Follow the exceptions that ``unwrap()`` raises to what catches them."""
        for groups, body in self._catching:
            for group in groups:
                caught = group & left
                if caught and len(body) == 1 and isinstance(body[0], ast.Raise):
                    self.reading.raised |= caught
                elif caught:
                    self._take(caught, body)
                left -= caught
        self.reading.raised |= left

    def _name(self, names: Names) -> None:
        self.reading.named |= names

    def _note(self, statement: ast.stmt) -> None:
        self.reading.line = self.reading.line or statement.lineno

    def _tells(self, body: Sequence[ast.stmt]) -> bool:
        """Say whether statements tell endings apart."""
        return any(self._subject.tells_apart(statement) for statement in body)


def _is_silent(statement: ast.stmt) -> bool:
    match statement:
        case ast.Pass() | ast.Continue() | ast.Break() | ast.Return(value=None):
            return True
        case ast.Return(value=ast.Constant(value=None)) | ast.Expr(value=ast.Constant()):
            return True
        case _:
            return False


__all__ = ["Reading", "Swallow", "read_branches"]

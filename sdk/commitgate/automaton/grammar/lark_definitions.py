"""Hold the definitions of a grammar in the notation of Lark as they stand, before names are looked up.

A body is a list of steps in the order in which a machine with a stack does them, so that neither reading it nor working
out what it denotes takes recursion.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from commitgate.automaton.grammar.expression import Expression


@dataclass(frozen=True, slots=True)
class Literal:
    """Put what a string, range or regular expression denotes on the stack.

    Attributes:
        expression: the texts.
        name: its spelling, by which rules share it; None where it is small.
    """

    expression: Expression
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Reference:
    """Put what a name stands for on the stack.

    Attributes:
        name: of a rule, a terminal or a template's parameter.
        position: where it stands.
        is_argument: whether it is handed to a template, and so may name a template itself.
    """

    name: str
    position: int
    is_argument: bool = False


@dataclass(frozen=True, slots=True)
class Instance:
    """Replace the topmost entries by what a template makes of them.

    Attributes:
        name: of the template, or of a parameter that stands for one.
        count: how many arguments.
        position: where the name stands.
    """

    name: str
    count: int
    position: int


@dataclass(frozen=True, slots=True)
class Join:
    """Replace the topmost entries by all of them in a row."""

    count: int


@dataclass(frozen=True, slots=True)
class Choose:
    """Replace the topmost entries by any one of them."""

    count: int


@dataclass(frozen=True, slots=True)
class Repeat:
    """Replace the topmost entry by itself from ``least`` to ``most`` times; None is no bound."""

    least: int
    most: int | None


Step: TypeAlias = "Literal | Reference | Instance | Join | Choose | Repeat"


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """Hold one definition.

    Attributes:
        name: of the rule, template or terminal.
        position: where the name stands.
        is_terminal: whether it is a terminal.
        parameters: of a template; empty for all else.
        steps: its body.
    """

    name: str
    position: int
    is_terminal: bool
    steps: tuple[Step, ...]
    parameters: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Definitions:
    """Hold a grammar.

    Attributes:
        named: the definitions, in the order of the grammar, imports first.
        ignored: the bodies of ``%ignore``.
        symbols: how many symbols all bodies have.
    """

    named: dict[str, Definition]
    ignored: list[tuple[Step, ...]] = field(default_factory=list[tuple[Step, ...]])
    symbols: int = 0


__all__ = ["Choose", "Definition", "Definitions", "Instance", "Join", "Literal", "Reference", "Repeat", "Step"]

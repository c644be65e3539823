"""Work out what the definitions of a grammar in the notation of Lark denote.

Texts that ``%ignore`` names may stand, any number of them, before each terminal of a rule and at the end of the text.

Source: lark 1.3, grammar reference, "Templates" and "%ignore"; its Earley parser with ``lexer="dynamic_complete"``.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import assert_never

from commitgate.automaton.grammar.bounds import check_size
from commitgate.automaton.grammar.expression import (
    EMPTY_TEXT,
    Either,
    Expression,
    Named,
    Row,
    Times,
    Word,
    Words,
    times,
)
from commitgate.automaton.grammar.lark_definitions import (
    Choose,
    Definition,
    Definitions,
    Instance,
    Join,
    Literal,
    Reference,
    Repeat,
    Step,
)
from commitgate.automaton.grammar.lark_names import check_use
from commitgate.automaton.grammar.lark_tokens import Tokens, shown
from commitgate.limits import Limits

IGNORED = "%ignore"
"""The name of the rule for one text that may be ignored; no rule of a grammar can have it."""

_IGNORED_TEXTS = Times(Named(IGNORED), 0, None)
_OPENED_PARTS = 4
"""Longest row that is opened where it stands in another; copying longer ones again and again would add up."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    """Hold a rule that is still to be worked out, with what its parameters stand for."""

    name: str
    definition: Definition
    arguments: Mapping[str, Expression]


class Expressions:
    """Work out the expressions of one grammar.

    Args:
        definitions: of the grammar; their names are checked.
        tokens: makes errors with their place.
        limits: bounds on rules and symbols, with those that templates make.

    Attributes:
        rules: the expression of each rule, each terminal and each literal that is shared.
        positions: where each rule and terminal is defined.
    """

    def __init__(self, definitions: Definitions, tokens: Tokens, limits: Limits) -> None:
        self.rules: dict[str, Expression] = {}
        self.positions: dict[str, int] = {}
        self._named = definitions.named
        self._ignored = definitions.ignored
        self._symbols = definitions.symbols
        self._tokens = tokens
        self._limits = limits
        self._instances: dict[tuple[str, tuple[Expression, ...]], str] = {}
        self._waiting: deque[_Waiting] = deque()

    def work_out(self) -> None:
        """Fill in the rules.

        Raises:
            NotationError: a template is used as none, or something else as one.
            LimitExceededError: templates make more than a limit allows.
        """
        if self._ignored:
            self.rules[IGNORED] = _choice([self._expression(steps, {}, is_terminal=True) for steps in self._ignored])
        self._waiting.extend(
            _Waiting(name, definition, {}) for name, definition in self._named.items() if not definition.parameters
        )
        while self._waiting:
            each = self._waiting.popleft()
            definition = each.definition
            self.positions[each.name] = definition.position
            self.rules[each.name] = self._expression(
                definition.steps, each.arguments, is_terminal=definition.is_terminal
            )

    def whole_text(self, start: str) -> Expression:
        """Return what a whole text is made of."""
        return Row((Named(start), _IGNORED_TEXTS)) if self._ignored else Named(start)

    def _expression(
        self, steps: Iterable[Step], arguments: Mapping[str, Expression], *, is_terminal: bool
    ) -> Expression:
        stack: list[Expression] = []
        for step in steps:
            match step:
                case Literal():
                    stack.append(self._literal(step, is_terminal=is_terminal))
                case Reference():
                    stack.append(self._reference(step, arguments, is_terminal=is_terminal))
                case Instance():
                    stack.append(self._instance(step, arguments, _popped(stack, step.count)))
                case Join():
                    stack.append(_joined(_popped(stack, step.count)))
                case Choose():
                    stack.append(_choice(_popped(stack, step.count)))
                case Repeat():
                    stack.append(times(stack.pop(), step.least, step.most))
                case _:
                    assert_never(step)
        (found,) = stack
        return found

    def _literal(self, step: Literal, *, is_terminal: bool) -> Expression:
        if step.name is None:
            return self._terminal(step.expression, is_terminal=is_terminal)
        self.rules.setdefault(step.name, step.expression)
        return self._terminal(Named(step.name), is_terminal=is_terminal)

    def _terminal(self, terminal: Expression, *, is_terminal: bool) -> Expression:
        return Row((_IGNORED_TEXTS, terminal)) if self._ignored and not is_terminal else terminal

    def _reference(self, step: Reference, arguments: Mapping[str, Expression], *, is_terminal: bool) -> Expression:
        argument = arguments.get(step.name)
        if argument is None:
            named = Named(step.name, step.position)
            return self._terminal(named, is_terminal=is_terminal) if self._named[step.name].is_terminal else named
        if isinstance(argument, Named) and argument.name in self._named:
            check_use(step, self._named[argument.name], self._tokens)
        return argument

    def _instance(
        self, step: Instance, arguments: Mapping[str, Expression], given: tuple[Expression, ...]
    ) -> Expression:
        definition = self._template(step, arguments)
        key = (definition.name, given)
        name = self._instances.get(key)
        if name is None:
            name = self._instances[key] = f"{definition.name}{{{len(self._instances) + 1}}}"
            self._symbols += len(definition.steps)
            check_size("grammar_symbols", self._symbols, self._limits, "grammar", position=step.position)
            rules = len(self._named) + len(self._instances)
            check_size("grammar_rules", rules, self._limits, "grammar", position=step.position)
            self._waiting.append(_Waiting(name, definition, dict(zip(definition.parameters, given, strict=True))))
        return Named(name, step.position)

    def _template(self, step: Instance, arguments: Mapping[str, Expression]) -> Definition:
        argument = arguments.get(step.name)
        if argument is None:
            return self._named[step.name]
        definition = self._named.get(argument.name) if isinstance(argument, Named) else None
        if definition is None:
            raise self._tokens.error(f"what {shown(step.name)} stands for is no template", step.position)
        check_use(step, definition, self._tokens)
        return definition


def _popped(stack: list[Expression], count: int) -> tuple[Expression, ...]:
    found = tuple(stack[len(stack) - count :])
    del stack[len(stack) - count :]
    return found


def _joined(parts: Iterable[Expression]) -> Expression:
    """Return the parts in a row; short rows within are opened, and words that meet are one."""
    flat: list[Expression] = []
    for part in parts:
        flat += part.parts if isinstance(part, Row) and len(part.parts) <= _OPENED_PARTS else (part,)
    found: list[Expression] = []
    for is_word, run in groupby(flat, lambda part: isinstance(part, Word)):
        if is_word:
            text = "".join(part.text for part in run if isinstance(part, Word))
            found += [Word(text)] * bool(text)
        else:
            found += run
    return found[0] if len(found) == 1 else Row(tuple(found)) if found else EMPTY_TEXT


def _choice(options: Iterable[Expression]) -> Expression:
    """Return any one of the options: what may be ignored before many stands once, and words are in one set."""
    behind_ignored: list[Expression] = []
    others: list[Expression] = []
    for option in options:
        if isinstance(option, Row) and len(option.parts) > 1 and option.parts[0] is _IGNORED_TEXTS:
            behind_ignored.append(_rest(option))
        else:
            others.append(option)
    if len(behind_ignored) > 1:
        return _either([*others, Row((_IGNORED_TEXTS, _either(behind_ignored)))])
    return _either([*others, *(Row((_IGNORED_TEXTS, each)) for each in behind_ignored)])


def _rest(row: Row) -> Expression:
    return row.parts[1] if len(row.parts) == 2 else Row(row.parts[1:])


def _either(options: list[Expression]) -> Expression:
    words = {option.text for option in options if isinstance(option, Word)}
    if len(words) > 1:
        options = [option for option in options if not isinstance(option, Word)]
        options.append(Words(tuple(sorted(words))))
    return options[0] if len(options) == 1 else Either(tuple(options))


__all__ = ["IGNORED", "Expressions"]

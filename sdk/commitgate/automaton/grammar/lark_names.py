"""Check the names of a grammar in the notation of Lark: each is defined, and used as what it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from commitgate.automaton.grammar.lark_definitions import Definition, Definitions, Instance, Reference, Step
from commitgate.automaton.grammar.lark_tokens import Tokens, shown


def check_names(definitions: Definitions, tokens: Tokens) -> None:
    """Check all names, whether the start rule leads to them or not.

    Raises:
        NotationError: a name is not defined, a terminal uses a rule or itself, or a template is used as none.
    """
    check = _Check(definitions.named, tokens)
    for definition in definitions.named.values():
        check.parameters(definition)
        check.steps(definition.steps, definition.parameters, is_terminal=definition.is_terminal)
    for steps in definitions.ignored:
        check.steps(steps, (), is_terminal=True)
    check.recursion()


class _Check:
    def __init__(self, named: Mapping[str, Definition], tokens: Tokens) -> None:
        self._named = named
        self._tokens = tokens

    def parameters(self, definition: Definition) -> None:
        for name in definition.parameters:
            if name in self._named:
                raise self._tokens.error(
                    f"the parameter {shown(name)} of {shown(definition.name)} has the name of a rule",
                    definition.position,
                )

    def steps(self, steps: Iterable[Step], parameters: tuple[str, ...], *, is_terminal: bool) -> None:
        known = frozenset(parameters)
        for step in steps:
            if isinstance(step, Reference | Instance) and step.name not in known:
                definition = self._named.get(step.name)
                if definition is None:
                    raise self._undefined(step)
                if is_terminal and not definition.is_terminal:
                    raise self._tokens.error(
                        f"a terminal is made of terminals alone and cannot use the rule {shown(step.name)}",
                        step.position,
                    )
                check_use(step, definition, self._tokens)

    def _undefined(self, step: Reference | Instance) -> Exception:
        kind = "template" if isinstance(step, Instance) else "terminal" if step.name.upper() == step.name else "rule"
        return self._tokens.error(f"the {kind} {shown(step.name)} is not defined", step.position)

    def recursion(self) -> None:
        """Refuse terminals that use themselves: what they denote need not be regular."""
        done: set[str] = set()
        for name, definition in self._named.items():
            if definition.is_terminal and name not in done:
                self._walk(name, done)

    def _walk(self, name: str, done: set[str]) -> None:
        path = {name: self._used(name)}
        while path:
            at = next(reversed(path))
            step = next(path[at], None)
            if step is None:
                done.add(at)
                del path[at]
            elif step.name in path:
                raise self._tokens.error(
                    f"the terminal {shown(step.name)} uses itself; only rules may be recursive", step.position
                )
            elif step.name not in done:
                path[step.name] = self._used(step.name)

    def _used(self, name: str) -> Iterator[Reference]:
        return (step for step in self._named[name].steps if isinstance(step, Reference))


def check_use(step: Reference | Instance, definition: Definition, tokens: Tokens) -> None:
    """Check that a template gets as many arguments as it has parameters, and that nothing else gets any.

    Raises:
        NotationError: it does not.
    """
    wanted = len(definition.parameters)
    if isinstance(step, Instance):
        if not wanted:
            raise tokens.error(f"{shown(definition.name)} is no template and takes no arguments", step.position)
        if step.count != wanted:
            raise tokens.error(
                f"the template {shown(definition.name)} takes {wanted} arguments, found {step.count}", step.position
            )
    elif wanted and not step.is_argument:
        raise tokens.error(
            f"the template {shown(definition.name)} needs its {wanted} arguments in braces", step.position
        )


__all__ = ["check_names", "check_use"]

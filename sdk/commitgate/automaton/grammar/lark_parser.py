"""Read a grammar in the notation of Lark into definitions.

As in Lark imports are done first, wherever they stand, and all other statements in their order.

Source: lark 1.3, grammar reference, "General Syntax and notes" and "Directives".
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from commitgate.automaton.grammar.bounds import check_size
from commitgate.automaton.grammar.lark_body import BodyReader
from commitgate.automaton.grammar.lark_common import common_terminals
from commitgate.automaton.grammar.lark_definitions import Choose, Definition, Definitions, Literal, Step
from commitgate.automaton.grammar.lark_literals import Literals
from commitgate.automaton.grammar.lark_tokens import Token, TokenKind, Tokens, shown
from commitgate.limits import Limits

_LIBRARY = "common"
_NAMES = (TokenKind.RULE, TokenKind.TERMINAL)
_WRITE_IT = "write the definition into this grammar"


@dataclass(frozen=True, slots=True)
class _Change:
    """Hold a definition and what it does to one of the same name: ``""``, ``%override`` or ``%extend``."""

    definition: Definition
    directive: str


class Parser:
    """Read one grammar.

    Args:
        text: the grammar.
        limits: bounds on its size.
    """

    def __init__(self, text: str, limits: Limits) -> None:
        self.tokens = Tokens(text)
        self._limits = limits
        self._bodies = BodyReader(self.tokens, Literals(text, self.tokens, limits), limits)
        self._common = common_terminals()
        self._imported: dict[str, Definition] = {}
        self._changes: list[_Change] = []
        self._ignored: list[tuple[Step, ...]] = []

    def parse(self) -> Definitions:
        """Return the definitions of the whole grammar.

        Raises:
            NotationError: the text is no grammar.
            UnsupportedError: it uses what is not supported.
            LimitExceededError: it is larger than a limit.
        """
        while not self.tokens.is_at_end:
            if self.tokens.current.kind is TokenKind.DIRECTIVE:
                self._directive()
            else:
                self._define("")
            if not self.tokens.is_at_end:
                self.tokens.expect(TokenKind.LINE_END)
            found = len(self._imported) + len(self._changes) + len(self._ignored)
            check_size("grammar_rules", found, self._limits, "grammar", position=self.tokens.current.position)
        return Definitions(self._named(), self._ignored, self._bodies.symbols)

    def _directive(self) -> None:
        token = self.tokens.take()
        match token.text:
            case "%import":
                self._import(token)
            case "%ignore":
                self._ignored.append(self._bodies.read(is_terminal=True))
            case "%override" | "%extend":
                self._define(token.text)
            case "%declare":
                raise self.tokens.unsupported("a name without a definition", _WRITE_IT, token.position)
            case "%llguidance":
                raise self.tokens.unsupported("'%llguidance'", "leave the line out", token.position)
            case _:
                raise self.tokens.error(f"there is no directive {token.shown}", token.position)

    def _define(self, directive: str) -> None:
        is_modified = any([self.tokens.take_sign("?"), self.tokens.take_sign("!"), self.tokens.take_sign("?")])
        name = self.tokens.current
        if name.kind not in _NAMES or (is_modified and name.kind is not TokenKind.RULE):
            raise self.tokens.unexpected("the name of a rule" if is_modified else "a definition or a directive")
        self.tokens.take()
        is_terminal = name.kind is TokenKind.TERMINAL
        parameters = () if is_terminal else self._parameters()
        self._skip_priority()
        if self.tokens.current.sign == "[":
            raise self.tokens.unsupported(
                "an option of a rule in brackets", "leave the brackets out", self.tokens.current.position
            )
        self.tokens.expect_sign(":")
        steps = self._bodies.read(is_terminal=is_terminal)
        definition = Definition(
            name=name.text, position=name.position, is_terminal=is_terminal, steps=steps, parameters=parameters
        )
        self._changes.append(_Change(definition, directive))

    def _parameters(self) -> tuple[str, ...]:
        found: dict[str, None] = {}
        if not self.tokens.take_sign("{"):
            return ()
        while True:
            token = self.tokens.expect(TokenKind.RULE, "the name of a parameter, in lowercase")
            self._bodies.count(token.position)
            if token.text in found:
                raise self.tokens.error(f"the parameter {token.shown} stands twice", token.position)
            found[token.text] = None
            if not self.tokens.take_sign(","):
                self.tokens.expect_sign("}")
                return tuple(found)

    def _skip_priority(self) -> None:
        """Read a priority: it chooses between the trees of one text, so it changes no set of texts."""
        if self.tokens.take_sign("."):
            self.tokens.take_sign("+")
            self.tokens.expect(TokenKind.NUMBER, "a priority")

    def _import(self, directive: Token) -> None:
        if self.tokens.current.sign == ".":
            raise self._no_file(self.tokens.current.position)
        library = self._name()
        if library.text != _LIBRARY:
            raise self._no_file(library.position)
        if self.tokens.take_sign("("):
            names = [self._name()]
            while self.tokens.take_sign(","):
                names.append(self._name())
            self.tokens.expect_sign(")")
        elif self.tokens.take_sign("."):
            names = [self._name()]
            if self.tokens.current.sign in (".", "("):
                raise self._no_file(library.position)
        else:
            raise self.tokens.unexpected("'.' and the name of a terminal, or a list of names in parentheses")
        renamed = self.tokens.expect(TokenKind.TERMINAL) if self.tokens.take_sign("->") else None
        if renamed is not None and len(names) > 1:
            raise self.tokens.error("a list of names takes no '->'", directive.position)
        for name in names:
            self._bring(name, renamed or name)

    def _name(self) -> Token:
        if self.tokens.current.kind not in _NAMES:
            raise self.tokens.unexpected("a name")
        self._bodies.count(self.tokens.current.position)
        return self.tokens.take()

    def _no_file(self, position: int) -> Exception:
        return self.tokens.unsupported(f"an import from elsewhere than '{_LIBRARY}'", _WRITE_IT, position)

    def _bring(self, name: Token, renamed: Token) -> None:
        if name.text not in self._common:
            raise self.tokens.error(
                f"'{_LIBRARY}' has no terminal {name.shown}; it has {', '.join(sorted(self._common))}", name.position
            )
        steps = (Literal(self._common[name.text]),)
        earlier = self._imported.get(renamed.text)
        if earlier is not None and earlier.steps != steps:
            raise self.tokens.error(f"another terminal is already imported as {renamed.shown}", renamed.position)
        self._imported[renamed.text] = Definition(
            name=renamed.text, position=renamed.position, is_terminal=True, steps=steps
        )

    def _named(self) -> dict[str, Definition]:
        named = dict(self._imported)
        added: dict[str, list[tuple[Step, ...]]] = {}
        for change in self._changes:
            definition = change.definition
            earlier = named.get(definition.name)
            if change.directive:
                self._check_change(earlier, change)
            elif earlier is not None:
                raise self.tokens.error(
                    f"{shown(definition.name)} is defined twice; write %override or %extend to change it",
                    definition.position,
                )
            if change.directive == "%extend":
                added.setdefault(definition.name, []).append(definition.steps)
            else:
                added.pop(definition.name, None)
                named[definition.name] = definition
        for name, bodies in added.items():
            steps = [step for body in (named[name].steps, *bodies) for step in body]
            named[name] = replace(named[name], steps=(*steps, Choose(len(bodies) + 1)))
        return named

    def _check_change(self, earlier: Definition | None, change: _Change) -> None:
        later = change.definition
        if earlier is None:
            raise self.tokens.error(
                f"{change.directive} changes {shown(later.name)}, which is not defined before", later.position
            )
        if change.directive == "%extend" and earlier.parameters != later.parameters:
            raise self.tokens.error(f"%extend gives {shown(later.name)} other parameters", later.position)


__all__ = ["Parser"]

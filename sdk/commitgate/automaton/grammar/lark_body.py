"""Read the body of a rule, a template or a terminal in the notation of Lark.

Source: lark 1.3, grammar reference, "Terminals" and "Rules"; llguidance, syntax, for ``item{2,3}``.
"""

from __future__ import annotations

from dataclasses import dataclass

from commitgate.automaton.grammar.bounds import check_size
from commitgate.automaton.grammar.lark_definitions import Choose, Instance, Join, Literal, Reference, Repeat, Step
from commitgate.automaton.grammar.lark_literals import Literals
from commitgate.automaton.grammar.lark_tokens import Token, TokenKind, Tokens
from commitgate.limits import Limits

_SIMPLE_REPEATS: dict[str, tuple[int, int | None]] = {"?": (0, 1), "*": (0, None), "+": (1, None)}
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_CLOSING_SIGNS = frozenset(_CLOSING.values())
_OPERATORS = frozenset("?*+~{")
_MOST_COUNT_DIGITS = 9
_CHARACTERS_OF_A_SYMBOL = 8
"""So many characters of a regular expression count as a symbol before it is read: what vanishes takes time too."""
_ATOMS = (TokenKind.RULE, TokenKind.TERMINAL, TokenKind.STRING, TokenKind.REGEX)
_FOREIGN_SIGNS = {
    "&": ("the intersection of terminals", "write one regular expression"),
    "~": ("the complement of a terminal", "write a regular expression with a negated class"),
    "<": ("a special token of a tokenizer", "write the text itself in quotes"),
    "@": ("a grammar beside this one", "write its rules into this grammar"),
}
_FOREIGN_DIRECTIVES = {
    "%json": "make the JSON a contract of its own, or put it on an edge of a Machine",
    "%regex": "write the texts as alternatives or as a regular expression",
    "%lark": "write the rules into this grammar",
}


@dataclass(slots=True)
class _Group:
    """Hold what was read of a bracket that is still open; the first one is the body itself.

    Attributes:
        opening: the bracket; None for the body.
        template: the name before a brace.
        items: how many there are in the current alternative; of a template, arguments.
        options: how many alternatives are complete.
    """

    opening: Token | None
    template: Token | None = None
    items: int = 0
    options: int = 0


class BodyReader:
    """Read one body after another.

    Args:
        tokens: of the grammar.
        literals: reads its strings and patterns.
        limits: bounds on symbols and nesting.

    Attributes:
        symbols: how many symbols all bodies had so far.
    """

    def __init__(self, tokens: Tokens, literals: Literals, limits: Limits) -> None:
        self.symbols = 0
        self._tokens = tokens
        self._literals = literals
        self._limits = limits
        self._steps: list[Step] = []
        self._open: list[_Group] = []
        self._is_terminal = False

    def read(self, *, is_terminal: bool) -> tuple[Step, ...]:
        """Return the steps of the body that comes next, up to the end of its definition."""
        self._steps, self._open, self._is_terminal = [], [_Group(None)], is_terminal
        while not self._tokens.is_at_line_end:
            self._next()
        if (opening := self._open[-1].opening) is not None:
            raise self._unclosed(opening)
        self._end_group(self._open[-1])
        return tuple(self._steps)

    def _next(self) -> None:
        token, group = self._tokens.current, self._open[-1]
        if token.sign in _CLOSING_SIGNS:
            self._close(group)
        elif group.template is not None:
            self._argument(group)
        elif token.kind in _ATOMS:
            self._atom()
        elif token.sign == "|":
            self._tokens.take()
            self._end_option(group)
        elif token.sign == "->":
            self._alias()
        elif token.sign in ("(", "["):
            self.count(token.position)
            self._push(_Group(self._tokens.take()))
        else:
            raise self._unexpected(token)

    def count(self, position: int, symbols: int = 1) -> None:
        """Count what stands at a place of the grammar.

        Raises:
            LimitExceededError: it is more than ``Limits.grammar_symbols`` with all before it.
        """
        self.symbols += symbols
        check_size("grammar_symbols", self.symbols, self._limits, "grammar", position=position)

    def _push(self, group: _Group) -> None:
        self._open.append(group)
        assert group.opening is not None
        check_size("schema_nesting", len(self._open) - 1, self._limits, "grammar", position=group.opening.position)

    def _end_option(self, group: _Group) -> None:
        if not group.items:
            self.count(self._tokens.current.position)
        self._steps += [Join(group.items)] * (group.items != 1)
        group.items = 0
        group.options += 1

    def _end_group(self, group: _Group) -> None:
        self._end_option(group)
        self._steps += [Choose(group.options)] * (group.options != 1)

    def _close(self, group: _Group) -> None:
        closing = self._tokens.current
        if group.opening is None:
            raise self._tokens.error(f"{closing.shown} closes nothing", closing.position)
        if closing.text != _CLOSING[group.opening.text]:
            raise self._unclosed(group.opening)
        if group.template is not None:
            if not group.items:
                raise self._tokens.unexpected("an argument")
            self._steps.append(Instance(group.template.text, group.items, group.template.position))
        else:
            self._end_group(group)
            self._steps += [Repeat(0, 1)] * (closing.text == "]")
        self._tokens.take()
        self._open.pop()
        self._end_item()

    def _unclosed(self, opening: Token) -> Exception:
        return self._tokens.error(f"{opening.shown} is never closed", opening.position)

    def _argument(self, group: _Group) -> None:
        if group.items:
            self._tokens.expect_sign(",")
        if self._tokens.current.kind not in _ATOMS:
            raise self._tokens.unexpected("a name, a string or a regular expression")
        self._atom()

    def _atom(self) -> None:
        token = self._tokens.take()
        self.count(token.position)
        if token.kind is TokenKind.STRING:
            self._string(token)
        elif token.kind is TokenKind.REGEX:
            self._pattern(token)
        elif token.kind is TokenKind.RULE and (brace := self._tokens.take_sign("{")):
            if self._tokens.current.kind is not TokenKind.NUMBER and self._tokens.current.sign != ",":
                if self._is_terminal:
                    raise self._tokens.error("a terminal cannot use a template", token.position)
                self._push(_Group(brace, token))
                return
            self._steps.append(self._reference(token))
            self._repeat_in_braces()
            self._end_item(is_repeated=True)
            return
        else:
            self._steps.append(self._reference(token))
        self._end_item()

    def _reference(self, token: Token) -> Reference:
        return Reference(token.text, token.position, self._open[-1].template is not None)

    def _string(self, token: Token) -> None:
        if self._tokens.take_sign(".."):
            last = self._tokens.expect(TokenKind.STRING)
            self._steps.append(Literal(self._literals.characters(token, last)))
        else:
            is_either_case = token.text.endswith("i")
            is_first = is_either_case and not self._literals.is_known(token)
            expression = self._literals.string(token)
            if is_first:
                self.count(token.position, self._literals.weight(expression))
            self._steps.append(Literal(expression, token.text if is_either_case else None))

    def _pattern(self, token: Token) -> None:
        """Read a regular expression; what one is made of counts once, however often it stands in the grammar."""
        is_first = not self._literals.is_known(token)
        if is_first:
            read = min(len(token.text), self._limits.pattern_characters)
            self.count(token.position, read // _CHARACTERS_OF_A_SYMBOL)
        expression = self._literals.pattern(token)
        if is_first:
            self.count(token.position, self._literals.weight(expression))
        self._steps.append(Literal(expression, token.text))

    def _end_item(self, *, is_repeated: bool = False) -> None:
        """Read the operator behind an item, if there is one."""
        group = self._open[-1]
        group.items += 1
        if group.template is not None:
            return
        if self._tokens.current.sign in _OPERATORS and not is_repeated:
            self._operator()
            is_repeated = True
        if is_repeated and self._tokens.current.sign in _OPERATORS:
            raise self._tokens.error(
                "one operator may follow an item; put the repeated item in parentheses to repeat it again",
                self._tokens.current.position,
            )

    def _operator(self) -> None:
        sign = self._tokens.take().sign
        if sign == "{":
            self._repeat_in_braces()
        elif sign == "~":
            least, position = self._number()
            self._repeat(least, self._number()[0] if self._tokens.take_sign("..") else least, position)
        else:
            self._steps.append(Repeat(*_SIMPLE_REPEATS[sign]))

    def _repeat_in_braces(self) -> None:
        """Read the rest of ``{2}``, ``{2,}``, ``{,3}`` or ``{2,3}``."""
        position = self._tokens.current.position
        least = 0 if self._tokens.current.sign == "," else self._number()[0]
        most: int | None = least
        if self._tokens.take_sign(","):
            most = None if self._tokens.current.sign == "}" else self._number()[0]
        self._tokens.expect_sign("}")
        self._repeat(least, most, position)

    def _repeat(self, least: int, most: int | None, position: int) -> None:
        if most is not None and most < least:
            raise self._tokens.error(f"the upper count {most} is below the lower count {least}", position)
        self._steps.append(Repeat(least, most))

    def _number(self) -> tuple[int, int]:
        token = self._tokens.expect(TokenKind.NUMBER, "a count")
        if token.text.startswith("-") or len(token.text) > _MOST_COUNT_DIGITS:
            raise self._tokens.error(f"a count has no sign and at most {_MOST_COUNT_DIGITS} digits", token.position)
        return int(token.text), token.position

    def _alias(self) -> None:
        """Read the name of an alternative, which names a branch of a tree and means nothing here."""
        arrow = self._tokens.take()
        if self._is_terminal:
            raise self._tokens.error("an alternative of a terminal has no name", arrow.position)
        self._tokens.expect(TokenKind.RULE, "the name of the alternative, in lowercase")
        if not (self._tokens.is_at_line_end or self._tokens.current.sign in ("|", ")", "]")):
            raise self._tokens.unexpected("'|' or the end of the line")

    def _unexpected(self, token: Token) -> Exception:
        if token.kind is TokenKind.SIGN and token.text in _FOREIGN_SIGNS:
            return self._tokens.unsupported(*_FOREIGN_SIGNS[token.text], token.position)
        if token.kind is TokenKind.DIRECTIVE and token.text in _FOREIGN_DIRECTIVES:
            return self._tokens.unsupported(
                f"'{token.text}' within a rule", _FOREIGN_DIRECTIVES[token.text], token.position
            )
        opening = self._open[-1].opening
        if opening is not None and (token.sign == ":" or token.kind is TokenKind.DIRECTIVE):
            return self._unclosed(opening)
        return self._tokens.unexpected("a name, a string, a regular expression, a group or '|'")


__all__ = ["BodyReader"]

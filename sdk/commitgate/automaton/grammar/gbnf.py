"""Read grammars in the notation of GBNF.

Read is what llama.cpp reads, but for its slips: a rule that stands twice, a class without members, a range from high to
low and a number beyond the last character are errors here.

Source: llama.cpp, grammars/README.md and src/llama-grammar.cpp.
"""

from __future__ import annotations

import re

from commitgate.automaton.characters import ANY_CHARACTER
from commitgate.automaton.grammar.bounds import check_size
from commitgate.automaton.grammar.expression import Characters, Expression, Named, Rules, Word
from commitgate.automaton.grammar.gbnf_group import Group, Leaves
from commitgate.automaton.grammar.gbnf_source import Source
from commitgate.errors import NotationError, UnsupportedError
from commitgate.limits import Limits

_FILE_NAME = re.compile(r"\s*[^\s\"]+\.[a-z]+\s*")
_START = "root"
_REPETITIONS: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
_NO_TOKENS = "a contract is about texts, which every model spells with other tokens"
_SHOWN_RULES = 5
_SHOWN_CHARACTERS = 40


def gbnf_rules(text: str, start: str | None, limits: Limits) -> Rules:
    """Return the rules of a grammar.

    Args:
        text: the grammar.
        start: the rule that a whole text is made of; None takes ``root``.
        limits: bounds on rules, symbols and groups within one another.

    Raises:
        NotationError: it is no GBNF grammar, refers to a rule that it lacks or has no such start.
        UnsupportedError: it asks for tokens of one model.
        LimitExceededError: it is larger than a limit.
    """
    parser = _Parser(text, limits)
    parser.read()
    wanted = _START if start is None else start
    if wanted not in parser.rules:
        raise _no_start(wanted, list(parser.rules))
    return Rules(wanted, parser.rules, parser.positions)


class _Parser:
    """Read all rules; groups are kept on a stack of our own."""

    def __init__(self, text: str, limits: Limits) -> None:
        self.rules: dict[str, Expression] = {}
        self.positions: dict[str, int] = {}
        self._source = Source(text)
        self._limits = limits
        self._leaves = Leaves()
        self._uses: dict[str, int] = {}
        self._symbols = 0
        self._open: list[Group] = []

    def read(self) -> None:
        source = self._source
        source.skip(line_ends=True)
        while source.next:
            self._read_rule()
            source.skip(line_ends=True)
        missing = next((name for name in self._uses if name not in self.rules), None)
        if missing is not None:
            raise source.error(f"the grammar has no rule {_shown(missing)}", self._uses[missing])

    def _read_rule(self) -> None:
        source, at = self._source, self._source.at
        name = source.name()
        if name is None:
            hint = (
                "; a rule ends with its line, so write '|' at the end of the line before" if source.next == "|" else ""
            )
            raise source.error(f"wanted the name of a rule, found {source.found()}{hint}")
        if name in self.rules:
            first = source.place(self.positions[name])
            raise source.error(f"the rule {_shown(name)} stands already at {first}; join them with '|'", at)
        self.positions[name] = at
        check_size("grammar_rules", len(self.positions), self._limits, "grammar", position=at)
        source.skip(line_ends=False)
        if not source.take("::="):
            raise source.error(f"wanted '::=' behind the name of a rule, found {source.found()}{_meant(source)}")
        source.skip(line_ends=True)
        self.rules[name] = self._read_body()

    def _read_body(self) -> Expression:
        source = self._source
        self._open = [Group(source.at, self._leaves)]
        while self._read_symbol():
            pass
        if len(self._open) > 1:
            opened = source.place(self._open[-1].opened)
            raise source.error(f"wanted ')' for the group that begins at {opened}, found {source.found()}")
        if source.next not in ("", "\r", "\n"):
            raise source.error(_no_symbol(source))
        return self._open.pop().finished()[0]

    def _read_symbol(self) -> bool:
        """Pass one symbol, or return False where none comes next."""
        source, at = self._source, self._source.at
        match source.next:
            case '"':
                self._put(at, Word(source.quoted()))
            case "[":
                self._put(at, Characters(source.character_class()))
            case ".":
                source.at += 1
                self._put(at, Characters(ANY_CHARACTER))
            case "*" | "+" | "?" | "{":
                self._repeat()
            case "(":
                self._enter()
            case ")" if len(self._open) > 1:
                self._leave()
            case "|":
                if self._open[-1].is_empty_option:
                    self._count(at)
                source.at += 1
                self._open[-1].end_option()
                source.skip(line_ends=True)
            case "<" | "!":
                raise self._no_token()
            case _:
                name = source.name()
                if name is None:
                    return False
                self._uses.setdefault(name, at)
                self._put(at, Named(name, at))
        source.skip(line_ends=len(self._open) > 1)
        return True

    def _put(self, at: int, leaf: Expression) -> None:
        self._count(at)
        self._open[-1].put(self._leaves.of(leaf))

    def _count(self, at: int) -> None:
        self._symbols += 1
        check_size("grammar_symbols", self._symbols, self._limits, "grammar", position=at)

    def _enter(self) -> None:
        source, at = self._source, self._source.at
        self._count(at)
        check_size("schema_nesting", len(self._open), self._limits, "grammar", position=at)
        self._open.append(Group(at, self._leaves))
        source.at += 1
        source.skip(line_ends=True)

    def _leave(self) -> None:
        self._source.at += 1
        expression, height = self._open.pop().finished()
        self._open[-1].put(expression, height + 1)

    def _repeat(self) -> None:
        """Repeat what stands before; a repetition of a repetition nests as a group does."""
        source, at = self._source, self._source.at
        group = self._open[-1]
        if group.last is None:
            raise source.error(f"wanted something to repeat before {source.found()}")
        if not group.is_repeatable:
            raise source.error(f"wanted something to repeat before {source.found()}, found the empty text")
        bounds = _REPETITIONS.get(source.next)
        if bounds is None:
            bounds = source.counts(line_ends=len(self._open) > 1)
        else:
            source.at += 1
        group.repeat(*bounds)
        check_size("schema_nesting", len(self._open) - 1 + group.last_height, self._limits, "grammar", position=at)

    def _no_token(self) -> NotationError | UnsupportedError:
        source, at = self._source, self._source.at
        if source.take("!") and source.next != "<":
            return source.error(f"wanted '<' behind '!', found {source.found()}")
        return UnsupportedError(
            f"{source.place(at)}: a grammar of texts cannot ask for a token; {_NO_TOKENS}",
            pointer="",
            keyword="grammar",
            reason=_NO_TOKENS,
            position=at,
        )


def _no_symbol(source: Source) -> str:
    if source.next == ")":
        return "found ')' where no group is open"
    if source.next == ":":
        return (
            "found ':' within a rule; behind '::=' and '|' the next line goes on; write \"\" there for the empty text"
        )
    hint = "; texts stand in double quotes" if source.next == "'" else ""
    return f"wanted a symbol, '|' or the end of the line, found {source.found()}{hint}"


def _meant(source: Source) -> str:
    """Return what someone may have meant who gave another text than a grammar of this notation."""
    if source.next == ":":
        return '; for a grammar of Lark give syntax="lark"'
    if _FILE_NAME.fullmatch(source.text):
        return "; give the text of the grammar, not the name of its file"
    return ""


def _shown(name: str) -> str:
    return repr(name if len(name) <= _SHOWN_CHARACTERS else f"{name[:_SHOWN_CHARACTERS]}…")


def _no_start(wanted: str, names: list[str]) -> NotationError:
    if not names:
        return NotationError("the grammar has no rules", keyword="grammar")
    known = ", ".join(_shown(name) for name in names[:_SHOWN_RULES])
    more = f" and {len(names) - _SHOWN_RULES} more" if len(names) > _SHOWN_RULES else ""
    return NotationError(
        f"the grammar has no rule {_shown(wanted)} to start with; it has {known}{more}", keyword="grammar"
    )


__all__ = ["gbnf_rules"]

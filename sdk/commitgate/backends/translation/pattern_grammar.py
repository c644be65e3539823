"""Write a regular set of texts as a grammar, for servers that take grammars and no patterns.

The grammar is the minimal deterministic automaton: one rule a state, which is a choice of a class of characters with
the rule behind it. So an engine that follows all ways at once never has more ways open than one state has.

Source: llama.cpp, grammars/README.md for the notation; src/llama-grammar.cpp for what its parser takes: behind ``|`` it
reads on past the end of a line, so the empty text stands first; in a class it knows ``\\x``, ``\\u`` and ``\\U``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from commitgate.automaton.dfa import TooManyStates
from commitgate.automaton.grammar.determinism import NotRegularError, regular_automaton

if TYPE_CHECKING:
    from commitgate.automaton.dfa import Dfa
    from commitgate.automaton.grammar.expression import Rules

MAX_PATTERN_STEPS = 100_000
"""Most steps that the automaton of a pattern may take to make, each about a microsecond."""
MAX_PATTERN_STATES = 2_000
"""Most states of an automaton that is written as a grammar."""
MAX_PATTERN_BYTES = 65_536
"""Largest grammar that a pattern is written as; a server reads it anew for each request."""

_LONG_CLASS = 16
"""From how many characters on a class that stands twice is a rule of its own."""


class NoGrammarError(Exception):
    """Raised when a set of texts is not written as a grammar; the message says why."""


def pattern_grammar(rules: Rules) -> str:
    """Return a grammar in GBNF, from the rule ``root`` on, of exactly the texts of the rules.

    Args:
        rules: of a pattern or a machine.

    Raises:
        NoGrammarError: they are not regular, or the grammar is larger than the bounds.
    """
    try:
        dfa = regular_automaton(rules, most_steps=MAX_PATTERN_STEPS)
    except NotRegularError:
        raise NoGrammarError("JSON stands within it, which no finite automaton reads") from None
    except TooManyStates as error:
        raise NoGrammarError(f"as a grammar it would need {error}") from None
    assert dfa is not None, "a contract has a text"
    if len(dfa) > MAX_PATTERN_STATES:
        raise NoGrammarError(f"as a grammar it would need {len(dfa)} rules, of {MAX_PATTERN_STATES} at most")
    return _written(dfa)


def _written(dfa: Dfa) -> str:
    classes = _Classes(dfa)
    lines: list[str] = []
    size = 0
    for state in range(len(dfa)):
        options = ['""'] if state in dfa.accepting else []
        options += [
            name if _is_end(dfa, target) else f"{name} {_rule(target)}" for target, name in classes.of_state[state]
        ]
        if state and _is_end(dfa, state):
            continue  # named nowhere: who leads there ends there
        lines.append(f"{_rule(state)} ::= {' | '.join(options)}")
        size += len(lines[-1]) + 1
        _check_size(size)
    lines += classes.rules
    _check_size(size + sum(len(line) + 1 for line in classes.rules))
    return "\n".join(lines)


def _check_size(size: int) -> None:
    if size > MAX_PATTERN_BYTES:
        raise NoGrammarError(f"as a grammar it would have more than {MAX_PATTERN_BYTES} bytes")


def _is_end(dfa: Dfa, state: int) -> bool:
    return not dfa.rows[state]


def _rule(state: int) -> str:
    return f"s{state}" if state else "root"


class _Classes:
    """Name the characters by which each state leads on; a long class that stands more than once is a rule.

    Attributes:
        of_state: for each state ``(target, symbol)``.
        rules: those of long classes.
    """

    def __init__(self, dfa: Dfa) -> None:
        spelled = [_spelled(dfa, state) for state in range(len(dfa))]
        uses: dict[str, int] = {}
        for ways in spelled:
            for _, text in ways:
                uses[text] = uses.get(text, 0) + 1
        shared = [text for text, times in uses.items() if times > 1 and len(text) >= _LONG_CLASS]
        names = {text: f"c{number}" for number, text in enumerate(shared)}
        self.of_state = [[(target, names.get(text, text)) for target, text in ways] for ways in spelled]
        self.rules = [f"{name} ::= {text}" for text, name in names.items()]


def _spelled(dfa: Dfa, state: int) -> list[tuple[int, str]]:
    found: dict[int, list[str]] = {}
    for first, last, target in dfa.ranges(state):
        dash = "-" if last > first + 1 else ""
        found.setdefault(target, []).append(_character(first) + (dash + _character(last) if last > first else ""))
    return [(target, f"[{''.join(parts)}]") for target, parts in found.items()]


def _character(point: int) -> str:
    """Return a character as a member of a class; all but letters and digits of ASCII as an escape."""
    if point > 0xFFFF:
        return f"\\U{point:08X}"
    if point > 0xFF:
        return f"\\u{point:04X}"
    letter = chr(point)
    return letter if letter.isascii() and letter.isalnum() else f"\\x{point:02X}"


__all__ = ["MAX_PATTERN_BYTES", "MAX_PATTERN_STATES", "MAX_PATTERN_STEPS", "NoGrammarError", "pattern_grammar"]

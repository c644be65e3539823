"""Read grammars in the notation of Lark, as the set of texts that they denote.

A terminal denotes a regular set of texts and a rule what its alternatives denote, as Lark's Earley parser takes them
with ``lexer="dynamic_complete"``: nothing is cut into tokens first, and no terminal takes more than others leave it.

Source: lark 1.3, grammar reference; llguidance, syntax.
"""

from __future__ import annotations

from commitgate.automaton.grammar.expression import Rules
from commitgate.automaton.grammar.lark_definitions import Definition
from commitgate.automaton.grammar.lark_expressions import Expressions
from commitgate.automaton.grammar.lark_names import check_names
from commitgate.automaton.grammar.lark_parser import Parser
from commitgate.automaton.grammar.lark_tokens import shown
from commitgate.errors import NotationError
from commitgate.limits import Limits

_START = "start"
_WHOLE_TEXT = "%text"
"""The name of the rule for a whole text where something is ignored at its end; no rule can have it."""


def lark_rules(text: str, start: str | None, limits: Limits) -> Rules:
    """Return the rules of a grammar.

    Args:
        text: the grammar.
        start: the rule that a whole text is made of; None takes ``start``.
        limits: bounds on its size.

    Returns:
        the rules: those of the grammar, one for each terminal by its name, one for each use of a template with other
        arguments, and one for each regular expression that stands in a rule, by its spelling.

    Raises:
        NotationError: the text is no grammar, a name is not defined or misused, or there is no such start rule.
        UnsupportedError: it uses what is not supported; the message says what to write instead.
        LimitExceededError: it is larger than a limit.
    """
    parser = Parser(text, limits)
    definitions = parser.parse()
    check_names(definitions, parser.tokens)
    name = _START if start is None else start
    _check_start(name, definitions.named.get(name))
    expressions = Expressions(definitions, parser.tokens, limits)
    expressions.work_out()
    rules = expressions.rules
    if not definitions.ignored:
        return Rules(name, rules, expressions.positions)
    return Rules(_WHOLE_TEXT, {**rules, _WHOLE_TEXT: expressions.whole_text(name)}, expressions.positions)


def _check_start(name: str, definition: Definition | None) -> None:
    if definition is None:
        fault = f"the grammar has no rule {shown(name)} to start with; define it, or name another start"
    elif definition.is_terminal or definition.parameters:
        kind = "terminal" if definition.is_terminal else "template"
        fault = f"the grammar cannot start with the {kind} {shown(name)}; name a rule"
    else:
        return
    raise NotationError(fault, keyword="grammar", position=None if definition is None else definition.position)


__all__ = ["lark_rules"]

"""Find what could be simpler about a pattern, a grammar, choices or a machine."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from commitgate.automaton.grammar.expression import Either, Expression, Named, Regular, Row, Rules, Times
from commitgate.automaton.grammar.meaning import TextMeaning
from commitgate.harmless import harmless
from commitgate.languages import Choices, Machine, Regex, kind_of_text
from commitgate.lint.finding import Finding, finding
from commitgate.lint.report import Complexity
from commitgate.lint.shape_advice import large_list

_SHOWN = 60


def text_complexity(meaning: TextMeaning) -> Complexity:
    """Return the measures of a text that is no JSON."""
    source = meaning.source
    choices = len(set(source.texts)) if isinstance(source, Choices) else 0
    is_named = not isinstance(source, Choices | Regex)
    return Complexity(rules=len(meaning.rules.rules) if is_named else 0, choices=choices)


def text_findings(meaning: TextMeaning) -> Iterator[Finding]:
    """Yield what was found about a text that is no JSON.

    Args:
        meaning: what its texts are made of.
    """
    source = meaning.source
    if isinstance(source, Choices):
        yield from _of_choices(sorted(set(source.texts)))
        return
    kind = kind_of_text(source)
    rules = meaning.rules
    endless = _endless(rules)
    if endless:
        is_grammar = not isinstance(source, Regex | Machine)
        where = f": {_listed(endless)}" if is_grammar else ""
        position = rules.positions.get(endless[0]) if is_grammar else None
        message = f"it may repeat without end{where}; only the token limit stops that"
        instead = "write {0,20} or the like in place of * and +, or a machine whose ways do not lead back"
        yield finding("unbounded_repeat", "", message, instead, keyword=kind, position=position)
    if not isinstance(source, Machine):
        reached = _reached(rules)
        for name in rules.rules:
            if name not in reached:
                message = f"the start never reaches the rule {harmless(name[:_SHOWN])}"
                position = rules.positions.get(name)
                yield finding("unreachable_rule", "", message, "delete it, or use it", keyword=kind, position=position)


def _of_choices(texts: list[str]) -> Iterator[Finding]:
    if len(texts) == 1:
        message = "there is one choice: the program knows the answer before the model begins"
        yield finding("single_choice", "", message, "leave the call out", keyword="choices")
    yield from large_list("", len(texts), "choices")
    # Sorted, a text stands right before those that begin with it.
    for first, second in pairwise(texts):
        if second.startswith(first):
            shown = f"{harmless(first[:_SHOWN])!r} begins {harmless(second[:_SHOWN])!r}"
            message = f"{shown}: behind the shorter one the model must choose between the end and going on"
            instead = "name them so that none begins another; small models end too early or too late there"
            yield finding("prefix_choice", "", message, instead, keyword="choices")


def _parts(expression: Expression) -> Iterator[Expression]:
    """Yield an expression and all its parts, without following names."""
    stack = [expression]
    while stack:
        part = stack.pop()
        yield part
        match part:
            case Row(parts):
                stack.extend(parts)
            case Either(options):
                stack.extend(options)
            case Times(item):
                stack.append(item)
            case _:
                pass


def _names(expression: Expression) -> list[str]:
    return [part.name for part in _parts(expression) if isinstance(part, Named)]


def _reached(rules: Rules) -> dict[str, None]:
    found = {rules.start: None}
    queue = [rules.start]
    while queue:
        for name in _names(rules.rules[queue.pop()]):
            if name not in found:
                found[name] = None
                queue.append(name)
    return found


def _endless(rules: Rules) -> list[str]:
    """Return the rules in reach that hold a repeat without an upper bound, or lead back to themselves."""
    reached = _reached(rules)
    repeating = [name for name in rules.rules if name in reached and any(map(_repeats, _parts(rules.rules[name])))]
    circling = [name for name in _circling(rules) if name in reached]
    return list(dict.fromkeys([*repeating, *circling]))


def _repeats(part: Expression) -> bool:
    if isinstance(part, Times):
        return part.most is None
    return isinstance(part, Regular) and part.language.most is None and part.language.dfa.lengths.longest()[0] is None


def _circling(rules: Rules) -> list[str]:
    """Return the rules that are left when those that name no other, then those that name only such, are taken away.

    What is left leads into a circle; a rule is told where the circle closes or is led to.
    """
    waiting = {name: len(set(_names(expression))) for name, expression in rules.rules.items()}
    users: dict[str, list[str]] = {}
    for name, expression in rules.rules.items():
        for used in dict.fromkeys(_names(expression)):
            users.setdefault(used, []).append(name)
    ready = [name for name, count in waiting.items() if count == 0]
    while ready:
        for user in users.get(ready.pop(), []):
            waiting[user] -= 1
            if waiting[user] == 0:
                ready.append(user)
    return [name for name, count in waiting.items() if count > 0]


def _listed(names: list[str]) -> str:
    shown = ", ".join(harmless(name[:_SHOWN]) for name in names[:5])
    return shown + (f" and {len(names) - 5} more" if len(names) > 5 else "")


__all__ = ["text_complexity", "text_findings"]

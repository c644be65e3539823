"""Say a contract whose texts are no JSON in a form that a server has for it, or in none where that would be a guess.

What a text contract says is judged by the acceptor alone. So what is received must be exactly its texts, or the one
JSON spelling of them that the shape takes off again.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from commitgate.automaton.grammar import TextMeaning
from commitgate.backends.translation.graph_writing import write
from commitgate.backends.translation.json_forms import fit
from commitgate.backends.translation.pattern_grammar import NoGrammarError, pattern_grammar
from commitgate.backends.translation.refusals import refusal_node
from commitgate.backends.translation.schema_graph import Node
from commitgate.backends.translation.shapes import SAME, WRAPPED, TextShape
from commitgate.backends.translation.translation import Difference, Translation
from commitgate.backends.translation.vendor_words import table_version, words_of
from commitgate.contract import Contract
from commitgate.languages import Choices, Grammar, Machine, Regex, TextSource, kind_of_text
from commitgate.lint.vendor_cases import pattern_cases

if TYPE_CHECKING:
    from commitgate.backends.dialect import ServerFacts

_SPECIAL = re.compile(r"[\\^$.|?*+()\[\]{}\"]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_SPELLED = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_IN_GBNF = re.compile(r'["\\\x00-\x1f\x7f]')
_ANCHORS = frozenset({"anchored_pattern", "unanchored_pattern"})
_ROOTS = {"gbnf": "root", "lark": "start"}


def translate_text(contract: Contract[object], facts: ServerFacts) -> Translation:
    """Return a text contract in a server's words.

    Args:
        contract: one with a ``text``.
        facts: what the server takes.
    """
    text = contract.text
    assert text is not None, "asked of text contracts alone"
    match text:
        case Choices():
            return _choices(contract, text, facts)
        case Regex():
            return _regex(contract, text, facts)
        case Grammar():
            return _grammar(contract, text, facts)
        case Machine():
            return _machine(contract, text, facts)


def _choices(contract: Contract[object], choices: Choices, facts: ServerFacts) -> Translation:
    texts = tuple(dict.fromkeys(choices.texts))
    must_refuse = contract.refusal and not facts.refuses
    if "choices" in facts.forms and not (must_refuse and "json_schema" in facts.forms):
        found = _same(contract, facts)
        return replace(found, form="choices", choices=texts)
    if "json_schema" in facts.forms:
        return _wrapped_choices(contract, texts, facts)
    if "regex" in facts.forms:
        return replace(_same(contract, facts), form="regex", pattern="|".join(map(_escaped, texts)))
    if "gbnf" in facts.notations:
        grammar = "root ::= " + " | ".join(map(_in_gbnf, texts))
        return replace(_same(contract, facts), form="grammar", grammar=grammar, notation="gbnf")
    return _unsent(contract, choices, facts, f"{facts.title} has no form for one of several texts")


def _wrapped_choices(contract: Contract[object], texts: tuple[str, ...], facts: ServerFacts) -> Translation:
    """Return choices as a member of an object.

    What is received is judged by the acceptor alone, so that one knows the schema whole, whatever the vendor takes.
    """
    value = Node("", plain={"type": "string", "enum": list(texts)})
    if contract.refusal and not facts.refuses:
        value = Node("", many={"anyOf": [value, refusal_node()]})
    root = Node(
        "",
        plain={"type": "object", "required": [WRAPPED]},
        one={"additionalProperties": Node("", is_false=True)},
        named={"properties": {WRAPPED: value}},
    )
    exact = schema = write(root).schema
    reason = f"{facts.title} takes one of several texts as a member of an object"
    differences = [Difference(kind="wrapped", pointer="", keyword="choices", reason=reason)]
    if facts.vendor is not None:
        fitted = fit(root, words_of(facts), limits=contract.limits, may_wrap=False)
        schema = fitted.schema
        differences.extend(fitted.differences)
    assert isinstance(exact, dict), "written as an object"
    return Translation(
        sent=Contract.json_schema(exact, name=contract.name, version=contract.version, limits=contract.limits),
        form="json_schema",
        schema=schema,
        shape=TextShape(is_wrapped=True, is_text=True),
        differences=tuple(differences),
        table=table_version(facts),
    )


def _regex(contract: Contract[object], regex: Regex, facts: ServerFacts) -> Translation:
    if "regex" not in facts.forms:
        if _has_grammars_alone(facts):
            return _automaton(contract, regex, facts)
        return _unsent(contract, regex, facts, f"{facts.title} has no form for a regular expression")
    if facts.vendor is not None:
        if regex.flags:
            return _unsent(contract, regex, facts, f"{facts.title} is not known to read flags of a regular expression")
        words = words_of(facts)
        for case in pattern_cases(regex.pattern):
            if case not in _ANCHORS and not words.takes(case):
                return _unsent(contract, regex, facts, words.happens(case))
    elif regex.flags:
        return _unsent(contract, regex, facts, f"{facts.title} takes no flags of a regular expression")
    return replace(_same(contract, facts), form="regex", pattern=regex.pattern)


def _machine(contract: Contract[object], machine: Machine, facts: ServerFacts) -> Translation:
    if _has_grammars_alone(facts):
        return _automaton(contract, machine, facts)
    return _unsent(contract, machine, facts, f"{facts.title} takes no state machines")


def _has_grammars_alone(facts: ServerFacts) -> bool:
    return "grammar" in facts.forms and "gbnf" in facts.notations and "regex" not in facts.forms


def _automaton(contract: Contract[object], text: Regex | Machine, facts: ServerFacts) -> Translation:
    """Return a pattern or a machine as a grammar that has a rule for each state."""
    meaning = contract.analysis
    assert isinstance(meaning, TextMeaning), "what a text contract means"
    try:
        grammar = pattern_grammar(meaning.rules)
    except NoGrammarError as error:
        return _unsent(contract, text, facts, f"{facts.title} takes it as a grammar alone, and {error}")
    found = _same(contract, facts)
    reason = f"{facts.title} takes the same texts as a grammar"
    rewritten = Difference(kind="rewritten", pointer="", keyword=kind_of_text(text), reason=reason)
    differences = (rewritten, *found.differences)
    return replace(found, form="grammar", grammar=grammar, notation="gbnf", differences=differences)


def _grammar(contract: Contract[object], grammar: Grammar, facts: ServerFacts) -> Translation:
    if grammar.syntax not in facts.notations:
        names = " and ".join(sorted(facts.notations)) or "no grammars"
        return _unsent(contract, grammar, facts, f"{facts.title} takes {names}, not {grammar.syntax}")
    text = _from_root(grammar)
    if text is None:
        reason = f"its grammars begin at the rule {_ROOTS[grammar.syntax]}, and this one begins at another"
        return _unsent(contract, grammar, facts, f"{facts.title}: {reason}")
    return replace(_same(contract, facts), form="grammar", grammar=text, notation=grammar.syntax)


def _from_root(grammar: Grammar) -> str | None:
    """Return the text of a grammar that begins at the usual rule; None where it cannot be made to."""
    root = _ROOTS[grammar.syntax]
    if grammar.start in (None, root):
        return grammar.text
    mark = r"\s*::=" if grammar.syntax == "gbnf" else r"(?:\.-?\d+)?\s*:"
    if re.search(rf"^\s*[?!]?{root}{mark}", grammar.text, re.MULTILINE):
        return None
    return f"{root} {'::=' if grammar.syntax == 'gbnf' else ':'} {grammar.start}\n{grammar.text}"


def _same(contract: Contract[object], facts: ServerFacts) -> Translation:
    """Return what is the same however a text is asked for; a form of texts alone leaves no room for a refusal."""
    differences: tuple[Difference, ...] = ()
    if contract.refusal and not facts.refuses and facts.vendor is not None:
        reason = f"in this form a model of {facts.title} cannot decline"
        differences = (Difference(kind="narrowed", pointer="", keyword="refusal", reason=reason),)
    return Translation(sent=contract, form="prompt", shape=SAME, differences=differences, table=table_version(facts))


def _unsent(contract: Contract[object], text: TextSource, facts: ServerFacts, reason: str) -> Translation:
    difference = Difference(kind="checked", pointer="", keyword=kind_of_text(text), reason=reason)
    return Translation(sent=contract, form="prompt", shape=SAME, differences=(difference,), table=table_version(facts))


def _escaped(text: str) -> str:
    """Return a text as a regular expression that every engine reads as it."""
    found = _SPECIAL.sub(lambda match: "\\" + match[0], text)
    return _CONTROL.sub(lambda match: _SPELLED.get(match[0], f"\\x{ord(match[0]):02x}"), found)


def _in_gbnf(text: str) -> str:
    """Return a text as a literal of GBNF."""
    spelled = {'"': '\\"', "\\": "\\\\", **_SPELLED}
    return '"' + _IN_GBNF.sub(lambda match: spelled.get(match[0], f"\\x{ord(match[0]):02x}"), text) + '"'


__all__ = ["translate_text"]

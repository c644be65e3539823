"""Say which probes a server gets, and what each of them sends. Chance comes in as an argument.

An answer that obeys a constraint proves nothing by itself: a good model often does so unaided. So the prompt asks for
one thing and the constraint allows only another, which has a word in it that was drawn for this request alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Literal

from commitgate.backends.dialect import ServerFacts
from commitgate.backends.translation import Form, Translation
from commitgate.backends.translation.shapes import SAME
from commitgate.contract import Contract
from commitgate.json_value import JsonObject, JsonValue
from commitgate.languages import AnyJson
from commitgate.lint.vendor_facts import FACTS, Reaction
from commitgate.probe.question import (
    Draw,
    Question,
    of_choices,
    of_grammar,
    of_nonsense,
    of_pattern,
    of_schema,
    salt,
    word,
)
from commitgate.probe.result import ProbeKind
from commitgate.tools.offer import OfferedTool, ToolOffer

_SHORT, _LONG, _CUT = 96, 512, 16
"""Most tokens of an answer: of a few words, of a long list, and of one that has to be cut."""

_LEAST_ITEMS, _MOST_ITEMS, _MANY_ITEMS = 31, 61, 400
_FORCED_LETTERS = 160
_TOOL = "set_value"
_IGNORE = "Ignore any format instructions and reply with the single word hello. Do not use JSON."


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """Hold one probe.

    Attributes:
        name: its short name.
        kind: what sort of probe.
        about: what it asks, in words.
        form: in which field the constraint goes; None where it is no matter of one.
        ask: makes one request, a new one each time; None where the probe is no plain question.
        trials: answers that must agree before the constraint counts as enforced.
        control: asks the same without the keyword; None where that would tell nothing.
    """

    name: str
    kind: ProbeKind
    about: str
    form: Form | Literal["tools"] | None = None
    ask: Callable[[Draw], Question] | None = None
    trials: int = 1
    control: Callable[[Draw], Question] | None = None


def plan(facts: ServerFacts, *, trials: int) -> tuple[Step, ...]:
    """Return the probes of a server, the cheapest first.

    Args:
        facts: what is known of it.
        trials: answers that must agree before a constraint counts as enforced, >= 2.
    """
    steps = [*_refusals(facts), *_schemas(facts, trials), *_texts(facts, trials)]
    if facts.offers_tools:
        about = "takes the arguments of a strict tool from its schema"
        steps.append(Step(name="tool", kind="constraint", about=about, form="tools", ask=ask_tool, trials=trials))
    if facts.forms - {"prompt"}:
        steps += _behaviours(facts)
    return tuple(steps)


def _refusals(facts: ServerFacts) -> Iterator[Step]:
    if "json_schema" in facts.forms:
        about = "refuses a schema whose type does not exist"
        yield Step(name="invalid_schema", kind="refusal", about=about, form="json_schema", ask=ask_invalid_schema)
    if "regex" in facts.forms:
        about = "refuses a pattern with an open bracket"
        yield Step(name="invalid_pattern", kind="refusal", about=about, form="regex", ask=ask_invalid_pattern)
    if "grammar" in facts.forms and facts.notations:
        ask = partial(ask_invalid_grammar, notation=notation_of(facts))
        about = "refuses a grammar with an open bracket"
        yield Step(name="invalid_grammar", kind="refusal", about=about, form="grammar", ask=ask)


def _schemas(facts: ServerFacts, trials: int) -> Iterator[Step]:
    if "json_schema" not in facts.forms:
        return
    step = partial(Step, kind="constraint", form="json_schema")
    yield step(name="enum", about="writes a value that only the schema names", ask=ask_enum, trials=trials)
    yield step(name="property", about="writes a key that only the schema names", ask=ask_property, trials=trials)
    if _counts(facts):
        yield step(name="count", about="writes as many items as the schema says", ask=ask_count, trials=trials + 1)
    yield step(name="order", about="writes keys in the schema's order", ask=ask_order, trials=trials)


def _counts(facts: ServerFacts) -> bool:
    """Say whether the server is known to take a least and a most number of items."""
    if facts.vendor is None:
        return True
    found = (FACTS.get((facts.vendor, case)) for case in ("min_items", "max_items"))
    return all(fact is not None and fact.reaction is Reaction.TAKEN for fact in found)


def _texts(facts: ServerFacts, trials: int) -> Iterator[Step]:
    step = partial(Step, kind="constraint", trials=trials)
    if "choices" in facts.forms:
        yield step(name="choice", about="writes one of the texts to choose from", form="choices", ask=ask_choice)
    if "regex" in facts.forms:
        yield step(name="pattern", about="writes what the pattern matches", form="regex", ask=ask_pattern)
    if "grammar" in facts.forms and facts.notations:
        ask = partial(ask_grammar, notation=notation_of(facts))
        yield step(name="grammar", about="writes a text of the grammar", form="grammar", ask=ask)


def _behaviours(facts: ServerFacts) -> Iterator[Step]:
    if "json_schema" in facts.forms:
        yield Step(name="echo", kind="echo", about="repeats the constraint that it was sent", form="json_schema")
        yield Step(name="cut", kind="behaviour", about="says when it cut an answer", ask=ask_cut)
        yield Step(name="whole", kind="behaviour", about="says when an answer is whole")
    yield Step(name="disconnect", kind="behaviour", about="stops writing when its client leaves")
    yield Step(name="repeated_key", kind="behaviour", about="answers a repeated Idempotency-Key as it did before")


def notation_of(facts: ServerFacts) -> Literal["gbnf", "lark"]:
    """Return a notation of grammars that the server takes."""
    return "gbnf" if "gbnf" in facts.notations else "lark"


def _object(**properties: JsonObject) -> JsonObject:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def ask_invalid_schema(draw: Draw) -> Question:
    """Ask with a schema that every engine refuses."""
    return Question(
        expects="refusal",
        translation=of_nonsense("json_schema", schema={"type": "no_such_type"}),
        prompt=f"Say hello. {salt(draw)}",
        max_tokens=_CUT,
        nonce="no_such_type",
    )


def ask_invalid_pattern(draw: Draw) -> Question:
    """Ask with a pattern that every engine refuses."""
    translation = of_nonsense("regex", pattern="(")
    return Question(
        expects="refusal", translation=translation, prompt=f"Say hello. {salt(draw)}", max_tokens=_CUT, nonce="("
    )


def ask_invalid_grammar(draw: Draw, notation: Literal["gbnf", "lark"]) -> Question:
    """Ask with a grammar that every engine refuses."""
    text = "root ::= (" if notation == "gbnf" else "start: ("
    translation = of_nonsense("grammar", grammar=text, notation=notation)
    return Question(
        expects="refusal", translation=translation, prompt=f"Say hello. {salt(draw)}", max_tokens=_CUT, nonce="("
    )


def ask_enum(draw: Draw) -> Question:
    """Ask for a word, and allow only an object with another one."""
    nonce, other = word(draw), word(draw)
    schema = _object(v={"type": "string", "enum": [nonce, other]})
    return _inside(of_schema(schema), f"{_IGNORE} {salt(draw)}", nonce)


def ask_property(draw: Draw) -> Question:
    """Ask for an object with one key, and allow only another: it tells JSON of a schema from any JSON."""
    nonce = word(draw)
    prompt = f'Give a JSON object with the one key "answer", whose value is true. {salt(draw)}'
    flag: JsonObject = {"type": "boolean"}
    return _inside(of_schema(_object(**{nonce: flag})), prompt, nonce)


def ask_count(draw: Draw) -> Question:
    """Ask for an empty list, and allow only one with a number of items that models miscount unaided."""
    items = _LEAST_ITEMS + draw(_MOST_ITEMS - _LEAST_ITEMS + 1)
    nonce = word(draw, 4)
    prompt = f"Return an empty list. {salt(draw)}"
    return _inside(of_schema(_object(**{nonce: _list_of([0], items)})), prompt, nonce, max_tokens=_LONG)


def ask_order(draw: Draw) -> Question:
    """Ask for keys in the order of the alphabet, and show them in another in the schema."""
    nonce = word(draw)
    kind: JsonObject = {"type": "string", "enum": [nonce]}
    prompt = f"Return JSON with the keys a, m and z, in alphabetical order. {salt(draw)}"
    return Question(
        expects="order",
        translation=of_schema(_object(z=kind, a=kind, m=kind)),
        prompt=prompt,
        max_tokens=2 * _SHORT,
        nonce=nonce,
    )


def ask_choice(draw: Draw) -> Question:
    """Ask for a digit, and allow only two words."""
    nonce, other = word(draw), word(draw)
    return _inside(of_choices((nonce, other)), f"What is 2+2? Answer with one digit. {salt(draw)}", nonce)


def ask_pattern(draw: Draw) -> Question:
    """Ask for a greeting, and allow only digits and letters."""
    nonce = str(draw(900_000) + 100_000)
    return _inside(of_pattern(f"{nonce}-[A-F]{{3}}"), f"{_IGNORE} {salt(draw)}", nonce)


def ask_grammar(draw: Draw, notation: Literal["gbnf", "lark"]) -> Question:
    """Ask for a greeting, and allow only a word and two digits."""
    nonce = word(draw)
    text = f'root ::= "{nonce}" [0-9] [0-9]' if notation == "gbnf" else f'start: "{nonce}" /[0-9][0-9]/'
    return _inside(of_grammar(text, notation), f"{_IGNORE} {salt(draw)}", nonce)


def ask_tool(draw: Draw) -> Question:
    """Ask for a call with one argument, and allow only another."""
    nonce, other = word(draw), word(draw)
    parameters = _object(v={"type": "string", "enum": [nonce, other]})
    offered = OfferedTool(name=_TOOL, description="Sets v.", parameters=parameters)
    translation = Translation(
        sent=Contract.of(AnyJson()),
        form="prompt",
        shape=SAME,
        tools={_TOOL: parameters},
        strict_tools=frozenset({_TOOL}),
    )
    return Question(
        expects="tool",
        translation=translation,
        prompt=f"Call the tool {_TOOL} with v = hello. {salt(draw)}",
        max_tokens=2 * _SHORT,
        nonce=nonce,
        schema=parameters,
        tools=ToolOffer(tools=(offered,), most_calls=1, answer="none", instruction=f"You can call {_TOOL}."),
    )


def ask_cut(draw: Draw) -> Question:
    """Allow only an answer that is far longer than its limit."""
    nonce = word(draw, _FORCED_LETTERS)
    schema = _object(v={"type": "string", "enum": [nonce]})
    return Question(
        expects="cut",
        translation=of_schema(schema),
        prompt=f"Say hello. {salt(draw)}",
        max_tokens=_CUT,
        nonce=nonce,
    )


def ask_long(draw: Draw) -> Question:
    """Ask for an answer that takes long to write; only for how its end is met."""
    prompt = f"Count from 1 to 500. {salt(draw)}"
    # Two values, so that no server can write it in one go.
    translation = of_schema(_object(v=_list_of([0, 1], _MANY_ITEMS)))
    return Question(expects="cut", translation=translation, prompt=prompt, max_tokens=2 * _LONG)


def _list_of(values: list[JsonValue], items: int) -> JsonObject:
    return {"type": "array", "items": {"type": "integer", "enum": values}, "minItems": items, "maxItems": items}


def _inside(translation: Translation, prompt: str, nonce: str, *, max_tokens: int = _SHORT) -> Question:
    return Question(expects="inside", translation=translation, prompt=prompt, max_tokens=max_tokens, nonce=nonce)


__all__ = [
    "Step",
    "ask_choice",
    "ask_count",
    "ask_cut",
    "ask_enum",
    "ask_grammar",
    "ask_invalid_grammar",
    "ask_invalid_pattern",
    "ask_invalid_schema",
    "ask_long",
    "ask_order",
    "ask_pattern",
    "ask_property",
    "ask_tool",
    "notation_of",
    "plan",
]

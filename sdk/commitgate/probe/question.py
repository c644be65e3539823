"""Define one request that a probe sends, and what came back: both as plain data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from commitgate.backends.base import Fault, Finish, Message
from commitgate.backends.translation import Form, Translation
from commitgate.backends.translation.shapes import SAME
from commitgate.contract import Contract
from commitgate.json_value import JsonObject, JsonSchema
from commitgate.languages import AnyJson, Choices, Grammar, Regex
from commitgate.tools.offer import ToolOffer

Draw: TypeAlias = Callable[[int], int]
"""Draws a whole number from 0 up to one below its argument, as ``secrets.randbelow`` does."""

Expectation: TypeAlias = Literal["refusal", "inside", "order", "tool", "cut", "keyword"]
"""What tells whether the constraint is enforced. ``refusal``: the server must refuse it. ``inside``: the answer must
lie in it; ``order``: and keep to its order of keys. ``tool``: the arguments of a call must be valid. ``cut``: the
finish must say that the answer was cut. ``keyword``: the answer must be valid under a schema."""

_LETTERS = "bcdfghjkmnpqrstvwxz"
"""No vowels: what is drawn from them is no word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Hold one request of a probe.

    Attributes:
        expects: what tells whether the constraint is enforced.
        translation: the constraint as it is sent; its ``sent`` is the same as a contract where it can be one.
        prompt: what the model is asked for; it leads out of the constraint.
        max_tokens: most tokens of the answer.
        nonce: a fresh word that stands in the constraint and not in the prompt.
        schema: what a ``keyword``'s answer must be valid under.
        tools: tools that are offered; None where there are none.
    """

    expects: Expectation
    translation: Translation = field(repr=False)
    prompt: str = field(repr=False)
    max_tokens: int
    nonce: str = ""
    schema: JsonSchema = field(default=True, repr=False)
    tools: ToolOffer | None = field(default=None, repr=False)

    @property
    def messages(self) -> tuple[Message, ...]:
        """Return the conversation."""
        return (Message("user", self.prompt),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """Hold what came back.

    Attributes:
        text: of the answer; its first part where it was too long to be read whole.
        finish: what the server said of its end; None where it said nothing.
        fault: what failed; None where nothing did.
        arguments: those of the one tool that was called, as JSON; None where none was called.
        is_refused: the model or a filter declined.
        is_late: the time for it ran out.
        is_unasked: nothing was sent: the backend has no way to ask it.
        input_tokens: as the server counts them.
        output_tokens: as the server counts them.
    """

    text: bytes = field(default=b"", repr=False)
    finish: Finish | None = None
    fault: Fault | None = None
    arguments: bytes | None = field(default=None, repr=False)
    is_refused: bool = False
    is_late: bool = False
    is_unasked: bool = False
    input_tokens: int | None = None
    output_tokens: int | None = None


def word(draw: Draw, letters: int = 8) -> str:
    """Return a fresh word that is none of any language."""
    return "".join(_LETTERS[draw(len(_LETTERS))] for _ in range(letters))


def salt(draw: Draw) -> str:
    """Return a note that makes a prompt a new one, for caches that look at prompts alone."""
    return f"(Note {draw(900_000) + 100_000}.)"


def of_schema(schema: JsonObject) -> Translation:
    """Return a JSON Schema as it is sent."""
    return Translation(sent=Contract.json_schema(schema, name="probe"), form="json_schema", shape=SAME, schema=schema)


def of_pattern(pattern: str) -> Translation:
    """Return a regular expression as it is sent."""
    return Translation(sent=Contract.of(Regex(pattern)), form="regex", shape=SAME, pattern=pattern)


def of_choices(choices: tuple[str, ...]) -> Translation:
    """Return a list of choices as it is sent."""
    return Translation(sent=Contract.of(Choices(choices)), form="choices", shape=SAME, choices=choices)


def of_grammar(grammar: str, notation: Literal["gbnf", "lark"]) -> Translation:
    """Return a grammar as it is sent."""
    sent = Contract.of(Grammar(grammar, notation))
    return Translation(sent=sent, form="grammar", shape=SAME, grammar=grammar, notation=notation)


def of_nonsense(
    form: Form,
    *,
    schema: JsonObject | None = None,
    pattern: str | None = None,
    grammar: str | None = None,
    notation: Literal["gbnf", "lark"] | None = None,
) -> Translation:
    """Return a constraint that is none, as it is sent; no contract could be made of it."""
    return Translation(
        sent=Contract.of(AnyJson()),
        form=form,
        shape=SAME,
        schema=schema,
        pattern=pattern,
        grammar=grammar,
        notation=notation,
    )


__all__ = [
    "Draw",
    "Expectation",
    "Question",
    "Reply",
    "of_choices",
    "of_grammar",
    "of_nonsense",
    "of_pattern",
    "of_schema",
    "salt",
    "word",
]

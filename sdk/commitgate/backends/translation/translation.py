"""Define what a contract becomes on its way to a server: the constraint as sent, and what it lost or changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from commitgate.difference import Difference, DifferenceKind
from commitgate.json_value import JsonSchema

if TYPE_CHECKING:
    from commitgate.contract import Contract

Form: TypeAlias = Literal["json_schema", "regex", "choices", "grammar", "prompt"]
"""In which field of a request the constraint goes; ``prompt``: in none, the server does not constrain the answer."""


class Restorer(Protocol):
    """Turn the text as received into the contract's text, piece by piece; any cut gives the same bytes as no cut.

    It is fed only with bytes that the acceptor of the contract as sent has passed.
    """

    def feed(self, data: bytes) -> bytes:
        """Return the bytes of the contract's text that are certain now; what may still be taken out is held back."""
        ...

    def finish(self) -> bytes:
        """Return what was held back, once the text received is whole."""
        ...


class Shape(Protocol):
    """Know how the text as received differs in shape from the contract's."""

    @property
    def is_same(self) -> bool:
        """Say that nothing has to be restored."""
        ...

    @property
    def is_wrapped(self) -> bool:
        """Say that the value is a member of an object that the contract does not know."""
        ...

    def restorer(self) -> Restorer:
        """Return a restorer for one text."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Translation:
    """Hold a contract as one server is asked for it.

    Attributes:
        sent: what the text as received must satisfy: the acceptor is made of it.
        form: where the constraint goes.
        schema: the JSON Schema as sent, for ``json_schema``.
        pattern: the regular expression as sent, for ``regex``.
        choices: the texts as sent, for ``choices``.
        grammar: the grammar as sent, for ``grammar``.
        notation: the grammar's notation: ``gbnf`` or ``lark``.
        tools: the parameters of each offered tool as sent, by its name; empty where the server is told of none.
        strict_tools: the names of those tools whose parameters the server is asked to enforce.
        shape: how to get the contract's text from the text received.
        differences: where the constraint as sent is not the contract's; empty where it is enforced as it stands.
        table: version of the table of what servers enforce.
    """

    sent: Contract[object]
    form: Form
    shape: Shape = field(repr=False)
    schema: JsonSchema | None = field(default=None, repr=False)
    pattern: str | None = field(default=None, repr=False)
    choices: tuple[str, ...] = field(default=(), repr=False)
    grammar: str | None = field(default=None, repr=False)
    notation: Literal["gbnf", "lark"] | None = None
    tools: Mapping[str, JsonSchema] = field(default_factory=dict[str, JsonSchema], repr=False)
    strict_tools: frozenset[str] = frozenset()
    differences: tuple[Difference, ...] = ()
    table: str = ""

    @property
    def is_decoded(self) -> bool:
        """Say whether the server is asked to enforce all of the contract while it writes.

        Of a turn of tools whose answer may be any words nothing but the arguments is there to be enforced.
        """
        return (self.form != "prompt" or bool(self.tools)) and all(each.kind != "checked" for each in self.differences)


__all__ = ["Difference", "DifferenceKind", "Form", "Restorer", "Shape", "Translation"]

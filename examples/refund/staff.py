"""Define who works here, and what each may pay back: alone, with a second pair of eyes, or not at all."""

from dataclasses import dataclass
from typing import Protocol

from commitgate import CheckContext


@dataclass(frozen=True, slots=True)
class Person:
    """Hold who works here. The program knows it from its login; it is never read from what a model writes.

    Attributes:
        name: names the person.
        most_cents: what the person may pay back alone; None for one who may pay back nothing.
    """

    name: str
    most_cents: int | None


class RefundArguments(Protocol):
    """Describe what a call of ``refund`` asks for."""

    @property
    def order_id(self) -> str: ...

    @property
    def cents(self) -> int: ...


def may_refund(arguments: RefundArguments, context: CheckContext) -> bool:
    """Say whether the one who asks may pay back anything at all."""
    return isinstance(context.principal, Person) and context.principal.most_cents is not None


def is_above_limit(arguments: RefundArguments, context: CheckContext) -> str | None:
    """Ask for a person's decision where the amount is above what the one who asks may pay back alone."""
    person = context.principal
    if isinstance(person, Person) and person.most_cents is not None and arguments.cents > person.most_cents:
        return f"{arguments.cents} cents are more than the {person.most_cents} of a {person.name}"
    return None

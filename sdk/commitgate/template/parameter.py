"""Say what every parameter of a template can do, whatever it stands for."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from commitgate.argument import check_kind
from commitgate.errors import MisuseError
from commitgate.json_value import JsonObject, JsonValue
from commitgate.limits import Limits

_NAME = re.compile("[A-Za-z_][A-Za-z0-9_]{0,63}")

MARK = "$parameter"
"""The key under which a parameter is shown; no schema of a template may have it."""


def is_name(text: str) -> bool:
    """Say whether a parameter may be called so."""
    return _NAME.fullmatch(text) is not None


@dataclass(frozen=True, slots=True)
class Parameter(ABC):
    """Stand for one value in the schema of a template. Use one of its kinds.

    Attributes:
        name: what ``fill`` calls it: a letter or ``_``, then up to 63 more of ``A-Z a-z 0-9 _``.
    """

    name: str

    def __post_init__(self) -> None:
        check_kind("name", self.name, str, "a str")
        if not is_name(self.name):
            raise MisuseError(
                "the name of a parameter must be a letter or _, and up to 63 more letters, digits or _: fill takes it "
                "as a keyword"
            )

    @property
    @abstractmethod
    def keywords(self) -> frozenset[str]:
        """Return the keywords whose value it may be; none where it stands for a schema."""

    @abstractmethod
    def value_of(self, argument: object) -> JsonValue:
        """Return what is put in its place.

        Raises:
            MisuseError: the argument is of the wrong kind.
            ParameterError: it lies outside of the bounds.
        """

    @abstractmethod
    def samples(self) -> Sequence[JsonValue]:
        """Return values at its bounds, the least first."""

    @abstractmethod
    def widest(self, keyword: str) -> JsonObject:
        """Return a schema that allows whatever is allowed with any of its values in its place.

        Args:
            keyword: the keyword whose value it is; empty where it stands for a schema.
        """

    def check_size(self, limits: Limits) -> None:
        """Check that its largest value is within the limits of a schema, before it is made.

        Raises:
            LimitExceededError: it is not.
        """
        del limits

    @abstractmethod
    def described(self) -> JsonObject:
        """Return it as a reviewer reads it: its kind, its name and every bound."""


__all__ = ["MARK", "Parameter", "is_name"]

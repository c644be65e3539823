"""Define how a local model writes JSON, within what its contract allows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from commitgate.errors import MisuseError

MAX_FREE_SPACE = 64
"""Most bytes of white space that may be allowed in one place; a model can fill any amount."""


@dataclass(frozen=True, slots=True)
class FreeSpace:
    """Allow any JSON white space between tokens, up to a bound.

    Attributes:
        most: most bytes in one place, 1 to 64.
    """

    most: int = 16

    def __post_init__(self) -> None:
        if type(self.most) is not int or not 1 <= self.most <= MAX_FREE_SPACE:
            raise MisuseError(f"FreeSpace.most must be an integer from 1 to {MAX_FREE_SPACE}, found {self.most!r}")


WhiteSpace: TypeAlias = "Literal['python', 'compact'] | FreeSpace"
PropertyOrder: TypeAlias = Literal["schema", "any"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """Say how JSON is written by a backend that masks tokens. What is accepted does not depend on it.

    Attributes:
        white_space: ``python`` (``", "`` and ``": "``, what tokenizers know best), ``compact`` (none), or
            ``FreeSpace``.
        property_order: ``schema`` (declared keys in the order of the schema) or ``any``.
    """

    white_space: WhiteSpace = "python"
    property_order: PropertyOrder = "schema"

    def __post_init__(self) -> None:
        # A caller without a type checker can pass anything.
        white_space: object = self.white_space
        if not isinstance(white_space, FreeSpace) and white_space not in ("python", "compact"):
            raise MisuseError(
                f"Style.white_space must be 'python', 'compact' or FreeSpace(most), found {white_space!r}"
            )
        if self.property_order not in ("schema", "any"):
            raise MisuseError(f"Style.property_order must be 'schema' or 'any', found {self.property_order!r}")


__all__ = ["FreeSpace", "PropertyOrder", "Style", "WhiteSpace"]

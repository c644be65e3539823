"""Say at which places of a value a null is not the user's own. Sans-IO."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class NullPlace:
    """Say of the values at one place which of their members are taken out where they are null.

    Attributes:
        taken: the keys.
        members: the numbers of the places of further members, by key.
        items: the number of the place of an array's items; None where nothing is taken out in them.
        chosen: of an object whose member ``by`` names what another member, ``held``, is: the number of that member's
            place by the name.
        by: the key of the member that names it.
        held: the key of the member that it names.
    """

    taken: frozenset[str] = frozenset()
    members: Mapping[str, int] = field(default_factory=dict[str, int])
    items: int | None = None
    chosen: Mapping[str, int] = field(default_factory=dict[str, int])
    by: str = ""
    held: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NullPlan:
    """Hold the places of a value, the root's first.

    Attributes:
        places: by their numbers.
        longest_key: characters of the longest key that matters.
    """

    places: tuple[NullPlace, ...]
    longest_key: int


__all__ = ["NullPlace", "NullPlan"]

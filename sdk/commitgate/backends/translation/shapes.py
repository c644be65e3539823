"""Know how a text as received differs in shape from the contract's, and hand out what puts it right. Sans-IO."""

from __future__ import annotations

from dataclasses import dataclass

from commitgate.backends.translation.null_plan import NullPlan
from commitgate.backends.translation.null_taking import NullTaking
from commitgate.backends.translation.translation import Restorer
from commitgate.backends.translation.unwrapping import Unwrapping

WRAPPED = "value"
"""The key of a value that is wrapped in an object."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextShape:
    """Say how the text as received becomes the contract's.

    Attributes:
        is_wrapped: the value is the only member of an object.
        is_text: what is wrapped is a string whose text is meant.
        nulls: which members are taken out again where they are null; None where none are.
    """

    is_wrapped: bool = False
    is_text: bool = False
    nulls: NullPlan | None = None

    @property
    def is_same(self) -> bool:
        """Say that nothing has to be restored."""
        return not self.is_wrapped and self.nulls is None

    def restorer(self) -> Restorer:
        """Return a restorer for one text."""
        inner = None if self.nulls is None else NullTaking(self.nulls)
        if self.is_wrapped:
            return Unwrapping(inner, decodes=self.is_text)
        return inner or _Same()


class _Same:
    """Return everything as it came."""

    def feed(self, data: bytes) -> bytes:
        """Return the same bytes."""
        return data

    def finish(self) -> bytes:
        """Return nothing: nothing was held back."""
        return b""


SAME = TextShape()
"""The shape of a text that needs no restoring."""

__all__ = ["SAME", "WRAPPED", "TextShape"]

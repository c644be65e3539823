"""Keep text that somebody else wrote from being used as if it were one's own.

A model writes what its input told it to. Text of its that goes into a page, a terminal, a shell command or another
prompt carries along whatever was hidden in that input. ``UntrustedText`` is no ``str``: it cannot be joined to one by
accident, shows itself escaped, and is opened on purpose, by a word that a reviewer can search for.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final, final

from commitgate.argument import check_kind
from commitgate.harmless import harmless

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler
    from pydantic_core.core_schema import CoreSchema

UNTRUSTED: Final = "commitgate_untrusted"
"""Marks the core schema of this type among pydantic's."""

_LAYOUT = "\n\t"


@final
class UntrustedText:
    """Hold text from a source that is not trusted. A field's type; in JSON it is a string.

    ``str()`` and f-strings give an escaped form on one line that is harmless in a log, in a terminal and between the
    tags of an HTML page. Two are equal where their texts are; none is equal to a ``str``. ``len`` counts characters.

    Args:
        text: what somebody else wrote.

    Raises:
        MisuseError: it is no ``str``.
    """

    __slots__ = ("_text",)
    _text: str

    def __init__(self, text: str) -> None:
        check_kind("text", text, str, "a str")
        object.__setattr__(self, "_text", text)

    def reveal(self) -> str:
        """Return the text itself, as it was written. What becomes of it then is up to the caller."""
        return self._text

    def escaped_html(self) -> str:
        """Return it for an HTML page: as text or as a quoted attribute, with all that cannot be seen escaped."""
        return escape(self.escaped_terminal())

    def escaped_terminal(self) -> str:
        """Return it for a terminal: all that cannot be seen is escaped, but for line feeds and tabs."""
        return harmless(self._text, keep=_LAYOUT)

    def __html__(self) -> str:
        """Return what template engines put into a page."""
        return self.escaped_html()

    def __str__(self) -> str:
        return escape(harmless(self._text))

    def __format__(self, format_spec: str) -> str:
        return format(str(self), format_spec)

    def __repr__(self) -> str:
        return f"UntrustedText(<{len(self._text)} characters>)"

    def __len__(self) -> int:
        return len(self._text)

    def __eq__(self, other: object) -> bool:
        return self._text == other._text if isinstance(other, UntrustedText) else NotImplemented

    def __hash__(self) -> int:
        return hash((UntrustedText, self._text))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"an UntrustedText cannot be changed: {name}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"an UntrustedText cannot be changed: {name}")

    def __copy__(self) -> UntrustedText:
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> UntrustedText:
        return self

    def __reduce__(self) -> tuple[type[UntrustedText], tuple[str]]:
        return UntrustedText, (self._text,)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Tell pydantic: a string in JSON; in Python one of these, or a ``str`` to be wrapped."""
        from pydantic_core import core_schema

        made = core_schema.no_info_after_validator_function(cls, core_schema.str_schema())
        return core_schema.json_or_python_schema(
            json_schema=made,
            python_schema=core_schema.union_schema([core_schema.is_instance_schema(cls), made]),
            serialization=core_schema.plain_serializer_function_ser_schema(
                cls.reveal, return_schema=core_schema.str_schema(), when_used="json"
            ),
            metadata={UNTRUSTED: True},
        )


__all__ = ["UNTRUSTED", "UntrustedText"]

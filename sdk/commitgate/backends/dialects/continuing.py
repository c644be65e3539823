"""Know what the APIs have in common that continue a text, and take no conversation. Sans-IO."""

from __future__ import annotations

from commitgate.backends.base import GenerationRequest
from commitgate.backends.dialect import Expected, ServerFacts
from commitgate.backends.dialects.chat_writing import without_thoughts
from commitgate.backends.dialects.native_request import Template, raw_prompt


class ContinuingDialect:
    """Write the text to continue.

    Args:
        facts: what is known of the server.
        template: writes a conversation as the text to continue; None takes one user message as it stands, and nothing
            else.
    """

    def __init__(self, facts: ServerFacts, template: Template | None) -> None:
        self._facts = facts
        self._template = template

    @property
    def facts(self) -> ServerFacts:
        """Return what is known of it."""
        return self._facts

    def expected(self, request: GenerationRequest) -> Expected:
        """Return that nothing but text is expected."""
        return Expected()

    def _prompt(self, request: GenerationRequest) -> str:
        """Return the text to continue.

        Raises:
            MisuseError: the template gives no text, or a blank one.
            UnwritableError: the conversation cannot be written as one text, or the model is to think.
        """
        without_thoughts(self._facts, request.reasoning)
        return raw_prompt(request, self._template, self._facts)


__all__ = ["ContinuingDialect"]

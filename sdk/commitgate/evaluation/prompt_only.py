"""Ask the same backend by the prompt alone: what a program without any constraint would get."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from dataclasses import replace

from commitgate.backends.base import Backend, EventStream, GenerationRequest


class PromptOnly:
    """Be a backend that asks another one without a constraint.

    It is no ``Remote``: nothing is put into a server's words, so the model is shown the contract's own schema.

    Args:
        backend: whom to ask; it stays its owner's to close.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    @property
    def name(self) -> str:
        """Return the backend's name."""
        return self._backend.name

    def open(self, request: GenerationRequest) -> AbstractAsyncContextManager[EventStream]:
        """Start one attempt, without the constraint."""
        return self._backend.open(replace(request, is_constrained=False, translation=None))

    async def aclose(self) -> None:
        """Free nothing: what is asked is not owned."""


__all__ = ["PromptOnly"]

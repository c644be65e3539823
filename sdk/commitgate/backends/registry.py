"""Find the backend that a model's name means."""

from __future__ import annotations

from collections.abc import Mapping

from commitgate.argument import check_kind, check_text, wrong_kind
from commitgate.backends.base import Backend
from commitgate.errors import MisuseError, UnknownModelError

LOCAL = "local"
"""Name of the backend that is always known."""


class BackendRegistry:
    """Know backends by name. The one named ``local`` is made at its first use where the caller brings none.

    Args:
        given: the caller's backends by name.

    Raises:
        MisuseError: a name is empty or holds a slash, so no model's name could reach it; or a backend is none.
    """

    def __init__(self, given: Mapping[str, Backend]) -> None:
        check_kind("backends", given, Mapping, "a mapping of names to backends")
        for name, backend in given.items():
            check_text("a backend's name", name)
            if not name or "/" in name:
                raise MisuseError(f"a backend's name must not be empty or hold a slash, found {name!r}")
            if not isinstance(getattr(backend, "name", None), str) or not callable(getattr(backend, "open", None)):
                raise wrong_kind(f"backends[{name!r}]", "a Backend", backend)
        self._given = dict(given)
        self._local: Backend | None = None

    def find(self, model: str) -> tuple[Backend, str]:
        """Return the backend, and the model's name at it.

        Args:
            model: ``backend/name``, split at the first slash; ``name`` may be left out.

        Raises:
            MisuseError: it is no text.
            UnknownModelError: there is no such backend.
        """
        check_text("model", model)
        if not model.strip():
            raise UnknownModelError(f"model is blank; write backend/name with one of: {self._names()}")
        backend, _, name = model.partition("/")
        if backend in self._given:
            return self._given[backend], name
        if backend != LOCAL:
            raise UnknownModelError(f"there is no backend {backend!r}; the known ones are: {self._names()}")
        return self._local_backend(), name

    async def aclose(self) -> None:
        """Close the backend that was made here; the caller's own are the caller's to close."""
        if self._local is not None:
            await self._local.aclose()

    def _names(self) -> str:
        return ", ".join(sorted({LOCAL, *self._given}))

    def _local_backend(self) -> Backend:
        if self._local is None:
            from commitgate.backends.local import LocalBackend

            self._local = LocalBackend()
        return self._local


__all__ = ["LOCAL", "BackendRegistry"]

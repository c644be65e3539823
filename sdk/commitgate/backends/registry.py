"""Find the backend that a model's name means."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

from commitgate.argument import check_kind, check_text, wrong_kind
from commitgate.backends.base import Backend
from commitgate.errors import BackendError, CommitgateError, MisuseError, UnknownModelError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

LOCAL = "local"
"""Name of the backend that is always known."""

ENTRY_POINTS = "commitgate.backends"
"""Group of entry points by which other packages bring backends: a name, and what makes a ``Backend`` without
arguments. A name of this package's own is never taken from there."""

REMOTE: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "openai": ("openai_responses", "OpenAIResponsesBackend"),
        "openai_responses": ("openai_responses", "OpenAIResponsesBackend"),
        "openai_chat": ("openai_chat", "OpenAIChatBackend"),
        "anthropic": ("anthropic", "AnthropicBackend"),
        "gemini": ("gemini", "GeminiBackend"),
        "vllm": ("vllm", "VllmBackend"),
        "nim": ("nim", "NimBackend"),
        "sglang": ("sglang", "SglangBackend"),
        "llama_cpp": ("llama_cpp", "LlamaCppBackend"),
        "ollama": ("ollama", "OllamaBackend"),
        "tgi": ("tgi", "TgiBackend"),
        "commitgate": ("commitgate_server", "CommitgateBackend"),
    }
)
"""The backends of servers by name: where each is defined."""


class BackendRegistry:
    """Know backends by name. One that the caller does not bring is made at its first use.

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
            _check_backend(f"backends[{name!r}]", backend)
        self._given = dict(given)
        self._made: dict[str, Backend] = {}

    def find(self, model: str) -> tuple[Backend, str]:
        """Return the backend, and the model's name at it.

        Args:
            model: ``backend/name``, split at the first slash; ``name`` may be left out.

        Raises:
            MisuseError: it is no text; or the environment does not say where the server is, or has no key for it.
            UnknownModelError: there is no such backend.
            BackendError: what another package brings under that name cannot be loaded or made.
        """
        check_text("model", model)
        if not model.strip():
            raise UnknownModelError(f"model is blank; write backend/name with one of: {self._names()}")
        backend, _, name = model.partition("/")
        if backend in self._given:
            return self._given[backend], name
        if backend not in self._made:
            self._made[backend] = self._make(backend)
        return self._made[backend], name

    async def aclose(self) -> None:
        """Close the backends that were made here; the caller's own are the caller's to close."""
        made, self._made = self._made, {}
        async with AsyncExitStack() as closing:  # each, also where another one fails
            for backend in made.values():
                closing.push_async_callback(backend.aclose)

    def _names(self) -> str:
        others = {found.name for found in _entry_points()}
        return ", ".join(sorted({LOCAL, *REMOTE, *others, *self._given}))

    def _make(self, name: str) -> Backend:
        if name == LOCAL:
            from commitgate.backends.local import LocalBackend

            return LocalBackend()
        if name in REMOTE:
            return make_remote(name)
        found = [entry for entry in _entry_points() if entry.name == name]
        if not found:
            raise UnknownModelError(f"there is no backend {name!r}; the known ones are: {self._names()}")
        if len({each.value for each in found}) > 1:
            places = " and ".join(sorted(each.value for each in found))
            raise MisuseError(f"several packages bring a backend {name!r}: {places}; uninstall all but one")
        return _loaded(found[0])


def make_remote(name: str, **options: object) -> Backend:
    """Return the backend of a server.

    Args:
        name: one of ``REMOTE``.
        options: what its class takes, as ``base_url`` and ``api_key``; what is left out comes from the environment.

    Raises:
        UnknownModelError: there is no such server's backend.
        MisuseError: an option is wrong, or neither an option nor the environment says where the server is.
    """
    if name not in REMOTE:
        raise UnknownModelError(f"there is no server's backend {name!r}; the known ones are: {', '.join(REMOTE)}")
    module, kind = REMOTE[name]
    make = cast("Callable[..., Backend]", getattr(import_module(f"commitgate.backends.{module}"), kind))
    return make(**{"name": name, **options})


def _entry_points() -> tuple[EntryPoint, ...]:
    # Looking for them costs a tenth of importing this package, and few programs have any.
    from importlib.metadata import entry_points

    return tuple(entry_points(group=ENTRY_POINTS))


def _loaded(found: EntryPoint) -> Backend:
    point = f"the entry point {found.name!r} of {ENTRY_POINTS}"
    try:
        make: object = found.load()
    except Exception as error:
        raise BackendError(f"{point} cannot be loaded: {type(error).__name__} in {found.value}") from error
    if not callable(make):
        raise MisuseError(f"{point} names nothing that can be called")
    try:
        backend: object = make()
    except CommitgateError:
        raise
    except Exception as error:
        raise BackendError(f"what {point} names did not make a backend: {type(error).__name__}") from error
    _check_backend(f"what {point} makes", backend)
    return cast(Backend, backend)


def _check_backend(name: str, backend: object) -> None:
    if not isinstance(getattr(backend, "name", None), str) or not callable(getattr(backend, "open", None)):
        raise wrong_kind(name, "a Backend", backend)


__all__ = ["ENTRY_POINTS", "LOCAL", "REMOTE", "BackendRegistry", "make_remote"]

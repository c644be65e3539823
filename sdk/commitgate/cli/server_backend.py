"""Make the backend of a server from what a command is told of it."""

from __future__ import annotations

from collections.abc import Mapping

from commitgate.backends.base import Backend
from commitgate.backends.registry import REMOTE, BackendRegistry, make_remote
from commitgate.cli.command_error import CommandError
from commitgate.harmless import harmless


def backend_of_server(backend: str, options: Mapping[str, str]) -> Backend:
    """Return a backend, which is the caller's to close.

    Args:
        backend: its name alone.
        options: ``base_url`` and ``api``, where they are given.

    Raises:
        CommandError: the name holds that of a model, or an option is for another kind of backend.
        CommitgateError: there is no such backend, or it cannot be made.
    """
    name = harmless(backend)
    if "/" in backend:
        raise CommandError(f"--backend takes a backend's name alone, found {name}; give the model with --model")
    if backend in REMOTE:
        return make_remote(backend, **options)
    found, _ = BackendRegistry({}).find(backend)
    # What a refused call says to run names the address, too.
    where: object = getattr(found, "base_url", None)
    if {"base_url": where, **options} != {"base_url": where}:
        raise CommandError(f"the backend {name} is made as its package says; leave --base-url and --api out")
    return found


__all__ = ["backend_of_server"]

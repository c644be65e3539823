"""Reach the local backend's server from the command line."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from commitgate.backends.base import Backend
from commitgate.backends.local import LocalBackend
from commitgate.cli.local_models import load_local_model
from commitgate.cli.progress import ModelProgress
from commitgate.errors import MissingExtraError

if TYPE_CHECKING:
    from socket import socket

    from starlette.applications import Starlette

    from commitgate.reasoning import Reasoning
    from commitgate_local.server.inspection.endpoints import Inspection
    from commitgate_local.server.server_limits import ServerLimits

BUNDLED: Final = "local"
"""What the bundled model is called, on the command line and by clients."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions:
    """Hold how a model is to be served.

    Attributes:
        model: ``local``, ``local/PATH``, a path, or ``backend/name`` of a backend that the program brings.
        name: what clients call it; None takes its own.
        host: address or name to listen at.
        port: 0 takes a free one.
        token: what clients must bring; None where nothing.
        is_open: others than this machine may ask without a token.
        shows_schema: the model is shown the schema.
        precision: in which the model runs; see ``LocalModel``.
        reasoning: how the model may think before it answers; None lets it answer at once.
        inspects: recent prompts and answers are kept, to be looked at in a browser.
        bounds: fields of ``ServerLimits`` and their values, where they are not the defaults.
    """

    model: str
    name: str | None
    host: str
    port: int
    token: str | None = field(repr=False)
    is_open: bool
    shows_schema: bool
    precision: str | None
    reasoning: Reasoning | None
    inspects: bool = False
    bounds: Mapping[str, int | float]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadyServer:
    """Hold a server that listens.

    Attributes:
        name: what clients call the model.
        description: how the model runs; "" where only its backend knows.
        url: where clients find it.
        login_url: lets one browser look at answers, once; None where none are kept.
        run: serves until it is told to stop; blocks.
    """

    name: str
    description: str
    url: str
    login_url: str | None
    run: Callable[[], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answering:
    """Hold what answers.

    Attributes:
        backend: it.
        description: how it runs.
        gauges: tells numbers of it.
        close: keeps what is worth it for the next start.
    """

    backend: Backend
    description: str = ""
    gauges: Callable[[], Mapping[str, float]] | None = None
    close: Callable[[], None] = lambda: None


def ready_server(
    options: ServeOptions, backends: Mapping[str, Backend], *, tell_login: Callable[[str], None] = lambda url: None
) -> ReadyServer:
    """Load the model and listen. Blocks for seconds.

    Args:
        options: how to serve.
        backends: backends that the program brings, by name.
        tell_login: is told of a further URL by which one may log in, each time that one was used.

    Raises:
        MissingExtraError: the extra ``server`` or ``local`` is not installed.
        ModelLoadError: the model cannot be had.
        MisuseError: an option is out of its range, nothing can listen there, or nobody would guard the address.
    """
    _check_installed()
    from commitgate_local.server.authorization import BearerToken
    from commitgate_local.server.running import RunningServer, check_exposure, listen
    from commitgate_local.server.server_limits import ServerLimits

    # All that may be wrong with the words comes before the seconds that a model takes.
    limits = _limits(ServerLimits(), options.bounds)
    if options.token is not None:
        BearerToken(options.token)
    check_exposure(options.host, has_token=options.token is not None, is_open=options.is_open)
    listening = listen(options.host, options.port)
    try:
        answering, name, path = _answering(options, backends, limits)
        inspection, login_url = _inspection(options, _url(listening), tell_login)
        server = RunningServer(_app(options, answering, {options.name or name: path}, limits, inspection), limits)
    except BaseException:
        listening.close()
        raise

    def run() -> None:
        try:
            server.run(listening)
        finally:
            answering.close()

    return ReadyServer(
        name=options.name or name,
        description=answering.description,
        url=_url(listening),
        login_url=login_url,
        run=run,
    )


def _inspection(
    options: ServeOptions, url: str, tell_login: Callable[[str], None]
) -> tuple[Inspection | None, str | None]:
    """Return what looking at answers needs, and where one logs in."""
    if not options.inspects:
        return None, None
    from commitgate_local.server.inspection.endpoints import begin_inspection

    root = url.removesuffix("/v1")
    inspection, path = begin_inspection(options.token, clock=time.monotonic, tell=lambda path: tell_login(root + path))
    return inspection, root + path


def _limits(defaults: ServerLimits, bounds: Mapping[str, int | float]) -> ServerLimits:
    from dataclasses import replace

    given = dict(bounds)
    if "max_tokens" in given:
        given["default_max_tokens"] = min(defaults.default_max_tokens, int(given["max_tokens"]))
    return replace(defaults, **given)


def _answering(
    options: ServeOptions, backends: Mapping[str, Backend], limits: ServerLimits
) -> tuple[_Answering, str, str]:
    """Return what answers, its own name, and what it calls the model."""
    word, _, rest = options.model.partition("/")
    if word in backends:
        return _Answering(backend=backends[word]), rest or word, rest
    path = rest if word == BUNDLED else options.model
    return _local(path, options.precision, limits.concurrent_requests), Path(path).stem or BUNDLED, path


def _app(
    options: ServeOptions,
    answering: _Answering,
    names: Mapping[str, str],
    limits: ServerLimits,
    inspection: Inspection | None,
) -> Starlette:
    from commitgate_local.server.app import create_app
    from commitgate_local.server.doorway import LOOPBACK_HOSTS
    from commitgate_local.server.model_list import ServedModel
    from commitgate_local.server.running import is_loopback

    return create_app(
        answering.backend,
        models=[ServedModel(name=name, created=int(time.time())) for name in names],
        limits=limits,
        token=options.token,
        backend_names=names,
        prompt_schema="append" if options.shows_schema else "none",
        reasoning=options.reasoning,
        gauges=answering.gauges,
        hosts={*LOOPBACK_HOSTS, options.host} if is_loopback(options.host) else None,
        inspection=inspection,
    )


def _local(path: str, precision: str | None, answers: int) -> _Answering:
    with ModelProgress() as progress:
        model = load_local_model(path, progress.report, precision=precision, answers=answers)
    from commitgate_local import LocalModel
    from commitgate_local.server.model_gauges import model_gauges

    backend = LocalBackend(load=lambda _: model, answers=answers)
    if not isinstance(model, LocalModel):
        return _Answering(backend=backend)
    return _Answering(
        backend=backend,
        description=f"{model.description}, {model.slots} answers at once of up to {model.context_tokens} tokens each",
        gauges=partial(model_gauges, model),
        close=model.close,
    )


def _url(listening: socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}/v1" if ":" in host else f"http://{host}:{port}/v1"


def _check_installed() -> None:
    if any(find_spec(name) is None for name in ("starlette", "uvicorn")):
        raise MissingExtraError("server", "serving a model over HTTP")


__all__ = ["BUNDLED", "ReadyServer", "ServeOptions", "ready_server"]

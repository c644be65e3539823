"""Serve a model over HTTP: ``commitgate serve``."""

from __future__ import annotations

import gc
import logging
import os
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final

import typer

from commitgate.cli.boundary import Surroundings, errors_told
from commitgate.cli.command_error import CommandError
from commitgate.cli.local_server import BUNDLED, ServeOptions, ready_server
from commitgate.cli.report import complain, result_written
from commitgate.cli.sources import read_text
from commitgate.errors import MisuseError
from commitgate.harmless import harmless
from commitgate.reasoning import END_MARK, Reasoning

TOKEN_VARIABLE: Final = "COMMITGATE_SERVE_TOKEN"
"""Environment variable with the bearer token: on a command line, everyone on the machine could read it."""


class LogLevel(StrEnum):
    """Say how much a server tells on stderr."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


def serve(
    context: typer.Context,
    model: Annotated[
        str, typer.Argument(help="local is the bundled model; else a model folder or a GGUF file.", metavar="MODEL")
    ] = BUNDLED,
    host: Annotated[str, typer.Option(help="Address to listen at.", metavar="HOST")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen at; 0 takes a free one.", metavar="N")] = 8000,
    name: Annotated[str | None, typer.Option(help="What clients call the model.", metavar="NAME")] = None,
    token_file: Annotated[
        Path | None,
        typer.Option(help=f"File with the bearer token that clients must bring; or {TOKEN_VARIABLE}.", metavar="FILE"),
    ] = None,
    allow_anyone: Annotated[
        bool, typer.Option("--allow-anyone", help="Let other machines ask without a token.")
    ] = False,
    show_schema: Annotated[bool, typer.Option("--show-schema", help="Show the model each answer's schema.")] = False,
    precision: Annotated[
        str | None,
        typer.Option(
            help="float32, bfloat16, int8 (CPU), float16 (CUDA); auto, the default, measures.", metavar="WORD"
        ),
    ] = None,
    reasoning_tokens: Annotated[
        int | None, typer.Option(help="Most tokens that the model may think before an answer.", metavar="N")
    ] = None,
    reasoning_end: Annotated[
        str | None,
        typer.Option(help=f"What ends its thoughts; {END_MARK} by default.", metavar="TEXT"),
    ] = None,
    reasoning_begin: Annotated[
        str | None, typer.Option(help="What opens its thoughts, where its chat template does not.", metavar="TEXT")
    ] = None,
    max_concurrent: Annotated[
        int | None, typer.Option(help="Most requests worked on at once; 8 by default.", metavar="N", min=1)
    ] = None,
    max_queued: Annotated[
        int | None, typer.Option(help="Most further requests that wait; 64 by default.", metavar="N", min=0)
    ] = None,
    max_tokens: Annotated[
        int | None, typer.Option(help="Most tokens of an answer; 8192 by default.", metavar="N", min=1)
    ] = None,
    max_body_bytes: Annotated[
        int | None, typer.Option(help="Most bytes of a request; 2097152 by default.", metavar="N", min=1)
    ] = None,
    max_seconds: Annotated[
        float | None, typer.Option(help="Most seconds of an answer; 600 by default.", metavar="S", min=0)
    ] = None,
    drain_seconds: Annotated[
        float | None,
        typer.Option(help="Seconds that running answers get at the end; 30 by default.", metavar="S", min=0),
    ] = None,
    inspect: Annotated[
        bool,
        typer.Option("--inspect", help="Keep recent prompts and answers, to be looked at step by step in a browser."),
    ] = False,
    log_level: Annotated[LogLevel, typer.Option(help="How much to tell on stderr.")] = LogLevel.INFO,
) -> None:
    """Serve a model to clients of OpenAI's chat completions, until Ctrl-C or SIGTERM.

    Schemas, patterns and grammars are enforced while an answer is written. The first signal lets running answers come
    to their end; the second one ends at once.
    """
    bounds: dict[str, int | float | None] = {
        "concurrent_requests": max_concurrent,
        "queued_requests": max_queued,
        "max_tokens": max_tokens,
        "body_bytes": max_body_bytes,
        "stream_s": max_seconds,
        "drain_s": drain_seconds,
    }
    with errors_told(is_json=False):
        options = ServeOptions(
            model=model,
            name=name,
            host=host,
            port=port,
            token=_token(token_file, os.environ),
            is_open=allow_anyone,
            shows_schema=show_schema,
            precision=precision,
            reasoning=_reasoning(reasoning_tokens, reasoning_end, reasoning_begin),
            inspects=inspect,
            bounds={key: value for key, value in bounds.items() if value is not None},
        )
        surroundings = context.find_object(Surroundings) or Surroundings()
        with _logging(log_level):
            server = ready_server(options, surroundings.backends, tell_login=_tell_login)
            # Before the line: who has read it may stop the server, and Python drops a Ctrl-C that comes while a
            # collection runs somebody's __del__.
            with _start_left_out_of_collections():
                with result_written("serving"):
                    how = f" ({server.description})" if server.description else ""
                    typer.echo(harmless(f"commitgate serves {server.name}{how} at {server.url}"))
                    if server.login_url is not None:
                        _warn_of_inspection()
                        _tell_login(server.login_url)
                server.run()


def _tell_login(url: str) -> None:
    """Write a link where who started the server reads it, and not into the log."""
    with suppress(OSError):
        typer.echo(harmless(f"look at answers, a link that works once: {url}"))


def _warn_of_inspection() -> None:
    complain(
        "warning: --inspect keeps recent prompts and answers in memory and shows them to whoever logs in at /inspect"
    )


def _reasoning(tokens: int | None, end: str | None, begin: str | None) -> Reasoning | None:
    """Return how the model may think.

    Raises:
        MisuseError: a mark is given and no tokens, or one of them is out of its range.
    """
    if tokens is None:
        if end is not None or begin is not None:
            raise MisuseError("--reasoning-end and --reasoning-begin need --reasoning-tokens")
        return None
    return Reasoning(max_tokens=tokens, begin=begin, end=END_MARK if end is None else end)


def _token(file: Path | None, environment: Mapping[str, str]) -> str | None:
    if file is None:
        return environment.get(TOKEN_VARIABLE) or None
    token = read_text(str(file), "token").strip()
    if not token:
        raise CommandError("the token file is empty")
    return token


@contextmanager
def _start_left_out_of_collections() -> Generator[None]:
    """Let the garbage collector look no more at what the start left: 0.2 to 0.8 s each time, with every answer waiting.

    The process is ours here; no library call may decide that for a program's process.
    """
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


@contextmanager
def _logging(level: LogLevel) -> Generator[None]:
    """Write the server's own lines to stderr, and of uvicorn's what is out of the ordinary."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    number = logging.getLevelNamesMapping()[level.name]
    levels = {"commitgate.server": number, "uvicorn": max(number, logging.WARNING)}
    loggers = [(logging.getLogger(each), wanted) for each, wanted in levels.items()]
    before = [logger.level for logger, _ in loggers]
    for logger, wanted in loggers:
        logger.setLevel(wanted)
        logger.addHandler(handler)
    try:
        yield
    finally:
        for (logger, _), old in zip(loggers, before, strict=True):
            logger.removeHandler(handler)
            logger.setLevel(old)


__all__ = ["TOKEN_VARIABLE", "LogLevel", "serve"]

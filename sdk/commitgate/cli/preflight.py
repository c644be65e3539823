"""Look everything over before a launch: ``commitgate preflight``."""

from __future__ import annotations

import json as json_text
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Annotated, cast

import anyio
import typer

from commitgate.backends.base import Backend, Sampling
from commitgate.backends.local import LocalBackend
from commitgate.backends.registry import LOCAL
from commitgate.cli.boundary import Surroundings, errors_told
from commitgate.cli.command_error import CommandError
from commitgate.cli.console import ResultConsole
from commitgate.cli.exit_codes import ExitCode
from commitgate.cli.local_models import load_local_model
from commitgate.cli.preflight_lines import preflight_lines
from commitgate.cli.probe_progress import ProbeProgress
from commitgate.cli.report import result_written, write_json
from commitgate.cli.saved_file import save_text
from commitgate.cli.server_backend import backend_of_server
from commitgate.cli.sources import read_schema, read_text
from commitgate.errors import ContractError, MisuseError
from commitgate.harmless import harmless
from commitgate.preflight import PreflightReport, PreflightSource, Trial, preflight, preflight_page
from commitgate.python_object import is_reference, load_object

_HOUR_S = 3_600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Order:
    """Hold what was asked for, read and checked."""

    source: PreflightSource
    name: str | None
    backend: str
    model: str
    options: dict[str, str]
    trial: Trial
    reviewed: list[str] | None
    handlers: object | None
    types: bool
    code: list[str] | None
    ledger: str | None
    probe_age_s: float | None
    surroundings: Surroundings = field(repr=False)


def preflight_command(
    context: typer.Context,
    contract: Annotated[
        str,
        typer.Argument(
            help="JSON Schema file, or a Contract, a type or a tool as path/to/file.py:NAME or package.module:NAME; "
            "its code is run.",
            metavar="CONTRACT",
        ),
    ],
    backend: Annotated[str, typer.Option(help="The backend's name, as local or vllm.", metavar="NAME")],
    model: Annotated[
        str, typer.Option(help="The model's name at the backend; its default unless given.", metavar="NAME")
    ] = "",
    base_url: Annotated[
        str | None, typer.Option(help="Where the server is; else as its environment variable says.", metavar="URL")
    ] = None,
    api: Annotated[
        str | None, typer.Option(help="Which API, where the server has several, as completion.", metavar="NAME")
    ] = None,
    calls: Annotated[
        int,
        typer.Option(
            help="Calls once the schema is known; 0 asks no model, and then fewer things are known.", metavar="N"
        ),
    ] = 8,
    concurrency: Annotated[
        int, typer.Option(help="Calls at once; as many more come first, while the schema is new.", metavar="N")
    ] = 1,
    prompt: Annotated[
        list[str] | None,
        typer.Option(help="What is asked; the schema's own words unless given. May be given again.", metavar="TEXT"),
    ] = None,
    prompt_file: Annotated[
        list[str] | None, typer.Option(help="The same, from a file; may be given again.", metavar="FILE")
    ] = None,
    system_file: Annotated[str | None, typer.Option(help="File with the system message.", metavar="FILE")] = None,
    max_tokens: Annotated[int, typer.Option(help="Most tokens of one answer.", metavar="N")] = 512,
    timeout: Annotated[float, typer.Option(help="Most seconds for one call.", metavar="S")] = 120.0,
    first_token_s: Annotated[
        float | None,
        typer.Option("--first-token-s", help="Fails where 95 % of first tokens take longer.", metavar="S"),
    ] = None,
    per_token_s: Annotated[
        float | None,
        typer.Option("--per-token-s", help="Fails where further tokens of 95 % of calls take longer.", metavar="S"),
    ] = None,
    reviewed: Annotated[
        str | None, typer.Option(help="File of the digests that were reviewed, one a line.", metavar="FILE")
    ] = None,
    handlers: Annotated[
        str | None,
        typer.Option(help="A Handlers, or the function that tells endings apart, as file.py:NAME.", metavar="PLACE"),
    ] = None,
    no_types: Annotated[bool, typer.Option("--no-types", help="Do not ask a type checker about it.")] = False,
    code: Annotated[
        list[str] | None,
        typer.Option(help="File or folder with the calls; read and not run. May be given again.", metavar="PATH"),
    ] = None,
    ledger: Annotated[
        str | None, typer.Option(help="SQLite file or postgresql:// URL; else the default.", metavar="PLACE")
    ] = None,
    probe_age: Annotated[
        float | None, typer.Option(help="Most hours since the server was probed.", metavar="HOURS")
    ] = None,
    html: Annotated[
        str | None, typer.Option(help="Write the report as one page into a file, too.", metavar="FILE")
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 34 where a check warns.")] = False,
    json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """Look everything over before a contract goes live on a backend, and write a report to keep with the release.

    The exit code is 0 where no check failed, 33 where one did, and with --strict 34 where one warned.
    """
    with errors_told(is_json=json):
        options = {name: value for name, value in (("base_url", base_url), ("api", api)) if value is not None}
        order = _Order(
            source=_source(contract),
            name=contract.rpartition(":")[2].rpartition(".")[2] if is_reference(contract) else None,
            backend=backend,
            model=model,
            options=options,
            trial=Trial(
                calls=calls,
                concurrency=concurrency,
                prompts=(*(prompt or ()), *(read_text(each, "prompt") for each in prompt_file or ())),
                system=None if system_file is None else read_text(system_file, "system message"),
                sampling=Sampling(max_tokens=max_tokens),
                timeout_s=timeout,
                first_token_s=first_token_s,
                per_token_s=per_token_s,
            ),
            reviewed=None if reviewed is None else list(_digests(reviewed)),
            handlers=None if handlers is None else load_object(handlers, what="--handlers"),
            types=not no_types,
            code=code,
            ledger=ledger,
            probe_age_s=None if probe_age is None else probe_age * _HOUR_S,
            surroundings=context.find_object(Surroundings) or Surroundings(),
        )
        with ProbeProgress() as progress:
            report = anyio.run(_run, order, progress.tell)
        if html is not None:
            save_text(html, preflight_page(report), "page")
        exit_code = _code(report, is_strict=strict)
        with result_written(report.verdict):
            _tell(report, exit_code, is_json=json)
    raise typer.Exit(exit_code)


def _source(words: str) -> PreflightSource:
    if not is_reference(words):
        return cast("PreflightSource", read_schema(words))
    try:
        return cast("PreflightSource", load_object(words, what="the contract"))
    except MisuseError as error:
        # A contract that cannot be made is what the report is about, and no misuse of the command.
        if isinstance(error.__cause__, ContractError):
            return error.__cause__
        raise


def _digests(source: str) -> Iterator[str]:
    """Yield the digests of a file: one a line, what follows it and lines that begin with # are for people."""
    text = read_text(source, "list of reviewed digests")
    if text.lstrip().startswith("["):
        try:
            found: object = json_text.loads(text)
        except ValueError as error:
            raise CommandError(f"the list of reviewed digests {harmless(source)} is not JSON") from error
        yield from (str(each) for each in cast("list[object]", found))
        return
    for line in text.splitlines():
        words = line.split()
        if words and not words[0].startswith("#"):
            yield words[0]


async def _run(order: _Order, told: Callable[[str], None]) -> PreflightReport:
    async with AsyncExitStack() as stack:
        found = order.surroundings.backends.get(order.backend)
        if found is None:
            found = _made(order, told)
            stack.push_async_callback(found.aclose)
        return await preflight(
            order.source,
            backend=found,
            model=order.model,
            trial=order.trial,
            reviewed=order.reviewed,
            handlers=order.handlers,
            types=order.types,
            code=order.code,
            names=() if order.name is None else (order.name,),
            ledger=order.ledger,
            probe_age_s=order.probe_age_s,
            told=told,
        )


def _made(order: _Order, told: Callable[[str], None]) -> Backend:
    if order.backend != LOCAL:
        return backend_of_server(order.backend, order.options)
    if order.options:
        raise CommandError("the local backend asks no server; leave --base-url and --api out")
    return LocalBackend(load=lambda name: load_local_model(name, lambda stage, _: told(stage)))


def _code(report: PreflightReport, *, is_strict: bool) -> ExitCode:
    if report.verdict == "failed":
        return ExitCode.PREFLIGHT_FAILED
    return ExitCode.PREFLIGHT_WARNED if is_strict and report.verdict == "warned" else ExitCode.COMMITTED


def _tell(report: PreflightReport, code: ExitCode, *, is_json: bool) -> None:
    if is_json:
        write_json({"exit_code": int(code), **report.to_json()})
        return
    console = ResultConsole()
    for line in preflight_lines(report):
        console.print(line)


__all__ = ["preflight_command"]

"""Find out whether a server enforces constraints: ``commitgate probe``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Annotated, cast

import anyio
import typer

from commitgate.backends.base import Backend
from commitgate.backends.registry import LOCAL
from commitgate.cli.boundary import Surroundings, errors_told
from commitgate.cli.command_error import CommandError
from commitgate.cli.exit_codes import ExitCode
from commitgate.cli.probe_progress import ProbeProgress
from commitgate.cli.probe_table import print_report
from commitgate.cli.report import complain, result_written, write_json
from commitgate.cli.schema_options import SchemaOption
from commitgate.cli.server_backend import backend_of_server
from commitgate.cli.sources import read_schema
from commitgate.contract import Contract
from commitgate.harmless import harmless
from commitgate.json_value import JsonValue
from commitgate.probe import Enforcement, ProbeReport, ProbeStore, probe
from commitgate.probe.session import Probed

CODES: Mapping[Enforcement, ExitCode] = {
    "enforced": ExitCode.COMMITTED,
    "not_enforced": ExitCode.NOT_ENFORCED,
    "partial": ExitCode.PARTLY_ENFORCED,
    "unknown": ExitCode.NOT_PROVEN,
}
"""What the command exits with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Order:
    """Hold what was asked for, read and checked."""

    backend: str
    model: str
    options: Mapping[str, str]
    contract: Contract[JsonValue] | None
    keywords: bool
    timeout_s: float
    surroundings: Surroundings


def probe_command(
    context: typer.Context,
    backend: Annotated[str, typer.Option(help="The backend's name, as vllm or openai_chat.", metavar="NAME")],
    model: Annotated[
        str, typer.Option(help="The model's name at the server; its default unless given.", metavar="NAME")
    ] = "",
    base_url: Annotated[
        str | None, typer.Option(help="Where the server is; else as its environment variable says.", metavar="URL")
    ] = None,
    api: Annotated[
        str | None, typer.Option(help="Which API, where the server has several, as completion.", metavar="NAME")
    ] = None,
    keywords: Annotated[
        bool, typer.Option("--keywords", help="Ask for single keywords that it is said to ignore, too.")
    ] = False,
    schema: SchemaOption = None,
    no_keep: Annotated[bool, typer.Option("--no-keep", help="Do not keep the result.")] = False,
    timeout: Annotated[float, typer.Option(help="Most seconds for one request.", metavar="S")] = 60.0,
    json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """Find out whether a server enforces constraints, and keep what came of it: effects hang on it.

    It sends some dozens of short requests. Its key comes from the environment alone. With --schema, single keywords of
    that schema are asked for, too. The exit code is 0 where constraints are enforced, 28 where they are not, 29 where
    they are in part, 30 where that could not be told.
    """
    with errors_told(is_json=json):
        order = _Order(
            backend=backend,
            model=model,
            options={name: value for name, value in (("base_url", base_url), ("api", api)) if value is not None},
            contract=None if schema is None else Contract.json_schema(read_schema(schema)),
            keywords=keywords or schema is not None,
            timeout_s=timeout,
            surroundings=context.find_object(Surroundings) or Surroundings(),
        )
        with ProbeProgress() as progress:
            report = anyio.run(_run, order, progress.tell)
        kept = None if no_keep else _keep(report)
        code = CODES[report.verdict]
        with result_written(report.verdict):
            if json:
                write_json({"exit_code": int(code), "kept": kept, **report.to_json()})
            else:
                print_report(report, kept)
    raise typer.Exit(code)


async def _run(order: _Order, told: Callable[[str], None]) -> ProbeReport:
    async with AsyncExitStack() as stack:
        found = order.surroundings.backends.get(order.backend)
        if found is None:
            found = _made(order)
            stack.push_async_callback(found.aclose)
        return await probe(
            _probed(order.backend, found),
            order.model,
            contract=order.contract,
            keywords=order.keywords,
            timeout_s=order.timeout_s,
            told=told,
        )


def _made(order: _Order) -> Backend:
    if order.backend == LOCAL:
        raise CommandError("the local backend enforces contracts itself and needs no probe; name a server's backend")
    return backend_of_server(order.backend, order.options)


def _probed(name: str, backend: Backend) -> Probed:
    if not all(hasattr(backend, member) for member in ("dialect", "base_url", "handshake", "exchange")):
        raise CommandError(f"the backend {harmless(name)} asks no server, so there is nothing to probe")
    return cast("Probed", backend)


def _keep(report: ProbeReport) -> str | None:
    """Keep a report, and return the file; None where it was not kept, which is told on stderr."""
    store = ProbeStore()
    before = store.find(report.dialect, report.base_url, report.model).report
    if report.verdict == "unknown" and before is not None and before.verdict != "unknown":
        complain("the result tells nothing, so the one before is kept in its place")
        return None
    try:
        return str(store.keep(report))
    except OSError as error:
        why = error.strerror or "the folder cannot be written to"
        complain(f"the result could not be kept in {store.folder} ({why}); effects will not know of it")
        return None


__all__ = ["CODES", "probe_command"]

"""Fill a schema with a model: ``commitgate generate``."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from contextlib import aclosing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import anyio
import typer
from anyio.abc import TaskStatus
from rich.console import Console

from commitgate.backends.base import Backend, Sampling
from commitgate.backends.local import LocalBackend
from commitgate.backends.registry import LOCAL
from commitgate.cli.boundary import Surroundings, errors_told
from commitgate.cli.command_error import CommandError
from commitgate.cli.exit_codes import ExitCode, of_outcome
from commitgate.cli.local_models import load_local_model
from commitgate.cli.process import ignore_signals
from commitgate.cli.progress import ModelProgress
from commitgate.cli.report import outcome_report, result_written, write_json
from commitgate.cli.schema_options import (
    DocumentOption,
    FormatsChoice,
    FormatsOption,
    SchemaOption,
    document_sources,
    read_documents,
)
from commitgate.cli.sources import read_schema, read_text
from commitgate.cli.terminal import LiveView, print_ending
from commitgate.client import Client, StructuredRun
from commitgate.contract import Contract
from commitgate.errors import CommitgateError
from commitgate.json_value import JsonObject, JsonValue
from commitgate.outcome import Outcome
from commitgate.preview import Preview, Reset
from commitgate.timeouts import Timeouts


@dataclass(frozen=True, slots=True, kw_only=True)
class _Order:
    """Hold what was asked for, read and checked."""

    model: str
    schema: JsonObject | bool | Contract[JsonValue]
    prompt: str
    system: str | None
    sampling: Sampling
    operation_key: str | None
    ledger: Path | None
    timeouts: Timeouts
    surroundings: Surroundings


def generate(
    context: typer.Context,
    schema: SchemaOption,
    formats: FormatsOption = FormatsChoice.ASSERT,
    document: DocumentOption = None,
    prompt_file: Annotated[str | None, typer.Option(help="Prompt file; - for stdin.", metavar="FILE")] = None,
    prompt: Annotated[str | None, typer.Option(help="The prompt itself.", metavar="TEXT")] = None,
    system_file: Annotated[str | None, typer.Option(help="File with the system message.", metavar="FILE")] = None,
    model: Annotated[
        str, typer.Option(help="backend/name; local alone is the bundled model.", metavar="NAME")
    ] = "local",
    operation_key: Annotated[
        str | None, typer.Option(help="Names the business act: a second call with it replays.", metavar="KEY")
    ] = None,
    ledger: Annotated[Path | None, typer.Option(help="SQLite file that remembers operations.", metavar="FILE")] = None,
    max_tokens: Annotated[int, typer.Option(help="Most tokens of the answer.", metavar="N")] = 512,
    temperature: Annotated[float, typer.Option(help="0 takes the likeliest legal token.", metavar="T")] = 0.0,
    top_k: Annotated[int | None, typer.Option(help="Keep the K likeliest legal tokens.", metavar="K")] = None,
    top_p: Annotated[float, typer.Option(help="Keep the likeliest legal tokens up to P.", metavar="P")] = 1.0,
    seed: Annotated[int | None, typer.Option(help="Makes a draw repeatable.", metavar="N")] = None,
    timeout: Annotated[float | None, typer.Option(help="Most seconds for the whole call.", metavar="S")] = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout, as on a pipe.")] = False,
) -> None:
    """Let a model fill a schema.

    A terminal shows the object while it grows; a pipe gets one JSON object with outcome, value and receipt.
    Each ending has an exit code of its own: see docs/outcomes.md.
    """
    is_json = json or not sys.stdout.isatty()
    with errors_told(is_json=json):
        documents = document_sources(document)
        if [schema, prompt_file, system_file, *documents.values()].count("-") > 1:
            raise CommandError("standard input can be read for one option only")
        order = _Order(
            model=model,
            schema=_schema(schema, formats, documents),
            prompt=_prompt(prompt, prompt_file),
            system=None if system_file is None else read_text(system_file, "system message"),
            sampling=Sampling(temperature=temperature, top_k=top_k, top_p=top_p, seed=seed, max_tokens=max_tokens),
            operation_key=operation_key,
            ledger=ledger,
            timeouts=Timeouts() if timeout is None else Timeouts(total_s=timeout),
            surroundings=context.find_object(Surroundings) or Surroundings(),
        )
        outcome = _report(order) if is_json else _show(order)
    raise typer.Exit(of_outcome(outcome))


def _schema(source: str, formats: FormatsChoice, documents: dict[str, str]) -> JsonObject | bool | Contract[JsonValue]:
    """Return the schema as it is, so that a faulty one ends the call; a contract where more was asked for."""
    schema = read_schema(source)
    if formats is FormatsChoice.ASSERT and not documents:
        return schema
    return Contract.json_schema(schema, formats=formats.value, documents=read_documents(documents))


def _prompt(text: str | None, source: str | None) -> str:
    if text is not None and source is not None:
        raise CommandError("give --prompt or --prompt-file, not both")
    if text is None and source is None:
        raise CommandError("give --prompt TEXT or --prompt-file FILE (- for standard input)")
    return read_text(source, "prompt") if source is not None else text or ""


def _report(order: _Order) -> Outcome[JsonValue, None]:
    with ModelProgress() as progress:
        outcome = anyio.run(_run, order, _ignore, progress.report)
    with result_written(outcome.name):
        write_json(outcome_report(outcome))
    return outcome


def _ignore(_item: Preview | Reset) -> None:
    """Show nothing."""


def _show(order: _Order) -> Outcome[JsonValue, None]:
    console = Console(highlight=False, markup=False, emoji=False)
    with LiveView(console) as view:
        outcome = anyio.run(_run, order, view.show, view.report)
    with result_written(outcome.name):
        print_ending(console, outcome, view.last_lines())
    return outcome


async def _run(
    order: _Order, show: Callable[[Preview | Reset], None], report: Callable[[str, float], None]
) -> Outcome[JsonValue, None]:
    local = LocalBackend(load=lambda name: load_local_model(name, report))
    backends: dict[str, Backend] = {LOCAL: local, **order.surroundings.backends}
    async with aclosing(local), Client(backends=backends, ledger=order.ledger) as client:
        run: StructuredRun[JsonValue, None] = client.stream_structured(
            order.model,
            order.schema,
            prompt=order.prompt,
            system=order.system,
            sampling=order.sampling,
            operation_key=order.operation_key,
            timeouts=order.timeouts,
        )
        async with run:
            async with anyio.create_task_group() as tasks:
                await tasks.start(_cancel_on_signal, run)
                # An error of the call would leave the group wrapped; the outcome raises it again, as it is.
                with suppress(CommitgateError):
                    async for item in run:
                        show(item)
                tasks.cancel_scope.cancel()
            return await run.outcome()


async def _cancel_on_signal(run: StructuredRun[JsonValue, None], *, task_status: TaskStatus[None]) -> None:
    """End the run as ``Cancelled`` at the first interrupt or termination; a second one stops the program at once.

    When this task is cancelled the call has ended, and from then on signals pass: what it came to is told whole.
    """
    try:
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            task_status.started()
            is_first = True
            async for _ in signals:
                if not is_first:
                    os._exit(ExitCode.CANCELLED)
                is_first = False
                run.cancel()
    finally:
        ignore_signals()


__all__ = ["generate"]

"""Fill a schema with a model, or have it write a text: ``commitgate generate``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import aclosing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, cast

import anyio
import typer

from commitgate.backends.base import Backend, Sampling
from commitgate.backends.local import LocalBackend
from commitgate.backends.registry import LOCAL
from commitgate.cli.answer_options import (
    AnswerOptions,
    AnyJsonOption,
    Asked,
    ChoiceOption,
    GrammarOption,
    GrammarSyntaxOption,
    RegexOption,
    in_options,
)
from commitgate.cli.boundary import Surroundings, errors_told
from commitgate.cli.command_error import CommandError
from commitgate.cli.console import ResultConsole
from commitgate.cli.exit_codes import of_outcome
from commitgate.cli.interruption import cancel_on_signal
from commitgate.cli.local_models import load_local_model
from commitgate.cli.progress import ModelProgress
from commitgate.cli.report import outcome_report, result_written, write_json
from commitgate.cli.schema_options import DocumentOption, FormatsOption, SchemaOption
from commitgate.cli.sources import read_text
from commitgate.cli.terminal import LiveView, print_ending
from commitgate.client import Client, StructuredRun
from commitgate.errors import CommitgateError
from commitgate.json_value import JsonObject, JsonValue
from commitgate.outcome import CompileFailed, Outcome, Unsupported
from commitgate.preview import Preview, Reset
from commitgate.timeouts import Timeouts


@dataclass(frozen=True, slots=True, kw_only=True)
class _Order:
    """Hold what was asked for, read and checked."""

    model: str
    answer: AnswerOptions
    asked: Asked
    prompt: str
    system: str | None
    sampling: Sampling
    operation_key: str | None
    ledger: Path | None
    timeouts: Timeouts
    surroundings: Surroundings


def generate(
    context: typer.Context,
    schema: SchemaOption = None,
    regex: RegexOption = None,
    grammar: GrammarOption = None,
    grammar_syntax: GrammarSyntaxOption = None,
    choice: ChoiceOption = None,
    any_json: AnyJsonOption = False,
    formats: FormatsOption = None,
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
    """Let a model fill a schema, or write a text of a regular expression, a grammar or a list of choices.

    A terminal shows it while it grows; a pipe gets one JSON object with outcome, value and receipt.
    Each ending has an exit code of its own: see docs/outcomes.md.
    """
    is_json = json or not sys.stdout.isatty()
    with errors_told(is_json=json):
        answer = AnswerOptions(
            schema=schema,
            regex=regex,
            grammar=grammar,
            choice=choice,
            any_json=any_json,
            grammar_syntax=grammar_syntax,
            formats=formats,
            document=document,
        )
        if [prompt_file, system_file, *answer.sources].count("-") > 1:
            raise CommandError("standard input can be read for one option only")
        order = _Order(
            model=model,
            answer=answer,
            asked=answer.read(),
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
        report, place = outcome_report(outcome), _place(order, outcome)
        write_json(report | {"message": f"{in_options(str(report['message']))} ({place})"} if place else report)
    return outcome


def _ignore(_item: Preview | Reset) -> None:
    """Show nothing."""


def _show(order: _Order) -> Outcome[JsonValue, None]:
    console = ResultConsole(soft_wrap=False)
    with LiveView(console) as view:
        outcome = anyio.run(_run, order, view.show, view.report)
    with result_written(outcome.name):
        print_ending(console, outcome, view.last_lines())
        place = _place(order, outcome)
        if place:
            console.print(place)
    return outcome


def _place(order: _Order, outcome: Outcome[JsonValue, None]) -> str:
    """Return the words for the place in a grammar's file that ended the call; empty where there is none."""
    if not isinstance(outcome, CompileFailed | Unsupported):
        return ""
    return order.answer.place(order.asked, outcome.position, outcome.reason)


async def _run(
    order: _Order, show: Callable[[Preview | Reset], None], report: Callable[[str, float], None]
) -> Outcome[JsonValue, None]:
    local = LocalBackend(load=lambda name: load_local_model(name, report))
    backends: dict[str, Backend] = {LOCAL: local, **order.surroundings.backends}
    async with aclosing(local), Client(backends=backends, ledger=order.ledger) as client:
        run: StructuredRun[JsonValue, None] = client.stream_structured(
            order.model,
            cast("JsonObject", order.asked),  # the value of a text is a str, which is JSON too
            prompt=order.prompt,
            system=order.system,
            sampling=order.sampling,
            operation_key=order.operation_key,
            timeouts=order.timeouts,
        )
        async with run:
            async with anyio.create_task_group() as tasks:
                await tasks.start(cancel_on_signal, run)
                # An error of the call would leave the group wrapped; the outcome raises it again, as it is.
                with suppress(CommitgateError):
                    async for item in run:
                        show(item)
                tasks.cancel_scope.cancel()
            return await run.outcome()


__all__ = ["generate"]

"""Show one generation step by step as a page: ``commitgate inspect``."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import dataclass
from typing import Annotated, cast

import anyio
import typer
from rich.text import Text

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
)
from commitgate.cli.boundary import Surroundings, errors_told
from commitgate.cli.command_error import CommandError
from commitgate.cli.console import ResultConsole
from commitgate.cli.exit_codes import ExitCode, of_outcome
from commitgate.cli.local_models import load_local_model
from commitgate.cli.progress import ModelProgress
from commitgate.cli.report import result_written
from commitgate.cli.saved_file import save_text
from commitgate.cli.schema_options import DocumentOption, FormatsOption, SchemaOption
from commitgate.cli.sources import read_bytes, read_text
from commitgate.client import Client
from commitgate.harmless import harmless
from commitgate.json_value import JsonObject, JsonValue
from commitgate.outcome import Outcome
from commitgate.timeouts import Timeouts
from commitgate.trace import Trace, TraceRecorder, dump_trace, illegal_wishes, load_trace_data, trace_page

_SHOWN_WISHES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class _Order:
    """Hold what was asked for, read and checked."""

    model: str
    asked: Asked
    prompt: str
    system: str | None
    sampling: Sampling
    timeouts: Timeouts
    surroundings: Surroundings


def inspect_command(
    context: typer.Context,
    kept: Annotated[
        str | None, typer.Argument(help="A kept trace, in place of asking a model.", metavar="[TRACE]")
    ] = None,
    html: Annotated[str | None, typer.Option(help="Write the page here.", metavar="FILE")] = None,
    trace: Annotated[str | None, typer.Option(help="Keep the trace here, as JSON.", metavar="FILE")] = None,
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
    max_tokens: Annotated[int, typer.Option(help="Most tokens of the answer.", metavar="N")] = 512,
    temperature: Annotated[float, typer.Option(help="0 takes the likeliest legal token.", metavar="T")] = 0.0,
    seed: Annotated[int | None, typer.Option(help="Makes a draw repeatable.", metavar="N")] = None,
    timeout: Annotated[float | None, typer.Option(help="Most seconds for the whole call.", metavar="S")] = None,
) -> None:
    """Ask a model once, and show each step: what it wanted, what the contract forbade, and how the object grew.

    The page and the trace hold the prompt and the answer. The exit code is that of the ending, as of generate; of a
    kept trace it is 0.
    """
    with errors_told(is_json=False):
        if html is None and trace is None:
            raise CommandError("say where to write: --html FILE, --trace FILE or both")
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
        if kept is not None:
            _show_kept(kept, html, trace)
            raise typer.Exit(ExitCode.COMMITTED)
        if (prompt is None) == (prompt_file is None):
            raise CommandError("give --prompt TEXT or --prompt-file FILE (- for standard input)")
        order = _Order(
            model=model,
            asked=answer.read(),
            prompt=read_text(prompt_file, "prompt") if prompt_file is not None else prompt or "",
            system=None if system_file is None else read_text(system_file, "system message"),
            sampling=Sampling(temperature=temperature, seed=seed, max_tokens=max_tokens),
            timeouts=Timeouts() if timeout is None else Timeouts(total_s=timeout),
            surroundings=context.find_object(Surroundings) or Surroundings(),
        )
        recorder = TraceRecorder(most_traces=1)
        with ModelProgress() as progress:
            outcome = anyio.run(_run, order, recorder, progress)
        recorded = recorder.traces[0]
        if trace is not None:
            save_text(trace, dump_trace(recorded).decode(), "trace")
        if html is not None:
            save_text(html, trace_page(recorded), "page")
        with result_written(outcome.name):
            _tell(recorded, outcome, html)
    raise typer.Exit(of_outcome(outcome))


def _show_kept(kept: str, html: str | None, trace: str | None) -> None:
    if html is None or trace is not None:
        raise CommandError("of a kept trace a page is made: give --html FILE alone")
    data: JsonObject = load_trace_data(read_bytes(kept, "trace"))
    save_text(html, trace_page(data), "page")


async def _run(order: _Order, recorder: TraceRecorder, progress: ModelProgress) -> Outcome[JsonValue, None]:
    local = LocalBackend(load=lambda name: load_local_model(name, progress.report))
    backends: dict[str, Backend] = {LOCAL: local, **order.surroundings.backends}
    async with aclosing(local), Client(backends=backends, observers=[recorder]) as client:
        return await client.generate_structured(
            order.model,
            cast("JsonObject", order.asked),  # the value of a text is a str, which is JSON too
            prompt=order.prompt,
            system=order.system,
            sampling=order.sampling,
            timeouts=order.timeouts,
        )


def _tell(trace: Trace, outcome: Outcome[JsonValue, None], html: str | None) -> None:
    console = ResultConsole()
    steps = sum(1 for request in trace.requests for piece in request.pieces if piece.step is not None)
    wishes = illegal_wishes(trace)
    if steps:
        console.print(f"{len(wishes):,} of {steps:,} steps: the model's first choice was forbidden")
    else:
        console.print("this backend tells no steps; the page shows what arrived, and when")
    for step in wishes[:_SHOWN_WISHES]:
        best = max(step.choices, key=lambda choice: choice.probability)
        wanted = "to end" if best.data is None else harmless(best.data.decode(errors="replace"))
        console.print(Text(f"  byte {step.text_bytes}: it wanted {wanted!r} ({best.probability:.0%}); {step.state}"))
    console.print(Text(f"{outcome.name}: {harmless(outcome.summary())}"))
    if html is not None:
        console.print(Text(f"page, with prompt and answer in it: {harmless(html)}"))


__all__ = ["inspect_command"]

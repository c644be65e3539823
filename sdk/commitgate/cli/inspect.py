"""Show one generation step by step as a page: ``commitgate inspect``."""

from __future__ import annotations

from contextlib import aclosing, suppress
from dataclasses import dataclass
from pathlib import Path
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
from commitgate.cli.interruption import cancel_on_signal
from commitgate.cli.local_models import load_local_model
from commitgate.cli.progress import ModelProgress
from commitgate.cli.report import result_written
from commitgate.cli.saved_file import check_place, save_text
from commitgate.cli.schema_options import DocumentOption, FormatsOption, SchemaOption
from commitgate.cli.sources import read_text
from commitgate.cli.trace_lines import trace_lines
from commitgate.client import Client
from commitgate.errors import CommitgateError
from commitgate.harmless import harmless
from commitgate.json_value import JsonObject, JsonValue
from commitgate.outcome import Outcome
from commitgate.timeouts import Timeouts
from commitgate.trace import Trace, TraceRecorder, dump_trace, load_trace, trace_page
from commitgate.trace.trace_reading import MAX_TRACE_BYTES


@dataclass(frozen=True, slots=True, kw_only=True)
class _Order:
    """Hold what was asked for, read and checked."""

    model: str
    asked: Asked
    prompt: str
    system: str | None
    sampling: Sampling
    operation_key: str | None
    ledger: Path | None
    timeouts: Timeouts
    surroundings: Surroundings


@dataclass(frozen=True, slots=True, kw_only=True)
class _Files:
    """Hold where the page and the trace are to be written."""

    html: str | None
    trace: str | None

    def check(self) -> None:
        """See whether they can be written, before a model is asked."""
        for file in (self.html, self.trace):
            if file is not None:
                check_place(file)

    def write(self, trace: Trace) -> None:
        """Write them."""
        if self.trace is not None:
            save_text(self.trace, dump_trace(trace).decode(), "trace")
        if self.html is not None:
            save_text(self.html, trace_page(trace), "page")

    def line(self) -> str | None:
        """Return the words that say where they are, and what they hold."""
        named = [(word, file) for word, file in (("page", self.html), ("trace", self.trace)) if file is not None]
        if not named:
            return None
        words = " and ".join(f"{word} {harmless(file)}" for word, file in named)
        return f"{words}: {'it holds' if len(named) == 1 else 'they hold'} the prompt and the answer"


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
) -> None:
    """Ask a model once, and show each step: what it wanted, what the contract forbade, and how the value grew.

    The page and the trace hold the prompt and the answer. The exit code is that of the ending, as of generate; of a
    kept trace it is 0.
    """
    with errors_told(is_json=False):
        files = _Files(html=html, trace=trace)
        files.check()
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
            if answer.sources or any(each is not None for each in (prompt, prompt_file, system_file)):
                raise CommandError("a kept trace has its prompt and contract in it: give no others")
            _tell(_kept_trace(kept), files, "kept trace")
            raise typer.Exit(ExitCode.COMMITTED)
        if html is None and trace is None:
            raise CommandError("say where to write: --html FILE, --trace FILE or both")
        if (prompt is None) == (prompt_file is None):
            raise CommandError("give --prompt TEXT or --prompt-file FILE (- for standard input)")
        if [prompt_file, system_file, *answer.sources].count("-") > 1:
            raise CommandError("standard input can be read for one option only")
        order = _Order(
            model=model,
            asked=answer.read(),
            prompt=read_text(prompt_file, "prompt") if prompt_file is not None else prompt or "",
            system=None if system_file is None else read_text(system_file, "system message"),
            sampling=Sampling(temperature=temperature, top_k=top_k, top_p=top_p, seed=seed, max_tokens=max_tokens),
            operation_key=operation_key,
            ledger=ledger,
            timeouts=Timeouts() if timeout is None else Timeouts(total_s=timeout),
            surroundings=context.find_object(Surroundings) or Surroundings(),
        )
        recorder = TraceRecorder(most_traces=1)
        with ModelProgress() as progress:
            outcome = anyio.run(_run, order, recorder, progress)
        _tell(recorder.traces[0], files, outcome.name)
    raise typer.Exit(of_outcome(outcome))


def _kept_trace(file: str) -> Trace:
    """Return a kept trace; of a file that is too large no more is read than shows it.

    Raises:
        CommandError: it cannot be read.
        TraceError: it is no trace.
    """
    try:
        with open(file, "rb") as opened:
            data = opened.read(MAX_TRACE_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "not a path"
        raise CommandError(f"cannot read the trace {harmless(file)}: {reason}") from error
    return load_trace(data)


async def _run(order: _Order, recorder: TraceRecorder, progress: ModelProgress) -> Outcome[JsonValue, None]:
    local = LocalBackend(load=lambda name: load_local_model(name, progress.report))
    backends: dict[str, Backend] = {LOCAL: local, **order.surroundings.backends}
    async with aclosing(local), Client(backends=backends, ledger=order.ledger, observers=[recorder]) as client:
        run = client.stream_structured(
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
                    await run.outcome()
                tasks.cancel_scope.cancel()
            return await run.outcome()


def _tell(trace: Trace, files: _Files, ending: str) -> None:
    files.write(trace)
    with result_written(ending):
        console = ResultConsole()
        for line in trace_lines(trace):
            console.print(Text(line))
        place = files.line()
        if place is not None:
            console.print(Text(place))


__all__ = ["inspect_command"]

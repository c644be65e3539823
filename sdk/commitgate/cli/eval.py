"""Measure answers layer by layer: ``commitgate eval``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from commitgate.backends.registry import LOCAL
from commitgate.cli.adversarial import try_adversarial
from commitgate.cli.boundary import Surroundings, errors_told
from commitgate.cli.command_error import CommandError
from commitgate.cli.eval_order import EvaluationOrder, Output, read_prices, read_settings, read_suite, refuse_unfit
from commitgate.cli.eval_running import run_order
from commitgate.cli.eval_telling import Judging, tell_comparison, tell_runs
from commitgate.cli.schema_options import SchemaOption
from commitgate.evaluation import read_run
from commitgate.evaluation.report import Threshold

ADVERSARIAL = "adversarial"


def eval_command(
    context: typer.Context,
    cases: Annotated[
        list[str] | None,
        typer.Argument(
            help="File of cases (JSON lines), or a Suite as path/to/file.py:NAME or package.module:NAME, whose code is "
            "run; with --compare, two saved runs.",
            metavar="CASES",
        ),
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(help="backend/name; local unless given. Given twice, the second is compared.", metavar="NAME"),
    ] = None,
    suite: Annotated[str | None, typer.Option(help="A suite that is shipped: adversarial.", metavar="NAME")] = None,
    compare_runs: Annotated[bool, typer.Option("--compare", help="Compare two saved runs; nothing is asked.")] = False,
    baseline: Annotated[
        bool, typer.Option("--baseline", help="Ask by the prompt alone, too, and compare times and retries.")
    ] = False,
    reasks: Annotated[
        int, typer.Option(help="With --baseline: how often a wrong form is asked for again.", metavar="N")
    ] = 0,
    schema: SchemaOption = None,
    only: Annotated[
        list[str] | None, typer.Option(help="An id or a tag of cases, or a check; may be given again.", metavar="NAME")
    ] = None,
    limit: Annotated[int | None, typer.Option(help="Most cases.", metavar="N", min=1)] = None,
    repetitions: Annotated[int, typer.Option(help="How often each case is asked.", metavar="N")] = 1,
    concurrency: Annotated[
        int | None, typer.Option(help="Calls at once: 4, 2 on this machine, 1 with --baseline.", metavar="N")
    ] = None,
    most_failures: Annotated[
        int | None, typer.Option(help="Stop after so many that did not come through.", metavar="N")
    ] = None,
    timeout: Annotated[float | None, typer.Option(help="Most seconds for one call.", metavar="S")] = None,
    max_tokens: Annotated[int | None, typer.Option(help="Most tokens of an answer.", metavar="N")] = None,
    temperature: Annotated[float | None, typer.Option(help="0 takes the likeliest token.", metavar="T")] = None,
    seed: Annotated[int | None, typer.Option(help="Makes draws repeatable.", metavar="N")] = None,
    store: Annotated[
        str | None, typer.Option(help="Keep records here as they are made; the same run goes on with it.", metavar="F")
    ] = None,
    save: Annotated[
        str | None, typer.Option(help="Write the run as JSON, for --compare and programs.", metavar="FILE")
    ] = None,
    html: Annotated[str | None, typer.Option(help="Write the report as one page.", metavar="FILE")] = None,
    keep_text: Annotated[
        str | None, typer.Option(help="Write the answers themselves here; else they are kept nowhere.", metavar="FILE")
    ] = None,
    fail_under: Annotated[
        list[str] | None,
        typer.Option(help="layer=rate, as facts=0.9: exit with 31 below it. May be given again.", metavar="L=R"),
    ] = None,
    by_lower_bound: Annotated[
        bool, typer.Option("--by-lower-bound", help="Hold the lower end of the interval against --fail-under.")
    ] = False,
    price_input: Annotated[float | None, typer.Option(help="For a million tokens read.", metavar="MONEY")] = None,
    price_output: Annotated[float | None, typer.Option(help="For a million tokens written.", metavar="MONEY")] = None,
    currency: Annotated[str, typer.Option(help="Of the prices.", metavar="NAME")] = "USD",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask whether the costs are fine.")] = False,
    ratchet: Annotated[
        str | None, typer.Option(help="With --suite adversarial: what passed before.", metavar="FILE")
    ] = None,
    update_ratchet: Annotated[bool, typer.Option("--update-ratchet", help="Write what passed into it.")] = False,
    json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """Measure answers layer by layer: form, rules, facts, authorization and more, each with a rate of its own.

    Effects of the suite are really run, and made a second time to see that nothing happens twice. The exit code is 0
    where every rate is what --fail-under asks, 31 where one is not, 32 where the run did not come to its end.
    """
    with errors_told(is_json=json):
        models = list(model or [LOCAL])
        surroundings = context.find_object(Surroundings) or Surroundings()
        output = Output(store=store, save=save, html=html, keep_text=keep_text, is_json=json)
        output.check()
        judging = Judging(tuple(Threshold.of(words) for words in fail_under or ()), by_lower_bound)
        if suite is not None:
            refuse_unfit(context, "--suite")
            if suite != ADVERSARIAL or len(models) != 1:
                raise CommandError("--suite takes adversarial and one model")
            (asked,) = models
            code = try_adversarial(
                asked,
                surroundings,
                only=only,
                ratchet=ratchet,
                update=update_ratchet,
                call_s=timeout,
                is_json=json,
            )
            raise typer.Exit(code)
        if compare_runs:
            refuse_unfit(context, "--compare")
            if cases is None or len(cases) != 2:
                raise CommandError("--compare takes two saved runs")
            first, second = (read_run(Path(file)) for file in cases)
            raise typer.Exit(tell_comparison(first, second, judging, output))
        refuse_unfit(context, None)
        if cases is None or len(cases) != 1:
            raise CommandError("give one file of cases, or one suite as path/to/file.py:NAME")
        (source,) = cases
        if len(models) > 2:
            raise CommandError("give one model, or two to compare")
        if len(models) == 2 and (store or save or keep_text):
            raise CommandError("--store, --save and --keep-text are for one model: each run needs a file of its own")
        order = EvaluationOrder(
            suite=read_suite(
                source,
                schema,
                only=only or (),
                limit=limit,
                sampling={"max_tokens": max_tokens, "temperature": temperature, "seed": seed},
            ),
            models=tuple(models),
            settings=read_settings(
                models,
                baseline=baseline,
                repetitions=repetitions,
                concurrency=concurrency,
                reasks=reasks,
                most_failures=most_failures,
                timeout=timeout,
            ),
            prices=read_prices(price_input, price_output, currency),
            is_agreed=yes or not (sys.stdin.isatty() and sys.stderr.isatty()),
            output=output,
        )
        runs, was_stopped = run_order(order, surroundings)
        code = tell_runs(runs, judging, output, planned=len(models), was_stopped=was_stopped)
    raise typer.Exit(code)


__all__ = ["eval_command"]

"""Tell what evaluations came to: files first, then lines or one JSON object, and the exit code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from commitgate.cli.command_error import CommandError
from commitgate.cli.console import ResultConsole
from commitgate.cli.eval_order import Output
from commitgate.cli.exit_codes import ExitCode
from commitgate.cli.report import complain, result_written, write_json
from commitgate.cli.saved_file import save_text
from commitgate.evaluation import EvaluationRun, Summary, dump_run, summarize
from commitgate.evaluation.report import (
    Compared,
    Missed,
    Threshold,
    comparison_lines,
    evaluation_page,
    missed,
    report_data,
    run_lines,
)


@dataclass(frozen=True, slots=True)
class Judging:
    """Hold what is asked of rates.

    Attributes:
        thresholds: the least rates.
        by_lower_bound: hold the lower ends of intervals against them.
    """

    thresholds: tuple[Threshold, ...]
    by_lower_bound: bool

    def of(self, summary: Summary) -> tuple[Missed, ...]:
        """Return what is not good enough of the answers that a program would get."""
        judged = [variant for variant in summary.variants if variant.variant == "constrained"]
        if not judged and self.thresholds:
            return tuple(Missed.unmeasured(threshold) for threshold in self.thresholds)
        return tuple(
            each for variant in judged for each in missed(variant, self.thresholds, by_lower_bound=self.by_lower_bound)
        )


def tell_runs(
    runs: Sequence[EvaluationRun], judging: Judging, output: Output, *, planned: int, was_stopped: bool
) -> ExitCode:
    """Tell one run, or two and how they compare, and return the exit code.

    Args:
        runs: those that were begun, in order.
        judging: what is asked of each of them.
        output: where it goes.
        planned: how many there were to be.
        was_stopped: Ctrl-C ended one.

    Raises:
        CommandError: stdout does not take it.
    """
    summaries = [summarize(run) for run in runs]
    failed = tuple(each for summary in summaries for each in judging.of(summary))
    if was_stopped:
        code = ExitCode.CANCELLED
    elif len(runs) < planned or any(not run.is_complete for run in runs):
        code = ExitCode.RUN_UNFINISHED
    else:
        code = ExitCode.BELOW_RATE if failed else ExitCode.COMMITTED
    can_compare = len(runs) == 2 and all(run.records for run in runs)
    compared = Compared.of(runs[0], runs[1]) if can_compare else None
    return _tell(runs, summaries, compared, failed, code, output)


def tell_comparison(first: EvaluationRun, second: EvaluationRun, judging: Judging, output: Output) -> ExitCode:
    """Tell how two saved runs compare, and return the exit code; the second one is judged.

    Raises:
        ComparisonError: they are not of the same cases.
        CommandError: stdout does not take it.
    """
    summaries = [summarize(first), summarize(second)]
    failed = judging.of(summaries[1])
    code = ExitCode.BELOW_RATE if failed else ExitCode.COMMITTED
    return _tell((first, second), summaries, Compared.of(first, second), failed, code, output)


def _tell(
    runs: Sequence[EvaluationRun],
    summaries: Sequence[Summary],
    compared: Compared | None,
    failed: tuple[Missed, ...],
    code: ExitCode,
    output: Output,
) -> ExitCode:
    """Write files, then stdout. A file that cannot be written keeps nobody from seeing the rest."""
    run, summary = runs[-1], summaries[-1]
    texts = {
        "run": (output.save, lambda: dump_run(run).decode()),
        "page": (output.html, lambda: evaluation_page(run, summary, compared=compared, failed=failed)),
    }
    for what, (file, text) in texts.items():
        try:
            if file is not None:
                save_text(file, text(), what)
        except CommandError as error:
            complain(str(error))
            code = ExitCode.UNWRITTEN
    with result_written(code.label):
        if output.is_json:
            report = report_data(run, summary, compared=compared, failed=failed)
            write_json({"exit_code": int(code), **report})
        else:
            _print(runs, summaries, compared, failed, output)
    return code


def _print(
    runs: Sequence[EvaluationRun],
    summaries: Sequence[Summary],
    compared: Compared | None,
    failed: tuple[Missed, ...],
    output: Output,
) -> None:
    console = ResultConsole()
    width = console.width if console.is_terminal else None
    lines = [
        line for run, summary in zip(runs, summaries, strict=True) for line in run_lines(run, summary, width=width)
    ]
    lines += [] if compared is None else comparison_lines(compared)
    for line in lines:
        console.print(line)
    for each in failed:
        console.print(each.summary(), style="bold red")
    if output.html is not None:
        console.print(f"page: {output.html}", style="dim")


__all__ = ["Judging", "tell_comparison", "tell_runs"]

"""Read what an evaluation is to do out of the words of its command."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import typer

from commitgate.backends.base import Sampling
from commitgate.backends.registry import LOCAL
from commitgate.cli.command_error import CommandError
from commitgate.cli.saved_file import check_place
from commitgate.cli.schema_options import SchemaOption
from commitgate.cli.sources import read_schema
from commitgate.contract import Contract
from commitgate.evaluation import Case, Prices, RunSettings, Suite, load_suite
from commitgate.timeouts import Timeouts


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """Say where results go.

    Attributes:
        store: file that keeps records as they are made; None keeps none.
        save: file for the whole run as JSON.
        html: file for the page.
        keep_text: file for the answers themselves.
        is_json: one JSON object on stdout.
    """

    store: str | None = None
    save: str | None = None
    html: str | None = None
    keep_text: str | None = None
    is_json: bool = False

    def check(self) -> None:
        """See to it that what a long run comes to can be written, before it is begun.

        Raises:
            CommandError: a file cannot be there.
        """
        for file in (self.store, self.save, self.html, self.keep_text):
            if file is not None:
                check_place(file)


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationOrder:
    """Hold one evaluation, read and checked.

    Attributes:
        suite: what is asked.
        models: whom; a second one is compared with the first.
        settings: how.
        prices: of the models, for telling costs.
        is_agreed: costs need no question.
        output: where results go.
    """

    suite: Suite[object]
    models: tuple[str, ...]
    settings: RunSettings
    prices: Prices | None
    is_agreed: bool
    output: Output


_ADVERSARIAL_OPTIONS = frozenset({"suite", "model", "only", "timeout", "ratchet", "update_ratchet", "json", "yes"})
_COMPARE_OPTIONS = frozenset({"cases", "compare_runs", "html", "fail_under", "by_lower_bound", "json"})
_OTHERS = frozenset({"suite", "compare_runs", "ratchet", "update_ratchet"})


def refuse_unfit(context: typer.Context, kind: Literal["--suite", "--compare"] | None) -> None:
    """Refuse words that would count for nothing: who gave them expects that they count.

    Args:
        context: of the command.
        kind: what the command is to do; None for asking cases.

    Raises:
        CommandError: there are some.
    """
    given = {
        name for name in context.params if getattr(context.get_parameter_source(name), "name", "") == "COMMANDLINE"
    }
    if kind is None:
        unfit = given & _OTHERS
    else:
        unfit = given - (_ADVERSARIAL_OPTIONS if kind == "--suite" else _COMPARE_OPTIONS)
    if unfit:
        names = {each.name: each.opts[0] for each in context.command.params}
        said = ", ".join(sorted(names[name].upper() if name == "cases" else names[name] for name in unfit))
        raise CommandError(f"{said} cannot be given {f'with {kind}' if kind else 'without --suite'}")


def read_suite(
    source: str,
    schema: SchemaOption,
    *,
    only: Sequence[str],
    limit: int | None,
    sampling: dict[str, float | int | None],
) -> Suite[object]:
    """Return the suite that words name, with the cases that are wanted.

    Args:
        source: a file of cases, or a suite in Python.
        schema: file of a schema in place of the cases' own.
        only: ids or tags of the cases that are wanted; empty for all.
        limit: most cases, from the first on; None for all.
        sampling: what is to be drawn otherwise than the suite says; None leaves it.

    Raises:
        SuiteError: there is none, or something in it is wrong.
        CommandError: no case is left.
    """
    contract = None if schema is None else Contract[object].of(read_schema(schema))
    suite = load_suite(source, contract=contract)
    cases = [case for case in suite.cases if not only or _is_wanted(case, only)][:limit]
    if not cases:
        raise CommandError("no case is left; --only takes ids and tags of cases")
    changed = {name: value for name, value in sampling.items() if value is not None}
    drawn: Sampling = replace(suite.sampling, **changed)  # pyright: ignore[reportArgumentType] - by the fields' names
    return replace(suite, cases=tuple(cases), sampling=drawn)


def read_settings(
    models: Sequence[str],
    *,
    baseline: bool,
    repetitions: int,
    concurrency: int | None,
    reasks: int,
    most_failures: int | None,
    timeout: float | None,
) -> RunSettings:
    """Return how the run is made. Times are compared one call at a time, after a call that counts for nothing.

    Args:
        models: whom to ask.
        baseline: also by the prompt alone.
        repetitions: how often each case is asked.
        concurrency: calls at once; None takes what suits.
        reasks: how often an answer by the prompt alone is asked for again.
        most_failures: after how many the run stops; None never.
        timeout: seconds for each call; None takes the default.

    Raises:
        MisuseError: one of them is out of its range.
    """
    is_local = any(model.partition("/")[0] == LOCAL for model in models)
    few = 1 if baseline else 2 if is_local else 4
    return RunSettings(
        variants=("constrained", "prompt_only") if baseline else ("constrained",),
        repetitions=repetitions,
        concurrency=few if concurrency is None else concurrency,
        most_reasks=reasks if baseline else 0,
        most_failures=most_failures,
        warm_up=is_local,
        timeouts=Timeouts() if timeout is None else Timeouts(total_s=timeout),
    )


def read_prices(into: float | None, out: float | None, currency: str) -> Prices | None:
    """Return the prices; None where none are given.

    Raises:
        CommandError: one of them is missing.
    """
    if into is None and out is None:
        return None
    if into is None or out is None:
        raise CommandError("give --price-input and --price-output together")
    return Prices(input=into, output=out, currency=currency)


def _is_wanted(case: Case, only: Sequence[str]) -> bool:
    return case.id in only or any(tag in only for tag in case.tags)


__all__ = ["EvaluationOrder", "Output", "read_prices", "read_settings", "read_suite", "refuse_unfit"]

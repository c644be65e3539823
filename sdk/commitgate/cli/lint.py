"""Look over a schema before a model is asked with it: ``commitgate lint``."""

from __future__ import annotations

from dataclasses import fields
from enum import StrEnum
from typing import Annotated

import typer
from rich.console import Console

from commitgate.cli.answer_options import (
    AnswerOptions,
    ChoiceOption,
    GrammarOption,
    GrammarSyntaxOption,
    RegexOption,
)
from commitgate.cli.boundary import errors_told
from commitgate.cli.command_error import CommandError
from commitgate.cli.exit_codes import ExitCode
from commitgate.cli.lint_lines import report_lines
from commitgate.cli.report import plain, result_written, write_json
from commitgate.cli.schema_options import (
    DocumentOption,
    FormatsChoice,
    FormatsOption,
    document_sources,
    read_documents,
)
from commitgate.cli.sources import STANDARD_INPUT, read_schema
from commitgate.lint import UNBOUNDED, LintReport, MaskMeter, lint


class FailOn(StrEnum):
    """Name what makes the command fail beside errors."""

    CHECKED = "checked"
    UNBOUNDED = "unbounded"


def lint_command(
    schema: Annotated[
        str | None, typer.Argument(help="JSON Schema file; - for stdin.", metavar="SCHEMA", show_default=False)
    ] = None,
    regex: RegexOption = None,
    grammar: GrammarOption = None,
    grammar_syntax: GrammarSyntaxOption = None,
    choice: ChoiceOption = None,
    tokenizer: Annotated[
        str | None,
        typer.Option(
            help="Measure masks too: a folder with a tokenizer.json, that file, a GGUF file, or local for the bundled "
            "model's.",
            metavar="PATH",
        ),
    ] = None,
    formats: FormatsOption = FormatsChoice.ASSERT,
    document: DocumentOption = None,
    fail_on: Annotated[
        list[FailOn] | None,
        typer.Option(
            "--fail-on", help="Exit with 27 where there is any; may be given again.", metavar="checked|unbounded"
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """Say what of a schema is enforced, how large it is, what could be smaller, and which vendors would refuse it.

    The exit code is 0 where a contract can be made of it, 27 where none can or something was found that --fail-on
    names.
    """
    with errors_told(is_json=json):
        given = (schema is not None, regex is not None, grammar is not None, bool(choice))
        if sum(given) != 1:
            raise CommandError("give exactly one of a schema file, --regex, --grammar and --choice")
        if grammar_syntax is not None and grammar is None:
            raise CommandError("--grammar-syntax goes with --grammar")
        answer = AnswerOptions(
            schema=schema,
            regex=regex,
            grammar=grammar,
            choice=choice,
            any_json=False,
            grammar_syntax=grammar_syntax,
            formats=formats,
            document=document,
        )
        if answer.sources.count(STANDARD_INPUT) > 1:
            raise CommandError("standard input can be read once only")
        report = _linted(answer, None if tokenizer is None else _meter(tokenizer))
        code = _exit_code(report, fail_on or [])
        with result_written("findings" if code else "no findings that count"):
            _write(report, code, is_json=json)
        raise typer.Exit(code)


def _linted(answer: AnswerOptions, meter: MaskMeter | None) -> LintReport:
    if answer.schema is None:
        asked = answer.read()
        return lint(asked, masks=meter)
    # Not made a contract of here: what is at fault is what lint is to tell.
    schema = read_schema(answer.schema)
    documents = read_documents(document_sources(answer.document))
    return lint(schema, formats=answer.formats.value, documents=documents, masks=meter)


def _meter(path: str) -> MaskMeter:
    from commitgate.cli.local_models import load_mask_meter

    return load_mask_meter(path)


def _exit_code(report: LintReport, fail_on: list[FailOn]) -> ExitCode:
    is_failed = not report.is_usable
    is_failed |= FailOn.CHECKED in fail_on and report.has("checked_keyword")
    is_failed |= FailOn.UNBOUNDED in fail_on and report.has(*UNBOUNDED)
    return ExitCode.FINDINGS if is_failed else ExitCode.COMMITTED


def _write(report: LintReport, code: ExitCode, *, is_json: bool) -> None:
    if is_json:
        write_json(
            {"exit_code": int(code), **{entry.name: plain(getattr(report, entry.name)) for entry in fields(report)}}
        )
        return
    console = Console(highlight=False, markup=False, emoji=False, soft_wrap=True)
    for line in report_lines(report):
        console.print(line)


__all__ = ["FailOn", "lint_command"]

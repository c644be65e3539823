"""Look over a schema before a model is asked with it: ``commitgate lint``."""

from __future__ import annotations

from dataclasses import fields
from enum import StrEnum
from typing import Annotated

import typer
from rich.text import Text

from commitgate.cli.answer_options import (
    AnswerOptions,
    AnyJsonOption,
    ChoiceOption,
    GrammarOption,
    GrammarSyntaxOption,
    RegexOption,
)
from commitgate.cli.boundary import errors_told
from commitgate.cli.command_error import CommandError
from commitgate.cli.console import ResultConsole
from commitgate.cli.exit_codes import ExitCode
from commitgate.cli.lint_lines import report_lines
from commitgate.cli.report import plain, result_written, write_json
from commitgate.cli.schema_options import (
    DocumentOption,
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


_FAILING = {FailOn.CHECKED: frozenset({"checked_keyword"}), FailOn.UNBOUNDED: frozenset(UNBOUNDED)}


def lint_command(
    schema: Annotated[
        str | None, typer.Argument(help="JSON Schema file; - for stdin.", metavar="[SCHEMA]", show_default=False)
    ] = None,
    named_schema: Annotated[
        str | None, typer.Option("--schema", help="The same, as other commands take it.", metavar="FILE")
    ] = None,
    regex: RegexOption = None,
    grammar: GrammarOption = None,
    grammar_syntax: GrammarSyntaxOption = None,
    choice: ChoiceOption = None,
    any_json: AnyJsonOption = False,
    tokenizer: Annotated[
        str | None,
        typer.Option(
            help="Measure masks too: a folder with a tokenizer.json, that file, a GGUF file, or local for the bundled "
            "model's.",
            metavar="PATH",
        ),
    ] = None,
    formats: FormatsOption = None,
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
        schemas = [each for each in (schema, named_schema) if each is not None]
        given = (*(True for _ in schemas), regex is not None, grammar is not None, bool(choice), any_json)
        if sum(given) != 1:
            raise CommandError("give exactly one of a schema file, --regex, --grammar, --choice and --any-json")
        if grammar_syntax is not None and grammar is None:
            raise CommandError("--grammar-syntax goes with --grammar")
        answer = AnswerOptions(
            schema=schemas[0] if schemas else None,
            regex=regex,
            grammar=grammar,
            choice=choice,
            any_json=any_json,
            grammar_syntax=grammar_syntax,
            formats=formats,
            document=document,
        )
        if answer.sources.count(STANDARD_INPUT) > 1:
            raise CommandError("standard input can be read once only")
        report = _linted(answer, None if tokenizer is None else _meter(tokenizer))
        failed_by = _failed_by(report, fail_on or [])
        code = ExitCode.FINDINGS if failed_by else ExitCode.COMMITTED
        with result_written("findings" if code else "no findings that count"):
            _write(report, code, failed_by, is_json=json)
        raise typer.Exit(code)


def _linted(answer: AnswerOptions, meter: MaskMeter | None) -> LintReport:
    if answer.schema is None:
        asked = answer.read()
        return lint(asked, masks=meter)
    # Not made a contract of here: what is at fault is what lint is to tell.
    schema = read_schema(answer.schema)
    documents = read_documents(document_sources(answer.document))
    formats = None if answer.formats is None else answer.formats.value
    return lint(schema, formats=formats, documents=documents, masks=meter)


def _meter(path: str) -> MaskMeter:
    from commitgate.cli.local_models import load_mask_meter

    return load_mask_meter(path)


def _failed_by(report: LintReport, fail_on: list[FailOn]) -> dict[str, int]:
    """Return how many findings of which codes fail the run; none where it passes."""
    counted = {code for choice in fail_on for code in _FAILING[choice]}
    failing = [found.code for found in report.findings if found.severity == "error" or found.code in counted]
    omitted = dict(report.omitted)
    return {code: failing.count(code) + omitted.get(code, 0) for code in dict.fromkeys(failing)}


def _write(report: LintReport, code: ExitCode, failed_by: dict[str, int], *, is_json: bool) -> None:
    if is_json:
        found = {entry.name: plain(getattr(report, entry.name)) for entry in fields(report)}
        write_json({"exit_code": int(code), "failed_by": list(failed_by), **found})
        return
    console = ResultConsole()
    for line in report_lines(report):
        console.print(line)
    if failed_by:
        words = ", ".join(f"{count} {code}" for code, count in failed_by.items())
        reason = "findings that --fail-on names" if report.is_usable else "no contract can be made of it"
        console.print(Text(f"failed: {reason}: {words}", style="bold red"))


__all__ = ["FailOn", "lint_command"]

"""Say whether texts would be accepted, layer by layer: ``commitgate check``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import Annotated

import typer
from rich.text import Text

from commitgate.automaton import Automaton, SupportRow, compile
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
from commitgate.cli.report import plain, result_written, write_json
from commitgate.cli.schema_options import DocumentOption, FormatsOption, SchemaOption
from commitgate.cli.sources import STANDARD_INPUT, read_bytes, shown
from commitgate.cli.support_table import support_lines
from commitgate.contract import Contract
from commitgate.gate.layers import Failure, Layer, LayerRecord
from commitgate.gate.schema_layer import SchemaLayer
from commitgate.gate.strict_parse import strict_parse
from commitgate.harmless import harmless
from commitgate.json_value import JsonValue


@dataclass(frozen=True, slots=True)
class Finding:
    """Hold what was found about one text.

    Attributes:
        source: the file, or ``-``.
        layers: one record for each layer that can be asked without a run, in their order.
    """

    source: str
    layers: tuple[LayerRecord, ...]

    @property
    def is_accepted(self) -> bool:
        """Say whether every layer passed that applies."""
        return all(record.passed is not False for record in self.layers)


_LINE_END = "; the line end at the file's end is text too, and without it the text is accepted"


class Checker:
    """Judge texts by one contract.

    Args:
        contract: what the texts must satisfy.

    Raises:
        ContractError: it cannot be compiled.
    """

    def __init__(self, contract: Contract[JsonValue]) -> None:
        self._limits = contract.limits
        self._automaton: Automaton = compile(contract)
        self._schema_layer = (
            SchemaLayer(contract.schema, formats=contract.formats, documents=contract.documents)
            if contract.text is None
            else None
        )

    @property
    def support(self) -> tuple[SupportRow, ...]:
        """Return how far each keyword of the schema is enforced, place by place."""
        return self._automaton.support

    def check(self, source: str, text: bytes) -> Finding:
        """Return what each layer says of a whole text. A layer is asked even where an earlier one said no.

        A text that is no JSON is judged by the automaton alone, as it stands: a line end at its end counts, and is told
        where it alone is wrong.
        """
        start = perf_counter()
        walked = self._walk(text)
        parse_start = perf_counter()
        if self._schema_layer is None:
            apply_not = [LayerRecord(layer=layer, ran=False, passed=None) for layer in (Layer.PARSE, Layer.SCHEMA)]
            return Finding(source, (_record(Layer.ACCEPT, walked, parse_start - start), *apply_not))
        parsed = strict_parse(text, nesting=self._limits.nesting)
        end = perf_counter()
        records = [_record(Layer.ACCEPT, walked, parse_start - start)]
        if isinstance(parsed, Failure):
            records += [
                _record(Layer.PARSE, (parsed,), end - parse_start),
                LayerRecord(layer=Layer.SCHEMA, ran=False, passed=None),
            ]
            return Finding(source, tuple(records))
        failures = self._schema_layer.judge(parsed.value)
        records += [
            _record(Layer.PARSE, (), end - parse_start),
            _record(Layer.SCHEMA, failures, perf_counter() - end),
        ]
        return Finding(source, tuple(records))

    def _walk(self, text: bytes) -> tuple[Failure, ...]:
        if len(text) > self._limits.text_bytes:
            words = f"a text may have at most {self._limits.text_bytes} bytes"
            return (_accept_failure("limit", words, self._limits.text_bytes),)
        acceptor = self._automaton.acceptor()
        if acceptor.feed(text) and acceptor.is_accepting:
            return ()
        hint = _LINE_END if self._has_line_end_too_many(text) else ""
        if acceptor.is_dead:
            return (_accept_failure("impossible_byte", f"{acceptor.explain()}{hint}", acceptor.position),)
        return (_accept_failure("incomplete", f"the text ends here; {acceptor.explain()}{hint}", acceptor.position),)

    def _has_line_end_too_many(self, text: bytes) -> bool:
        if self._schema_layer is not None or not text.endswith(b"\n"):
            return False
        rests = (text.removesuffix(b"\n"), text.removesuffix(b"\r\n"))
        return any(self._automaton.accepts(rest) for rest in rests)


def check(
    instances: Annotated[
        list[str] | None, typer.Argument(help="Files to check; - for stdin.", metavar="[INSTANCE...]")
    ] = None,
    schema: SchemaOption = None,
    regex: RegexOption = None,
    grammar: GrammarOption = None,
    grammar_syntax: GrammarSyntaxOption = None,
    choice: ChoiceOption = None,
    any_json: AnyJsonOption = False,
    formats: FormatsOption = None,
    document: DocumentOption = None,
    support: Annotated[bool, typer.Option("--support", help="Show how far each keyword is enforced.")] = False,
    json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """Say for each text whether it would be accepted, and where not; with --support, how it is enforced.

    The exit code is 0 when every text is accepted by every layer, 19 when one is not.
    """
    with errors_told(is_json=json):
        texts = instances or []
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
        if [*texts, *answer.sources].count(STANDARD_INPUT) > 1:
            raise CommandError("standard input can be read once only")
        if not texts and not support:
            raise CommandError("give a text to check, or --support")
        checker = Checker(answer.contract())
        findings = [checker.check(source, read_bytes(source, "text")) for source in texts]
        is_accepted = all(finding.is_accepted for finding in findings)
        code = ExitCode.COMMITTED if is_accepted else ExitCode.INVALID
        with result_written("accepted" if is_accepted else "not accepted"):
            _write(findings, checker.support if support else None, code, is_json=json)
        raise typer.Exit(code)


def _write(findings: list[Finding], support: tuple[SupportRow, ...] | None, code: ExitCode, *, is_json: bool) -> None:
    if is_json:
        is_accepted = code is ExitCode.COMMITTED
        report = {"accepted": is_accepted, "exit_code": int(code), "texts": [_report(each) for each in findings]}
        write_json(report if support is None else report | {"support": plain(support)})
        return
    console = ResultConsole()
    for line in () if support is None else support_lines(support):
        console.print(line)
    for line in (line for finding in findings for line in _lines(finding)):
        console.print(line)


def _record(layer: Layer, failures: tuple[Failure, ...], time_s: float) -> LayerRecord:
    return LayerRecord(layer=layer, ran=True, passed=not failures, time_s=time_s, failures=failures)


def _accept_failure(code: str, message: str, position: int) -> Failure:
    return Failure(layer=Layer.ACCEPT, code=code, pointer="", message=message, data={"position": position})


def _report(finding: Finding) -> dict[str, object]:
    return {"source": finding.source, "accepted": finding.is_accepted, "layers": plain(finding.layers)}


def _lines(finding: Finding) -> Iterator[Text]:
    verdict = ("accepted", "green") if finding.is_accepted else ("not accepted", "bold red")
    yield Text.assemble(shown(finding.source), ": ", verdict)
    for record in finding.layers:
        word, style = _WORDS[record.passed]
        yield Text.assemble(f"  {record.layer:<8}", (word, style))
        for failure in record.failures:
            yield Text(f"    {_where(failure)}: {harmless(failure.message)}")


_WORDS = {True: ("yes", "green"), False: ("no", "red"), None: ("not asked", "dim")}


def _where(failure: Failure) -> str:
    facts = failure.data if isinstance(failure.data, dict) else {}
    if "position" in facts:
        return f"byte {facts['position']}"
    return harmless(f"{facts.get('pointer') or failure.pointer or 'the root'} ({failure.code})")


__all__ = ["Checker", "Finding", "check"]

"""Read what the commands are told an answer may be: a schema, a regular expression, a grammar, choices, any JSON."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, TypeAlias, cast

import typer

from commitgate.cli.command_error import CommandError
from commitgate.cli.exit_codes import of_error
from commitgate.cli.schema_options import FormatsChoice, document_sources, read_documents
from commitgate.cli.sources import read_schema, read_text, shown
from commitgate.contract import Contract
from commitgate.errors import ContractError
from commitgate.json_value import JsonObject, JsonValue
from commitgate.languages import AnyJson, Choices, Grammar, Regex, Syntax
from commitgate.limits import Limits
from commitgate.lint.pattern_contradiction import contradiction_position


class SyntaxChoice(StrEnum):
    """Name the notation of a grammar."""

    GBNF = "gbnf"
    LARK = "lark"


RegexOption: TypeAlias = Annotated[
    str | None, typer.Option(help="In place of a schema: what matches the whole text.", metavar="PATTERN")
]
GrammarOption: TypeAlias = Annotated[
    str | None, typer.Option(help="In place of a schema: a grammar file; - for stdin.", metavar="FILE")
]
GrammarSyntaxOption: TypeAlias = Annotated[
    SyntaxChoice | None, typer.Option(help="The grammar's notation; else by the file's ending, else gbnf.")
]
ChoiceOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(help="In place of a schema: a text that may be chosen; may be given again.", metavar="TEXT"),
]
AnyJsonOption: TypeAlias = Annotated[bool, typer.Option("--any-json", help="In place of a schema: any JSON.")]

Asked: TypeAlias = "JsonObject | bool | Regex | Grammar | Choices | AnyJson | Contract[JsonValue]"
"""What ``Client.stream_structured`` and ``Contract.of`` take."""


_LINE_FEED = "\n"


def in_options(told: str) -> str:
    """Return what is told of a faulty grammar in the words of a command's options."""
    for syntax in SyntaxChoice:
        told = told.replace(f'syntax="{syntax.value}"', f"--grammar-syntax {syntax.value}")
    return told


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerOptions:
    """Hold what was given of an answer's form, exactly one of the first five.

    Attributes:
        schema: file of a JSON Schema, or ``-``.
        regex: a pattern.
        grammar: file of a grammar, or ``-``.
        choice: texts.
        any_json: any JSON was asked for.
        grammar_syntax: the grammar's notation, where it was said.
        formats: how formats of a schema are meant, where it was said.
        document: what its references may name, as given.
    """

    schema: str | None
    regex: str | None
    grammar: str | None
    choice: list[str] | None
    any_json: bool
    grammar_syntax: SyntaxChoice | None
    formats: FormatsChoice | None
    document: list[str] | None

    @property
    def sources(self) -> list[str]:
        """Return the files that are read, of which one may be ``-``."""
        documents = document_sources(self.document).values()
        return [source for source in (self.schema, self.grammar, *documents) if source is not None]

    def read(self) -> Asked:
        """Return what is asked for; a faulty schema or pattern is found where a contract is made of it.

        Raises:
            CommandError: none or several are given, options do not go together, or a file cannot be read.
            ContractError: documents or annotating formats were asked for, and the schema is faulty.
        """
        self._check_one()
        if self.regex is not None:
            return Regex(self.regex)
        if self.grammar is not None:
            return Grammar(read_text(self.grammar, "grammar"), self._syntax(self.grammar))
        if self.choice:
            return Choices(self.choice)
        return AnyJson() if self.schema is None else self._schema(self.schema)

    def contract(self) -> Contract[JsonValue]:
        """Return the contract of what is asked for.

        Raises:
            CommandError: as ``read``; also where a grammar is faulty, to say in which file and line, or no text
                satisfies a pattern, to say from where on.
            ContractError: it is faulty.
        """
        asked = self.read()
        try:
            # The value of a text is a str, which is JSON too.
            return Contract.of(cast("JsonObject", asked))
        except ContractError as error:
            place = self.place(asked, error.position, str(error))
            if not place:
                raise
            raise CommandError(f"{in_options(str(error))} ({place})", of_error(error)) from error

    def place(self, asked: Asked, position: int | None, told: str) -> str:
        """Return the words for the place of a fault in a pattern or a grammar's file; empty where there are none.

        Args:
            asked: what was read.
            position: in characters of it, from 0; None where the error names no place.
            told: what is told of the fault; what it says of the place is not said again.
        """
        if isinstance(asked, Regex):
            at = contradiction_position(asked, Limits()) if position is None else position
            words = f"character {at}"
            return "" if at is None or words in told else words
        if not isinstance(asked, Grammar) or self.grammar is None:
            return ""
        words = ""
        if position is not None:
            before = asked.text[:position]
            words = f"line {before.count(_LINE_FEED) + 1}, column {position - (before.rfind(_LINE_FEED) + 1) + 1}"
        is_told = not words or words in told
        return f"{'' if is_told else f'{words} of '}the grammar {shown(self.grammar)}"

    def _check_one(self) -> None:
        given = (self.schema is not None, self.regex is not None, self.grammar is not None, bool(self.choice))
        if sum((*given, self.any_json)) != 1:
            raise CommandError("give exactly one of --schema, --regex, --grammar, --choice and --any-json")
        if self.grammar_syntax is not None and self.grammar is None:
            raise CommandError("--grammar-syntax goes with --grammar")
        if self.schema is None and (self.document or self.formats is not None):
            raise CommandError("--document and --formats go with --schema")

    def _syntax(self, source: str) -> Syntax:
        if self.grammar_syntax is not None:
            return self.grammar_syntax.value
        return "lark" if Path(source).suffix == ".lark" else "gbnf"

    def _schema(self, source: str) -> JsonObject | bool | Contract[JsonValue]:
        schema = read_schema(source)
        formats = self.formats or FormatsChoice.ASSERT
        if formats is FormatsChoice.ASSERT and not self.document:
            return schema
        documents = read_documents(document_sources(self.document))
        return Contract.json_schema(schema, formats=formats.value, documents=documents)


__all__ = [
    "AnswerOptions",
    "AnyJsonOption",
    "Asked",
    "ChoiceOption",
    "GrammarOption",
    "GrammarSyntaxOption",
    "RegexOption",
    "SyntaxChoice",
    "in_options",
]

"""Read what the commands are told about a schema: its file, how formats are meant, and the documents it refers to."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, TypeAlias

import typer

from commitgate.automaton.json_schema.given_documents import is_absolute
from commitgate.cli.command_error import CommandError
from commitgate.cli.sources import read_schema
from commitgate.harmless import harmless
from commitgate.json_value import JsonSchema


class FormatsChoice(StrEnum):
    """Say whether known formats constrain."""

    ASSERT = "assert"
    ANNOTATE = "annotate"


SchemaOption: TypeAlias = Annotated[str | None, typer.Option(help="JSON Schema file; - for stdin.", metavar="FILE")]
FormatsOption: TypeAlias = Annotated[
    FormatsChoice | None,
    typer.Option(help="Whether known formats of a schema constrain, or only annotate; assert unless given."),
]
DocumentOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(help="A schema that references may name; may be given again.", metavar="URI=FILE"),
]


def document_sources(documents: Sequence[str] | None) -> dict[str, str]:
    """Return the file of each document by its URI.

    Raises:
        CommandError: one is not written as URI=FILE with an absolute URI, or a URI stands twice.
    """
    found: dict[str, str] = {}
    for given in documents or ():
        uri, _, source = given.rpartition("=")
        if not source or not is_absolute(uri):
            raise CommandError(f"--document wants an absolute URI, = and a file, found {harmless(given)}")
        if uri in found:
            raise CommandError(f"--document names {harmless(uri)} twice")
        found[uri] = source
    return found


def read_documents(sources: dict[str, str]) -> dict[str, JsonSchema]:
    """Return the documents themselves.

    Raises:
        CommandError: as ``read_schema``.
    """
    return {uri: read_schema(source) for uri, source in sources.items()}


__all__ = ["DocumentOption", "FormatsChoice", "FormatsOption", "SchemaOption", "document_sources", "read_documents"]

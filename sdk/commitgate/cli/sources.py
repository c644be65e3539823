"""Read what a command is given: schemas, prompts and texts to check, each from a file or, for ``-``, from stdin."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import cast

import jiter

from commitgate.cli.command_error import CommandError
from commitgate.cli.exit_codes import ExitCode
from commitgate.harmless import harmless
from commitgate.json_value import JsonObject, JsonValue

STANDARD_INPUT = "-"
_KINDS: dict[type, str] = {list: "an array", str: "a string", type(None): "null"}
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def read_bytes(source: str, what: str) -> bytes:
    """Return the bytes of a file, or of stdin.

    Args:
        source: a path, or ``-``.
        what: what the file holds, for the message.

    Raises:
        CommandError: it cannot be read.
    """
    try:
        return sys.stdin.buffer.read() if source == STANDARD_INPUT else Path(source).read_bytes()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "not a path"
        raise CommandError(f"cannot read the {what} {shown(source)}: {reason}") from error


def read_text(source: str, what: str) -> str:
    """Return the text of a UTF-8 file, or of stdin.

    Raises:
        CommandError: it cannot be read, or is not UTF-8.
    """
    data = read_bytes(source, what).removeprefix(_BYTE_ORDER_MARK)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise CommandError(f"the {what} {shown(source)} is not UTF-8: byte {error.start} cannot be read") from error


def read_schema(source: str) -> JsonObject | bool:
    """Return the JSON of a schema file.

    A key that stands twice is refused: whichever of the two were taken, the other's constraint would be lost. Numbers
    keep every digit: those that are no integers come as ``Decimal``.

    Raises:
        CommandError: it cannot be read, is not JSON (the message says the line and column), or is neither an object
            nor a boolean.
    """
    data = read_bytes(source, "schema").removeprefix(_BYTE_ORDER_MARK)
    try:
        schema = cast(
            JsonValue, jiter.from_json(data, allow_inf_nan=False, catch_duplicate_keys=True, float_mode="decimal")
        )
    except ValueError as error:
        raise CommandError(f"the schema {shown(source)} is not JSON: {harmless(str(error))}") from error
    if isinstance(schema, (dict, bool)):
        return schema
    raise CommandError(
        f"the schema {shown(source)} is no JSON Schema: at the root it must be an object, true or false, found "
        f"{_KINDS.get(type(schema), 'a number')}",
        ExitCode.COMPILE_FAILED,
    )


def shown(source: str) -> str:
    """Return how messages name a source."""
    return "from standard input" if source == STANDARD_INPUT else harmless(source)


__all__ = ["STANDARD_INPUT", "read_bytes", "read_schema", "read_text", "shown"]

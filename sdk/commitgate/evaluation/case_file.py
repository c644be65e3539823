"""Read a file of cases: JSON lines, of which the first may be a header. All faults are told at once.

A file of cases comes from anywhere. It is read within limits, names no file outside of its own folder, and none of its
values stands in a message.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from commitgate.backends.base import Sampling
from commitgate.contract import Contract
from commitgate.errors import CommitgateError, ContractError, MisuseError, SuiteError
from commitgate.evaluation.case import Case, Suite
from commitgate.evaluation.case_fields import (
    Fields,
    Opening,
    kind_of,
    read_case,
    read_opening,
    read_prompt_schema,
    read_sampling,
)
from commitgate.evaluation.suite_check import MAX_CASES, check_name, check_suite, shown, suite_error
from commitgate.gate.strict_parse import Parsed, strict_parse
from commitgate.json_value import JsonObject, JsonSchema, JsonValue
from commitgate.pointer import child
from commitgate.run.conversation import PromptSchema

MAX_FILE_BYTES = 67_108_864
"""Largest file of cases; all of it is read at once."""

MAX_LINE_BYTES = 1_048_576
"""Longest line of it: one case with all that is known of it."""

MAX_LINE_NESTING = 64
"""Deepest nesting of a line: as deep as an answer may nest by default."""

HEADER_FIELD = "commitgate_cases"
"""The field by which a header is known; its value is the version of the form."""

HEADER_FIELDS = (
    HEADER_FIELD,
    "name",
    "version",
    "contract",
    "contracts",
    "system",
    "sampling",
    "shown",
    "prompt_schema",
)
"""What a header may have."""

_VERSION = 1
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def read_cases(path: str | os.PathLike[str], *, contract: Contract[object] | None = None) -> Suite[JsonValue]:
    """Read a file of cases as a suite. Blocking work for a worker thread.

    Args:
        path: the file: JSON in UTF-8, one object a line; blank lines are passed over.
        contract: what answers must satisfy, in place of the header's.

    Raises:
        SuiteError: it cannot be read, or something in it is wrong; each fault is told with its line and place.
    """
    place = Path(path)
    reading = _Reading(place.parent, contract)
    for number, line in _lines(_data(place)):
        reading.take(number, line)
    suite = reading.suite(place.stem)
    if reading.faults or suite is None:
        raise suite_error(f"the cases {shown(place.name)} cannot be used", reading.faults)
    check_suite(suite)
    return suite


def _data(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "no path of a file"
        raise SuiteError(f"the cases {shown(path.name)} cannot be read: {reason}") from error
    if len(data) > MAX_FILE_BYTES:
        raise SuiteError(f"the cases {shown(path.name)} are larger than {MAX_FILE_BYTES} bytes; split the file")
    return data.removeprefix(_BYTE_ORDER_MARK)


def _lines(data: bytes) -> Iterator[tuple[int, bytes]]:
    # At line feeds alone: what else counts as the end of a line may stand in a text of JSON.
    for number, line in enumerate(data.split(b"\n"), 1):
        bare = line.strip(b" \t\r")
        if bare:
            yield number, bare


@dataclass(slots=True)
class _Reading:
    """Read line after line.

    Args:
        folder: that of the file; schemas are read from it.
        contract: the caller's own.
    """

    folder: Path
    contract: Contract[object] | None
    faults: list[str] = field(default_factory=list[str])
    header: Fields | None = None
    contracts: dict[str, Contract[object]] = field(default_factory=dict[str, Contract[object]])
    name: str | None = None
    version: str | None = None
    sampling: Sampling = field(default_factory=Sampling)
    prompt_schema: PromptSchema | None = None
    opening: Opening = field(default_factory=Opening)
    cases: list[Case] = field(default_factory=list[Case])
    _met: dict[str, int] = field(default_factory=dict[str, int])
    _count: int = 0

    def take(self, number: int, line: bytes) -> None:
        """Read one line."""
        value = self._parsed(number, line)
        if value is None:
            return
        if HEADER_FIELD in value:
            self._take_header(number, value)
            return
        self._count += 1
        if self._count > MAX_CASES:
            if self._count == MAX_CASES + 1:
                self.faults.append(f"line {number}: a file has at most {MAX_CASES} cases")
            return
        case = read_case(value, number, self.opening, self.faults)
        if case is None:
            return
        first = self._met.setdefault(case.id, number)
        if first != number:
            self.faults.append(f"line {number}, /id: the case of line {first} has this id")
        self.cases.append(case)

    def suite(self, name: str) -> Suite[JsonValue] | None:
        """Return the suite of what was read; None where it has a fault, which is noted.

        Args:
            name: of a suite whose header gives none.
        """
        if self.contract is not None:
            self.contracts = {self.contract.name: self.contract}
        elif self.header is None:
            self.faults.append(f'there is no contract: give one, or a header {{"{HEADER_FIELD}": 1, "contract": …}}')
        if not self._count:
            self.faults.append("the file has no case")
        if self.faults:
            return None
        return Suite(
            name=self.name or name,
            version=self.version,
            cases=tuple(self.cases),
            contracts=cast("Mapping[str, Contract[JsonValue]]", self.contracts),
            sampling=self.sampling,
            prompt_schema=self.prompt_schema,
        )

    def _parsed(self, number: int, line: bytes) -> JsonObject | None:
        if len(line) > MAX_LINE_BYTES:
            self.faults.append(f"line {number}: is longer than {MAX_LINE_BYTES} bytes")
            return None
        found = strict_parse(line, nesting=MAX_LINE_NESTING)
        if not isinstance(found, Parsed):
            data = found.data
            column = data.get("position") if isinstance(data, dict) else None
            where = "" if column is None else f" at byte {cast(int, column) + 1}"
            self.faults.append(f"line {number}: {found.message}{where}")
            return None
        if not isinstance(found.value, dict):
            self.faults.append(f"line {number}: must be an object, found {kind_of(found.value)}")
            return None
        return found.value

    def _take_header(self, number: int, value: JsonObject) -> None:
        fields = Fields(value, number, self.faults)
        if self.header is not None or self._count:
            fields.fault("", "a header stands in the first line alone")
            return
        if value[HEADER_FIELD] != _VERSION or isinstance(value[HEADER_FIELD], bool):
            fields.fault(child("", HEADER_FIELD), f"must be {_VERSION}: this release knows no other form")
        fields.allow(HEADER_FIELDS)
        self.header = fields
        self.opening = read_opening(fields)
        self.name, self.version = fields.text("name"), fields.text("version")
        if self.name is not None:
            try:
                check_name("a name", self.name)
            except MisuseError as error:
                fields.fault("/name", str(error))
        self.sampling, self.prompt_schema = read_sampling(fields), read_prompt_schema(fields)
        if self.contract is None:
            self.contracts = self._contracts(fields)

    def _contracts(self, header: Fields) -> dict[str, Contract[object]]:
        found: dict[str, Contract[object]] = {}
        if header.has("contract") and header.has("contracts"):
            header.fault("/contracts", "a header has contract or contracts, not both")
        if not header.has("contract") and not header.has("contracts"):
            header.fault("/contract", "is missing; give a contract here, or beside the file")
        if header.has("contract"):
            made = self._contract(header, "/contract", header.raw("contract"), None)
            return {} if made is None else {made.name: made}
        for name, value in header.members("contracts").items():
            made = self._contract(header, child("/contracts", name), value, name)
            if made is not None:
                found[name] = made
        return found

    def _contract(self, header: Fields, pointer: str, value: JsonValue, name: str | None) -> Contract[object] | None:
        try:
            schema = self._schema(value)
            return cast("Contract[object]", Contract.json_schema(schema, name=name))
        except ContractError as error:
            header.fault(pointer + error.pointer, f"the contract cannot be built: {_first_line(error)}")
        except MisuseError as error:
            header.fault(pointer, _first_line(error))
        return None

    def _schema(self, value: JsonValue) -> JsonSchema:
        match value:
            case {"file": str(name), **rest} if not rest:
                return self._read_schema(name)
            case bool() | dict():
                return value
            case _:
                raise MisuseError(f'must be a JSON Schema or {{"file": …}}, found {kind_of(value)}')

    def _read_schema(self, name: str) -> JsonSchema:
        try:
            folder = self.folder.resolve()
            place = (folder / name).resolve()
            if not place.is_relative_to(folder):
                raise MisuseError("a schema's file must lie in the folder of the cases or below it")
            with place.open("rb") as file:
                data = file.read(MAX_LINE_BYTES + 1).removeprefix(_BYTE_ORDER_MARK)
        except (OSError, ValueError, RuntimeError) as error:  # a RuntimeError of links that lead in a circle
            reason = error.strerror if isinstance(error, OSError) and error.strerror else "no path of a file"
            raise MisuseError(f"the schema's file cannot be read: {reason}") from error
        if len(data) > MAX_LINE_BYTES:
            raise MisuseError(f"the schema's file is larger than {MAX_LINE_BYTES} bytes")
        found = strict_parse(data, nesting=2 * MAX_LINE_NESTING)
        if not isinstance(found, Parsed):
            raise MisuseError(f"the schema's file cannot be used: {found.message}")
        if not isinstance(found.value, bool | dict):
            raise MisuseError(f"the schema's file must hold a JSON Schema, found {kind_of(found.value)}")
        return found.value


def _first_line(error: CommitgateError) -> str:
    return str(error).split("\n", 1)[0]


__all__ = ["HEADER_FIELD", "HEADER_FIELDS", "MAX_FILE_BYTES", "MAX_LINE_BYTES", "MAX_LINE_NESTING", "read_cases"]

"""Have a type checker decide whether a function knows every ending: pyright, where it is installed.

A copy of the function's file is checked, in which the outcome is looked at right before it is told apart: where its
type is not known, types can decide nothing, and that is told.
"""

from __future__ import annotations

import ast
import json
import re
import shutil
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

import anyio

from commitgate.endings import ENDINGS
from commitgate.json_value import JsonObject, JsonValue

TYPES_TIMEOUT_S = 120.0
"""Seconds after which the type checker is stopped."""

_COPY = "checked_copy.py"
_KNOWN = re.compile(r'Type of "[^"]*" is "(?P<type>.+)"', re.DOTALL)
_WRONG = frozenset({"reportMatchNotExhaustive", "reportArgumentType", "reportCallIssue", "reportAttributeAccessIssue"})
_NAMES = {kind.__name__: name for name, kind in ENDINGS.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeVerdict:
    """Say what the type checker found.

    Attributes:
        checker: its name and version; None where it is not installed, or could not run.
        reason: why it decided nothing; empty where it decided.
        missing: endings of which it says that no branch takes them.
        faults: further things that it says about the function, each with its line; its words hold no payload.
    """

    checker: str | None = None
    reason: str = ""
    missing: frozenset[str] = frozenset()
    faults: tuple[str, ...] = ()

    @property
    def has_decided(self) -> bool:
        """Say whether types were known well enough to decide."""
        return self.checker is not None and not self.reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """Name what is to be checked.

    Attributes:
        file: the function's file.
        text: what stands in it.
        tree: the function's definition there.
        subject: the variable that holds the outcome.
        line: of the statement that tells endings apart.
        package: the package of its module, to which relative imports are meant; None of a file by itself.
    """

    file: Path
    text: str
    tree: ast.FunctionDef | ast.AsyncFunctionDef
    subject: str
    line: int
    package: str | None


async def type_verdict(checked: Checked) -> TypeVerdict:
    """Return what pyright makes of a function's branches. Starts a process and waits for it, two minutes at most."""
    command = _command()
    if command is None:
        return TypeVerdict(reason="pyright is not installed")
    with TemporaryDirectory(prefix="commitgate-types-") as folder:
        _write(Path(folder), checked)
        told = await _run([*command, "-p", folder, "--outputjson"])
    if told is None:
        return TypeVerdict(reason="pyright could not be run to its end")
    return _read(told, checked)


def _command() -> list[str] | None:
    if find_spec("pyright") is not None:
        return [sys.executable, "-m", "pyright"]
    found = shutil.which("pyright")
    return None if found is None else [found]


def _write(folder: Path, checked: Checked) -> None:
    lines = checked.text.splitlines(keepends=True)
    indent = re.match(r"\s*", lines[checked.line - 1])
    lines.insert(checked.line - 1, f"{indent.group() if indent else ''}reveal_type({checked.subject})\n")
    text = "".join(lines)
    if checked.package:
        text = _absolute(text, checked.package)
    (folder / _COPY).write_text(text, encoding="utf-8")
    settings = {
        "include": [_COPY],
        "typeCheckingMode": "standard",
        "reportMatchNotExhaustive": "error",
        "extraPaths": [str(checked.file.parent), str(Path.cwd())],
    }
    (folder / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")


def _absolute(text: str, package: str) -> str:
    """Return a text in which relative imports name the package: a copy lies elsewhere."""

    def written(found: re.Match[str]) -> str:
        dots, rest = found["dots"], found["rest"]
        parts = package.split(".")
        base = ".".join(parts[: len(parts) - len(dots) + 1])
        return f"{found['from']}{base}.{rest}" if rest else f"{found['from']}{base}"

    return re.sub(r"(?m)(?P<from>^\s*from\s+)(?P<dots>\.+)(?P<rest>[\w.]*)(?=\s+import\b)", written, text)


async def _run(command: list[str]) -> JsonObject | None:
    with anyio.move_on_after(TYPES_TIMEOUT_S):
        try:
            done = await anyio.run_process([*command, "--pythonpath", sys.executable], check=False)
            found = cast("JsonValue", json.loads(done.stdout))
        except (OSError, ValueError):
            return None
        return found if isinstance(found, dict) else None
    return None


def _read(told: JsonObject, checked: Checked) -> TypeVerdict:
    checker = f"pyright {told.get('version', '')}".strip()
    found = told.get("generalDiagnostics")
    notes = [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []
    first, last = checked.tree.lineno, (checked.tree.end_lineno or checked.tree.lineno) + 1
    here = [each for each in notes if first <= _line(each) <= last]
    types = [match["type"] for each in here if (match := _KNOWN.match(_message(each))) is not None]
    if not types:
        return TypeVerdict(checker=checker, reason="the type checker could not read the function's file")
    if not any(re.search(rf"\b{name}\b", types[0]) for name in _NAMES):
        reason = f"the type of {checked.subject} is not known as an Outcome: annotate it Outcome[T, R]"
        return TypeVerdict(checker=checker, reason=reason)
    missing: set[str] = set()
    faults: list[str] = []
    for each in here:
        if each.get("rule") not in _WRONG:
            continue
        named = _named(_message(each)) if _is_of_branches(each) else set[str]()
        missing |= named
        if not named:
            # The line of the copy is one further down behind what was put in.
            line = _line(each) - (_line(each) > checked.line)
            faults.append(f"{checked.file.name}:{line}: {each.get('rule')}")
    # What it is not said to be at all has no branch to lack, but may come all the same.
    narrow = {name for kind, name in _NAMES.items() if not re.search(rf"\b{kind}\b", types[0])}
    missing |= narrow if len(narrow) < len(_NAMES) and "Outcome" not in types[0] else set()
    return TypeVerdict(checker=checker, missing=frozenset(missing), faults=tuple(faults))


def _is_of_branches(note: JsonObject) -> bool:
    return note.get("rule") == "reportMatchNotExhaustive" or "Never" in _message(note)


def _named(message: str) -> set[str]:
    return {name for kind, name in _NAMES.items() if re.search(rf'"[^"]*\b{kind}\b', message)}


def _message(note: JsonObject) -> str:
    return str(note.get("message", ""))


def _line(note: JsonObject) -> int:
    """Return the line of a note, from 1."""
    span = note.get("range")
    start = span.get("start") if isinstance(span, dict) else None
    line = start.get("line") if isinstance(start, dict) else None
    return line + 1 if isinstance(line, int) else 0


__all__ = ["TYPES_TIMEOUT_S", "Checked", "TypeVerdict", "type_verdict"]

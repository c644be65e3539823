"""Load the official JSON-Schema-Test-Suite.

Its folder, which holds ``tests/`` and ``remotes/``, comes from ``COMMITGATE_JSON_SCHEMA_TEST_SUITE``, else from
``../shared/data/json-schema-test-suite`` beside the repository.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema_specifications import REGISTRY

VARIABLE = "COMMITGATE_JSON_SCHEMA_TEST_SUITE"
DEFAULT_FOLDER = Path(__file__).parents[3] / "shared" / "data" / "json-schema-test-suite"
REMOTES = "http://localhost:1234/"
"""Where the suite's schemas say that its remotes lie."""

DRAFTS = {
    "draft4": "http://json-schema.org/draft-04/schema#",
    "draft6": "http://json-schema.org/draft-06/schema#",
    "draft7": "http://json-schema.org/draft-07/schema#",
    "draft2019-09": "https://json-schema.org/draft/2019-09/schema",
    "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
}

ASSERTING = "optional/format-assertion.json"
"""Beside ``optional/format/``, the file whose tests want formats to be asserted."""


@dataclass(frozen=True, slots=True)
class Group:
    """Hold one schema with its tests.

    Attributes:
        file: path below the draft's folder.
        name: the group's description; unique in its file.
        schema: with ``$schema``, as the folder says it.
        tests: for each its description, unique in the group, its instance's text and whether it is valid.
    """

    file: str
    name: str
    schema: Any
    tests: tuple[tuple[str, bytes, bool], ...]

    @property
    def part(self) -> str:
        """Return ``required``, ``optional`` or ``format``."""
        if self.file.startswith("optional/format/"):
            return "format"
        return "optional" if self.file.startswith("optional/") else "required"

    @property
    def formats(self) -> str:
        """Return whether the group's tests want formats to be asserted: ``assert`` or ``annotate``."""
        return "assert" if self.part == "format" or self.file == ASSERTING else "annotate"

    @property
    def documents(self) -> dict[str, Any]:
        """Return what its references may lead to; nothing where it names nothing outside itself."""
        text = json.dumps(self.schema)
        is_self_contained = REMOTES not in text and text.count("json-schema.org/draft") <= 1
        return {} if is_self_contained else documents()


def folder() -> Path | None:
    """Return the suite's folder, None where there is none."""
    found = Path(os.environ.get(VARIABLE) or DEFAULT_FOLDER)
    return found if (found / "tests").is_dir() else None


def groups(draft: str) -> Iterator[Group]:
    """Yield the groups of a draft, by file."""
    root = _folder() / "tests" / draft
    for path in sorted(root.rglob("*.json")):
        seen: dict[str, int] = {}
        for given in json.loads(path.read_text(encoding="utf-8")):
            schema = given["schema"]
            if isinstance(schema, dict) and "$schema" not in schema:
                schema = {"$schema": DRAFTS[draft], **schema}
            name = _distinct(given["description"], seen)
            yield Group(path.relative_to(root).as_posix(), name, schema, _tests(given["tests"]))


def _tests(given: list[Any]) -> tuple[tuple[str, bytes, bool], ...]:
    seen: dict[str, int] = {}
    return tuple(
        (_distinct(test["description"], seen), json.dumps(test["data"]).encode(), test["valid"]) for test in given
    )


def _distinct(name: str, seen: dict[str, int]) -> str:
    seen[name] = seen.get(name, 0) + 1
    return name if seen[name] == 1 else f"{name} ({seen[name]})"


@cache
def documents() -> dict[str, Any]:
    """Return the suite's remotes and the drafts' meta-schemas, by URI."""
    root = _folder() / "remotes"
    found: dict[str, Any] = {uri.rstrip("#"): REGISTRY.contents(uri) for uri in REGISTRY}
    for path in root.rglob("*.json"):
        found[REMOTES + path.relative_to(root).as_posix()] = json.loads(path.read_text(encoding="utf-8"))
    return found


def _folder() -> Path:
    found = folder()
    assert found is not None, f"set {VARIABLE}"
    return found

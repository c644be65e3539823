"""The page on the protocol says what the code does."""

from dataclasses import fields
from pathlib import Path
from typing import get_args

import pytest
from starlette.routing import Route

from commitgate.backends.base import DeadEndReached, Fault, FaultKind
from commitgate.gate import strict_parse
from commitgate.testing import ScriptedBackend
from commitgate_local.server.app import create_app
from commitgate_local.server.chat_request import EMPTY, HONOURED, IGNORED, MODALITIES, NEUTRAL, NOT_OFFERED
from commitgate_local.server.model_list import ServedModel
from commitgate_local.server.refusal import (
    RequestRefused,
    bad_request,
    cut_off,
    ended_early,
    key_in_progress,
    key_reused,
    of_dead_end,
    of_fault,
    overloaded,
    too_large,
    unknown_model,
    wrong_key,
)
from commitgate_local.server.server_limits import ServerLimits

PAGE = (Path(__file__).parents[2] / "docs" / "server-protocol.md").read_text(encoding="utf-8")
SOURCE = Path(__file__).parents[2] / "local_backend" / "commitgate_local" / "server"


def rows(heading: str) -> list[list[str]]:
    """Return the cells of the first table below a heading, without its first two lines."""
    section = PAGE.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_table_of_paths_is_that_of_the_app() -> None:
    documented = {row[0].strip("`"): row[1] for row in rows("Paths")}
    app = create_app(ScriptedBackend([]), models=[ServedModel(name="local", created=0)])
    routes = [route for route in app.routes if isinstance(route, Route)]
    assert documented == {route.path: next(iter({"POST", "GET"} & (route.methods or set()))) for route in routes}


def test_table_of_fields_is_that_of_the_code() -> None:
    documented = {row[0].strip("`"): row[1] for row in rows("Fields of a request")}
    assert documented.pop("every other") == "refused"
    expected = dict.fromkeys(HONOURED, "honoured") | dict.fromkeys(IGNORED, "ignored")
    expected |= dict.fromkeys([*NEUTRAL, *EMPTY, MODALITIES], "refused unless") | dict.fromkeys(NOT_OFFERED, "refused")
    assert documented == expected


def test_values_that_are_taken_are_those_of_the_code() -> None:
    documented = {row[0].strip("`"): row[2] for row in rows("Fields of a request") if row[1] == "refused unless"}
    for name, values in NEUTRAL.items():
        spelled = [str(value).lower() if isinstance(value, bool) else str(value) for value in values]
        assert documented[name] == ", ".join(f"`{each}`" for each in spelled)
    assert all(documented[name].startswith("empty") for name in EMPTY)


def test_table_of_limits_is_that_of_the_code() -> None:
    documented = {row[0].strip("`"): float(row[1].replace(",", "")) for row in rows("Limits")}
    limits = ServerLimits()
    assert documented == {
        entry.name: getattr(limits, entry.name) for entry in fields(ServerLimits) if entry.name != "contract"
    }


CODES = {word.strip("` "): int(row[0]) for row in rows("Errors") for word in row[1].split(",")}


def test_codes_on_the_page_are_in_the_code() -> None:
    files = [*SOURCE.glob("*.py"), Path(strict_parse.__file__)]
    code = "".join(path.read_text(encoding="utf-8") for path in files)
    assert {word for word in CODES if f'"{word}"' not in code} == set()


@pytest.mark.parametrize("kind", get_args(FaultKind))
def test_faults_are_on_the_page(kind: FaultKind) -> None:
    error = of_fault(Fault(kind, "it failed"))
    assert CODES[error.code] == error.status


@pytest.mark.parametrize(
    "error",
    [
        *(wrong_key(), unknown_model(), too_large("m"), key_in_progress(), key_reused(), overloaded(), cut_off(1)),
        *(ended_early(), bad_request("m"), of_dead_end(DeadEndReached("schema", 1, "a digit"))),
    ],
    ids=lambda error: error.code,
)
def test_refusals_of_the_server_are_on_the_page(error: RequestRefused) -> None:
    assert CODES[error.code] == error.status

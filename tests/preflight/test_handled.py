"""Is there a handler for each ending in the caller's code? Told by types where they are known, else by names."""

import functools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from preflight import handlers_of_callers as callers

from commitgate.endings import ENDINGS
from commitgate.preflight.handled_check import handled_check
from commitgate.python_object import load_object

pytestmark = pytest.mark.anyio

FAILED = set(ENDINGS) - {"committed"}
WHOLE = "each of 16 endings has a branch of its own"


@pytest.mark.parametrize(
    ("handlers", "verdict", "told"),
    [
        (None, "warned", "nobody looked"),
        (callers.HANDLERS, "passed", "one function for each of 16 endings"),
        (callers.NO_HANDLERS, "failed", "a int is neither"),
        (lambda outcome: None, "failed", "neither a Handlers nor a function whose code can be read"),
        (len, "failed", "a builtin_function_or_method is neither"),
        (callers.whole, "passed", WHOLE),
        (callers.lacking_in_the_end, "failed", "in_doubt has no handler"),
        (callers.never_said, "failed", "committed has no handler"),
        (callers.grouped, "warned", "1 of 16 endings have a branch of their own, 15 are taken together"),
        (callers.swallowing, "warned", "2 of 16 endings have a branch of their own, 14 are taken together"),
        (callers.falling_through, "warned", "2 of 16 endings have a branch of their own, 14 are taken together"),
        (callers.narrowing_within, "passed", WHOLE),
        (callers.with_guard, "warned", "14 of 16 endings have a branch of their own, 2 are taken together"),
        (callers.unwrapping, "warned", "1 of 16 endings have a branch of their own, 15 leave as exceptions"),
        (callers.catching, "warned", "3 of 16 endings have a branch of their own, 13 leave as exceptions"),
        (callers.catching_all, "warned", "2 of 16 endings have a branch of their own, 14 are taken together"),
        (callers.by_word, "warned", "3 of 16 endings have a branch of their own, 13 are taken together"),
        (callers.untyped, "passed", WHOLE),
        (callers.calling, "warned", "1 of 16 endings have a branch of their own, 15 leave as exceptions"),
        (callers.telling_nothing, "failed", "nothing in telling_nothing tells endings apart"),
        (callers.DESK.take, "passed", WHOLE),
        (functools.partial(callers.whole), "passed", WHOLE),
    ],
    ids=str,
)
async def test_names_in_branches_tell_what_is_handled(handlers: Any, verdict: str, told: str) -> None:
    found = await handled_check(handlers, types=False)
    assert (found.verdict, told in found.found) == (verdict, True), found


async def test_ending_that_is_left_to_what_follows_is_its_own() -> None:
    # in_doubt is the only one that is left behind the match.
    found = await handled_check(callers.lacking, types=False)
    assert (found.verdict, WHOLE in found.found) == ("passed", True)


async def test_branch_that_does_nothing_fails_and_names_what_it_passes_over() -> None:
    found = await handled_check(callers.silent, types=False)
    assert found.verdict == "failed"
    assert "are passed over without a word" in found.found
    assert "truncated" in found.found
    assert "refused" not in found.found
    assert "and does nothing" in found.places[0]


async def test_what_is_swallowed_is_told_by_its_line_and_names() -> None:
    found = await handled_check(callers.swallowing, types=False)
    (place,) = found.places
    assert place.startswith("handlers_of_callers.py:")
    named = place.partition("takes ")[2].removesuffix(" together").split(", ")
    assert set(named) == FAILED - {"refused"}


async def test_what_goes_through_as_an_exception_is_told() -> None:
    found = await handled_check(callers.catching, types=False)
    (place,) = found.places
    assert set(place.partition("raises ")[2].split(", ")) == FAILED - {"refused", "in_doubt"}


@pytest.mark.parametrize(
    ("handlers", "verdict", "told", "way"),
    [
        (callers.whole, "passed", WHOLE, "by types (pyright"),
        (callers.lacking_in_the_end, "failed", "in_doubt has no handler", "by types (pyright"),
        (callers.lacking, "failed", "in_doubt has no handler", "by types (pyright"),
        (callers.with_guard, "failed", "refused, invalid have no handler", "by types (pyright"),
        (callers.narrow, "failed", "filtered, truncated, cancelled", "by types (pyright"),
        (callers.calling, "warned", "15 leave as exceptions", "by types (pyright"),
        (callers.untyped, "passed", WHOLE, "annotate it Outcome[T, R]"),
        (callers.by_word, "warned", "13 are taken together", "of which types know nothing"),
    ],
    ids=str,
)
async def test_types_decide_where_they_are_known(
    handlers: Callable[..., Any], verdict: str, told: str, way: str
) -> None:
    found = await handled_check(handlers)
    assert (found.verdict, told in found.found, way in found.found) == (verdict, True, True), found


async def test_types_are_known_through_relative_imports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "desk_of_tests" / "inner"
    make(folder.parent, "names.py", "from commitgate import Outcome as Ended\n")
    make(folder, "other.py", "from commitgate import Committed as Done, Ending as Lost\n")
    text = (
        "from ..names import Ended\nfrom .other import Done, Lost\nfrom . import other\n\n"
        "def take(outcome: Ended[int, None]) -> str:\n"
        "    match outcome:\n        case Done():\n            return 'done'\n"
        "        case other.Lost():\n            return 'lost'\n"
    )
    make(folder, "desk.py", text)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    found = await handled_check(load_object("desk_of_tests.inner.desk:take", what="it"))
    for name in [name for name in sys.modules if name.startswith("desk_of_tests")]:
        del sys.modules[name]
    assert found.verdict == "warned"
    assert "15 are taken together (by types (pyright" in found.found


def make(folder: Path, name: str, text: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "__init__.py").touch()
    (folder / name).write_text(text)


async def test_missing_type_checker_is_told_and_names_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("commitgate.preflight.ending_types.find_spec", lambda name: None)
    monkeypatch.setenv("PATH", "/nowhere")
    found = await handled_check(callers.whole)
    assert found.verdict == "passed"
    assert "by the names in the branches of whole, as pyright is not installed" in found.found

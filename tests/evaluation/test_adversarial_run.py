"""The adversarial set passes on a backend that keeps every law, and each backend that breaks one is caught."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from typing import Any

import anyio
import pytest
from evaluation.adversarial_backends import (
    Breaks,
    CallsCutWhole,
    DropsConstraint,
    FinishesTwice,
    IsGone,
    NeverFinishes,
    Obedient,
    TalksOn,
    WritesAnother,
)

from commitgate.errors import MisuseError, ModelLoadError
from commitgate.evaluation.adversarial import AdversarialReport, report_lines, run_adversarial
from commitgate.evaluation.adversarial.check import GROUPS

pytestmark = pytest.mark.anyio

CANARY = "CANARY-a1b2"


async def run(backend: Any, *only: str, **options: Any) -> AdversarialReport:
    return await run_adversarial("under_test/m", backends={"under_test": backend}, only=only or None, **options)


def reasons(report: AdversarialReport) -> set[str]:
    return {each.reason for each in report.of("failed")}


async def test_backend_that_keeps_every_law_passes_them_all() -> None:
    report = await run(Obedient())
    assert [(each.id, each.reason) for each in report.of("failed")] == []
    assert report.has_passed
    assert set(report.counts) == set(GROUPS)
    assert {each.group for each in report.of("skipped")} == {"changes"}
    assert (report.backend, report.model_revision) == ("obedient", "1")


@pytest.mark.parametrize(
    ("make", "only", "words"),
    [
        (DropsConstraint, ["values/order", "values/text_quotes"], "the constraint forbids"),
        (WritesAnother, ["values/order", "content/order_add_field"], "the constraint forbids"),
        (WritesAnother, ["content/contradiction"], "the constraint forbids"),
        (CallsCutWhole, ["streams/max_tokens_3"], "had to end as truncated"),
        (TalksOn, ["streams/order_whole", "values/order"], "TextDelta followed the finish"),
        (FinishesTwice, ["streams/order_whole"], "Finish followed the finish"),
        (NeverFinishes, ["values/order", "streams/repeated"], "disconnected"),
        (NeverFinishes, ["streams/order_whole"], "came to no finish"),
        (Breaks, ["values/order", "streams/raced"], "ZeroDivisionError was raised"),
    ],
)
async def test_backend_that_breaks_a_law_is_caught(
    make: Callable[[], Obedient], only: Collection[str], words: str
) -> None:
    report = await run(make(), *only)
    assert {each.id for each in report.of("failed")} == set(only)
    assert all(words in f"{each.reason} {each.ending}" for each in report.results)


@pytest.mark.parametrize("make", [DropsConstraint, WritesAnother, Breaks])
async def test_nothing_that_a_model_wrote_stands_in_a_report(make: Callable[[], Obedient]) -> None:
    report = await run(make(), "values", "content")
    told = json.dumps(report.to_json()) + "\n".join(report_lines(report)) + repr(report)
    assert report.of("failed")
    assert CANARY not in told
    assert "ADMIN" not in told.upper().replace("ADDRESS", "")


async def test_backend_that_dies_ends_the_run_with_what_it_has() -> None:
    report = await run(IsGone(2), "values")
    assert len(report.of("passed")) == 2
    assert ["the backend is gone" in problem for problem in report.problems] == [True]
    assert any("not whole" in each.reason for each in report.of("skipped"))
    assert not report.has_passed


async def test_run_that_is_stopped_returns_what_it_has() -> None:
    stop, done = anyio.Event(), list[int]()

    def told(number: int, planned: int, left_s: float | None) -> None:
        del planned, left_s
        done.append(number)
        if number == 3:
            stop.set()

    report = await run(Obedient(), "values", told=told, stop=stop)
    assert len(report.of("passed")) == 3
    assert report.problems == ("it was stopped",)
    assert done[-1] == len(report.results)


async def test_who_is_told_and_raises_ends_no_run() -> None:
    def told(number: int, planned: int, left_s: float | None) -> None:
        raise ValueError("no")

    report = await run(Obedient(), "values/null", "values/false", told=told)
    assert len(report.of("passed")) == 2
    assert "ValueError" in report.problems[0]


class CannotLoad(Obedient):
    """Have no model from some request on."""

    def __init__(self, served: int) -> None:
        self._left = served

    def open(self, request: Any) -> Any:
        self._left -= 1
        if self._left < 0:
            raise ModelLoadError("there is no model")
        return super().open(request)


async def test_model_that_cannot_be_had_is_an_error_before_anything_was_tried() -> None:
    with pytest.raises(ModelLoadError):
        await run(CannotLoad(0), "values")


async def test_model_that_cannot_be_had_any_more_ends_the_run() -> None:
    report = await run(CannotLoad(1), "values")
    assert len(report.of("passed")) == 1
    assert "ModelLoadError" in report.problems[0]


async def test_wrong_arguments_are_told_before_anything_is_tried() -> None:
    with pytest.raises(MisuseError, match="call_s"):
        await run(Obedient(), call_s=0)
    with pytest.raises(MisuseError, match="no check and no group"):
        await run(Obedient(), "nothing")
    with pytest.raises(MisuseError, match="there is no backend"):
        await run_adversarial("nobody/m")

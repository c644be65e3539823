"""Runs: bounds, progress, what ends them early, and what is kept when they do."""

from __future__ import annotations

import asyncio
import json
import os
import resource
from pathlib import Path
from typing import Any

import anyio
import pytest
from evaluation.suites import RIGHT, Answering, case, run_suite, said, suite_of, without_times

from commitgate.backends.base import BackendIdentity, GenerationRequest
from commitgate.errors import MisuseError, ModelLoadError, RunStoreError, UnknownModelError
from commitgate.evaluation import compare, dump_run, evaluate, read_run
from commitgate.evaluation.store import read_store
from commitgate.testing import ScriptedBackend

pytestmark = pytest.mark.anyio

FULL = Path("/dev/full")
CASES = tuple(case(name) for name in "abcdef")


class Gauge:
    """Answer rightly, and note how many requests are open at once; the first so many wait for each other."""

    name = "gauge"

    def __init__(self, until: int) -> None:
        self.open_now = self.most = 0
        self._until = until
        self._met = anyio.Event()
        self._backend = ScriptedBackend([{"wait": self._met}, *said(RIGHT)])

    def open(self, request: GenerationRequest) -> Any:
        self.open_now = self._backend.open_streams + 1
        self.most = max(self.most, self.open_now)
        if self.open_now >= self._until:
            self._met.set()
        return self._backend.open(request)

    async def aclose(self) -> None:
        pass


async def test_as_many_trials_run_at_once_as_are_allowed_and_no_more() -> None:
    gauge = Gauge(until=3)
    with anyio.fail_after(30):
        run = await run_suite(suite_of(*CASES), backend=gauge, concurrency=3)
    assert gauge.most == 3
    assert run.is_complete


async def test_records_stand_in_the_order_of_the_cases_whatever_ends_first() -> None:
    release = anyio.Event()
    backend = Answering({"pay a": [[{"wait": release}, *said(RIGHT)]]})

    def told(done: int, _planned: int, _left: float | None) -> None:
        if done == 5:
            release.set()

    with anyio.fail_after(30):
        run = await run_suite(suite_of(*CASES), backend=backend, concurrency=2, told=told)
    assert [record.case_id for record in run.records] == list("abcdef")


async def test_progress_is_told_from_none_to_all_with_the_time_that_is_left() -> None:
    told: list[tuple[int, int, float | None]] = []
    await run_suite(suite_of(*CASES[:3]), told=lambda *each: told.append(each))
    assert [each[:2] for each in told] == [(0, 3), (1, 3), (2, 3), (3, 3)]
    assert told[0][2] is None
    assert told[-1][2] == 0.0


async def test_progress_that_raises_is_left_out_and_told_of() -> None:
    calls: list[int] = []

    def told(done: int, _planned: int, _left: float | None) -> None:
        calls.append(done)
        raise KeyError

    run = await run_suite(suite_of(*CASES), told=told)
    assert calls == [0]
    assert run.is_complete
    assert run.problems == ("what was told of the progress raised KeyError, and was told no more",)


async def test_dead_backend_ends_the_run_with_what_it_has() -> None:
    scripts = [said(RIGHT), *([[{"fault": "auth"}]] * 9)]
    run = await run_suite(suite_of(*CASES), *scripts, dead_after=3)
    assert [record.outcome for record in run.records] == ["committed", "unavailable", "unavailable", "unavailable"]
    assert not run.is_complete
    assert run.problems == (
        "stopped with 4 of 6 records: the backend did not serve 3 trials in a row, the last one as unavailable.auth: "
        "it counts as dead",
    )


async def test_backend_that_raises_counts_as_dead_too() -> None:
    run = await run_suite(suite_of(*CASES), [{"raise": OSError("gone")}], dead_after=2)
    assert len(run.records) == 2
    assert "the last one as OSError" in run.problems[0]


async def test_what_an_error_of_this_library_says_is_told_once_with_what_to_do() -> None:
    raised = ModelLoadError("the model cannot be found; run commitgate models pull")
    run = await run_suite(suite_of(*CASES), [{"raise": raised}], dead_after=2)
    assert run.problems == (
        "stopped with 2 of 6 records: the backend did not serve 2 trials in a row, the last one as ModelLoadError: "
        "it counts as dead",
        "case a raised ModelLoadError: the model cannot be found; run commitgate models pull",
    )


async def test_what_another_error_says_is_not_told() -> None:
    run = await run_suite(suite_of(*CASES), [{"raise": OSError("secret")}], dead_after=2)
    assert "secret" not in repr(run)


async def test_count_of_tokens_that_nobody_can_have_written_is_not_known() -> None:
    script = [{"text": RIGHT}, {"usage": [10**400, 10**9 + 1]}, {"finish": "stop"}]
    run = await run_suite(suite_of(), script)
    assert run.records[0].usage.output_tokens is None
    assert compare(run, run).pairs == 1


async def test_kept_run_can_be_read_back_whole_or_cut_short(tmp_path: Path) -> None:
    store = tmp_path / "run.jsonl"
    await run_suite(suite_of(*CASES), store=store, most_failures=2, backend=ScriptedBackend(said("no")))
    short = await anyio.to_thread.run_sync(read_run, store)
    assert (len(short.records), short.planned, short.problems) == (2, 6, ("2 of 6 records are there",))
    whole = await run_suite(suite_of(*CASES), store=store)
    assert (await anyio.to_thread.run_sync(read_run, store)).records == whole.records
    written = anyio.Path(tmp_path / "run.json")
    await written.write_bytes(dump_run(whole))
    assert await anyio.to_thread.run_sync(read_run, written) == whole
    assert compare(short, whole).pairs == 2


async def test_backend_that_serves_now_and_then_is_not_dead() -> None:
    scripts = [[{"fault": "auth"}], said(RIGHT), [{"fault": "auth"}], said(RIGHT), [{"fault": "auth"}], said(RIGHT)]
    run = await run_suite(suite_of(*CASES), *scripts, dead_after=2)
    assert run.is_complete
    assert run.problems == ()


async def test_answers_that_are_wrong_do_not_make_a_backend_dead() -> None:
    run = await run_suite(suite_of(*CASES), said("no JSON"), dead_after=2)
    assert run.is_complete


async def test_run_stops_after_as_many_failures_as_are_allowed() -> None:
    run = await run_suite(suite_of(*CASES), said("no JSON"), most_failures=2)
    assert len(run.records) == 2
    assert run.problems == ("stopped with 2 of 6 records: 2 trials did not come through, as many as were allowed",)


async def test_run_that_is_asked_to_stop_returns_what_it_has() -> None:
    stop = anyio.Event()
    backend = Answering({"pay c": [[{"wait": None}]]})

    def told(done: int, _planned: int, _left: float | None) -> None:
        if done == 2:
            stop.set()

    with anyio.fail_after(30):
        run = await run_suite(suite_of(*CASES), backend=backend, told=told, stop=stop)
    assert [record.case_id for record in run.records] == ["a", "b"]
    assert run.problems == ("stopped with 2 of 6 records: it was asked to stop",)


async def test_cancelled_run_stores_what_is_done_and_passes_the_cancellation_on(tmp_path: Path) -> None:
    store = tmp_path / "run.jsonl"
    backend = Answering({"pay c": [[{"wait": None}]]})
    with anyio.CancelScope() as scope:

        def told(done: int, _planned: int, _left: float | None) -> None:
            if done == 2:
                scope.cancel()

        await run_suite(suite_of(*CASES), backend=backend, told=told, store=store)
        pytest.fail("the cancellation was kept")
    assert scope.cancelled_caught
    assert [record.case_id for record in read_store(store).records] == ["a", "b"]
    run = await run_suite(suite_of(*CASES), store=store)
    assert run.is_complete


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_natively_cancelled_run_stores_what_is_done(tmp_path: Path, anyio_backend: str) -> None:
    store = tmp_path / "run.jsonl"
    backend = Answering({"pay c": [[{"wait": None}]]})
    task: asyncio.Task[Any]

    def told(done: int, _planned: int, _left: float | None) -> None:
        if done == 2:
            task.cancel()

    task = asyncio.create_task(run_suite(suite_of(*CASES), backend=backend, told=told, store=store))  # pyright: ignore[reportArgumentType] - a coroutine
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [record.case_id for record in read_store(store).records] == ["a", "b"]


async def test_run_goes_on_where_it_stopped_and_asks_nothing_twice(tmp_path: Path) -> None:
    store = tmp_path / "run.jsonl"
    first = await run_suite(suite_of(*CASES), said("no JSON"), store=store, most_failures=2)
    assert len(first.records) == 2
    begun = first.started.replace(first.started[:4], "2001")
    await anyio.Path(store).write_bytes(
        (await anyio.Path(store).read_bytes()).replace(first.started.encode(), begun.encode())
    )
    backend = ScriptedBackend(said("no JSON"))
    whole = await run_suite(suite_of(*CASES), backend=backend, store=store)
    assert len(backend.requests) == 4
    alone = await run_suite(suite_of(*CASES), said("no JSON"))
    assert [without_times(each) for each in whole.records] == [without_times(each) for each in alone.records]
    assert whole.started == begun
    assert whole.wall_s > first.wall_s


async def test_trials_that_a_dead_backend_did_not_serve_are_made_again(tmp_path: Path) -> None:
    store = tmp_path / "run.jsonl"
    await run_suite(suite_of(*CASES), said(RIGHT), [{"fault": "auth"}], store=store, dead_after=2)
    backend = ScriptedBackend(said(RIGHT))
    run = await run_suite(suite_of(*CASES), backend=backend, store=store)
    assert [record.outcome for record in run.records] == ["committed"] * 6
    assert len(backend.requests) == 5


async def test_failures_of_a_backend_that_is_not_dead_are_results(tmp_path: Path) -> None:
    store = tmp_path / "run.jsonl"
    await run_suite(suite_of(*CASES), said(RIGHT), [{"fault": "auth"}], store=store, dead_after=None)
    assert len(read_store(store).records) == 6


async def test_store_of_another_run_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    store = tmp_path / "run.jsonl"
    await run_suite(suite_of(*CASES), store=store)
    before = store.read_bytes()
    for changed, differs in (
        (suite_of(*CASES[:2]), ("suite_digest",)),
        (suite_of(*CASES, least_score=0.9), ("settings",)),
    ):
        with pytest.raises(RunStoreError) as refused:
            await run_suite(changed, store=store)
        assert refused.value.differs == differs
    with pytest.raises(RunStoreError, match="settings differ"):
        await run_suite(suite_of(*CASES), store=store, repetitions=2)
    assert store.read_bytes() == before


async def test_second_run_on_the_same_store_is_refused(tmp_path: Path) -> None:
    store = tmp_path / "run.jsonl"
    asked, release = anyio.Event(), anyio.Event()

    class Held(Answering):
        def open(self, request: GenerationRequest) -> Any:
            asked.set()
            return super().open(request)

    backend = Held({"pay a": [[{"wait": release}, *said(RIGHT)]]})
    with anyio.fail_after(30):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: run_suite(suite_of(*CASES), backend=backend, store=store))
            await asked.wait()
            with pytest.raises(RunStoreError, match="in use"):
                await run_suite(suite_of(*CASES), store=store)
            release.set()
    assert len(read_store(store).records) == 6


class Revised:
    """Answer as one revision after another."""

    name = "revised"

    def __init__(self, *revisions: str) -> None:
        self._revisions = list(revisions)

    def open(self, request: GenerationRequest) -> Any:
        revision = self._revisions.pop(0) if len(self._revisions) > 1 else self._revisions[0]
        return _Renamed(ScriptedBackend(said(RIGHT)).open(request), revision)

    async def aclose(self) -> None:
        pass


class _Renamed:
    def __init__(self, inner: Any, revision: str) -> None:
        self._inner = inner
        self.identity = BackendIdentity(backend="revised", model="m", model_revision=revision)

    async def __aenter__(self) -> Any:
        self._stream = await self._inner.__aenter__()
        return self

    async def __aexit__(self, *raised: Any) -> Any:
        return await self._inner.__aexit__(*raised)

    def __aiter__(self) -> Any:
        return aiter(self._stream)


async def test_model_that_is_changed_in_the_middle_is_told_of() -> None:
    run = await run_suite(suite_of(*CASES), backend=Revised("1", "1", "2"))
    assert run.is_complete
    assert run.problems == (
        "what answered changed during the run (model_revision): its rates are those of 2 models together",
    )
    assert [record.model_revision for record in run.records] == ["1", "1", "2", "2", "2", "2"]
    assert run.receipt_facts["model_revision"] == "1"


async def test_model_that_was_changed_between_two_parts_is_told_of(tmp_path: Path) -> None:
    store = tmp_path / "run.jsonl"
    stop = anyio.Event()
    stopped = await run_suite(
        suite_of(*CASES), backend=Revised("1"), store=store, stop=stop, told=lambda done, *_: done == 2 and stop.set()
    )
    assert len(stopped.records) < 6
    run = await run_suite(suite_of(*CASES), backend=Revised("2"), store=store)
    assert "what answered changed" in run.problems[0]


async def test_store_that_cannot_be_written_any_more_ends_the_run_with_what_it_has(tmp_path: Path) -> None:
    store = tmp_path / "run.jsonl"
    before = resource.getrlimit(resource.RLIMIT_FSIZE)

    def told(done: int, _planned: int, _left: float | None) -> None:
        if done == 2:
            # As if no space were left: no file may grow past what this one has.
            resource.setrlimit(resource.RLIMIT_FSIZE, (os.path.getsize(store) + 10, before[1]))

    try:
        run = await run_suite(suite_of(*CASES), store=store, told=told)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert len(run.records) == 3
    assert run.problems[0].startswith("stopped with 3 of 6 records: the records ")
    assert "cannot be written: File too large" in run.problems[0]
    whole = await run_suite(suite_of(*CASES), store=store)
    assert whole.is_complete
    assert whole.problems == ("the last line of the kept records was cut off; its trial was made again",)


@pytest.mark.skipif(not FULL.exists(), reason="needs a device on which no space is left")
async def test_answers_that_cannot_be_kept_end_the_run_with_what_it_has() -> None:
    run = await run_suite(suite_of(*CASES), keep_text=FULL)
    assert run.problems == ("stopped with 1 of 6 records: the file for answers /dev/full cannot be written",)
    with pytest.raises(RunStoreError, match="no plain file"):
        await run_suite(suite_of(*CASES), store=FULL)


async def test_answers_are_kept_only_where_that_is_asked_for(tmp_path: Path) -> None:
    texts, store = tmp_path / "texts.jsonl", tmp_path / "run.jsonl"
    await run_suite(suite_of(*CASES[:2]), keep_text=texts, store=store)
    lines = [json.loads(line) for line in texts.read_text().splitlines()]
    assert [(each["case_id"], each["text"]) for each in lines] == [("a", RIGHT), ("b", RIGHT)]
    assert texts.stat().st_mode & 0o777 == 0o600
    assert "ann\\" not in store.read_text()
    assert '"text"' not in store.read_text()


async def test_repetitions_have_seeds_of_their_own() -> None:
    from commitgate import Sampling

    backend = ScriptedBackend(said(RIGHT))
    await run_suite(suite_of(sampling=Sampling(temperature=1.0, seed=7)), backend=backend, repetitions=3)
    assert [request.sampling.seed for request in backend.requests] == [7, 8, 9]


async def test_backend_that_does_not_exist_is_refused_before_anything_is_kept(tmp_path: Path) -> None:
    with pytest.raises(UnknownModelError):
        await evaluate(suite_of(), "nowhere/model", store=tmp_path / "run.jsonl")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    "given",
    [
        {"variants": ()},
        {"variants": ("constrained", "constrained")},
        {"variants": ("other",)},
        {"repetitions": 0},
        {"concurrency": 0},
        {"concurrency": 1025},
        {"most_reasks": 17},
        {"dead_after": 0},
        {"most_failures": True},
        {"check_timeout_s": 0},
        {"timeouts": 3},
    ],
)
async def test_argument_out_of_its_range_is_refused(given: Any) -> None:
    with pytest.raises(MisuseError):
        await run_suite(suite_of(), **given)


async def test_folder_of_the_runs_own_ledger_is_gone_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    seen: list[int] = []

    def effect(_case: Any) -> Any:
        def pay(_value: Any, _context: Any) -> None:
            seen.append(len(os.listdir(tmp_path)))

        return pay

    await run_suite(suite_of(effect=effect))
    assert seen == [1]
    assert os.listdir(tmp_path) == []

"""Trying a contract out: how many calls at once, what they came to, how long they took, against which limits."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from preflight.servers_of_tests import GivenServer

from commitgate import Contract, Regex, Risk, RuleViolation
from commitgate.errors import MisuseError, ModelLoadError
from commitgate.preflight import Phase, Spread, Trial, TrialRun, TriedCall
from commitgate.preflight.trial_checks import nothing_tried, trial_checks
from commitgate.preflight.trial_running import run_trial
from commitgate.testing import FaultPoint, ScriptedBackend, fake_time

pytestmark = pytest.mark.anyio

STOP: Any = {"finish": "stop"}
SEVEN: Any = [{"text": "7"}, STOP]
NUMBER: Any = Contract.json_schema({"type": "integer"}, name="N", version="1")


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> Any:
    return fake_time(request.param)


def silence(_words: str) -> None:
    """Tell nobody."""


async def tried(backend: Any, contract: Any = NUMBER, **given: Any) -> TrialRun:
    return await run_trial(backend, "m", contract, Trial(**given), silence)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([], None),
        ([None, 3.0], Spread(count=1, median=3.0, p95=3.0, most=3.0)),
        ([2.0, 1.0], Spread(count=2, median=1.0, p95=2.0, most=2.0)),
        ([float(n) for n in range(1, 21)], Spread(count=20, median=10.0, p95=19.0, most=20.0)),
        ([float(n) for n in range(1, 101)], Spread(count=100, median=50.0, p95=95.0, most=100.0)),
    ],
)
def test_spread_is_by_nearest_rank(values: list[float | None], expected: Spread | None) -> None:
    assert Spread.of(values) == expected


async def test_cold_calls_come_first_and_as_many_as_go_at_once() -> None:
    backend = ScriptedBackend(
        [{"wait_s": 5.0}, *SEVEN], then=[[{"wait_s": 5.0}, *SEVEN]] * 2 + [[{"wait_s": 1.0}, *SEVEN]]
    )
    run = await tried(backend, calls=7, concurrency=3)
    assert (run.cold.calls, run.hot.calls, len(run.calls)) == (3, 7, 10)
    assert run.cold.endings == {"committed": 3}
    assert backend.opened_at == [0.0] * 3 + [5.0] * 3 + [6.0] * 3 + [7.0]
    assert run.cold.first_token_s == Spread(count=3, median=5.0, p95=5.0, most=5.0)
    assert run.hot.first_token_s == Spread(count=7, median=1.0, p95=1.0, most=1.0)


async def test_prompts_take_turns_and_the_schema_s_own_words_stand_in() -> None:
    backend = ScriptedBackend(SEVEN)
    await tried(backend, calls=2, prompts=("one", "two"), system="be short")
    assert [each.messages[-1].content for each in backend.requests] == ["one", "two", "one"]
    assert "be short" in backend.requests[0].messages[0].content
    backend = ScriptedBackend(SEVEN)
    described: Any = Contract.json_schema({"type": "integer", "description": "A number of days"})
    await tried(backend, described, calls=1)
    assert backend.requests[0].messages[-1].content == "A number of days"


async def test_nothing_is_asked_twice_and_nobody_outside_is_asked_about_a_value() -> None:
    def never(*_: object) -> bool:
        raise AssertionError("nobody may ask")

    contract: Any = Contract.json_schema(
        {"type": "integer"}, evidence=[never], authorize=never, approve=never, risk=Risk.EFFECT
    )
    backend = ScriptedBackend([{"fault": "overload"}], then=[SEVEN])
    run = await tried(backend, contract, calls=2)
    assert run.cold.endings == {"unavailable (overload)": 1}
    assert "overload" in run.calls[0].summary
    assert run.calls[1].summary == ""
    assert run.hot.endings == {"committed": 2}
    assert len(backend.requests) == 3


async def test_rules_judge_as_they_would() -> None:
    def even(value: Any) -> RuleViolation | None:
        return RuleViolation("odd", "it is odd") if value % 2 else None

    contract: Any = Contract.json_schema({"type": "integer"}, rules=[even])
    assert (await tried(ScriptedBackend(SEVEN), contract, calls=1)).hot.endings == {"invalid (rules)": 1}


async def test_call_that_takes_too_long_is_cut_off() -> None:
    run = await tried(ScriptedBackend([{"wait": None}]), calls=1, timeout_s=3.0)
    assert run.hot.endings == {"timed_out (total)": 1}


async def test_model_that_cannot_be_had_is_an_error_as_it_is() -> None:
    gone = ScriptedBackend(SEVEN, fault_at={FaultPoint.BEFORE_OPEN: ModelLoadError("gone")})
    with pytest.raises(ModelLoadError, match="gone"):
        await tried(gone, calls=1, concurrency=4)


async def test_cancelling_the_trial_closes_every_stream() -> None:
    backend = ScriptedBackend([{"wait": None}])
    with anyio.move_on_after(2) as scope:
        await tried(backend, calls=4, concurrency=4, timeout_s=100)
    assert scope.cancelled_caught
    assert backend.open_streams == 0


async def test_schema_is_new_to_a_server_where_a_comment_reaches_it() -> None:
    server = GivenServer(SEVEN)
    schema: Any = Contract.json_schema({"type": "object", "properties": {"n": {"type": "integer"}}})
    sure = await tried(server, schema, calls=1)
    sent = [each.translation.schema for each in server.played.requests if each.translation is not None]
    comments = [each["$comment"] for each in sent if isinstance(each, dict) and "$comment" in each]
    assert sure.is_cold_sure == bool(comments)
    again = GivenServer(SEVEN)
    assert not (await tried(again, Contract.of(Regex("[0-9]")), calls=1)).is_cold_sure
    assert (await tried(ScriptedBackend(SEVEN), calls=1)).is_cold_sure


@pytest.mark.parametrize(
    "given",
    [
        {"calls": -1},
        {"calls": 1_001},
        {"calls": 1.0},
        {"concurrency": 0},
        {"concurrency": 65},
        {"timeout_s": 0},
        {"first_token_s": -1.0},
        {"per_token_s": float("nan")},
        {"prompts": "one"},
        {"prompts": ("",)},
        {"sampling": 3},
    ],
)
def test_trial_out_of_its_range_is_a_misuse(given: dict[str, Any]) -> None:
    with pytest.raises(MisuseError):
        Trial(**given)


def test_bounds_of_a_trial_are_allowed() -> None:
    assert Trial(calls=1_000, concurrency=64).calls == 1_000
    assert Trial(calls=0).calls == 0


def run_of(*calls: TriedCall, cold: TriedCall | None = None) -> TrialRun:
    first = cold or calls[0]
    return TrialRun(
        cold=Phase.of([first]), hot=Phase.of(calls), is_cold_sure=True, concurrency=1, calls=(first, *calls)
    )


def call(ending: str = "committed", **given: Any) -> TriedCall:
    return TriedCall(**{"ending": ending, "first_token_s": 1.0, "per_token_s": 0.1, **given})


def verdict(run: TrialRun, id: str, **limits: Any) -> str:
    return next(each for each in trial_checks(run, Trial(**limits)) if each.id == id).verdict


@pytest.mark.parametrize(
    ("ending", "expected"),
    [
        ("committed", "passed"),
        ("truncated", "warned"),
        ("refused", "warned"),
        ("invalid", "warned"),
        ("filtered", "warned"),
        ("violated", "failed"),
        ("unavailable", "failed"),
        ("timed_out", "failed"),
        ("disconnected", "failed"),
        ("dead_end", "failed"),
    ],
)
def test_endings_decide_whether_answers_come(ending: str, expected: str) -> None:
    detail = None if ending == "committed" else "a detail"
    assert verdict(run_of(call(), call(ending, detail=detail)), "answers") == expected


@pytest.mark.parametrize(
    ("limits", "expected"), [({}, "passed"), ({"first_token_s": 1.0}, "passed"), ({"first_token_s": 0.9}, "failed")]
)
def test_first_token_has_a_limit(limits: dict[str, float], expected: str) -> None:
    assert verdict(run_of(call(), call()), "first_token", **limits) == expected


def test_one_slow_call_in_twenty_is_within_the_limit_and_two_are_not() -> None:
    quick, slow = call(per_token_s=0.1), call(per_token_s=9.0)
    assert verdict(run_of(*[quick] * 19, slow), "per_token", per_token_s=0.2) == "passed"
    assert verdict(run_of(*[quick] * 18, slow, slow), "per_token", per_token_s=0.2) == "failed"


def test_cold_call_past_the_limit_only_warns() -> None:
    run = run_of(call(), cold=call(first_token_s=30.0))
    assert verdict(run, "first_token", first_token_s=2.0) == "warned"


def test_calls_without_times_tell_nothing() -> None:
    silent = call("unavailable", first_token_s=None, per_token_s=None)
    assert verdict(run_of(silent), "first_token") == "warned"
    whole = call(per_token_s=None)
    assert verdict(run_of(whole), "per_token") == "not_applicable"


@pytest.mark.parametrize(
    ("mean", "expected"), [(0.9, "passed"), (0.5, "passed"), (0.49, "warned"), (None, "not_applicable")]
)
def test_model_that_wants_something_else_is_told(mean: float | None, expected: str) -> None:
    assert verdict(run_of(call(legal_mass_mean=mean, legal_mass_min=mean)), "legal_mass") == expected


def test_dead_ends_fail_and_cannot_be_told_of_servers() -> None:
    known = {"legal_mass_mean": 0.9}
    assert verdict(run_of(call(**known)), "dead_ends") == "passed"
    assert verdict(run_of(call("dead_end", **known)), "dead_ends") == "failed"
    assert verdict(run_of(call()), "dead_ends") == "not_applicable"


def test_trial_that_was_not_made_warns_where_nobody_wanted_it() -> None:
    assert {each.verdict for each in nothing_tried("no", was_wanted=False)} == {"warned"}
    assert {each.verdict for each in nothing_tried("no", was_wanted=True)} == {"not_applicable"}


class Counting:
    """Count how many answers are open at once."""

    name = "counting"

    def __init__(self) -> None:
        self.now = self.most = 0
        self._inner = ScriptedBackend([{"wait_s": 1.0}, *SEVEN])

    @asynccontextmanager
    async def open(self, request: Any) -> AsyncIterator[Any]:
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            async with self._inner.open(request) as stream:
                yield stream
        finally:
            self.now -= 1

    async def aclose(self) -> None:
        """Free nothing."""


@pytest.mark.parametrize("concurrency", [1, 4])
async def test_no_more_calls_than_asked_for_go_at_once(concurrency: int) -> None:
    backend = Counting()
    await tried(backend, calls=9, concurrency=concurrency)
    assert (backend.most, backend.now) == (concurrency, 0)

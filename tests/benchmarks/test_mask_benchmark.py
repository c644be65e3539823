"""The benchmark of masks compares like with like, and says what it left out."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import mask_summary
import pytest
from mask_cases import OWN, Case, read_cases
from mask_peers import ENGINES, Follower, Tokens
from mask_worker import TIME_LIMIT, Order, Timing, Together, follow, time_case, time_together
from masks import in_full, take_turns

from commitgate.automaton import compile as compile_contract

BYTES = Tokens(folder="", texts=(*(bytes([byte]) for byte in range(256)), None), stop_ids=(256,))
COMMITGATE = ENGINES["commitgate"]


def encode(text: str) -> list[int]:
    return list(text.encode())


def own_cases(tmp_path: Path, count: int = 100) -> list[Case]:
    """Return the project's own cases, which are taken where no MaskBench lies."""
    return read_cases(None, count=count, seed=1, encode=encode)[0]


@pytest.fixture(autouse=True)
def no_maskbench(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("COMMITGATE_MASKBENCH", str(tmp_path / "absent"))


def timing(first: float, *cold: list[float] | None) -> Timing:
    """Return a timing whose second pass took half of the first one."""
    warm = tuple(taken and [took / 2 for took in taken] for taken in cold)
    return Timing(first_s=first, again_s=first / 2, cold=cold, warm=warm)


REFUSED = Timing(refusal="no")


class ScriptedWorker:
    """Give a timing for each case, and say who was asked when."""

    def __init__(self, name: str, told: list[tuple[str, str]], answer: Timing) -> None:
        self._name, self._told, self._answer = name, told, answer

    def time(self, case: Case) -> Timing:
        self._told.append((self._name, case.name))
        return self._answer


def workers(told: list[tuple[str, str]], *names: str) -> dict[str, Any]:
    return {name: ScriptedWorker(name, told, timing(1.0)) for name in names}


CASES = [Case(name=name, schema={}, texts=()) for name in "123"]


def values(rows: Sequence[Any], what: str) -> dict[str, float]:
    return {row.who: row.values["p50"] for row in rows if row.what == what}


def test_own_cases_satisfy_their_schemas() -> None:
    for case in json.loads(OWN.read_text(encoding="utf-8")):
        automaton = compile_contract(case["schema"], dialect="accept")
        for test in case["tests"]:
            assert automaton.accepts(json.dumps(test["data"], ensure_ascii=False).encode()) == test["valid"], case[
                "name"
            ]


def test_without_maskbench_the_own_cases_are_measured_and_it_is_said() -> None:
    cases, said = read_cases(None, count=100, seed=1, encode=encode)
    assert len(cases) >= 10
    assert "the project's own" in said


def test_draw_is_the_same_for_the_same_seed(tmp_path: Path) -> None:
    for number in range(20):
        file = {"schema": {"const": number}, "tests": [{"data": number, "valid": True}, {"data": "x", "valid": False}]}
        (tmp_path / f"{number}.json").write_text(json.dumps(file), encoding="utf-8")
    drawn = [read_cases(tmp_path, count=5, seed=seed, encode=encode)[0] for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert [len(case.texts) for case in drawn[0]] == [1] * 5


def test_place_that_is_named_and_absent_is_no_reason_to_measure_something_else(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_cases(tmp_path / "nothing", count=1, seed=1, encode=encode)


def test_each_engine_is_first_in_its_turn() -> None:
    told: list[tuple[str, str]] = []
    take_turns(workers(told, "a", "b"), CASES)
    assert told == [("a", "1"), ("b", "1"), ("b", "2"), ("a", "2"), ("a", "3"), ("b", "3")]


def test_slow_engine_is_not_asked_once_its_time_is_spent() -> None:
    told: list[tuple[str, str]] = []
    taken = take_turns(workers(told, "a", "slow"), CASES, slow=["slow"], slow_budget_s=0.0)
    assert taken["slow"] == [None, None, None]
    assert None not in taken["a"]
    assert in_full(taken, ["a", "slow"]) == {"a": [], "slow": []}
    assert len(in_full(taken, ["a"])["a"]) == 3


def test_comparison_is_over_what_all_engines_did() -> None:
    rows = mask_summary.compared(
        {
            "commitgate": [timing(1.0, [1.0, 1.0], [9.0]), timing(50.0, [1.0]), timing(3.0, None, [3.0])],
            "peer": [timing(2.0, [4.0, 4.0], None), REFUSED, timing(6.0, [100.0], [12.0])],
        }
    )
    assert values(rows, f"First mask: {mask_summary.ALL}") == {"commitgate": 2_000.0, "peer": 4_000.0}
    found = values(rows, f"Between masks, first pass: {mask_summary.ALL}")
    assert found == pytest.approx({"commitgate": 1e6, "peer": 4e6})
    assert [row.ratio["mean"] for row in rows if row.what.startswith("Between masks, first")] == pytest.approx(
        [1.0, 4.0]
    )


def test_own_rows_are_over_what_each_engine_did_itself() -> None:
    rows = mask_summary.own({"peer": [REFUSED, None, timing(2.0, [4.0], None)]})
    assert values(rows, f"First mask: {mask_summary.OWN}") == {"peer": 2_000.0}
    assert values(rows, f"Between masks, second pass: {mask_summary.OWN}") == pytest.approx({"peer": 2e6})


def test_what_was_refused_or_lost_is_counted() -> None:
    late = Timing(refusal=f"{TIME_LIMIT} of 10 s")
    counted = mask_summary.counts({"peer": [REFUSED, late, None, timing(1.0, [1.0, 1.0], None)]})[0].values
    assert counted == {
        "schemas asked": 3,
        "taken": 1,
        "refused": 2,
        "of these by time": 1,
        "valid texts": 2,
        "not followed to the end": 1,
        "tokens": 2,
    }


def test_rows_of_matchers_together_have_ratios_at_each_number() -> None:
    found = {
        ("commitgate", 4): Together(in_turn=[1e-6], masks_a_second=100.0),
        ("peer", 4): Together(in_turn=[3e-6], masks_a_second=50.0),
    }
    ratios = {(row.what, row.who): row.ratio for row in mask_summary.together(found)}
    assert ratios[f"{mask_summary.THREADS}: 4 matchers", "peer"] == {"all together": 0.5}
    assert ratios[f"{mask_summary.IN_TURN}: 4 matchers", "peer"]["p50"] == pytest.approx(3.0)


def test_text_that_an_engine_does_not_allow_is_not_timed() -> None:
    taken: list[int] = []
    follower = Follower(
        mask=lambda: None, allows=lambda _, token: token < 3, advance=taken.append, reset=lambda: taken.clear()
    )
    assert follow(follower, [1, 2, 3, 1]) is None
    assert taken == [1, 2]
    assert len(follow(follower, [1, 2]) or ()) == 2


def test_engine_is_timed_for_every_token_twice(tmp_path: Path) -> None:
    engine = COMMITGATE.make(BYTES)
    case = own_cases(tmp_path, count=1)[0]
    found = time_case(engine, case)
    assert found.refusal is None
    lengths = [len(text) for text in case.texts]
    assert [len(taken or ()) for taken in found.cold] == [len(taken or ()) for taken in found.warm] == lengths


def test_refusal_is_kept_in_the_words_of_the_engine() -> None:
    found = time_case(COMMITGATE.make(BYTES), Case(name="none", schema={"enum": []}, texts=()))
    assert found.refusal is not None
    assert "Error" in found.refusal


def test_all_texts_are_followed_however_many_matchers_share_them(tmp_path: Path) -> None:
    engine = COMMITGATE.make(BYTES)
    cases = tuple(case for case in own_cases(tmp_path) if case.name in ("ticket", "dates", "tree"))
    lengths = sum(len(case.texts[0]) for case in cases)
    for matchers in (1, 2, 5):
        found = time_together(engine, Order(cases=cases, matchers=matchers, rounds=2))
        assert len(found.in_turn) == 2 * lengths
        assert found.masks_a_second > 0

"""The runner: what is done is kept, what changed is done anew, and a broken promise is never taken for a kept one."""

import ast
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pytest
from proofs import prove, state
from proofs.mutant_trial import source_of
from proofs.mutants import MUTANTS, TARGETS, listed_mutants
from proofs.mutator import mutants_of, mutated
from proofs.part import Part, Result, Row, digest, total
from proofs.prove import BEGIN, BROKEN, END, HELD, UNFINISHED, table, write

FAR = float("inf")


class Counting:
    """Stand for a part: it counts its runs, in a file, for the work may be done in another process."""

    name = "counting"

    def __init__(self, folder: Path, faults: Sequence[str] = ()) -> None:
        self.source = folder / "source.txt"
        self.source.write_text("one", encoding="utf-8")
        self.ran = folder / "ran.txt"
        self.faults = faults

    def units(self, *, short: bool) -> Sequence[str]:
        return ["a"] if short else ["a", "b"]

    def sources(self, unit: str) -> Iterable[Path]:
        return [self.source]

    def run(self, unit: str) -> Result:
        with self.ran.open("a", encoding="utf-8") as file:
            file.write(unit)
        if unit == "b" and "raise" in self.faults:
            raise ValueError("broke")
        return Result(counts={"runs": 1}, faults=self.faults)

    def summarise(self, results: Mapping[str, Result]) -> Sequence[Row]:
        return [Row(promise="counts", measured=f"{total(results).get('runs', 0)} runs", held=True)]


@pytest.fixture
def in_one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do the work where the part is known."""
    from concurrent.futures import ThreadPoolExecutor

    monkeypatch.setattr(prove, "ProcessPoolExecutor", ThreadPoolExecutor)


def run(part: Part, folder: Path, monkeypatch: pytest.MonkeyPatch, ends_at: float = FAR, **options: bool) -> int:
    monkeypatch.setattr(prove, "PARTS", (part,))
    _, code = prove.prove([part], ends_at=ends_at, folder=folder, **options)
    return code


@pytest.mark.usefixtures("in_one_process")
def test_what_is_done_is_not_done_again_until_its_source_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = Counting(tmp_path)
    assert run(part, tmp_path, monkeypatch, short=True) == HELD
    assert run(part, tmp_path, monkeypatch) == HELD
    assert sorted(part.ran.read_text()) == ["a", "b"]
    assert run(part, tmp_path, monkeypatch, fresh=True) == HELD
    assert len(part.ran.read_text()) == 4
    digest_before = digest([part.source])
    part.source.write_text("two", encoding="utf-8")
    assert digest([part.source]) != digest_before
    assert run(part, tmp_path, monkeypatch) == HELD
    assert len(part.ran.read_text()) == 6


@pytest.mark.usefixtures("in_one_process")
def test_work_that_the_time_did_not_suffice_for_is_no_success(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(Counting(tmp_path), tmp_path, monkeypatch, ends_at=0.0) == UNFINISHED


@pytest.mark.usefixtures("in_one_process")
@pytest.mark.parametrize("fault", ["a value", "raise"])
def test_fault_breaks_the_proof_also_when_it_is_read_from_the_state(
    fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = Counting(tmp_path, (fault,))
    assert run(part, tmp_path, monkeypatch) == BROKEN
    assert run(part, tmp_path, monkeypatch) == BROKEN


def test_table_is_put_between_the_marks(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n", encoding="utf-8")
    write(table([Row(promise="p", measured="m", held=False)]), page)
    text = page.read_text(encoding="utf-8")
    assert "old" not in text
    assert "| p | m | NO |" in text
    assert text.startswith("before\n")
    assert text.endswith("after\n")


SOURCE = '''
"""Words."""
from enum import Enum

__all__ = ["f"]


ROWS = (Row(1, f, 4), Row(1, f, 5), Row(2, f, 5))


def f(a: int, b: int = 2) -> int:
    """Do."""
    assert a, "never"
    b = replace(b, x=a, y=a)
    if a < b and not b:
        return a + 1
    return State.HELD if "code" == a else b[1:]
'''


def test_every_mutant_is_another_program() -> None:
    mutants = mutants_of(SOURCE)
    texts = {ast.unparse(mutated(SOURCE, mutant.index)) for mutant in mutants}
    assert len(texts) == len(mutants) == len({mutant.name for mutant in mutants})
    assert ast.unparse(ast.parse(SOURCE)) not in texts
    kinds = {mutant.name.split(": ")[1] for mutant in mutants}
    wanted = {
        "comparison",
        "boolean",
        "operand dropped",
        "not dropped",
        "constant",
        "returned",
        "condition",
        "operator",
    }
    assert wanted | {"operator", "branch", "slice", "entry dropped", "order"} <= kinds
    assert all("Words" in text and "never" in text and "'f'" in text for text in texts)


def test_mutants_are_noticed_by_the_focused_tests() -> None:
    (unit,) = MUTANTS.units(short=True)
    result = MUTANTS.run(unit)
    assert result.faults == ()
    assert sum(result.counts.values()) == 3
    assert [row for row in MUTANTS.summarise({unit: result}) if not row.held] == []


def test_reasons_of_surviving_mutants_are_words_about_mutants_that_exist() -> None:
    names = {
        f"{target.module} {mutant.name}"
        for target in TARGETS
        for mutant in mutants_of(source_of(target.module).read_text(encoding="utf-8"))
    }
    listed = listed_mutants()
    assert sorted(set(listed) - names) == []
    assert all(len(reason.split()) >= 3 for reason in listed.values())


def test_state_is_plain_json(tmp_path: Path) -> None:
    part = Counting(tmp_path)
    kept = state.State(part, ["a"], folder=tmp_path)
    kept.add("a", Result(counts={"x": 1}, faults=("f",), notes={"n": "m"}))
    stored = json.loads((tmp_path / "counting.json").read_text(encoding="utf-8"))
    assert stored["a"]["counts"] == {"x": 1}
    assert state.State(part, ["a"], folder=tmp_path).done["a"].faults == ("f",)

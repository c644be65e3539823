"""The file of records: nothing whole is lost wherever it was cut, and nothing else is taken for one."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from evaluation.suites import FORM, made_record, made_run
from hypothesis import given, settings
from hypothesis import strategies as st

from commitgate.backends.base import Usage
from commitgate.errors import RunStoreError
from commitgate.evaluation import CaseRecord, Fault, Measure, dump_run, load_run, read_run
from commitgate.evaluation.record_json import record_from_json, record_to_json
from commitgate.evaluation.store import (
    HEADER_FIELD,
    RunStore,
    answered_line,
    parse_store,
    part_line,
    read_store,
    record_line,
)

HEADER: dict[str, Any] = {
    "suite": "s",
    "suite_digest": "0" * 64,
    "contracts": {"c": "1" * 64},
    "model": "m",
    "settings": {"repetitions": 1, "variants": ("constrained",)},
    "package_version": "1",
}

names = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=8)
seconds = st.none() | st.floats(0, 1e6, allow_nan=False)
records = st.builds(
    CaseRecord,
    case_id=names,
    variant=st.sampled_from(["constrained", "prompt_only"]),
    repetition=st.integers(1, 100),
    outcome=st.none() | st.sampled_from(["committed", "invalid"]),
    detail=st.none() | names,
    is_right_ending=st.booleans(),
    passed=st.dictionaries(st.sampled_from(list(Measure)), st.booleans()),
    faults=st.lists(st.builds(Fault, measure=st.sampled_from(list(Measure)), code=names, pointer=names)).map(tuple),
    is_overreach=st.none() | st.booleans(),
    score=st.none() | st.floats(0, 1),
    second_effects=st.none() | st.integers(0, 5),
    time_to_first_token_s=seconds,
    total_s=st.floats(0, 1e6),
    usage=st.builds(Usage, input_tokens=st.none() | st.integers(0, 9)),
    tags=st.lists(names, max_size=3).map(tuple),
    error=st.none() | names,
    error_at=st.none() | st.sampled_from(["call", "scorer"]),
)


def file_of(found: list[CaseRecord]) -> bytes:
    """Return the bytes of a file of records, as they are written."""
    lines: list[Any] = [{HEADER_FIELD: 1, **HEADER}, answered_line({"model": "m"})]
    lines += [record_line(each) for each in found]
    lines += [part_line(1.5)]
    return b"".join(json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in lines)


@given(records)
def test_record_comes_back_as_it_was(record: CaseRecord) -> None:
    assert record_from_json(json.loads(json.dumps(record_to_json(record)))) == record


@given(st.lists(records, max_size=4), st.data())
def test_wherever_a_file_is_cut_no_whole_record_is_lost(found: list[CaseRecord], data: st.DataObject) -> None:
    whole = file_of(found)
    cut = whole[: data.draw(st.integers(0, len(whole)))]
    kept = parse_store(cut, "f")
    lines = whole.split(b"\n")
    # A line counts once all of it but the line feed is there.
    there = [line for index, line in enumerate(lines[:-1]) if len(b"\n".join(lines[: index + 1])) <= len(cut)]
    expected = [json.loads(line)["record"] for line in there if line.startswith(b'{"record"')]
    assert [record_to_json(each) for each in (kept.records if kept else [])] == expected
    assert (kept is None) == (not there)


@settings(max_examples=30)
@given(st.lists(records, min_size=1, max_size=3, unique_by=lambda each: each.key), st.data())
def test_run_that_was_cut_anywhere_goes_on_to_the_same_records(
    tmp_path_factory: pytest.TempPathFactory, found: list[CaseRecord], data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("cut") / "run.jsonl"
    whole = file_of(found)
    path.write_bytes(whole[: data.draw(st.integers(0, len(whole)))])
    store = RunStore.open(path, HEADER)
    there = {each.key for each in store.kept.records}
    for record in found:
        if record.key not in there:
            store.append(record_line(record))
    store.close()
    assert read_store(path).records == found


@pytest.mark.parametrize("kept", [1, 2, 3, 4])
def test_line_that_lacks_its_line_feed_alone_is_whole_and_goes_on_in_a_line_of_its_own(
    tmp_path: Path, kept: int
) -> None:
    path = tmp_path / "run.jsonl"
    one, two, three = made_record("a"), made_record("b"), made_record("c")
    path.write_bytes(b"\n".join(file_of([one, two]).split(b"\n")[:kept]))
    store = RunStore.open(path, HEADER)
    assert not store.kept.was_torn
    there = store.kept.records
    store.append(record_line(three))
    store.close()
    assert there == [one, two][: max(0, kept - 2)]
    assert read_store(path).records == [*there, three]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.jsonl"


def test_empty_file_is_begun(path: Path) -> None:
    path.touch()
    RunStore.open(path, HEADER).close()
    assert read_store(path).header["suite"] == "s"


def test_new_file_is_its_users_alone(path: Path) -> None:
    RunStore.open(path, HEADER).close()
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "content", [b"my notes", b"[]\n", b'{"commitgate_cases":1}\n', b"\x00" * 40, b'{"commitgate_evaluation":2}\n']
)
def test_file_of_something_else_is_not_touched(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(RunStoreError, match=r"no file of records|another release"):
        RunStore.open(path, HEADER)
    assert path.read_bytes() == content


def test_damage_in_the_middle_is_refused_by_its_line(path: Path) -> None:
    lines = file_of([made_record("a"), made_record("b")]).split(b"\n")
    lines[2] = lines[2][:-4]
    path.write_bytes(b"\n".join(lines))
    before = path.read_bytes()
    with pytest.raises(RunStoreError, match="damaged in line 3"):
        RunStore.open(path, HEADER)
    assert path.read_bytes() == before


@pytest.mark.parametrize("name", ["suite_digest", "contracts", "model", "settings", "package_version"])
def test_another_run_is_refused_by_what_differs(path: Path, name: str) -> None:
    RunStore.open(path, HEADER).close()
    with pytest.raises(RunStoreError) as refused:
        RunStore.open(path, {**HEADER, name: "other"})
    assert refused.value.differs == (name,)


def test_other_name_of_the_same_cases_is_the_same_run(path: Path) -> None:
    RunStore.open(path, HEADER).close()
    RunStore.open(path, {**HEADER, "suite": "renamed"}).close()


def test_file_that_another_process_writes_is_refused_until_it_ends(path: Path) -> None:
    program = (
        "import sys, json; from commitgate.evaluation.store import RunStore\n"
        "store = RunStore.open(sys.argv[1], json.loads(sys.argv[2])); print('open', flush=True); sys.stdin.read()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(path), json.dumps(HEADER)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"open\n"
        with pytest.raises(RunStoreError, match="in use"):
            RunStore.open(path, HEADER)
        # Killed, as by the system: nothing is left that would keep the file taken.
        process.kill()
    RunStore.open(path, HEADER).close()


def test_closed_store_takes_nothing(path: Path) -> None:
    store = RunStore.open(path, HEADER)
    store.close()
    store.close()
    with pytest.raises(RunStoreError, match="closed"):
        store.append(part_line(1.0))


def test_path_that_cannot_be_opened_is_refused(tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "no" / "where", "\0"):
        with pytest.raises(RunStoreError, match="cannot be opened"):
            RunStore.open(place, HEADER)
        with pytest.raises(RunStoreError):
            read_store(place)


def test_pipe_is_no_store(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(RunStoreError, match="no plain file"):
        RunStore.open(pipe, HEADER)


@given(st.lists(records, max_size=3))
def test_run_comes_back_as_it_was(found: list[CaseRecord]) -> None:
    run = made_run(*found, problems=("a", "b"), receipt_facts={"model": "m"}, suite_version="2")
    assert load_run(dump_run(run)) == run


@pytest.mark.parametrize(
    "data", [b"", b"{}", b"[]", b"1", b"\xff", b'{"commitgate_evaluation_run":2}', b"[" * 100_000, b'{"a":NaN}']
)
def test_what_is_no_run_is_refused(data: bytes) -> None:
    with pytest.raises(RunStoreError, match="no run of an evaluation"):
        load_run(data)


@pytest.mark.parametrize("name", ["suite", "records", "planned", "problems", "wall_s"])
def test_run_with_a_damaged_field_is_refused(name: str) -> None:
    plain = json.loads(dump_run(made_run(made_record())))
    for damaged in ({**plain, name: None}, {key: value for key, value in plain.items() if key != name}):
        with pytest.raises(RunStoreError):
            load_run(json.dumps(damaged).encode())


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_number_that_is_not_finite_is_refused(number: str) -> None:
    data = dump_run(made_run(made_record(total_s=7.25)))
    with pytest.raises(RunStoreError):
        load_run(data.replace(b"7.25", number.encode()))


@pytest.mark.parametrize("content", [b"", b"notes", b'{"commitgate_evaluation":1}\n', b'{"commitgate_evaluation":1,"s'])
def test_file_that_is_no_run_is_not_read_as_one(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(RunStoreError):
        read_run(path)
    with pytest.raises(RunStoreError, match="cannot be read"):
        read_run(path.parent)


def test_field_of_a_later_release_is_left_out() -> None:
    plain = record_to_json(made_record())
    assert record_from_json({**plain, "later": 1}) == made_record()


def test_record_that_is_damaged_is_refused_without_its_content() -> None:
    plain = record_to_json(replace(made_record(), passed=dict.fromkeys(FORM, True)))
    with pytest.raises(ValueError, match="absent or of another kind") as refused:
        record_from_json({**plain, "score": "secret"})
    assert "secret" not in str(refused.value)

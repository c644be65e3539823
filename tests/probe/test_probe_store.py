"""Keeping reports: what is written is read back, what is damaged is none, and old ones make room."""

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commitgate.errors import MisuseError
from commitgate.probe import Cost, ProbeReport, ProbeResult, ProbeStore, Verdict
from commitgate.probe.report import bare_url
from commitgate.probe.store import MAX_REPORT_BYTES, MOST_REPORTS, PROBES_VARIABLE, probe_folder

URL = "http://host:8000/v1"
RESULT = ProbeResult(
    name="enum",
    kind="constraint",
    about="writes a value that only the schema names",
    form="json_schema",
    verdict=Verdict.DROPPED,
    reason="the answer lies outside of the constraint",
    requests=1,
    answer="hello \x1b[31m",
)
REPORT = ProbeReport(
    backend="vllm",
    dialect="vllm_chat",
    base_url=URL,
    model="m",
    server_version="0.33.0",
    made_at=1_000.5,
    verdict="not_enforced",
    reason="answers follow the prompt",
    results=(RESULT,),
    cost=Cost(requests=3, input_tokens=30, output_tokens=None, time_s=0.5),
)


def text_of(report: ProbeReport) -> bytes:
    return json.dumps(report.to_json()).encode()


def test_what_is_written_is_read_back() -> None:
    assert ProbeReport.from_json(text_of(REPORT)) == REPORT


@given(st.text(), st.text(), st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(Verdict))
def test_any_report_comes_back_as_it_was(answer: str, reason: str, made_at: float, verdict: Verdict) -> None:
    result = replace(RESULT, answer=answer.encode(errors="replace").decode(), verdict=verdict)
    report = replace(REPORT, reason=reason.encode(errors="replace").decode(), made_at=made_at, results=(result,))
    assert ProbeReport.from_json(text_of(report)) == report


@pytest.mark.parametrize(
    "change",
    [
        {"version": 2},
        {"further": 1},
        {"made_at": "1000"},
        {"made_at": None},
        {"verdict": "fine"},
        {"results": [{"name": "enum"}]},
        {"results": [{**REPORT.to_json()["results"][0], "verdict": "maybe"}]},  # type: ignore[index,dict-item]
        {"cost": {"requests": 1.5}},
        {"model": 3},
    ],
)
def test_report_is_read_strictly(change: dict[str, Any]) -> None:
    with pytest.raises(MisuseError):
        ProbeReport.from_json(json.dumps({**REPORT.to_json(), **change}).encode())


@pytest.mark.parametrize("text", [b"", b"{}", b"[]", b"null", b"\xff\xfe", b"{" * 10_000, b'{"made_at": NaN}'])
def test_what_is_no_report_is_refused(text: bytes) -> None:
    with pytest.raises(MisuseError):
        ProbeReport.from_json(text)


@pytest.mark.parametrize(
    ("url", "bare"),
    [
        ("http://host:8000/v1/", URL),
        ("HTTP://Host:8000/v1", URL),
        ("http://user:password@host:8000/v1?key=secret#part", URL),
        ("https://[::1]:8443", "https://[::1]:8443"),
        ("nonsense", ""),
        ("http://[broken", ""),
    ],
)
def test_address_is_kept_without_secrets(url: str, bare: str) -> None:
    assert bare_url(url) == bare


def test_report_is_found_by_api_server_and_model(tmp_path: Path) -> None:
    store = ProbeStore(tmp_path)
    place = store.keep(REPORT)
    assert place.parent == tmp_path
    assert store.find("vllm_chat", f"{URL}/", "m").report == REPORT
    for key in (("nim_chat", URL, "m"), ("vllm_chat", "http://other/v1", "m"), ("vllm_chat", URL, "n")):
        assert store.find(*key).report is None
        assert store.find(*key).reason == ""


def test_newer_report_takes_the_place_of_the_one_before(tmp_path: Path) -> None:
    store = ProbeStore(tmp_path)
    store.keep(REPORT)
    store.keep(replace(REPORT, verdict="enforced"))
    found = store.find("vllm_chat", URL, "m").report
    assert found is not None
    assert found.verdict == "enforced"
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize(
    "text",
    [b"", b"{", b"null", b"x" * (MAX_REPORT_BYTES + 1), text_of(REPORT)[:-20], text_of(replace(REPORT, model="n"))],
)
def test_damaged_report_is_none_with_a_reason(tmp_path: Path, text: bytes) -> None:
    store = ProbeStore(tmp_path)
    store.place("vllm_chat", URL, "m").write_bytes(text)
    found = store.find("vllm_chat", URL, "m")
    assert found.report is None
    assert "the kept report is" in found.reason


def test_report_that_cannot_be_opened_is_none_with_a_reason(tmp_path: Path) -> None:
    store = ProbeStore(tmp_path)
    store.place("vllm_chat", URL, "m").mkdir()
    found = store.find("vllm_chat", URL, "m")
    assert found.report is None
    assert "cannot be read" in found.reason


def test_failed_write_leaves_the_report_before(tmp_path: Path) -> None:
    store = ProbeStore(tmp_path)
    store.keep(REPORT)
    place = store.place("vllm_chat", URL, "m")
    place.rename(tmp_path / "kept")
    (place / "in the way").mkdir(parents=True)
    with pytest.raises(OSError):
        store.keep(REPORT)
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted(["kept", place.name])


def test_oldest_reports_make_room(tmp_path: Path) -> None:
    store = ProbeStore(tmp_path)
    for number in range(MOST_REPORTS + 3):
        place = store.keep(replace(REPORT, model=f"m{number}"))
        os.utime(place, (number, number))
    assert len(list(tmp_path.iterdir())) == MOST_REPORTS
    assert store.find("vllm_chat", URL, "m0").report is None
    assert store.find("vllm_chat", URL, f"m{MOST_REPORTS + 2}").report is not None


def test_folder_is_for_its_user_alone(tmp_path: Path) -> None:
    store = ProbeStore(tmp_path / "new" / "probes")
    place = store.keep(REPORT)
    assert place.parent.stat().st_mode & 0o077 == 0
    assert place.stat().st_mode & 0o077 == 0


def test_environment_names_the_folder(tmp_path: Path) -> None:
    assert probe_folder({PROBES_VARIABLE: str(tmp_path)}) == tmp_path
    assert probe_folder({}).name == "probes"


def test_folder_must_be_a_path() -> None:
    with pytest.raises(MisuseError, match="folder"):
        ProbeStore(3)  # type: ignore[arg-type]

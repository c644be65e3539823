"""May effects hang on a server? Only on one that was probed, passed, and is still the one that was."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from probe.test_probe_store import REPORT, URL

from commitgate.backends.base import Standing
from commitgate.backends.dialect import ServerIdentity
from commitgate.backends.dialects.table import DIALECTS
from commitgate.backends.registry import make_remote
from commitgate.probe import ProbeReport, ProbeStore, standing
from commitgate.probe.words import probe_command

PASSED = replace(REPORT, verdict="enforced", reason="", made_at=1_000_000.0, revision="sha", engine="xgrammar")
SAME = ServerIdentity(is_ready=True, version="0.33.0", revision="sha", engine="xgrammar")
HOUR, DAY = 3_600.0, 86_400.0
COMMAND = "commitgate probe --backend vllm --model m --base-url http://host:8000/v1"


def asked(
    folder: Path, report: ProbeReport | None = PASSED, identity: ServerIdentity = SAME, age_s: float = 60.0
) -> Standing:
    store = ProbeStore(folder)
    if report is not None:
        store.keep(report)
    now = PASSED.made_at + age_s
    return standing(store, dialect_name="vllm_chat", base_url=URL, model="m", identity=identity, now=now)


def test_probe_that_passed_proves(tmp_path: Path) -> None:
    assert asked(tmp_path) == Standing(is_proven=True)


def test_server_that_was_never_probed_is_not_proven(tmp_path: Path) -> None:
    found = asked(tmp_path, None)
    assert not found.is_proven
    assert "never probed" in found.reason
    assert found.reason.endswith(COMMAND)


def test_damaged_report_proves_nothing(tmp_path: Path) -> None:
    ProbeStore(tmp_path).place("vllm_chat", URL, "m").write_text("{")
    found = asked(tmp_path, None)
    assert not found.is_proven
    assert "damaged" in found.reason
    assert found.reason.endswith(COMMAND)


@pytest.mark.parametrize("verdict", ["not_enforced", "partial", "unknown"])
def test_probe_that_failed_proves_nothing(tmp_path: Path, verdict: Any) -> None:
    found = asked(tmp_path, replace(PASSED, verdict=verdict, reason="it miscounts"))
    assert not found.is_proven
    assert "it miscounts" in found.reason
    assert COMMAND in found.reason


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"version": "0.34.0"}, "version was 0.33.0 when it was probed and is 0.34.0 now"),
        ({"version": None}, "version was 0.33.0 when it was probed and is not told now"),
        ({"revision": "other"}, "revision was sha"),
        ({"engine": "none"}, "engine was xgrammar"),
        ({"is_ready": False}, "see whether it runs"),
    ],
)
def test_probe_of_another_server_is_stale(tmp_path: Path, change: dict[str, Any], told: str) -> None:
    found = asked(tmp_path, identity=replace(SAME, **change))
    assert not found.is_proven
    assert told in found.reason
    assert found.reason.endswith(COMMAND)


@pytest.mark.parametrize(("age_s", "is_proven"), [(30 * DAY, True), (30 * DAY + 1, False), (-60, True), (-DAY, False)])
def test_probe_of_a_versioned_server_holds_for_thirty_days(tmp_path: Path, age_s: float, is_proven: bool) -> None:
    assert asked(tmp_path, age_s=age_s).is_proven is is_proven


@pytest.mark.parametrize(("age_s", "is_proven"), [(24 * HOUR, True), (24 * HOUR + 1, False)])
def test_probe_of_a_server_without_a_version_holds_for_a_day(tmp_path: Path, age_s: float, is_proven: bool) -> None:
    found = asked(tmp_path, replace(PASSED, server_version=None), replace(SAME, version=None), age_s)
    assert found.is_proven is is_proven


@pytest.mark.parametrize(
    ("dialect", "words"),
    [
        ("llamacpp_completion", "--backend llama_cpp --api completion"),
        ("ollama_v1_chat", "--backend ollama --api v1"),
        ("openai_responses", "--backend openai_responses"),
        ("a_third_party", "--backend a_third_party"),
    ],
)
def test_command_names_the_backend_of_each_api(tmp_path: Path, dialect: str, words: str) -> None:
    found = standing(ProbeStore(tmp_path), dialect_name=dialect, base_url="", model="", identity=SAME, now=0.0)
    assert found.reason.endswith(f"commitgate probe {words}")


@pytest.mark.parametrize("dialect", sorted(DIALECTS))
def test_command_leads_to_a_backend_of_the_same_api(dialect: str) -> None:
    words = iter(probe_command(dialect, "http://server.test/v1", "m").split()[2:])
    given = dict(zip(words, words, strict=True))
    options = {"api": given["--api"]} if "--api" in given else {}
    backend: Any = make_remote(given["--backend"], base_url=given["--base-url"], api_key="k", **options)
    assert backend.dialect.facts.name == dialect


def test_command_can_be_pasted_whatever_the_names_hold(tmp_path: Path) -> None:
    url = "http://user:secret@host/v1?token=secret"
    found = standing(
        ProbeStore(tmp_path), dialect_name="vllm_chat", base_url=url, model="a; rm -rf \x1b[31m", identity=SAME, now=0.0
    )
    assert "'a; rm -rf " in found.reason
    assert "\x1b" not in found.reason
    assert "secret" not in found.reason


def test_words_of_a_server_never_reach_a_terminal_raw(tmp_path: Path) -> None:
    found = asked(tmp_path, identity=replace(SAME, version="\x1b]0;owned\x07"))
    assert "\x1b" not in found.reason

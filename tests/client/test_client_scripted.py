"""The fakes for tests of one's own: what a script may say, and where they keep things."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import cast, get_args

import pytest
from scripts import PAYMENT, STOP, Pay, Payments

from commitgate import Client, testing
from commitgate.backends.base import DeadEndCause, FaultKind
from commitgate.errors import MisuseError
from commitgate.ledger import ledger_at
from commitgate.testing import Chunking, MemoryLedger, ScriptedBackend, Step

WRONG: list[object] = [
    "text",
    {"text": 1},
    {"text": "\ud800"},
    {"text": "x", "legal_mass": True},
    {"text": "x", "legal_mass": "much"},
    {"text": "x", "legalmass": 0.5},
    {"text": "x", "forced": "yes"},
    {"text": "x", "tokens": -1},
    {"refusal": None},
    {"usage": [1]},
    {"usage": 5},
    {"usage": ["a", 1]},
    {"finish": None},
    {"finish": "stop", "native": 1},
    {"fault": "boom"},
    {"fault": []},
    {"fault": "server", "status": "503"},
    {"dead_end": "nowhere"},
    {"dead_end": "schema", "prefix_tokens": None, "cause": 1},
    {"wait": "pipe"},
    {"raise": ValueError},
    {"close": None},
]


@pytest.mark.parametrize("step", WRONG, ids=repr)
def test_step_that_cannot_be_played_is_misuse_when_the_script_is_made(step: object) -> None:
    with pytest.raises(MisuseError, match="step 1"):
        ScriptedBackend(cast("Sequence[Step]", [STOP, step]))


@pytest.mark.parametrize("script", [None, 5, {"text": "x"}])
def test_script_that_is_no_list_is_misuse(script: object) -> None:
    with pytest.raises(MisuseError, match="script must be"):
        ScriptedBackend(cast("Sequence[Step]", script))


@pytest.mark.parametrize("chunking", ["byte", 0, True, None])
def test_chunking_of_no_kind_is_misuse(chunking: object) -> None:
    with pytest.raises(MisuseError, match="chunking must be"):
        ScriptedBackend([STOP], chunking=cast(Chunking, chunking))


@pytest.mark.parametrize("word", [*get_args(FaultKind), *get_args(DeadEndCause)])
def test_every_legal_kind_can_be_scripted_and_is_documented(word: str) -> None:
    main = "fault" if word in get_args(FaultKind) else "dead_end"
    ScriptedBackend([{main: word}])
    assert f"``{word}``" in (testing.__doc__ or "")


@pytest.mark.anyio
async def test_memory_ledger_keeps_a_test_out_of_the_users_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "own.sqlite"
    monkeypatch.setenv("COMMITGATE_LEDGER", str(own))
    backend = ScriptedBackend([{"text": PAYMENT}, STOP])
    async with Client(backends={"scripted": backend}, ledger=MemoryLedger()) as client:
        outcome = await client.generate_structured(
            "scripted", Pay, prompt="pay", effect=Payments(), operation_key="invoice-7"
        )
    assert outcome.name == "committed"
    assert os.listdir(tmp_path) == []


def test_path_that_means_memory_elsewhere_is_told_where_the_ledger_in_memory_is() -> None:
    with pytest.raises(MisuseError, match=r"from commitgate\.ledger import MemoryLedger"):
        ledger_at(":memory:", {})

"""``commitgate models`` and ``generate`` with the bundled model."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from cli.command_shell import Shell

pytestmark = pytest.mark.model


def test_bundled_model_is_listed(shell: Shell) -> None:
    done = shell.commitgate("models", "list", "--json")
    (row,) = done.report["models"]
    assert row["name"] == "SmolLM2-135M-Instruct"
    assert row["state"] in ("ready", "packaged")


@pytest.mark.timeout(600)
def test_pulled_model_is_ready(shell: Shell) -> None:
    assert shell.commitgate("models", "pull", timeout_s=500).code == 0
    (row,) = shell.commitgate("models", "list", "--json").report["models"]
    assert row["state"] == "ready"
    assert (Path(row["folder"]) / "config.json").is_file()


@pytest.mark.timeout(600)
def test_real_model_fills_a_schema(shell: Shell) -> None:
    shell.write("prompt.txt", "The pump in the cellar leaks and the water rises. Please come at once!")
    done = shell.commitgate("generate", "--schema", "schema.json", "--prompt-file", "prompt.txt", timeout_s=500)
    assert done.code == 0, done.err
    value = done.report["value"]
    assert sorted(value) == ["priority", "summary"]
    assert value["priority"] in ("low", "high")
    assert done.report["receipt"]["legal_mass_mean"] <= 1


@pytest.mark.timeout(600)
def test_five_tokens_are_truncated_and_leave_no_committed_row(shell: Shell) -> None:
    done = shell.commitgate(
        "generate", "--schema", "schema.json", "--prompt", "The pump leaks.", "--max-tokens", "5",
        "--operation-key", "case-5", "--ledger", "ledger.sqlite", timeout_s=500,
    )  # fmt: skip
    assert (done.report["outcome"], done.code) == ("truncated", 12)
    assert done.report["value"] is None
    assert done.report["partial_text"].startswith("{")
    with closing(sqlite3.connect(shell.folder / "ledger.sqlite")) as database:
        rows = [state.upper() for (state,) in database.execute("SELECT state FROM commitgate_operation")]
    assert rows == ["RELEASED"]

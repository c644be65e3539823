"""Give each test a shell in a folder of its own."""

import json
import os
from pathlib import Path

import pytest
from cli.command_shell import SCHEMA, Shell


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """Return a shell in an empty folder that holds ``schema.json``."""
    made = Shell(
        tmp_path, {**os.environ, "COMMITGATE_LEDGER": str(tmp_path / "default-ledger.sqlite"), "COLUMNS": "100"}
    )
    made.write("schema.json", json.dumps(SCHEMA))
    return made

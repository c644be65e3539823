"""Write the blocks of a page as the files that they name in their first line, and run them as a reader would."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from guide import blocks_of

_END = "-- end of a program --"


def write_files(page: str, folder: Path) -> list[str]:
    """Write every block of Python of a page into a folder, and return the names of the files in their order."""
    names: list[str] = []
    for block in blocks_of(page):
        named = re.match(r"# (\w+\.py)\n", block)
        assert named, f"a block of {page} says in its first line which file it is"
        (folder / named[1]).write_text(block, encoding="utf-8")
        names.append(named[1])
    return names


def python(folder: Path, *arguments: str) -> str:
    """Run Python in a folder and return what it wrote; fail where the program does."""
    command = [sys.executable, *arguments]
    surroundings = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=280, env=surroundings)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    return done.stdout


def programs(folder: Path, names: list[str]) -> list[str]:
    """Run programs in one process, so that what they all load is loaded once, and return what each wrote."""
    run = f"import runpy\nfor name in {names}:\n    runpy.run_path(name, run_name='__main__')\n    print('{_END}')"
    return python(folder, "-c", f"import sys\nsys.path.insert(0, '')\n{run}").split(f"{_END}\n")[:-1]


__all__ = ["programs", "python", "write_files"]

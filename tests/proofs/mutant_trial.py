"""Run tests against mutants of a module: ``python mutant_trial.py MODULE INDEX,INDEX,... LIMIT_S TEST...``.

One line of JSON a mutant goes to stdout, the first for the module as it is. The working tree is never touched: each
mutant lives in a process of its own, where an import hook hands out the changed module. The processes are forked from
one that has loaded pytest and the libraries, which spares most of their start.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.util
import json
import os
import resource
import select
import signal
import sys
import time
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from proofs.mutator import mutated

ROOT = Path(__file__).resolve().parents[2]
LIBRARIES = (
    "anyio._backends._asyncio",
    "anyio._backends._trio",
    "anyio.pytest_plugin",
    "hypothesis",
    "ijson",
    "jiter",
    "jsonschema",
    "jsonschema_rs",
    "pydantic.fields",
    "pytest",
    "regex",
    "trio.testing",
)
MEMORY_BYTES = 6 * 1024**3
UNCHANGED = -1
OPTIONS = (
    "-x",
    "-q",
    "-p",
    "no:cacheprovider",
    "-p",
    "no:randomly",
    "--hypothesis-seed=0",
    "--timeout=0",
    "--assert=plain",
)


class Overlay(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Hand out one module in its changed form."""

    def __init__(self, module: str, index: int) -> None:
        self._module = module
        self._index = index

    def find_spec(self, fullname: str, path: object, target: object = None) -> ModuleSpec | None:
        """Take the import of the module."""
        return importlib.util.spec_from_loader(fullname, self) if fullname == self._module else None

    def exec_module(self, module: ModuleType) -> None:
        """Run the changed module."""
        path = source_of(self._module)
        module.__file__ = str(path)
        tree = mutated(path.read_text(encoding="utf-8"), self._index)
        exec(compile(tree, str(path), "exec"), module.__dict__)


def source_of(module: str) -> Path:
    """Return the file of a module of the SDK."""
    return ROOT / "sdk" / f"{module.replace('.', '/')}.py"


def trial(module: str, index: int, limit_s: float, tests: Sequence[str]) -> dict[str, object]:
    """Run the tests against one mutant; ``end`` is ``survived``, ``killed``, ``timed out`` or ``no tests``."""
    started = time.monotonic()
    child = os.fork()
    if child == 0:
        _be_the_mutant(module, index, tests)
    code = _end_of(child, limit_s)
    words = {None: "timed out", 0: "survived", 4: "no tests", 5: "no tests"}
    return {"index": index, "end": words.get(code, "killed"), "time_s": round(time.monotonic() - started, 2)}


def _end_of(child: int, limit_s: float) -> int | None:
    """Wait for a process of ours; end it when the time is up."""
    handle = os.pidfd_open(child)
    try:
        ready, _, _ = select.select([handle], [], [], limit_s)
        if not ready:
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        return os.waitstatus_to_exitcode(status) if ready else None
    finally:
        os.close(handle)


def _be_the_mutant(module: str, index: int, tests: Sequence[str]) -> None:
    code = 3
    try:
        silent = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(silent, stream)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        for name in [name for name in sys.modules if name.split(".")[0] == "commitgate"]:
            del sys.modules[name]
        if index != UNCHANGED:
            sys.meta_path.insert(0, Overlay(module, index))
        import pytest

        code = int(pytest.main([*OPTIONS, f"--rootdir={ROOT}", *tests]))
    finally:
        os._exit(code)


def main(module: str, indices: str, limit_s: str, *tests: str) -> None:
    """Try the mutants one after the other."""
    os.chdir(ROOT)
    for name in LIBRARIES:
        importlib.import_module(name)
    for index in [UNCHANGED, *map(int, indices.split(","))]:
        print(json.dumps(trial(module, index, float(limit_s), tests)), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])

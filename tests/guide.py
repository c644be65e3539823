"""Read the blocks of Python out of a page of the docs, and run them as they stand."""

import ast
import inspect
import re
import types
from collections.abc import Iterable
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[1] / "docs"


def blocks_of(page: str) -> list[str]:
    """Return the blocks of a page, in their order."""
    text = (DOCS / page).read_text(encoding="utf-8")
    return re.findall(r"```python\n(.+?)```", text, flags=re.DOTALL)


async def run_blocks(blocks: Iterable[str], name: str) -> dict[str, Any]:
    """Run blocks one after another in one namespace, the module ``name``, and return it."""
    names: dict[str, Any] = {"__name__": name}
    for number, block in enumerate(blocks):
        program = compile(block, f"block {number}", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
        # What has `await` at its top gives a coroutine when it is called; the rest runs at once.
        result = types.FunctionType(program, names)()
        if inspect.isawaitable(result):
            await result
    return names

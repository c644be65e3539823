"""Every block of the docs is run or read by a test, and every command in them is one of the program."""

import ast
import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml
from guide import blocks_of, run_blocks
from pydantic import BaseModel
from repo.doc_blocks import PAGES, ROOT, Block, read_blocks, read_commands, read_mentions, words_of

from commitgate.cli.app import _application
from commitgate.telemetry import own_names
from commitgate.testing import ScriptedBackend, Step

BLOCKS = read_blocks()
READERS = {"blocks_of", "write_files"}
"""What gives a test all blocks of a page."""
RUNNERS = {"run_blocks", "exec", "python", "programs", "subprocess"}
"""What a test has blocks run with."""
EXCERPTS = {"docs/refunds.md": "tests/examples/test_refund.py::test_guide_shows_what_stands_in_the_files"}
"""Pages whose blocks stand in files that are run elsewhere, each with the test that compares the two."""
READ_AS = {
    "json": json.loads,
    "toml": tomllib.loads,
    "yaml": yaml.safe_load,
}
"""Languages whose blocks are read as what they are."""
SHOWN = {"text", "sh", "mermaid"}
"""Languages of what is only shown: what programs write, lines for a shell (looked at below), diagrams."""


def of(language: str) -> list[Block]:
    return [block for block in BLOCKS if block.language == language]


def test_every_block_is_in_a_language_that_is_looked_at() -> None:
    assert {str(block): block.language for block in BLOCKS if block.language not in {"python", *READ_AS, *SHOWN}} == {}


def references(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def parts_of(tree: ast.Module) -> dict[str, ast.stmt]:
    """Return the functions and constants of a module by their names."""
    found: dict[str, ast.stmt] = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found[node.name] = node
        elif isinstance(node, ast.Assign):
            found |= {name: node for target in node.targets for name in references(target)}
    return found


def closure(name: str, parts: dict[str, ast.stmt]) -> list[ast.stmt]:
    """Return what a function uses of its module, itself included."""
    seen, waiting = {name}, [name]
    while waiting:
        used = references(parts[waiting.pop()]) & parts.keys() - seen
        # A fixture is used by being an argument.
        waiting += used
        seen |= used
    return [parts[each] for each in seen]


def pages_run_by(name: str, parts: dict[str, ast.stmt]) -> Iterator[str]:
    """Yield the pages all of whose blocks a test runs."""
    used = closure(name, parts)
    if not RUNNERS & set[str]().union(*map(references, used)):
        return
    words = {part: node.value for part, node in parts.items() if isinstance(node, ast.Assign)}
    nodes = [node for part in used for node in ast.walk(part)]
    some_of_them = {id(node.value) for node in nodes if isinstance(node, ast.Subscript)}
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in READERS:
            page = node.args[0]
            page = words.get(page.id, page) if isinstance(page, ast.Name) else page
            if isinstance(page, ast.Constant) and id(node) not in some_of_them:
                yield (Path("docs") / str(page.value)).as_posix().replace("docs/../", "")


def test_every_block_of_python_is_run_by_a_test() -> None:
    found: dict[str, list[str]] = {}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        parts = parts_of(ast.parse(path.read_text(encoding="utf-8")))
        for name in parts:
            if name.startswith("test_"):
                for page in pages_run_by(name, parts):
                    found.setdefault(page, []).append(f"{path.relative_to(ROOT)}::{name}")
    assert len(found) > 30
    assert [str(block) for block in of("python") if block.page not in found.keys() | EXCERPTS.keys()] == []


@pytest.mark.parametrize("page", EXCERPTS)
def test_blocks_that_are_excerpts_are_compared_with_their_files(page: str) -> None:
    path, _, name = EXCERPTS[page].partition("::")
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    assert f'blocks_of("{Path(page).name}")' in ast.unparse(parts_of(tree)[name]).replace("'", '"')


@pytest.mark.parametrize("block", [block for block in BLOCKS if block.language in READ_AS], ids=str)
def test_block_is_what_its_fence_says(block: Block) -> None:
    read = READ_AS[block.language]
    try:
        read(block.text)
    except ValueError:
        # JSON lines, each a text of its own.
        assert block.language == "json"
        for line in block.text.splitlines():
            read(line)


class Ticket(BaseModel):
    priority: str
    summary: str


@pytest.mark.anyio
async def test_blocks_of_the_page_on_retries_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answer: list[Step] = [{"text": '{"priority":"high","summary":"leak"}'}, {"finish": "stop"}]
    backend = ScriptedBackend(answer, name="local")
    monkeypatch.setattr("commitgate.backends.local.LocalBackend", lambda: backend)
    given = "Ticket, MAIL = GIVEN"
    names = await run_blocks([f"from {__name__} import GIVEN\n{given}", *blocks_of("retries.md")], "retries")
    assert names["outcome"].name == "committed"
    assert len(backend.requests) == 2
    assert "'priority': 'high'" in capsys.readouterr().out


GIVEN = (Ticket, "Our pump leaks!")
PROGRAM: Any = typer.main.get_command(_application())


def test_pages_show_commands() -> None:
    assert len(read_commands()) > 40
    assert len(MENTIONS) > 40


@pytest.mark.parametrize(("page", "line"), read_commands(), ids=lambda value: value[:60])
def test_command_of_the_docs_is_understood(page: str, line: str) -> None:
    command, words = PROGRAM, words_of(line)
    context = command.context_class(command, info_name="commitgate")
    while hasattr(command, "commands"):
        name, found, words = command.resolve_command(context, words)
        assert found is not None
        command = found
        if hasattr(command, "commands"):
            context = command.context_class(command, parent=context, info_name=name)
    command.make_context(None, words, parent=context)


SPANS = {value for name, value in vars(own_names).items() if name.endswith("_SPAN")}
MENTIONS = [each for each in sorted(set(read_mentions())) if each[1] not in SPANS]


@pytest.mark.parametrize(("page", "mention"), MENTIONS)
def test_command_that_the_docs_name_exists(page: str, mention: str) -> None:
    command = PROGRAM
    options: set[str] = {"--help"}
    for word in words_of(mention):
        options |= {name for each in command.params for name in each.opts}
        if word.startswith("--"):
            assert word in options, mention
        elif hasattr(command, "commands"):
            # Several commands may be named at once: `ledger list|show`.
            assert all(name in command.commands for name in word.split("|")), mention
            command = command.commands[word.split("|")[0]]


def test_targets_and_extras_that_the_docs_name_exist() -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in PAGES)
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE))
    named = set(re.findall(r"(?:`|^ {4})make ([a-z-]+)", text, flags=re.MULTILINE))
    assert {"demo", "test", "docs"} <= named <= targets
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    asked = {extra for group in re.findall(r"commitgate\[([a-z,]+)\]", text) for extra in group.split(",")}
    assert asked <= set(extras)

"""The guide to servers says what the code does: its blocks run against a real one, its table is the backends'."""

import re
from collections.abc import Generator

import pytest
from guide import DOCS, blocks_of, run_blocks
from served_app import Served, served

from commitgate.backends.registry import REMOTE, make_remote
from commitgate.backends.remote import RemoteBackend
from commitgate.testing import ScriptedBackend
from commitgate_local.server.model_list import ServedModel

PAGE = (DOCS / "servers.md").read_text(encoding="utf-8")
ANSWER = [{"text": '{"city": "Oslo"}'}, {"finish": "stop"}]
ORDER = ("json_schema", "regex", "choices", "grammar")


@pytest.fixture
def server() -> Generator[Served]:
    """Serve from outside of the test's own event loop: the server has one of its own."""
    with served(ScriptedBackend(ANSWER, then=[ANSWER]), models=[ServedModel(name="local", created=0)]) as running:
        yield running


@pytest.mark.anyio
async def test_blocks_run_as_they_stand(server: Served, capsys: pytest.CaptureFixture[str]) -> None:
    await run_blocks([f"url = {server.url!r}", *blocks_of("servers.md")], "servers_guide")
    assert capsys.readouterr().out == "['city'] ()\n"


def row(name: str) -> list[str]:
    backend = make_remote(name, base_url="http://127.0.0.1:1", api_key="k")
    assert isinstance(backend, RemoteBackend)
    facts = backend.dialect.facts
    owner = {"openai": "OpenAI", "anthropic": "Anthropic", "gemini": "Google", "vllm": "NVIDIA"}.get(facts.vendor or "")
    place = f"`{facts.base_url_variable}`" + ("" if facts.base_url is None else f", or {owner}'s own")
    keys = ", ".join(f"`{variable}`" for variable in facts.key_variables) + ("" if facts.needs_key else ", if any")
    forms = ", ".join(f"`{form}`" for form in ORDER if form in facts.forms)
    return [f"`{name}`", facts.title, place, keys, forms, "its own" if facts.offers_tools else "as text"]


def test_table_is_that_of_the_backends() -> None:
    rows = [line.strip("| ").split(" | ") for line in PAGE.splitlines() if line.startswith("| `")][: len(REMOTE) - 1]
    assert rows == [row(name) for name in REMOTE if name != "openai_responses"]


def test_other_name_of_responses_is_the_same_backend() -> None:
    assert REMOTE["openai"] == REMOTE["openai_responses"]


def test_pages_that_it_names_are_there() -> None:
    named = set(re.findall(r"\]\((\w[\w-]*\.md)\)", PAGE))
    assert {page for page in named if not (DOCS / page).exists()} <= {"backends.md", "real-servers.md"}

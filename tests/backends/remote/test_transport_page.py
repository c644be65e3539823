"""The page on how requests reach a server says what the code does."""

from __future__ import annotations

import re

import pytest
from backends.remote.chat_words import delta, finish
from backends.remote.loopback import Asked, Line, loopback
from guide import DOCS, blocks_of, run_blocks

from commitgate.backends.remote import CONNECTIONS, RemoteOptions
from commitgate.backends.request_headers import IDEMPOTENCY_HEADER, RETRY_COUNT_HEADER

PAGE = (DOCS / "remote-transport.md").read_text(encoding="utf-8")


def test_every_option_stands_on_the_page() -> None:
    table = PAGE.partition("## Options")[2].partition("\n\nA wrong option")[0]
    assert set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == set(RemoteOptions.__annotations__)
    assert f"| `connections` | {CONNECTIONS} |" in table


def test_fields_are_named_as_they_are_sent() -> None:
    named = {name.lower() for name in re.findall(r"^- `([\w-]+)`:", PAGE, re.MULTILINE)}
    assert named == {IDEMPOTENCY_HEADER, RETRY_COUNT_HEADER}


@pytest.mark.anyio
async def test_block_of_the_page_runs() -> None:
    names = await run_blocks(blocks_of("remote-transport.md"), __name__)

    async def respond(asked: Asked, line: Line) -> None:
        del asked
        await line.head()
        await line.chunk(delta('{"title": "leak"}') + finish())
        await line.end()

    async with loopback(respond) as server:
        outcome = await names["ask"](server.url)
    assert outcome.unwrap().title == "leak"

"""Tell under which event loops each library's own async client answers: ``python tests/comparison/loops.py``."""

from __future__ import annotations

import importlib
import logging
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import anyio
from comparison.answers import ANSWERS, served
from comparison.callers import KEY, MESSAGES, PROMPT, Ticket, installed


def _client(url: str) -> Any:
    return importlib.import_module("openai").AsyncOpenAI(base_url=url, api_key=KEY, max_retries=0)


async def ask_openai(url: str) -> object:
    async with _client(url) as client:
        await client.chat.completions.parse(model="m", messages=MESSAGES, response_format=Ticket)


async def ask_instructor(url: str) -> object:
    instructor = importlib.import_module("instructor")
    async with _client(url) as client:
        asked = instructor.from_openai(client, mode=instructor.Mode.JSON_SCHEMA)
        await asked.create(model="m", messages=MESSAGES, response_model=Ticket)


async def ask_pydantic_ai(url: str) -> object:
    ai = importlib.import_module("pydantic_ai")
    models = importlib.import_module("pydantic_ai.models.openai")
    providers = importlib.import_module("pydantic_ai.providers.openai")
    async with _client(url) as client:
        model = models.OpenAIChatModel("m", provider=providers.OpenAIProvider(openai_client=client))
        await ai.Agent(model, output_type=ai.NativeOutput(Ticket)).run(PROMPT)


async def ask_outlines(url: str) -> object:
    outlines = importlib.import_module("outlines")
    async with _client(url) as client:
        await outlines.from_openai(client, "m")(PROMPT, Ticket)


async def ask_commitgate(url: str) -> object:
    commitgate = importlib.import_module("commitgate")
    chat = importlib.import_module("commitgate.backends.openai_chat")
    backend = chat.OpenAIChatBackend(base_url=url, api_key=KEY)
    async with commitgate.Client(backends={"server": backend}) as client:
        (await client.generate_structured("server/m", Ticket, prompt=PROMPT)).unwrap()


ASKED: dict[str, Callable[[str], Awaitable[object]]] = {
    "commitgate": ask_commitgate,
    "openai": ask_openai,
    "instructor": ask_instructor,
    "pydantic-ai": ask_pydantic_ai,
    "outlines": ask_outlines,
}


def works(name: str, loop: str) -> str:
    """Return whether a library answers under an event loop, else what it raised."""
    with served(ANSWERS["whole"]) as url:
        try:
            anyio.run(ASKED[name], url, backend=loop)
        except Exception as error:  # noqa: BLE001
            return type(error).__name__
    return "yes"


def main() -> int:
    """Ask all that are installed, under both event loops."""
    os.environ["NO_PROXY"] = "127.0.0.1"
    logging.disable()
    for name, version in installed(ASKED):
        print(name, version, {loop: works(name, loop) for loop in ("asyncio", "trio")})
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Ask each library for one typed value, as its own documentation says, and tell what its caller gets.

A library is imported where it is used, so one that is not installed is left out.
"""

from __future__ import annotations

import importlib
import importlib.metadata
from collections import deque
from collections.abc import Callable, Collection, Iterator
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

SUMMARY = "The pump leaks"
"""What the summary of every answer is that is not cut."""
PROMPT = "Our pump leaks, please come today!"
KEY = "a-key-of-nobody"


class Ticket(BaseModel):
    """What is asked for."""

    model_config = ConfigDict(extra="forbid")

    priority: Literal["low", "normal", "high"]
    summary: str


MESSAGES: list[Any] = [{"role": "user", "content": PROMPT}]


def openai_whole(url: str) -> object:
    parsed = _openai(url).chat.completions.parse(model="m", messages=MESSAGES, response_format=Ticket)
    return parsed.choices[0].message.parsed


def openai_stream(url: str) -> object:
    with _openai(url).chat.completions.stream(model="m", messages=MESSAGES, response_format=Ticket) as stream:
        for _ in stream:
            pass
        return stream.get_final_completion().choices[0].message.parsed


def instructor_whole(url: str) -> object:
    return _instructor(url).create(model="m", messages=MESSAGES, response_model=Ticket, max_retries=0)


def instructor_stream(url: str) -> object:
    asked = _instructor(url).create_partial(model="m", messages=MESSAGES, response_model=Ticket, max_retries=0)
    return next(iter(deque(asked, maxlen=1)), None)


def pydantic_ai_whole(url: str) -> object:
    return _agent(url).run_sync(PROMPT).output


def pydantic_ai_stream(url: str) -> object:
    import anyio

    async def run() -> object:
        async with _agent(url).run_stream(PROMPT) as result:
            async for _ in result.stream_output():
                pass
            return await result.get_output()

    return anyio.run(run)


def outlines_whole(url: str) -> object:
    return _outlines(url)(PROMPT, Ticket)


def outlines_stream(url: str) -> object:
    return "".join(_outlines(url).stream(PROMPT, Ticket))


def commitgate_whole(url: str) -> object:
    return _commitgate(url, False)


def commitgate_stream(url: str) -> object:
    return _commitgate(url, True)


def _openai(url: str) -> Any:
    return importlib.import_module("openai").OpenAI(base_url=url, api_key=KEY, max_retries=0)


def _instructor(url: str) -> Any:
    instructor = importlib.import_module("instructor")
    return instructor.from_openai(_openai(url), mode=instructor.Mode.JSON_SCHEMA)


def _agent(url: str) -> Any:
    ai = importlib.import_module("pydantic_ai")
    models = importlib.import_module("pydantic_ai.models.openai")
    providers = importlib.import_module("pydantic_ai.providers.openai")
    model = models.OpenAIChatModel("m", provider=providers.OpenAIProvider(openai_client=_openai_async(url)))
    return ai.Agent(model, output_type=ai.NativeOutput(Ticket), retries=0)


def _outlines(url: str) -> Any:
    outlines = importlib.import_module("outlines")
    return outlines.from_openai(_openai(url), "m")


def _openai_async(url: str) -> Any:
    return importlib.import_module("openai").AsyncOpenAI(base_url=url, api_key=KEY, max_retries=0)


def _commitgate(url: str, shows: bool) -> object:
    sync = importlib.import_module("commitgate.sync")
    chat = importlib.import_module("commitgate.backends.openai_chat")
    once = importlib.import_module("commitgate").Retry(attempts=1)
    backend = chat.OpenAIChatBackend(base_url=url, api_key=KEY)
    with sync.Client(backends={"server": backend}) as client:
        if not shows:
            return client.generate_structured("server/m", Ticket, prompt=PROMPT, retry=once)
        with client.stream_structured("server/m", Ticket, prompt=PROMPT, retry=once) as run:
            for _ in run:
                pass
            return run.outcome()


CALLERS: dict[str, dict[str, Callable[[str], object]]] = {
    "commitgate": {"whole": commitgate_whole, "stream": commitgate_stream},
    "openai": {"whole": openai_whole, "stream": openai_stream},
    "instructor": {"whole": instructor_whole, "stream": instructor_stream},
    "pydantic-ai": {"whole": pydantic_ai_whole, "stream": pydantic_ai_stream},
    "outlines": {"whole": outlines_whole, "stream": outlines_stream},
}
_DISTRIBUTIONS = {"pydantic-ai": "pydantic-ai-slim"}
_MODULES = {"pydantic-ai": "pydantic_ai"}


def installed(names: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield those of the named libraries that are here, with their versions."""
    for name in names:
        try:
            importlib.import_module(_MODULES.get(name, name))
        except ModuleNotFoundError:
            continue
        yield name, importlib.metadata.version(_DISTRIBUTIONS.get(name, name))


def told(call: Callable[[str], object], url: str) -> str:
    """Return what the caller of a library gets, in a word: what it is, or the exception or ending by its name."""
    try:
        found = call(url)
    except Exception as error:  # noqa: BLE001
        return type(error).__name__
    # An ending of commitgate holds its value.
    found = getattr(found, "value", found) if getattr(found, "name", None) == "committed" else found
    if isinstance(found, Ticket):
        return "value" if found.summary == SUMMARY else "a cut value"
    return "text" if isinstance(found, str) else "None" if found is None else type(found).__name__


__all__ = ["CALLERS", "Ticket", "installed", "told"]

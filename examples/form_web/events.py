"""Send one run to the browser as server-sent events: `preview` and `reset` while it lasts, then one `outcome`.

Source: HTML Living Standard, 9.2 Server-sent events.
"""

import json
from collections.abc import AsyncGenerator, Collection, Mapping
from contextlib import aclosing
from secrets import token_urlsafe
from typing import cast

from booking import Booking
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from commitgate import CommitgateError, Committed, Outcome, Reset, StructuredRun


class RunResponse(StreamingResponse):
    """Start a run and stream it. It lives as long as the connection: once the browser is gone, the model stops.

    Args:
        run: what to stream.
        runs: holds it under its address while it lasts, so that another request can cancel it.
    """

    def __init__(self, run: StructuredRun[Booking], runs: dict[str, StructuredRun[Booking]]) -> None:
        self._run, self._runs, self._key = run, runs, token_urlsafe(16)
        headers = {"Cache-Control": "no-store", "Location": f"/runs/{self._key}"}
        super().__init__((), 201, headers, "text/event-stream")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events. Starlette cancels this where the browser goes, and leaving the run cancels the run."""
        self._runs[self._key] = self._run
        try:
            async with self._run as run, aclosing(events(run)) as self.body_iterator:
                await super().__call__(scope, receive, send)
        finally:
            del self._runs[self._key]


async def events(run: StructuredRun[Booking]) -> AsyncGenerator[str]:
    """Return the events of a run. A browser that reads slowly misses previews; it never slows the model."""
    try:
        async for item in run.latest():
            if isinstance(item, Reset):
                yield event("reset", {"attempt": item.attempt, "reason": item.reason})
            else:
                yield event("preview", {"fields": fields(item.value, item.final_paths)})
        yield event("outcome", ending(await run.outcome()))
    except CommitgateError as error:  # the model cannot be had; its message holds nothing of the e-mail
        yield event("outcome", {"name": "failed", "summary": str(error)})


def ending(outcome: Outcome[Booking]) -> dict[str, object]:
    """Return how the run ended. Only a committed outcome has fields to act on."""
    told: dict[str, object] = {"name": outcome.name, "summary": outcome.summary()}
    if isinstance(outcome, Committed):
        value = outcome.value.model_dump()
        told["fields"] = fields(value, [f"/{name}" for name in value])
    return told


def fields(value: object, finals: Collection[str]) -> dict[str, dict[str, object]]:
    """Return each field that shows something: its text, and whether it can still change."""
    # Field names hold neither "/" nor "~", so a pointer to one needs no escape.
    shown = cast("dict[str, object]", value) if isinstance(value, dict) else {}
    return {name: {"text": text(item), "final": f"/{name}" in finals} for name, item in shown.items()}


def text(value: object) -> str:
    """Return a value in words. The page puts it into a text node, so nothing in it needs an escape."""
    if isinstance(value, list):
        return ", ".join(map(str, cast("list[object]", value)))
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def event(name: str, data: Mapping[str, object]) -> str:
    """Return one event. JSON in ASCII has no line break, so a model's text cannot begin an event of its own."""
    return f"event: {name}\ndata: {json.dumps(data)}\n\n"

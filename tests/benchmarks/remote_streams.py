"""Measure what reading a server's stream costs for each token, beside openai-python's stream helper in the same run.

Run: ``python tests/benchmarks/remote_streams.py`` writes ``docs/remote-benchmark.md``. No part of the test suite: times
of the processor vary with the machine, ratios should not. The server is a process of its own on the loopback that sends
recorded chunks: neither model nor network is measured, and only the time of this process's own processor is counted.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import openai
from pydantic import BaseModel

from commitgate import Client, Committed, Timeouts
from commitgate.backends.openai_chat import OpenAIChatBackend
from commitgate.testing import replay

ROUNDS = 7
STREAMS_AT_ONCE = 1_000
SHORT_LINES = 4
ANSWERS = 8
"""By one client, one after another: making a client takes as long as reading some hundred tokens."""
REPORT = Path(__file__).parents[2] / "docs" / "remote-benchmark.md"


TEMPLATE = """\
# Reading a server's stream

Made by `python tests/benchmarks/remote_streams.py`. A server on the loopback, in a process of its own, sends the
chunks of a recorded answer of {tokens:,} tokens. What is counted is the processor time of the reading process for
each token, the HTTP library included: the median of {rounds} interleaved rounds. *Packed*: 32 events in a piece of
the body, as busy servers send them. *Single*: each event in a piece of its own. Ratios are to openai-python's stream
helper in the same run; compare these, and not the times of another machine.

| reader | packed | ratio | single | ratio |
|---|---|---|---|---|
{rows}

Bytes to events alone, without a socket, an acceptor or previews: {alone:.1f} µs a token.

commitgate decodes, walks every byte through the contract's automaton and, with previews, reads the growing object; at
the end it parses, validates and types the value. The stream helper parses the text so far at each chunk, so its cost
for a token grows with the answer. The plain chunks are neither parsed nor checked until the end.

{streams:,} streams at once on one event loop: {seconds:.1f} s, every one committed; then as many again over the same
places, of which none was missing.
"""


class Line(BaseModel):
    article: str
    quantity: int
    price: float
    in_stock: bool


class Order(BaseModel):
    customer: str
    note: str
    lines: list[Line]


def answer(lines: int) -> str:
    """Return the JSON of an order."""
    made = [Line(article=f"article {n}", quantity=n, price=n + 0.25, in_stock=n % 3 > 0) for n in range(lines)]
    return Order(customer="Example Ltd", note="Deliver to the back door, please.", lines=made).model_dump_json()


def chunks(text: str, token_characters: int = 4) -> list[bytes]:
    """Return the events of a chat completion that writes a text, some four characters a token as models do."""
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1790000001, "model": "m"}

    def event(delta: dict[str, object], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return b"data: " + json.dumps({**head, "choices": [choice], "usage": None}).encode() + b"\n\n"

    pieces = [text[at : at + token_characters] for at in range(0, len(text), token_characters)]
    usage = {"prompt_tokens": 9, "completion_tokens": len(pieces), "total_tokens": 9 + len(pieces)}
    last = b"data: " + json.dumps({**head, "choices": [], "usage": usage}).encode() + b"\n\n"
    first = event({"role": "assistant", "content": "", "refusal": None})
    return [first, *(event({"content": piece}) for piece in pieces), event({}, "stop"), last, b"data: [DONE]\n\n"]


async def serve(port_file: Path, lines: int) -> None:
    """Answer every request with the chunks; the path says how they are paced. Runs until it is ended."""
    long, short = chunks(answer(lines)), chunks(answer(SHORT_LINES))

    async def one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                length = next(
                    int(line.split(":")[1]) for line in head.split("\r\n") if line.lower().startswith("content-length:")
                )
                await reader.readexactly(length)
                writer.write(
                    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
                )
                events = short if "/short/" in head else long
                parts = [b"".join(events[at : at + 32]) for at in range(0, len(events), 32)]
                for part in events if "/single/" in head else parts:
                    writer.write(b"%x\r\n%s\r\n" % (len(part), part))
                    await writer.drain()
                    await asyncio.sleep(0)
                writer.write(b"0\r\n\r\n")
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(one, "127.0.0.1", 0, backlog=STREAMS_AT_ONCE)
    await asyncio.to_thread(port_file.write_text, str(server.sockets[0].getsockname()[1]))
    await server.serve_forever()


Way = Callable[[str], Awaitable[None]]


def ours(previews: bool) -> Way:
    """Return a way of reading answers with this library: decoded, accepted, judged, and shown while it grows."""

    async def run(url: str) -> None:
        backend = OpenAIChatBackend(base_url=url, api_key="k")
        async with Client(backends={"bench": backend}) as client:
            for _ in range(ANSWERS):
                if not previews:
                    outcome = await client.generate_structured("bench/m", Order, prompt="x")
                else:
                    async with client.stream_structured("bench/m", Order, prompt="x") as run:
                        async for item in run:
                            del item
                        outcome = await run.outcome()
                assert isinstance(outcome, Committed), outcome
        await backend.aclose()

    return run


async def theirs(url: str) -> None:
    """Read answers with openai-python's stream helper, which parses what came so far at each chunk."""
    async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="k", max_retries=0) as client:
        for _ in range(ANSWERS):
            asked: Any = {"model": "m", "messages": [{"role": "user", "content": "x"}], "response_format": Order}
            async with client.chat.completions.stream(**asked) as stream:
                async for event in stream:
                    del event
                completion = await stream.get_final_completion()
            assert completion.choices[0].message.parsed is not None


async def their_chunks(url: str) -> None:
    """Read answers with openai-python's plain stream, which parses nothing, and validate the whole text."""
    async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="k", max_retries=0) as client:
        for _ in range(ANSWERS):
            asked: Any = {"model": "m", "messages": [{"role": "user", "content": "x"}], "stream": True}
            text = ""
            async for chunk in await client.chat.completions.create(**asked):
                text += (chunk.choices[0].delta.content or "") if chunk.choices else ""
            Order.model_validate_json(text)


WAYS: dict[str, Way] = {
    "commitgate, with previews": ours(previews=True),
    "commitgate, without": ours(previews=False),
    "openai-python, `chat.completions.stream`": theirs,
    "openai-python, plain chunks": their_chunks,
}


def measure(url: str, tokens: int) -> dict[str, float]:
    """Return the microseconds of processor time for each token, by way: the median of interleaved rounds."""
    found: dict[str, list[float]] = {name: [] for name in WAYS}
    for round_number in range(ROUNDS + 1):
        for name, way in WAYS.items():
            gc.collect()
            start = time.process_time()
            asyncio.run(way(url))  # type: ignore[arg-type]
            spent = time.process_time() - start
            if round_number:  # the first round imports and compiles
                found[name].append(spent / (ANSWERS * tokens) * 1e6)
    return {name: statistics.median(times) for name, times in found.items()}


def decoding(tokens: int, lines: int) -> float:
    """Return the microseconds for each token of reading alone: bytes to events, no acceptor, no preview, no socket."""
    body = b"".join(chunks(answer(lines)))
    times: list[float] = []
    for _ in range(ROUNDS):
        start = time.process_time()
        assert replay("openai_chat", body).outcome == "complete"
        times.append((time.process_time() - start) / tokens * 1e6)
    return statistics.median(times)


async def many(url: str) -> float:
    """Read many answers at once on one loop, and as many again; return the seconds for the first ones.

    There are as many places as answers, and nobody waits for one: one that leaked would end the second round.
    """
    backend = OpenAIChatBackend(base_url=url, api_key="k", connections=STREAMS_AT_ONCE)
    limits = Timeouts(pool_s=0.001, connect_s=60, first_event_s=120, total_s=None)
    spent = 0.0
    async with Client(backends={"bench": backend}) as client:

        async def one() -> None:
            outcome = await client.generate_structured("bench/m", Order, prompt="x", timeouts=limits)
            assert isinstance(outcome, Committed), outcome

        for _ in range(2):
            start = time.perf_counter()
            async with asyncio.TaskGroup() as group:
                for _ in range(STREAMS_AT_ONCE):
                    group.create_task(one())
            spent = spent or time.perf_counter() - start
    await backend.aclose()
    return spent


def report(lines: int) -> str:
    """Measure, and return the page."""
    port_file = Path(sys.argv[0]).with_suffix(".port")
    port_file.unlink(missing_ok=True)
    server = subprocess.Popen([sys.executable, __file__, "--serve", str(port_file), "--lines", str(lines)])
    try:
        while not port_file.exists() or not port_file.read_text():
            time.sleep(0.05)
        url = f"http://127.0.0.1:{port_file.read_text()}"
        tokens = len(chunks(answer(lines))) - 4
        packed, single = measure(f"{url}/packed", tokens), measure(f"{url}/single", tokens)
        alone = decoding(tokens, lines)
        print(packed, single, alone, file=sys.stderr)
        seconds = asyncio.run(many(f"{url}/short"))
    finally:
        server.terminate()
        server.wait()
        port_file.unlink(missing_ok=True)
    return page(tokens, packed, single, alone, seconds)


def page(tokens: int, packed: dict[str, float], single: dict[str, float], alone: float, seconds: float) -> str:
    """Return the page of what was measured."""
    base = "openai-python, `chat.completions.stream`"
    rows = [
        f"| {name} | {packed[name]:.0f} µs | {packed[name] / packed[base]:.2f} | {single[name]:.0f} µs | "
        f"{single[name] / single[base]:.2f} |"
        for name in WAYS
    ]
    return TEMPLATE.format(
        tokens=tokens, rows="\n".join(rows), alone=alone, streams=STREAMS_AT_ONCE, seconds=seconds, rounds=ROUNDS
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--lines", type=int, default=60, help="lines of the order that is answered")
    parser.add_argument("--print", action="store_true", help="print the page and write nothing")
    given = parser.parse_args()
    if given.serve is not None:
        asyncio.run(serve(given.serve, given.lines))
        return
    text = report(given.lines)
    if given.print:
        print(text)
    else:
        REPORT.write_text(text)


if __name__ == "__main__":
    main()

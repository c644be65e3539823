"""Time the preview reader: is it linear, and what does a delta cost?

Run: ``python tests/benchmarks/preview.py``. Not part of the test suite; times vary with the machine, ratios should not.
A ratio is the time at twice the size over the time at the size: 2 is linear, 4 is quadratic.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable

import ijson

from commitgate.preview import PreviewReader
from commitgate.preview.events import EventSource

CHUNK_BYTES = 8
ROUNDS = 3


def one_string(size_bytes: int) -> bytes:
    """Return an object that holds one long string."""
    return b'{"s":"' + b"abcdefg " * (size_bytes // 8) + b'"}'


def many_objects(size_bytes: int) -> bytes:
    """Return an array of small objects."""
    chance, rows, size = random.Random(3), list[object](), 0
    while size < size_bytes:
        row = {"id": chance.randrange(10**6), "name": "some name", "ok": True, "price": 1.25, "tags": ["a", "bcd"]}
        rows.append(row)
        size += len(json.dumps(row)) + 2
    return json.dumps(rows).encode()


def read(text: bytes, chunk_bytes: int) -> None:
    """Feed a whole text to the reader."""
    reader = PreviewReader()
    for start in range(0, len(text), chunk_bytes):
        reader.feed(text[start : start + chunk_bytes])
    if reader.finish().state != "accept":
        raise SystemExit("the benchmark's own text was not accepted")


def ijson_alone(text: bytes, chunk_bytes: int) -> None:
    """Feed a whole text to ijson as it comes, for comparison: an open string is read again with each chunk."""
    parser = ijson.basic_parse_coro(ijson.sendable_list(), use_float=False)
    for start in range(0, len(text), chunk_bytes):
        parser.send(text[start : start + chunk_bytes])


def whole_tokens(text: bytes, chunk_bytes: int) -> None:
    """Give ijson the whole text at once: what its part of the work costs."""
    del chunk_bytes
    EventSource().feed(text + b" ")


def best_s(work: Callable[[bytes, int], None], text: bytes, chunk_bytes: int) -> float:
    """Return the least time of a few rounds."""
    times: list[float] = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        work(text, chunk_bytes)
        times.append(time.perf_counter() - start)
    return min(times)


def report(name: str, work: Callable[[bytes, int], None], make: Callable[[int], bytes], size_bytes: int) -> None:
    """Print the time at a size and at twice that size."""
    texts = make(size_bytes), make(2 * size_bytes)
    small, large = (best_s(work, text, CHUNK_BYTES) for text in texts)
    per_chunk_us = large / (len(texts[1]) / CHUNK_BYTES) * 1e6
    print(
        f"{name:44} {small * 1e3:8.1f} ms {large * 1e3:8.1f} ms  ratio {large / small:4.2f}  {per_chunk_us:6.2f} us/8 B"
    )


def main() -> None:
    """Print one line a measurement."""
    report("reader, one string of 200 kB and 400 kB", read, one_string, 200_000)
    report("reader, objects of 200 kB and 400 kB", read, many_objects, 200_000)
    report("ijson alone, one string of 50 kB and 100 kB", ijson_alone, one_string, 50_000)
    report("ijson's part, objects of 200 kB and 400 kB", whole_tokens, many_objects, 200_000)


if __name__ == "__main__":
    main()

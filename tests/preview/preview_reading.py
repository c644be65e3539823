"""Read texts in chunks, for the tests of previews."""

import json
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings

from commitgate.preview import Preview, PreviewReader

# Laws are judged by what they find, not by how busy the machine is.
unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

CASES: list[dict[str, Any]] = json.loads((Path(__file__).parent / "cases.json").read_text(encoding="utf-8"))

DOCUMENTS = [
    rb'{"s":"\u00e9\ud83d\ude00\n","n":-1.5e2,"b":[true,null,{}]}',
    '{"s":"é😀\\ud83d\\ude00\\n","n":-1.5e2,"b":[true,null,{}]}'.encode(),
    b' [ 1 , [ ] , { "a" : { } , "b" : "" } , "x" , false ] \r\n',
    b'"\\"\\\\\\/\\b\\f\\n\\r\\t"',
    b"[0, -0, 0.5, 1e5, 1E-2, 10, 123456789012345678901234567890]",
    b"null",
    b'{"a":{"b":{"c":[[["deep"]]]}}}',
]


def chunk_bytes(chunk: str | dict[str, str]) -> bytes:
    """Return a case's chunk: text, or bytes as hexadecimal digits."""
    return chunk.encode() if isinstance(chunk, str) else bytes.fromhex(chunk["hex"])


def case_reader(case: dict[str, Any]) -> PreviewReader:
    """Make the reader that a case asks for."""
    paths = case.get("atomic_paths", ())
    return PreviewReader(case.get("schema"), max_depth=case.get("max_depth", 64), atomic_paths=paths)


def shown(preview: Preview) -> list[Any]:
    """Return the preview's value in a list, or an empty list where there is nothing to show."""
    return [preview.value] if preview.has_value else []


def content(preview: Preview) -> tuple[str, list[Any], frozenset[str], int]:
    """Return everything that depends on the text."""
    return str(preview.state), shown(preview), preview.final_paths, preview.text_bytes


def pieces(data: bytes, cuts: Iterable[int]) -> Iterator[bytes]:
    """Yield the data cut at the given offsets."""
    edges = [0, *sorted(cut for cut in set(cuts) if 0 < cut < len(data)), len(data)]
    for start, end in pairwise(edges):
        yield data[start:end]


def read_at_once(data: bytes) -> Preview:
    """Return the preview of a text that came in one chunk."""
    return PreviewReader().feed(data)

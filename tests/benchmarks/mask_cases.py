"""Choose the schemas and texts over which masks are measured: a sample of MaskBench, else the project's own few.

A case is a file of MaskBench's form: a schema, and instances of which it says whether they are valid. Only the valid
ones are followed, as ``json.dumps(data, ensure_ascii=False)``.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from maskbench import DEFAULT_DATA, VARIABLE, folder_of

OWN = Path(__file__).with_name("mask_cases.json")
"""The project's own cases: for a machine without MaskBench, so that the benchmark runs everywhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """Hold a schema and texts that satisfy it.

    Attributes:
        name: of the file.
        schema: JSON Schema.
        texts: token ids of each valid instance.
    """

    name: str
    schema: Any
    texts: tuple[tuple[int, ...], ...]


def read_cases(
    place: Path | None, *, count: int, seed: int, encode: Callable[[str], list[int]]
) -> tuple[list[Case], str]:
    """Return the cases to measure over, and a sentence that says which they are.

    Args:
        place: MaskBench's folder or archive; None looks where ``maskbench.py`` looks.
        count: how many schemas to draw.
        seed: of the draw.
        encode: makes token ids of a text.

    Raises:
        FileNotFoundError: a place was given and nothing lies there.
    """
    found = place or Path(os.environ.get(VARIABLE) or DEFAULT_DATA)
    if place is not None and not place.exists():
        raise FileNotFoundError(f"no MaskBench data at {place}")
    if found.exists():
        files = sorted(folder_of(found).rglob("*.json"))
        drawn = sorted(random.Random(seed).sample(files, min(count, len(files))))
        read = [(path.stem, json.loads(path.read_text(encoding="utf-8"))) for path in drawn]
        said = f"{len(drawn):,} of {len(files):,} schemas of MaskBench, drawn with seed {seed}"
    else:
        read = [(case["name"], case) for case in json.loads(OWN.read_text(encoding="utf-8"))][:count]
        said = f"{len(read)} schemas of the project's own: MaskBench was not at hand ({VARIABLE} names its place)"
    return [_case(name, case, encode) for name, case in read], said


def _case(name: str, case: Any, encode: Callable[[str], list[int]]) -> Case:
    texts = (json.dumps(test["data"], ensure_ascii=False) for test in case["tests"] if test["valid"])
    return Case(name=name, schema=case["schema"], texts=tuple(tuple(encode(text)) for text in texts))


__all__ = ["OWN", "Case", "read_cases"]

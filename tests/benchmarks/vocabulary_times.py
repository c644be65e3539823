"""Measure how long a vocabulary takes to be ready: from the files of a tokenizer to the first mask.

Every measurement is a process of its own, since what is loaded once makes the second time cheaper. Each engine reads
the tokenizer in the way that its documentation shows; modules are loaded before the clock starts.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from results import BASE, Row, with_ratios

COLD, KEPT = f"{BASE}, nothing kept", f"{BASE}, from its cache folder"
_SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}},
    "required": ["name"],
    "additionalProperties": False,
}
_LIMIT_S = 60.0

NOTE = """Each value is the least of {rounds} processes, and adds to the one before it. *The engine* is from the
tokenizer as transformers reads it to an engine that takes schemas: here with the proof that the bytes of its tokens are
right. *A string's masks* are the first of a fresh engine, up to inside of a string. llguidance reads the files itself,
which is in its first value."""
_OPENING = b'{"name": "'


@dataclass(frozen=True, slots=True, kw_only=True)
class Preparation:
    """Hold what one process took, in seconds.

    Attributes:
        read_s: to read the tokenizer's files, where that is a step of its own.
        ready_s: from there to an engine that takes schemas.
        first_s: from there to masks of a small schema, the last of them inside of a string.
    """

    read_s: float
    ready_s: float
    first_s: float


def prepare_commitgate(folder: Path, cache: Path | None) -> Preparation:
    """Prepare the project's engine, with a cache folder or without."""
    import commitgate_local.transformers_runtime
    from commitgate_local import MaskEngine, Tokenizer

    assert commitgate_local.transformers_runtime
    now = time.perf_counter
    begun = now()
    tokenizer = Tokenizer.load(folder)
    read = now()
    engine = MaskEngine(tokenizer, cache_dir=cache)
    ready = now()
    matcher = engine.matcher(_SCHEMA)
    matcher.mask()
    for byte in _OPENING:
        matcher.advance(engine.vocabulary.tokens.index(bytes([byte])))
        matcher.mask()
    first = now()
    engine.close()
    return Preparation(read_s=read - begun, ready_s=ready - read, first_s=first - ready)


def prepare_llguidance(folder: Path, _: Path | None) -> Preparation:
    """Prepare llguidance, which reads the file itself."""
    from llguidance import LLMatcher, LLTokenizer

    now = time.perf_counter
    begun = now()
    tokenizer = LLTokenizer(str(folder / "tokenizer.json"))
    ready = now()
    matcher = LLMatcher(tokenizer, LLMatcher.grammar_from_json_schema(json.dumps(_SCHEMA)), log_level=0)
    matcher.compute_bitmask()
    for byte in _OPENING:
        matcher.consume_token(tokenizer.tokenize_bytes(bytes([byte]))[-1])
        matcher.compute_bitmask()
    return Preparation(read_s=0.0, ready_s=ready - begun, first_s=now() - ready)


def prepare_xgrammar(folder: Path, _: Path | None) -> Preparation:
    """Prepare xgrammar from transformers' tokenizer."""
    from transformers import AutoTokenizer
    from xgrammar import GrammarCompiler, GrammarMatcher, TokenizerInfo, allocate_token_bitmask

    now = time.perf_counter
    begun = now()
    tokenizer: Any = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    read = now()
    info = TokenizerInfo.from_huggingface(tokenizer)
    compiler = GrammarCompiler(info)
    ready = now()
    matcher = GrammarMatcher(compiler.compile_json_schema(_SCHEMA))
    bits = allocate_token_bitmask(1, info.vocab_size)
    matcher.fill_next_token_bitmask(bits)
    for byte in _OPENING:
        matcher.accept_string(bytes([byte]))
        matcher.fill_next_token_bitmask(bits)
    return Preparation(read_s=read - begun, ready_s=ready - read, first_s=now() - ready)


_PREPARE: Mapping[str, Callable[[Path, Path | None], Preparation]] = {
    BASE: prepare_commitgate,
    "llguidance": prepare_llguidance,
    "xgrammar": prepare_xgrammar,
}


def measure(folder: Path, name: str, *, rounds: int) -> tuple[list[Row], list[str]]:
    """Return how long each engine that is installed takes for a tokenizer, the least of some rounds, and what failed.

    Args:
        folder: of ``tokenizer.json``.
        name: of the tokenizer, for the report.
        rounds: how often each engine is asked, in turn.
    """
    found: dict[str, list[Preparation]] = {}
    failed: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as cache:
        _prepare(BASE, folder, Path(cache))
        asked = [(BASE, COLD, None), (BASE, KEPT, Path(cache))]
        asked += [(engine, engine, None) for engine in _PREPARE if engine != BASE and _is_installed(engine)]
        for _ in range(rounds):
            for engine, who, kept in asked:
                try:
                    found.setdefault(who, []).append(_prepare(engine, folder, kept))
                except RuntimeError as error:
                    failed[who] = f"{who} could not be made ready for {name}: {error}."
    return with_ratios(_rows(name, found), base=COLD), list(failed.values())


def _rows(name: str, found: Mapping[str, list[Preparation]]) -> list[Row]:
    return [
        Row(
            what=f"Vocabulary made ready: {name}",
            who=who,
            unit="s",
            values={
                "the engine": min(each.ready_s for each in times),
                "and a string's masks": min(each.ready_s + each.first_s for each in times),
                "and reading the files": min(each.read_s + each.ready_s + each.first_s for each in times),
            },
        )
        for who, times in found.items()
    ]


def _is_installed(package: str) -> bool:
    return importlib.util.find_spec(package) is not None


def _prepare(engine: str, folder: Path, cache: Path | None) -> Preparation:
    """Measure in a process of its own.

    Raises:
        RuntimeError: it failed there, or took too long; the text says which.
    """
    command = [sys.executable, __file__, engine, str(folder), *([] if cache is None else [str(cache)])]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_LIMIT_S, check=True)
    except subprocess.TimeoutExpired as error:
        raise RuntimeError(f"more than {_LIMIT_S:g} s") from error
    except subprocess.CalledProcessError as error:
        said = error.stderr.strip().splitlines()
        raise RuntimeError(said[-1][:200] if said else f"exit status {error.returncode}") from error
    return Preparation(**json.loads(done.stdout.splitlines()[-1]))


def main() -> None:
    """Measure one preparation in this process, and print it."""
    engine, folder, *cache = sys.argv[1:]
    took = _PREPARE[engine](Path(folder), Path(cache[0]) if cache else None)
    print(json.dumps({"read_s": took.read_s, "ready_s": took.ready_s, "first_s": took.first_s}))


if __name__ == "__main__":
    main()

__all__ = ["COLD", "KEPT", "NOTE", "Preparation", "measure"]

"""Threads that share an engine: whatever their turns, each sees what it would see alone, and the books are right."""

from __future__ import annotations

import gc
import random
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import zip_longest
from pathlib import Path
from weakref import ref

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commitgate.automaton.terms import Arena
from commitgate.json_value import JsonSchema
from commitgate_local.bounded import BoundedCache
from commitgate_local.engine import MaskEngine, Matcher
from commitgate_local.kept_walks import KeptWalks
from commitgate_local.leaf_walk import LeafWalk
from commitgate_local.vocabulary import Vocabulary

TOKENS = [
    *(bytes((byte,)) for byte in range(256)),
    *(
        b'{"',
        b'": ',
        b'", "',
        b'"}',
        b": [",
        b"], ",
        b"tr",
        b"ue",
        b"null",
        b"ab",
        b"ba",
        b"aab",
        b"12",
        b"0.",
        b"\xc3\xa9",
    ),
]
SCHEMAS: list[JsonSchema] = [
    {
        "type": "object",
        "properties": {"name": {"type": "string", "pattern": "^(ab|ba)+$"}, "count": {"type": "integer"}},
        "additionalProperties": {"type": "boolean"},
    },
    {"type": "array", "items": {"anyOf": [{"enum": ["ab", "aab", "b"]}, {"type": "number"}]}, "maxItems": 4},
    {"type": "object", "properties": {"name": {"type": "string", "maxLength": 9}}, "required": ["name"]},
    {"$ref": "#/$defs/tree", "$defs": {"tree": {"type": "array", "items": {"$ref": "#/$defs/tree"}}}},
]
STEPS = 12
SMALL_BYTES = 40_000
MOST_BYTES = SMALL_BYTES * (1 + 1 / 4 + 1 / 8) + SMALL_BYTES * (1 + 1 / 8)
"""Masks as they are handed out, packed ones and names for them; walks of this process, and walks from a folder."""

Sight = tuple[bytes, bool, str]
plays = st.lists(st.tuples(st.integers(0, len(SCHEMAS) - 1), st.integers(0, 3)), min_size=1, max_size=3)


def new_engine(cache_bytes: int = SMALL_BYTES, cache_dir: Path | None = None) -> MaskEngine:
    vocabulary = Vocabulary(TOKENS, [len(TOKENS)], width=len(TOKENS) + 3)
    return MaskEngine(vocabulary, cache_bytes=cache_bytes, cache_dir=cache_dir)


def sights(matcher: Matcher, seed: int) -> Iterator[Sight]:
    """Write a text of drawn tokens, and yield what is seen before each."""
    draw = random.Random(seed)
    for _ in range(STEPS):
        mask = matcher.mask()
        yield mask.tobytes(), matcher.is_accepting, matcher.explain()
        legal = [int(number) for number in np.flatnonzero(mask) if number < len(TOKENS)]
        if not legal:
            return
        matcher.advance(draw.choice(legal))


def play(matcher: Matcher, seed: int) -> list[Sight]:
    """Return what is seen on the way through a text."""
    return list(sights(matcher, seed))


@cache
def alone(schema: int, seed: int) -> list[Sight]:
    """Return what a thread sees that has an engine to itself."""
    return play(new_engine().matcher(SCHEMAS[schema]), seed)


@pytest.fixture(scope="module", autouse=True)
def often_switched() -> Iterator[None]:
    """Let threads take turns as often as they can."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


def together(tasks: list[Callable[[], object]]) -> None:
    """Run tasks at one time; raise what one of them raised."""
    start = threading.Barrier(len(tasks))

    def begin(task: Callable[[], object]) -> object:
        start.wait(30)
        return task()

    with ThreadPoolExecutor(len(tasks)) as pool:
        for done in [pool.submit(begin, task) for task in tasks]:
            done.result(60)


@settings(max_examples=25, deadline=None)
@given(threads=st.lists(plays, min_size=2, max_size=6))
def test_each_thread_sees_what_it_would_see_alone_and_masks_add_up(threads: list[list[tuple[int, int]]]) -> None:
    engine = new_engine()
    seen: list[list[list[Sight]]] = [[] for _ in threads]

    def run(number: int) -> None:
        for schema, seed in threads[number]:
            seen[number].append(play(engine.matcher(SCHEMAS[schema]), seed))

    together([lambda number=number: run(number) for number in range(len(threads))])
    expected = [[alone(*wanted) for wanted in thread] for thread in threads]
    assert seen == expected
    stats = engine.stats()
    assert stats.masks_asked == sum(len(sights) for thread in expected for sights in thread)
    assert sum(stats.legal_sizes) == stats.masks_computed <= stats.masks_asked
    assert stats.contracts == len({schema for thread in threads for schema, _ in thread})
    assert stats.cache_bytes <= MOST_BYTES


def test_matchers_of_one_contract_interleaved_step_by_step_stay_apart() -> None:
    engine = new_engine()
    wanted = [(schema, seed) for schema in range(len(SCHEMAS)) for seed in range(3)]
    texts = [sights(engine.matcher(SCHEMAS[schema]), seed) for schema, seed in wanted]
    turns = list(zip_longest(*texts))
    seen = [[turn[number] for turn in turns if turn[number] is not None] for number in range(len(wanted))]
    assert seen == [alone(*each) for each in wanted]


def test_matchers_live_on_while_their_contracts_are_dropped_under_load(tmp_path: Path) -> None:
    engine = new_engine(cache_dir=tmp_path)
    seen: list[list[Sight]] = []
    dropped = threading.Event()

    def write(schema: int) -> None:
        matcher = engine.matcher(SCHEMAS[schema])
        while True:
            # Once more after the last drop, so that something is surely written with a contract that is gone.
            is_last = dropped.is_set()
            for seed in range(4):
                matcher.reset()
                seen.append(play(matcher, seed))
                assert seen[-1] == alone(schema, seed)
            if is_last:
                return

    def crowd_out() -> None:
        try:
            for number in range(200):
                engine.matcher({"const": number}).mask()
        finally:
            dropped.set()

    together([*(lambda schema=schema: write(schema) for schema in (0, 1, 2, 3, 0)), crowd_out])
    stats = engine.stats()
    assert stats.contracts <= 80
    assert stats.cache_bytes <= MOST_BYTES
    assert stats.masks_asked == sum(map(len, seen)) + 200
    assert sum(stats.legal_sizes) == stats.masks_computed
    assert stats.folder_error is None


def engine_that_dropped_a_contract_in_use(folder: Path) -> tuple[MaskEngine, ref[Arena]]:
    """Return an engine whose first contract was dropped while a matcher went on, and what that matcher stood in."""
    engine = new_engine(cache_dir=folder)
    matcher = engine.matcher(SCHEMAS[0])
    for number in range(100):
        engine.matcher({"const": number})
    play(matcher, 0)
    return engine, ref(matcher.state.arena)


def test_dropped_contract_is_let_go_with_its_last_matcher(tmp_path: Path) -> None:
    engine, arena = engine_that_dropped_a_contract_in_use(tmp_path)
    # What is remembered of its masks goes as other masks come.
    for number in range(100):
        play(engine.matcher({"const": number + 1_000}), 0)
    gc.collect()
    assert arena() is None


def test_matcher_that_goes_on_without_its_contract_holds_its_memory_no_longer_than_that(tmp_path: Path) -> None:
    engine, arena = engine_that_dropped_a_contract_in_use(tmp_path)
    # The next time that contracts are dropped.
    for number in range(20):
        engine.matcher({"const": number + 1_000})
    gc.collect()
    assert arena() is None


def test_large_automata_count_among_the_walks_that_are_remembered() -> None:
    engine = new_engine(cache_bytes=1 << 20)
    for letter in "bcdefghijklm":
        engine.matcher({"type": "string", "pattern": f"^(a|{letter})*a(a|{letter}){{8}}$"}).mask()
    # A walk takes some 1 KB, the automaton of each some 300 KB.
    assert engine.stats().shared_leaves < 12


def test_walks_found_while_others_are_being_kept_harm_neither(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = new_engine(cache_dir=tmp_path)
    save = KeptWalks.save
    saved: list[int] = []

    def slowly(self: KeptWalks, language: str, walks: dict[bytes, LeafWalk]) -> None:
        for seed, _ in enumerate(walks):
            play(engine.matcher(SCHEMAS[0]), seed)
        saved.append(len(walks))
        save(self, language, walks)

    monkeypatch.setattr(KeptWalks, "save", slowly)
    engine.matcher(SCHEMAS[0]).mask()
    play(engine.matcher(SCHEMAS[0]), 7)
    together([engine.close, lambda: play(engine.matcher(SCHEMAS[0]), 1)])
    assert sum(saved)
    assert engine.stats().folder_error is None


class Slow:
    """Be a key that hands over to another thread each time it is looked up."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __hash__(self) -> int:
        time.sleep(0)
        return hash(self.number)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Slow) and self.number == other.number


@pytest.mark.parametrize("turn", range(12))
def test_size_of_a_cache_is_that_of_what_it_holds_after_many_threads(turn: int) -> None:
    values: BoundedCache[Slow, int] = BoundedCache(400)

    def work(seed: int) -> None:
        draw = random.Random(seed)
        for _ in range(60):
            key = draw.randrange(60)
            found = values.get(Slow(key))
            assert found in (None, key)
            if found is None:
                values.put(Slow(key), key, 10)
            elif draw.random() < 0.1:
                values.discard(lambda other, key=key: other.number % 7 == key % 7)

    together([lambda seed=seed: work(seed) for seed in range(turn * 6, turn * 6 + 6)])
    assert values.size_bytes == 10 * len(values) <= 400

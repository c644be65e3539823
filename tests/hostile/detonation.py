"""Set off bombs, each in a process of its own, and measure what they take. No part of the tests' own process.

``python -m hostile.detonation`` imports the library once, then reads names of bombs from its input, a line each. For
each it forks a child, which is bounded in memory and processor time by the system, and writes what happened as one line
of JSON. Times are the child's processor time, corrected by how long known work takes just then; memory is how far its
peak lies over what it held before.
"""

from __future__ import annotations

import gc
import json
import os
import random
import resource
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import asdict
from typing import IO, cast

import numpy as np
from hostile.bomb import Bomb, Report
from hostile.bombs import BOMBS

from commitgate.automaton import Automaton, compile
from commitgate.contract import Contract
from commitgate.errors import ContractError, LimitExceededError
from commitgate.gate.layers import Failure
from commitgate.gate.schema_layer import SchemaLayer
from commitgate.gate.strict_parse import strict_parse
from commitgate_local import MaskEngine, Vocabulary

HARD_BYTES = 1 << 30
HARD_S = 20
WALK_S = 4.0
"""After so much processor time the texts are read no further: it is the step that is bounded, not their number."""
REFERENCE_S = 0.020
"""What ``_reference_s`` takes on the machine of docs/hostile.md when it is idle; a slower or busy one takes longer."""
STEPS = 30
_FRAGMENTS = (
    "a",
    "b",
    "ab",
    "aa",
    "1",
    "0",
    '"',
    '": ',
    ", ",
    "[",
    "]",
    "{",
    "}",
    "null",
    "é",
    " ",
    "\\",
    "c",
    "p",
    ".",
)


def vocabulary() -> Vocabulary:
    """Return every byte and some 2,000 longer tokens."""
    chooser = random.Random(1)
    longer = {"".join(chooser.choices(_FRAGMENTS, k=chooser.randint(2, 8))).encode() for _ in range(2_000)}
    longer |= {b"a" * n for n in range(2, 17)} | {b"[" * n for n in range(2, 9)}
    tokens: list[bytes | None] = [bytes((byte,)) for byte in range(256)]
    return Vocabulary([*tokens, *sorted(longer), None], [256 + len(longer)])


def main() -> None:
    """Serve names until the input ends."""
    engine = MaskEngine(vocabulary())
    gc.collect()
    gc.freeze()
    for line in sys.stdin:
        print(json.dumps(_forked(BOMBS[line.rstrip("\n")], engine)), flush=True)


def _forked(bomb: Bomb, engine: MaskEngine) -> dict[str, object]:
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        _run_child(bomb, engine, writing)
    os.close(writing)
    with open(reading, "rb") as pipe:
        written = pipe.read()
    _, status = os.waitpid(child, 0)
    if written:
        return cast("dict[str, object]", json.loads(written))
    return asdict(Report(name=bomb.name, ends="died", note=f"wait status {status}"))


def _run_child(bomb: Bomb, engine: MaskEngine, writing: int) -> None:
    code = 1
    try:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (HARD_S, HARD_S))
        resource.setrlimit(resource.RLIMIT_AS, (_status("VmSize") + HARD_BYTES, resource.RLIM_INFINITY))
        report = Report(name=bomb.name)
        before = _reference_s()
        _set_off(bomb, engine, report)
        slowness = max(1.0, (before + _reference_s()) / 2 / REFERENCE_S)
        for name in ("ready_s", "walk_byte_s", "walk_s", "mask_s"):
            setattr(report, name, getattr(report, name) / slowness)
        with open(writing, "wb") as pipe:
            pipe.write(json.dumps(asdict(report)).encode())
        code = 0
    except BaseException:
        traceback.print_exc()
        raise
    finally:
        os._exit(code)


def _set_off(bomb: Bomb, engine: MaskEngine, report: Report) -> None:
    source = bomb.make()
    gc.collect()
    before = _status("VmRSS")
    _forget_peak()
    started = time.process_time()
    try:
        contract = Contract[object].of(cast("bool", source))
        automaton = compile(contract)
        compile(contract, dialect="generate")
        layer = SchemaLayer(contract.schema) if contract.text is None else None
    except ContractError as error:
        limit = f" {error.limit_name}" if isinstance(error, LimitExceededError) else ""
        report.ends, report.note = _public_name(error) + limit, str(error)
        return
    except (MemoryError, RecursionError) as error:
        report.ends, report.note = type(error).__name__, str(error)
        return
    finally:
        report.ready_s = time.process_time() - started
        report.ready_bytes = report.most_bytes = max(0, _status("VmHWM") - before)
    try:
        for text in bomb.texts:
            _stopped(report, lambda text=text: _walk(automaton, text, report))
            if layer is not None:
                _stopped(report, lambda text=text: _judge(layer, text, report))
        _stopped(report, lambda: _generate(contract, engine, report))
    except (MemoryError, RecursionError) as error:
        report.ends, report.note = type(error).__name__, "while texts were read or written"
    report.most_bytes = max(0, _status("VmHWM") - before)


def _public_name(error: ContractError) -> str:
    return next(each.__name__ for each in type(error).__mro__ if each.__module__ == "commitgate.errors")


def _stopped(report: Report, act: Callable[[], None]) -> None:
    try:
        act()
    except LimitExceededError as error:
        report.stopped.append(error.limit_name)


def _walk(automaton: Automaton, text: bytes, report: Report) -> None:
    acceptor = automaton.acceptor()
    started = before = time.process_time()
    try:
        for byte in text:
            alive = acceptor.feed(bytes((byte,)))
            now = time.process_time()
            report.walk_byte_s = max(report.walk_byte_s, now - before)
            before = now
            report.walk_bytes += 1
            if not alive or report.walk_s + now - started > WALK_S:
                break
    finally:
        report.walk_byte_s = max(report.walk_byte_s, time.process_time() - before)
        report.walk_s += time.process_time() - started


def _judge(layer: SchemaLayer, text: bytes, report: Report) -> None:
    parsed = strict_parse(text, nesting=64)
    if isinstance(parsed, Failure):
        return
    started = time.process_time()
    layer.judge(parsed.value)
    report.walk_s += time.process_time() - started


def _generate(contract: Contract[object], engine: MaskEngine, report: Report) -> None:
    chooser = random.Random(1)
    for _ in range(2):
        before = time.process_time()
        try:
            matcher = engine.matcher(contract)
            for _ in range(STEPS):
                before = time.process_time()
                legal = np.flatnonzero(matcher.mask())
                matcher.advance(int(chooser.choice(legal)))
                report.mask_s = max(report.mask_s, time.process_time() - before)
                if matcher.is_finished:
                    break
        finally:
            report.mask_s = max(report.mask_s, time.process_time() - before)


def _reference_s() -> float:
    """Return the processor time of a fixed piece of work, as automata do it."""
    started = time.process_time()
    found: dict[tuple[str, int, str], int] = {}
    for number in range(60_000):
        key = ("key", number % 977, str(number))
        found[key] = found.get(key, 0) + len(key[2])
    return time.process_time() - started


def _status(name: str) -> int:
    """Return a line of /proc/self/status, in bytes."""
    with open("/proc/self/status", encoding="ascii") as lines:
        found = next(line for line in lines if line.startswith(f"{name}:"))
    return int(found.split()[1]) * 1024


def _forget_peak() -> None:
    """Let the peak of memory begin again at what is held now."""
    file: IO[str]
    with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
        file.write("5")


if __name__ == "__main__":
    main()

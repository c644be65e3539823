"""Bound depth and numbers, and the work of a chunk."""

import json
import os
import statistics
import subprocess
import sys
import tracemalloc
from decimal import Decimal

import pytest
from preview_reading import read_at_once

from commitgate.errors import MisuseError
from commitgate.preview import PreviewReader
from commitgate.preview.number import EXPONENT_DIGITS, NUMBER_BYTES


@pytest.mark.parametrize(("depth", "state"), [(2, "accept"), (3, "accept"), (4, "invalid:depth")])
def test_depth_is_bounded(depth: int, state: str) -> None:
    reader = PreviewReader(max_depth=3)
    reader.feed(b"[" * depth + b"]" * depth)
    assert reader.state == state
    assert reader.position == (2 * depth if state == "accept" else 3)


def test_depth_is_counted_anew_for_each_item() -> None:
    reader = PreviewReader(max_depth=2)
    assert reader.feed(b'[{},[],{"a":1},[2]]').state == "accept"


def test_depth_is_bounded_by_default() -> None:
    assert read_at_once(b"[" * 64).state == "open"
    assert read_at_once(b"[" * 65).state == "invalid:depth"


def test_deep_text_under_a_large_limit_is_no_recursion() -> None:
    depth = 20_000
    preview = PreviewReader(max_depth=depth).feed(b"[" * depth)
    assert preview.has_value
    assert len(preview.final_paths) == 0
    value, levels = preview.value, 0
    while isinstance(value, list):
        value, levels = (value[0] if value else None), levels + 1
    assert levels == depth


@pytest.mark.parametrize("max_depth", [0, -1])
def test_depth_limit_below_one_is_misuse(max_depth: int) -> None:
    with pytest.raises(MisuseError, match="max_depth"):
        PreviewReader(max_depth=max_depth)


@pytest.mark.parametrize(("size", "state"), [(-1, "accept"), (0, "accept"), (1, "invalid:number_size")])
def test_number_length_is_bounded(size: int, state: str) -> None:
    reader = PreviewReader()
    reader.feed(b"[" + b"7" * (NUMBER_BYTES + size) + b"]")
    assert reader.state == state
    if state != "accept":
        assert reader.position == NUMBER_BYTES + 1


def test_number_length_is_counted_anew_for_each_number() -> None:
    assert read_at_once(b"[" + b",".join([b"7" * NUMBER_BYTES] * 3) + b"]").state == "accept"


@pytest.mark.parametrize(("digits", "state"), [(3, "accept"), (4, "accept"), (5, "invalid:number_size")])
def test_exponent_is_bounded(digits: int, state: str) -> None:
    assert EXPONENT_DIGITS == 4
    assert read_at_once(b"[1e" + b"9" * digits + b"]").state == state


def test_leading_zeros_of_an_exponent_do_not_count() -> None:
    assert read_at_once(b"[1e-00000000000000000000000007]").value == [Decimal("1e-7")]


def test_hosts_own_bound_on_integers_holds_too() -> None:
    before = sys.get_int_max_str_digits()
    try:
        sys.set_int_max_str_digits(640)
        assert read_at_once(b"[" + b"7" * 640 + b"]").state == "accept"
        assert read_at_once(b"[" + b"7" * 641 + b"]").state == "invalid:number_size"
    finally:
        sys.set_int_max_str_digits(before)


@pytest.mark.parametrize("body", [b"abcdefg ", b'\\"\\u00e9', "é😀é".encode()])
def test_chunk_of_a_long_string_costs_the_same_early_and_late(body: bytes) -> None:
    reader = PreviewReader()
    reader.feed(b'{"s":"')
    peaks: list[int] = []
    tracemalloc.start()
    try:
        for _ in range(10_000):
            before = tracemalloc.get_traced_memory()[0]
            tracemalloc.reset_peak()
            reader.feed(body)
            peaks.append(tracemalloc.get_traced_memory()[1] - before)
    finally:
        tracemalloc.stop()
    assert statistics.median(peaks[-500:]) <= 1.1 * statistics.median(peaks[:500])


def test_calls_are_linear_in_the_text() -> None:
    def calls(repeats: int) -> int:
        text, reader, count = b"[" + b'{"key":"some text","n":[1,2]},' * repeats, PreviewReader(), 0

        def note(*_: object) -> None:
            nonlocal count
            count += 1

        before = sys.getprofile()
        sys.setprofile(note)
        try:
            for start in range(0, len(text), 8):
                reader.feed(text[start : start + 8])
        finally:
            sys.setprofile(before)
        return count

    assert calls(800) <= 2.05 * calls(400)


SCRIPT = """
import sys, json
import ijson
from commitgate.preview import PreviewReader
for text in json.load(sys.stdin):
    reader = PreviewReader()
    seen = [repr((p.value, str(p.state), sorted(p.final_paths))) for p in map(reader.feed, map(str.encode, text))]
    print(ijson.backend_name, *seen)
"""


def test_pure_python_backend_of_ijson_shows_the_same_in_silence() -> None:
    texts = ['{"a":[1.50,true,"x\\ud83d\\ude00y"],"b":{"c":null}} ', '{"cut":"str', "[12", "[tru", "[1,]", "42"]

    def run(backend: str) -> tuple[str, str]:
        environment = os.environ | {"IJSON_BACKEND": backend, "PYTHONPATH": os.pathsep.join(sys.path)}
        command = [sys.executable, "-W", "error", "-c", SCRIPT]
        done = subprocess.run(
            command, input=json.dumps(texts), capture_output=True, text=True, env=environment, timeout=60, check=True
        )
        return done.stdout, done.stderr

    slow, complaints = run("python")
    fast, _ = run("yajl2_c")
    assert complaints == ""
    assert slow == fast.replace("yajl2_c", "python")
    assert slow.count("python") == len(texts)

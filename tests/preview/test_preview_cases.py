"""Read every case in the chunks it gives, byte by byte, in random chunks and with trailing bytes."""

import random
from typing import Any

import pytest
from preview_reading import CASES, case_reader, chunk_bytes, content, pieces, shown

each_case = pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])


def text_of(case: dict[str, Any]) -> bytes:
    return b"".join(chunk_bytes(step["chunk"]) for step in case["steps"])


@each_case
def test_case_shows_what_it_says_after_each_chunk(case: dict[str, Any]) -> None:
    reader = case_reader(case)
    for step in case["steps"]:
        preview = reader.feed(chunk_bytes(step["chunk"]))
        assert (shown(preview), preview.state) == (step["shown"], step["state"])
        if "final" in step:
            assert preview.final_paths == set(step["final"])


@each_case
def test_case_ends_as_it_says(case: dict[str, Any]) -> None:
    reader = case_reader(case)
    reader.feed(text_of(case))
    last = reader.finish()
    assert last.state == reader.state == case["at_end"]
    assert shown(last) == case.get("shown_at_end", case["steps"][-1]["shown"])


@each_case
def test_case_read_byte_by_byte_shows_the_same(case: dict[str, Any]) -> None:
    reader = case_reader(case)
    for step in case["steps"]:
        preview = reader.feed(b"")
        for byte in chunk_bytes(step["chunk"]):
            preview = reader.feed(bytes((byte,)))
        assert (shown(preview), preview.state) == (step["shown"], step["state"])


@each_case
def test_case_read_in_random_chunks_ends_the_same(case: dict[str, Any]) -> None:
    text = text_of(case)
    whole = content(case_reader(case).feed(text))
    chance = random.Random(case["name"])
    for _ in range(20):
        reader = case_reader(case)
        preview = reader.feed(b"")
        for piece in pieces(text, chance.choices(range(len(text) + 1), k=3)):
            preview = reader.feed(piece)
        assert content(preview) == whole


@each_case
def test_case_with_trailing_bytes_is_refused_and_still_shows_what_it_showed(case: dict[str, Any]) -> None:
    reader = case_reader(case)
    before = reader.feed(text_of(case))
    # No JSON text goes on with this byte, whatever came before.
    after = reader.feed(b"\x00{}")
    assert after.state.is_invalid
    assert shown(after)[: len(shown(before))] == shown(before)
    assert reader.finish().state == after.state

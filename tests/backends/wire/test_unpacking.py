"""Packed bodies are unpacked whole, in bounded pieces, and it is known whether what was packed ended."""

import gzip
import itertools
import zlib
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commitgate.backends.wire.packing import FREE_BYTES, MAX_EXPANSION, PIECE_BYTES, Unpacker
from commitgate.backends.wire.wire_event import WireFaultError

WAYS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": ("gzip", gzip.compress),
    "x-gzip": (" X-Gzip ", gzip.compress),
    "deflate": ("deflate", zlib.compress),
    "deflate without head": ("Deflate, identity", lambda data: zlib.compress(data)[2:-4]),
    "two members": ("gzip", lambda data: gzip.compress(data[: len(data) // 2]) + gzip.compress(data[len(data) // 2 :])),
    "padded": ("gzip", lambda data: gzip.compress(data) + bytes(100)),
    "identity": ("identity", bytes),
    "none": ("", bytes),
}


@settings(deadline=None)
@given(st.binary(max_size=300), st.sampled_from(sorted(WAYS)), st.lists(st.integers(0, 400), max_size=6))
def test_what_was_packed_comes_out_however_it_was_cut(data: bytes, way: str, cuts: list[int]) -> None:
    encoding, pack = WAYS[way]
    packed = pack(data)
    offsets = sorted({0, len(packed), *(cut for cut in cuts if cut < len(packed))})
    unpacker = Unpacker(encoding)
    found = b"".join(
        piece for start, stop in itertools.pairwise(offsets) for piece in unpacker.feed(packed[start:stop])
    )
    assert found == data
    assert unpacker.is_whole


@pytest.mark.parametrize("way", ["gzip", "deflate", "deflate without head"])
def test_body_that_was_cut_is_not_whole(way: str) -> None:
    encoding, pack = WAYS[way]
    data = bytes(range(256)) * 4
    packed = pack(data)
    for length in range(1, len(packed)):
        unpacker = Unpacker(encoding)
        found = b"".join(unpacker.feed(packed[:length]))
        assert data.startswith(found)
        assert not unpacker.is_whole


@settings(deadline=None, max_examples=20)
@given(st.integers(PIECE_BYTES - 2, PIECE_BYTES + 2), st.integers(1, 3))
def test_pieces_are_bounded_and_none_is_left_behind(size: int, times: int) -> None:
    data = b"ab" * (size * times // 2)
    unpacker = Unpacker("gzip")
    pieces = list(unpacker.feed(gzip.compress(data)))
    assert b"".join(pieces) == data
    assert max(map(len, pieces)) <= PIECE_BYTES


@pytest.mark.parametrize("extra", range(1, 400, 13))
def test_what_the_last_byte_holds_comes_out_too(extra: int) -> None:
    # One byte of a stream without a tail can hold more than is left of a piece.
    encoding, pack = WAYS["deflate without head"]
    data = b"a" * (PIECE_BYTES + extra)
    unpacker = Unpacker(encoding)
    assert b"".join(unpacker.feed(pack(data))) == data
    assert unpacker.is_whole


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip", "gzip, br", "unknown"])
def test_packing_that_was_not_asked_for_is_a_fault(encoding: str) -> None:
    with pytest.raises(WireFaultError) as raised:
        Unpacker(encoding)
    assert raised.value.code == "packed"


@pytest.mark.parametrize("body", [b"{}", gzip.compress(b"a") + b"junk", b"\x1f\x8b\x08\x00" + b"\xff" * 40])
def test_body_that_is_not_packed_so_is_a_fault(body: bytes) -> None:
    unpacker = Unpacker("gzip")
    with pytest.raises(WireFaultError, match="not packed"):
        list(unpacker.feed(body))


def test_bomb_is_a_fault_before_it_has_filled_the_memory() -> None:
    packed = gzip.compress(bytes(64 * FREE_BYTES))
    unpacker = Unpacker("gzip")
    given_bytes: list[int] = []
    with pytest.raises(WireFaultError, match="unpacks to more"):
        given_bytes.extend(len(piece) for piece in unpacker.feed(packed))
    assert sum(given_bytes) <= FREE_BYTES + MAX_EXPANSION * len(packed)


def test_long_stream_that_packs_well_is_none() -> None:
    event = b'data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"%d"}}]}\n\n'
    data = b"".join(event % number for number in range(40_000))
    unpacker = Unpacker("gzip")
    assert sum(len(piece) for piece in unpacker.feed(gzip.compress(data))) == len(data)

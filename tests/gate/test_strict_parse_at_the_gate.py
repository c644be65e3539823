"""What the strict parse refuses or takes, the gate refuses or takes too, however it is cut."""

from functools import cache
from typing import Any

import pytest
from gate_play import chunked, play
from strict_parse_kinds import REFUSED, TAKEN, text_of

from commitgate.automaton import compile
from commitgate.backends.base import Finish, FinishReason, TextDelta
from commitgate.gate.gate import Gate
from commitgate.gate.strict_parse import Parsed, strict_parse
from commitgate.gate.verdict import Outside, Whole
from commitgate.limits import Limits
from commitgate.outcome import Violated

NESTING = 64
STOP = Finish(FinishReason.STOP, "stop")


def names(cases: list[dict[str, Any]]) -> list[str]:
    return [case["kind"] for case in cases]


def nested(opening: bytes, closing: bytes, depth: int, inside: bytes) -> bytes:
    return opening * depth + inside + closing * depth


@cache
def any_json(nesting: int = NESTING) -> Any:
    return compile(True, limits=Limits(nesting=nesting))


def gate(nesting: int = NESTING) -> Gate:
    return Gate(any_json(nesting).acceptor(), json_acceptor=any_json().acceptor, text_bytes=1_000_000, key_bytes=16_384)


@pytest.mark.parametrize("size", [None, 1, 3], ids=["whole", "bytes", "threes"])
@pytest.mark.parametrize("case", REFUSED, ids=names(REFUSED))
def test_kind_that_is_refused_is_no_whole_text_for_the_gate(case: dict[str, Any], size: int | None) -> None:
    text = text_of(case)
    verdict, shown = play(chunked([TextDelta(text), STOP] if text else [STOP], size), gate())
    assert not isinstance(verdict, Whole)
    assert isinstance(verdict, Outside | Violated)
    assert text.startswith(shown)


@pytest.mark.parametrize("size", [None, 1], ids=["whole", "bytes"])
@pytest.mark.parametrize("case", TAKEN, ids=names(TAKEN))
def test_kind_that_is_taken_is_a_whole_text_for_the_gate(case: dict[str, Any], size: int | None) -> None:
    text = text_of(case)
    verdict, shown = play(chunked([TextDelta(text), STOP], size), gate())
    assert isinstance(verdict, Whole)
    assert (verdict.text, shown) == (text, text)


@pytest.mark.parametrize("limit", [1, 2, 3, 10, 32, 63, 64])
@pytest.mark.parametrize("opening", [b"[", b'{"a":'])
def test_gate_and_parse_have_one_limit_of_nesting(opening: bytes, limit: int) -> None:
    closing = b"]" if opening == b"[" else b"}"
    for depth in (limit - 1, limit, limit + 1):
        text = nested(opening, closing, depth, b"1")
        verdict, _ = play([TextDelta(text), STOP], gate(limit))
        assert isinstance(verdict, Whole) is (depth <= limit)
        assert isinstance(strict_parse(text, nesting=limit), Parsed) is (depth <= limit)

"""Traces as files: what comes back, and what is no trace."""

import json
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tracing.traces import long_trace

from commitgate.errors import TraceError
from commitgate.preview import PreviewReader
from commitgate.trace import (
    Change,
    TracePiece,
    dump_trace,
    grown,
    illegal_wishes,
    load_trace,
    replayed,
    trace_data,
)
from commitgate.trace.growth import Growth
from commitgate.trace.trace_reading import MAX_TRACE_BYTES

LEAVES = st.none() | st.booleans() | st.integers() | st.decimals(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
)


def test_kept_trace_comes_back_as_it_was() -> None:
    trace = long_trace(5, wish_at=(2,), tool="t", effect="e", ledger_state="committed", is_replayed=True, is_cut=True)
    assert load_trace(dump_trace(trace)) == trace


# A busy machine draws examples slowly.
unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


@unhurried
@given(value=VALUES, key=st.sampled_from(["$number", "$x", "__proto__", "a/b~c"]))
def test_values_come_back_exactly_whatever_their_keys_and_numbers(value: Any, key: str) -> None:
    piece = TracePiece(at_s=0.0, data=b"x", text_bytes=0, changes=(Change("", {key: value}),))
    trace = long_trace(1)
    trace = replace(trace, requests=(replace(trace.requests[0], pieces=(piece,)),))
    (change,) = load_trace(dump_trace(trace)).requests[0].pieces[0].changes
    assert change.value == {key: value}


@unhurried
@given(value=VALUES, cuts=st.lists(st.integers(0, 400), max_size=6))
def test_changes_put_together_are_what_was_shown_wherever_the_text_is_cut(value: Any, cuts: list[int]) -> None:
    text = json.dumps(value, default=float).encode()
    reader, growth = PreviewReader({}), Growth()
    before, shown = 0, None
    for cut in [*sorted(min(each, len(text)) for each in cuts), len(text)]:
        preview = reader.feed(text[before:cut])
        before = cut
        shown = grown(shown, growth.changes(preview))
        assert shown == preview.value
    last = reader.finish()
    assert grown(shown, growth.changes(last)) == last.value


def test_long_traces_grow_with_their_text_and_not_with_its_square() -> None:
    short, long = (len(dump_trace(long_trace(steps))) for steps in (200, 400))
    assert long < 2.2 * short
    assert short < 80_000


def test_part_of_a_trace_can_be_left_out_for_whoever_has_it() -> None:
    trace = long_trace(6)
    data: Any = trace_data(trace, from_request=0, from_piece=4)
    assert len(data["requests"][0]["pieces"]) == 2
    assert "requests" not in trace_data(trace, from_request=1)


def test_wish_is_a_first_choice_that_was_forbidden() -> None:
    assert [found.text_bytes for found in illegal_wishes(long_trace(9, wish_at=(3, 7)))] == [3, 7]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff\xfe",
        b"[]",
        b"{}",
        b'"commitgate_trace"',
        b'{"commitgate_trace": 2}',
        b'{"commitgate_trace": true, "call_id": "c", "kind": "generate"}',
        b'{"commitgate_trace": 1}',
        b"[" * 100_000,
        b'{"commitgate_trace": 1, "call_id": NaN, "kind": "generate"}',
    ],
)
def test_what_is_no_trace_is_refused(data: bytes) -> None:
    with pytest.raises(TraceError):
        load_trace(data)


@pytest.mark.parametrize(
    ("place", "wrong", "pointer"),
    [
        (("requests",), {}, "/requests"),
        (("requests", 0), 1, "/requests/0"),
        (("requests", 0, "number"), -1, "/requests/0/number"),
        (("requests", 0, "pieces", 1), "x", "/requests/0/pieces/1"),
        (("requests", 0, "pieces", 1, "data"), "?", "/requests/0/pieces/1/data"),
        (("requests", 0, "pieces", 1, "kind"), "script", "/requests/0/pieces/1/kind"),
        (("requests", 0, "pieces", 1, "changes", 0), ["/7/x", 1], "/requests/0/pieces/1"),
        (("requests", 0, "pieces", 1, "changes", 0), ["", "x", True], "/requests/0/pieces/1"),
        (("requests", 0, "pieces", 1, "changes", 0), ["x", 1], "/requests/0/pieces/1/changes/0/0"),
        (("requests", 0, "pieces", 1, "changes", 0), ["/1", {"$number": "NaN"}], "/requests/0/pieces/1/changes/0/1"),
        (("requests", 0, "pieces", 1, "step", "kind"), "x", "/requests/0/pieces/1/step/kind"),
        (("requests", 0, "pieces", 1, "step", "legal_mass"), 1.5, "/requests/0/pieces/1/step/legal_mass"),
        (("requests", 0, "pieces", 1, "step", "choices", 0), [1, None, 0.5], "/requests/0/pieces/1/step/choices/0"),
        (("layers", 0, "layer"), "mine", "/layers/0/layer"),
        (("receipt", "warnings"), "x", "/receipt/warnings"),
        (("total_s",), 1e300, "/total_s"),
        (("total_s",), "SECRETCANARY", "/total_s"),
        (("is_over",), 1, "/is_over"),
    ],
)
def test_damaged_traces_are_refused_with_the_place_and_without_its_words(
    place: tuple[Any, ...], wrong: Any, pointer: str
) -> None:
    data: Any = trace_data(long_trace(3))
    at = data
    for part in place[:-1]:
        at = at[part]
    at[place[-1]] = wrong
    with pytest.raises(TraceError) as caught:
        load_trace(json.dumps(data).encode())
    assert caught.value.pointer == pointer
    assert "SECRETCANARY" not in str(caught.value)


@pytest.mark.parametrize(("more", "is_refused"), [(-1, False), (0, False), (1, True)])
def test_files_past_the_bound_are_refused_before_they_are_read(more: int, is_refused: bool) -> None:
    data = dump_trace(long_trace(1))
    data += b" " * (MAX_TRACE_BYTES + more - len(data))
    if not is_refused:
        assert load_trace(data).call_id == "c"
        return
    with pytest.raises(TraceError, match="67,108,864"):
        load_trace(data)


def test_numbers_of_any_length_come_back() -> None:
    long = 10**5_000
    piece = TracePiece(at_s=0.0, data=b"x", text_bytes=0, changes=(Change("", long),))
    trace = long_trace(1)
    trace = replace(trace, requests=(replace(trace.requests[0], pieces=(piece,)),))
    back = replayed(each.changes for each in load_trace(dump_trace(trace)).requests[0].pieces)
    assert back == Decimal(long)

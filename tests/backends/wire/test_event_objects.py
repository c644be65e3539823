"""The data of an event is one JSON object in strict UTF-8, nested within bounds, or it is a fault."""

import inspect
import sys

import pytest

from commitgate.backends.wire.event_json import MAX_EVENT_NESTING, read_event
from commitgate.backends.wire.wire_event import RawEvent, WireEvent, WireFaultError


@pytest.mark.parametrize("data", [b"", b" ", b"\t\r\n"])
def test_blank_data_is_a_sign_of_life(data: bytes) -> None:
    assert read_event(RawEvent(data)) is None


@pytest.mark.parametrize("data", [b"[DONE]", b"  [DONE] ", b"[DONE]\r"])
def test_end_marker_has_no_object(data: bytes) -> None:
    assert read_event(RawEvent(data, "x")) == WireEvent(name="x", data=data, value=None)


def test_object_comes_with_its_bytes() -> None:
    data = b' {"a": 1.50, "b": "\xe2\x80\xa8\\ud83e"}'
    event = read_event(RawEvent(data, "x"))
    assert event == WireEvent(name="x", data=data, value={"a": 1.5, "b": "\u2028\ud83e"})
    assert "1.5" not in repr(event)


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b'{"a":"\xff"}', "not_utf8"),
        (b'{"a":"\xed\xa0\x80"}', "not_utf8"),
        (b"{", "not_json"),
        (b"{oops", "not_json"),
        (b'{"a":1}{', "not_json"),
        (b'{"a":' + b"9" * 5_000 + b"}", "not_json"),
        (b"\xef\xbb\xbf{}", "not_json"),
        (b"[done]", "not_json"),
        (b"3", "not_object"),
        (b'"text"', "not_object"),
        (b"null", "not_object"),
        (b"[]", "not_object"),
        (b'{"a":' * 200_000, "too_deep"),
        (b"[" * 200_000, "too_deep"),
    ],
)
def test_anything_else_is_a_fault_that_quotes_nothing(data: bytes, code: str) -> None:
    with pytest.raises(WireFaultError) as raised:
        read_event(RawEvent(data))
    assert raised.value.code == code
    assert "oops" not in str(raised.value)
    assert raised.value.__context__ is None or raised.value.__suppress_context__


@pytest.mark.parametrize(("depth", "is_fine"), [(MAX_EVENT_NESTING, True), (MAX_EVENT_NESTING + 1, False)])
def test_nesting_has_a_limit(depth: int, is_fine: bool) -> None:
    data = b'{"a":' * depth + b"1" + b"}" * depth
    if is_fine:
        assert read_event(RawEvent(data)) is not None
    else:
        with pytest.raises(WireFaultError, match="nested deeper"):
            read_event(RawEvent(data))


@pytest.mark.parametrize(("depth", "is_fine"), [(MAX_EVENT_NESTING - 3, True), (MAX_EVENT_NESTING - 2, False)])
def test_nesting_is_that_of_the_deepest_place_whichever_brackets_lead_there(depth: int, is_fine: bool) -> None:
    raw = RawEvent(b'{"a":[{},[],"]]}}",' + b"[" * depth + b"{}" + b"]" * depth + b",[]]}")
    if is_fine:
        assert read_event(raw) is not None
    else:
        with pytest.raises(WireFaultError, match="nested deeper"):
            read_event(raw)


def test_event_that_is_too_deep_for_the_stack_is_a_fault() -> None:
    raw = RawEvent(b'{"a":' * 250 + b"1" + b"}" * 250)

    def read_below(frames: int) -> str:
        if frames:
            return read_below(frames - 1)
        try:
            return "read" if read_event(raw) else "blank"
        except WireFaultError as fault:
            return fault.code

    assert read_below(sys.getrecursionlimit() - len(inspect.stack(0)) - 100) in ("read", "not_json")


def test_brackets_within_texts_and_side_by_side_are_not_deep() -> None:
    texts = b'{"a":"' + b'[{\\"' * 10_000 + b'"}'
    items = b'{"a":[' + b"{}," * 10_000 + b"{}]}"
    assert read_event(RawEvent(texts)) is not None
    assert read_event(RawEvent(items)) is not None

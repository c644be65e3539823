"""How the header that asks for a wait is read."""

from datetime import UTC, datetime
from math import isfinite

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from commitgate.retry.retry_after import parse_retry_after

NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC).timestamp()


def read(value: str, *, now: float = NOW) -> float | None:
    return parse_retry_after({"Retry-After": value}, now=now)


@pytest.mark.parametrize(
    ("value", "wanted_s"), [("2", 2.0), ("0", 0.0), ("1.5", 1.5), (".5", 0.5), ("7.", 7.0), (" 2\t", 2.0), ("007", 7.0)]
)
def test_seconds(value: str, wanted_s: float) -> None:
    assert read(value) == wanted_s


@pytest.mark.parametrize(
    "value",
    [
        "Mon, 30 Nov 2026 12:00:03 GMT",
        "Monday, 30-Nov-26 12:00:03 GMT",
        "Mon Nov 30 12:00:03 2026",
        "Mon, 30 Nov 2026 13:00:03 +0100",
        "Mon, 30 Nov 2026 12:00:03 -0000",
    ],
)
def test_date_in_each_of_its_forms(value: str) -> None:
    assert read(value) == 3.0


def test_first_of_a_month_in_the_oldest_form() -> None:
    assert read("Tue Dec  1 12:00:00 2026") == 86_400.0


def test_leap_second_is_a_time() -> None:
    assert read("Mon, 30 Nov 2026 12:00:60 GMT") == 59.0


def test_date_that_is_past_is_no_wait() -> None:
    assert read("Sun, 06 Nov 1994 08:49:37 GMT") == 0.0
    assert read("Sun Nov  6 08:49:37 1994") == 0.0


def test_two_digits_of_a_year_are_at_most_fifty_years_ahead() -> None:
    assert read("Sunday, 06-Nov-94 08:49:37 GMT") == 0.0
    ahead = read("Saturday, 30-Nov-75 12:00:00 GMT")
    assert ahead is not None
    assert ahead > 48 * 365 * 86_400


def test_milliseconds_come_first() -> None:
    assert parse_retry_after({"retry-after": "9", "retry-after-ms": "250"}, now=NOW) == 0.25


@pytest.mark.parametrize("garbage", ["nan", "-1", "soon", "", "9" * 70])
def test_seconds_stand_in_for_milliseconds_that_are_none(garbage: str) -> None:
    assert parse_retry_after({"retry-after-ms": garbage, "retry-after": "9"}, now=NOW) == 9.0


@pytest.mark.parametrize("name", ["retry-after", "Retry-After", "RETRY-AFTER"])
def test_name_is_read_in_any_case(name: str) -> None:
    assert parse_retry_after({"content-type": "text/html", name: "2"}, now=NOW) == 2.0


@pytest.mark.parametrize(
    "value",
    [
        *("nan", "inf", "-inf", "Infinity", "-1", "-0.5", "+1", "1e3", "1_000", "0x10", "٢", "²"),
        *("", " ", ".", "1.2.3", "2 s", "2, 5", "2;3", "soon", "tomorrow at noon", "\x00", "2\n2"),
        *("Mon, 31 Nov 2026 12:00:03 GMT", "Mon, 30 Nov 2026 25:00:00 GMT", "Mon, 30 Foo 2026 12:00:03 GMT"),
        *("Mon, 30 Nov 99999 12:00:03 GMT", "Wed, 30-Feb-26 12:00:00 GMT"),
    ],
)
def test_what_is_no_time_is_ignored(value: str) -> None:
    assert read(value) is None


def test_value_is_read_up_to_a_length() -> None:
    assert read("1".zfill(64)) == 1.0
    assert read("1".zfill(65)) is None
    assert read("9" * 1_000_000) is None


def test_no_header_asks_for_no_wait() -> None:
    assert parse_retry_after({}, now=NOW) is None
    assert parse_retry_after({"x-retry-after": "2"}, now=NOW) is None


@given(
    st.text(max_size=70)
    | st.text(alphabet="0123456789 ,-:+.GMTonNvMarSu", max_size=64)
    | st.from_regex(r"[A-Z][a-z]{2,8},? [0-9]{1,3}[- ][A-Z][a-z]{2}[- ][0-9]{1,6} [0-9:]{1,9} ?[A-Z+-]?[0-9A-Z]{0,6}"),
    st.floats(min_value=-1e9, max_value=4e9),
)
@example("Mon, 01 Jan 0001 00:00:00 +2359", NOW)
@example("Fri, 31 Dec 9999 23:59:59 -2359", NOW)
@example("Mon, 30 Nov 2026 12:00:03 +99999999999999999999", NOW)
@example("29-Feb-24 00:00:00 GMT", NOW)
@example("Thursday, 29-Feb-24 00:00:00 GMT", 2_000_000_000.0)
def test_whatever_a_server_sends_is_a_time_or_nothing(value: str, now: float) -> None:
    found = read(value, now=now)
    assert found is None or (isfinite(found) and found >= 0)

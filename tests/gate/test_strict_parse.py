"""The strict parse refuses what JSON leaves open, and loses no digit."""

from decimal import Decimal

import pytest

from commitgate.automaton import compile
from commitgate.automaton.number_text import MAX_DIGITS, MAX_EXPONENT
from commitgate.gate.layers import Failure, Layer
from commitgate.gate.number_size import continues_number
from commitgate.gate.strict_parse import Parsed, strict_parse


def parse(text: bytes, nesting: int = 64) -> Parsed | Failure:
    return strict_parse(text, nesting=nesting)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (b"9007199254740993", 9007199254740993),
        (b"-0", 0),
        (b"1.10", Decimal("1.10")),
        (b"-0.0", Decimal("-0.0")),
        (b"1e3", Decimal("1e3")),
        (b"1E+400", Decimal("1e400")),
        (b"0.12345678901234567890123456789", Decimal("0.12345678901234567890123456789")),
        (b'"\\ud83d\\ude00"', "\U0001f600"),
        (b'"\\u0000\x7f"', "\x00\x7f"),
        (b' {"a" : [ ] }\r\n', {"a": []}),
        (b"null", None),
    ],
)
def test_value_is_exact(text: bytes, wanted: object) -> None:
    parsed = parse(text)
    assert isinstance(parsed, Parsed)
    assert parsed.value == wanted
    assert type(parsed.value) is type(wanted)
    assert str(parsed.value) == str(wanted)


@pytest.mark.parametrize(
    ("text", "code", "position"),
    [
        (b"", "not_json", 0),
        (b"[1,]", "not_json", 3),
        (b"{'a':1}", "not_json", 1),
        (b"01", "not_json", 1),
        (b"1 2", "not_json", 2),
        (b"[1,\n\n  x]", "not_json", 7),
        (b"NaN", "not_json", 0),
        (b"Infinity", "not_json", 0),
        (b"-Infinity", "not_json", 1),
        (b"\xef\xbb\xbf1", "not_json", 0),
        (b'"a\x01"', "not_json", 2),
        (b"\xc2\xa01", "not_json", 0),
        (b'"\\ud800"', "lone_surrogate", 7),
        (b'"\\ud800\\u0041"', "lone_surrogate", 12),
        (b'"\\udc00"', "lone_surrogate", 6),
        (b'"\xed\xa0\x80"', "not_utf8", 1),
        (b'"\xff"', "not_utf8", 1),
        (b'{"a":1,"a":2}', "duplicate_key", 11),
        (b'{"a":1,\n"\\u0061":2}', "duplicate_key", 17),
        (b'[{"a":{"b":1,"b":1}}]', "duplicate_key", 17),
        (b"[" * 100_000, "nesting", 201),
        (b"1" * 4_400, "number_size", 4_301),
        (b'{"a":1e401}', "number_size", 5),
        (b'["1e999",0.' + b"0" * MAX_DIGITS + b"1]", "number_size", 9),
        (b'{"type":\n', "not_json", 9),
        (b"[\n\n", "not_json", 3),
        (b"[1,\n", "not_json", 4),
    ],
)
def test_refusal_names_its_reason_and_place(text: bytes, code: str, position: int) -> None:
    failure = parse(text)
    assert isinstance(failure, Failure)
    assert (failure.layer, failure.code, failure.data) == (Layer.PARSE, code, {"position": position})


def test_refusal_shows_no_key_of_the_text() -> None:
    failure = parse(b'{"canary":1,"canary":2}')
    assert isinstance(failure, Failure)
    assert "canary" not in repr(failure)


@pytest.mark.parametrize(("depth", "is_parsed"), [(4, True), (5, True), (6, False)])
@pytest.mark.parametrize(("opening", "closing"), [(b"[", b"]"), (b'{"a":', b"}")])
def test_nesting_has_its_limit(opening: bytes, closing: bytes, depth: int, is_parsed: bool) -> None:
    result = parse(opening * depth + b"1" + closing * depth, nesting=5)
    assert isinstance(result, Parsed) is is_parsed
    if isinstance(result, Failure):
        assert result.code == "nesting"


@pytest.mark.parametrize(
    ("text", "is_parsed"),
    [
        (b"9" * (MAX_DIGITS - 1), True),
        (b"9" * MAX_DIGITS, True),
        (b"9" * (MAX_DIGITS + 1), False),
        (b"-" + b"9" * (MAX_DIGITS + 1), False),
        (b"0." + b"9" * (MAX_DIGITS - 1), True),
        (b"0." + b"9" * MAX_DIGITS, False),
        (b"1e%d" % MAX_EXPONENT, True),
        (b"1e-%d" % MAX_EXPONENT, True),
        (b"1e0%d" % MAX_EXPONENT, True),
        (b"1e%d" % (MAX_EXPONENT + 1), False),
        (b"1e-%d" % (MAX_EXPONENT + 1), False),
        (b"0e%d" % (MAX_EXPONENT + 1), False),
        (b"1." + b"1" * 200 + b"e%d" % (MAX_EXPONENT + 100), False),
        (b"1." + b"0" * 200 + b"e-%d" % MAX_EXPONENT, True),
        (b"0." + b"0" * (MAX_DIGITS - 2) + b"1", True),
        (b"0." + b"0" * (MAX_DIGITS - 1) + b"1", False),
        (b"9" * (MAX_DIGITS - 3) + b"e100", True),
        (b"9" * (MAX_DIGITS - 2) + b"e100", False),
        (b"9" * (MAX_DIGITS // 2) + b"." + b"9" * (MAX_DIGITS // 2 + 1), False),
        (b"1e9999", False),
        (b"1e-9999", False),
        (b"1e99999999999999999999999999", False),
    ],
)
@pytest.mark.parametrize("frame", [b"%s", b'[{"a":%s}]'], ids=["root", "inside"])
def test_size_of_numbers_has_its_limit(text: bytes, is_parsed: bool, frame: bytes) -> None:
    result = parse(frame % text)
    assert isinstance(result, Parsed) is is_parsed
    assert compile(True).accepts(frame % text) is is_parsed, "the automaton has the same bound"
    if isinstance(result, Failure):
        assert result.code == "number_size"


@pytest.mark.parametrize("text", [b'"1e999"', b'"\\"1e999"', b'{"' + b"1" * 2_000 + b'":"\\\\"}'])
def test_digits_in_strings_are_no_numbers(text: bytes) -> None:
    assert isinstance(parse(text), Parsed)


@pytest.mark.parametrize("before", [b"", b"\\n", b"\\n\\n", b"a\\n\\t", b'\\"', b"\\\\"])
def test_digits_in_a_string_are_no_number(before: bytes) -> None:
    text = b'["", "' + before + b"9" * (MAX_DIGITS + 1) + b'"]'
    assert isinstance(strict_parse(text, nesting=64), Parsed)


def test_only_the_number_at_the_end_is_gone_on_with() -> None:
    full = b"9" * MAX_DIGITS
    assert continues_number(b'{"e":' + full, b"9")
    assert continues_number(b"[1e5," + full, b"9")
    assert not continues_number(b'{"e":0', b"9")
    assert not continues_number(b"[" + full + b",", b"x")

"""Every kind of text that a strict parser must refuse, must take, or may decide about, alone and on the way to a value.

The kinds are those that the public JSONTestSuite tells apart; the texts are our own. Where the grammar leaves it open,
the file says what is decided here, by the code of the failure, or None where the text is taken.
"""

import json
from decimal import Decimal
from typing import Any

import pytest
from gate_play import PAYMENT
from strict_parse_kinds import CASES, REFUSED, TAKEN, text_of

from commitgate.backends.base import Finish, FinishReason
from commitgate.gate.layers import Failure, Layer
from commitgate.gate.number_size import continues_number
from commitgate.gate.strict_parse import BREAKS_JSON, PARSER_NESTING, Parsed, strict_parse

NESTING = 64
STOP = Finish(FinishReason.STOP, "stop")


def names(cases: list[dict[str, Any]]) -> list[str]:
    return [case["kind"] for case in cases]


def test_every_kind_is_there_once() -> None:
    assert len(set(names(CASES))) == len(CASES)
    expected = [case["expect"] for case in CASES]
    assert (expected.count("reject") >= 188, expected.count("accept") >= 90, expected.count("policy") >= 50) == (
        True,
    ) * 3


@pytest.mark.parametrize("case", REFUSED, ids=names(REFUSED))
def test_kind_is_refused_with_its_reason_and_place(case: dict[str, Any]) -> None:
    text = text_of(case)
    failure = strict_parse(text, nesting=NESTING)
    assert isinstance(failure, Failure)
    assert (failure.layer, failure.pointer) == (Layer.PARSE, "")
    if "code" in case:
        assert failure.code == case["code"]
    elif case["kind"] not in ("structure_100000_opening_arrays", "structure_open_array_object"):
        assert failure.code in BREAKS_JSON
    assert isinstance(failure.data, dict) or failure.code == "nesting"
    if isinstance(failure.data, dict):
        position = failure.data["position"]
        assert isinstance(position, int)
        assert 0 <= position <= len(text)


@pytest.mark.parametrize("case", TAKEN, ids=names(TAKEN))
def test_kind_is_taken_without_a_loss(case: dict[str, Any]) -> None:
    text = text_of(case)
    parsed = strict_parse(text, nesting=NESTING)
    assert isinstance(parsed, Parsed)
    wanted = json.loads(text.decode(), parse_float=Decimal)
    assert repr(parsed.value) == repr(wanted)


@pytest.mark.parametrize("limit", range(1, 65))
@pytest.mark.parametrize(
    ("opening", "closing"), [(b"[", b"]"), (b'{"a":', b"}"), (b' [0, {"b" :\n', b"} ] ")], ids=["[", "{", "[{"]
)
def test_nesting_is_taken_to_its_limit_and_refused_one_past_it(opening: bytes, closing: bytes, limit: int) -> None:
    levels = 2 if b"{" in opening and b"[" in opening else 1
    taken = nested(opening, closing, limit // levels, b"[]" if limit % levels else b"1")
    over = nested(opening, closing, (limit + 1) // levels, b"[]" if (limit + 1) % levels else b"1")
    assert isinstance(strict_parse(taken, nesting=limit), Parsed)
    failure = strict_parse(over, nesting=limit)
    assert isinstance(failure, Failure)
    assert (failure.code, failure.data) == ("nesting", None)
    assert str(limit) in failure.message


def nested(opening: bytes, closing: bytes, depth: int, inside: bytes) -> bytes:
    return opening * depth + inside + closing * depth


@pytest.mark.parametrize("wide", [b"[1]," * 200, b'{"a":[]},' * 200])
def test_many_containers_beside_each_other_are_not_deep(wide: bytes) -> None:
    text = b"[" + wide.rstrip(b",") + b"]"
    depth = 3 if b"{" in wide else 2
    assert isinstance(strict_parse(text, nesting=depth), Parsed)
    assert isinstance(strict_parse(text, nesting=depth - 1), Failure)


def test_depth_beyond_what_the_parser_takes_is_a_failure_of_its_own() -> None:
    assert PARSER_NESTING == 200
    taken = b"[" * PARSER_NESTING + b"]" * PARSER_NESTING
    assert isinstance(strict_parse(taken, nesting=1_000), Parsed)
    failure = strict_parse(b"[" + taken + b"]", nesting=1_000)
    assert isinstance(failure, Failure)
    assert failure.code == "nesting"
    assert str(PARSER_NESTING) in failure.message
    assert isinstance(strict_parse(b"[" + taken + b"]", nesting=PARSER_NESTING + 1), Failure)


@pytest.mark.parametrize("cut", range(len(PAYMENT)))
def test_no_beginning_of_a_text_is_parsed(cut: int) -> None:
    failure = strict_parse(PAYMENT[:cut], nesting=NESTING)
    assert isinstance(failure, Failure)
    assert (failure.code, failure.data) == ("not_json", {"position": cut})


@pytest.mark.parametrize(
    ("text", "position"),
    [
        (b'"{\n"', 2),
        (b'["a",\n"b\n"]', 8),
        (b"-\n1", 1),
        (b"[\n\nn\nu]", 4),
        (b'"\\\n"', 2),
        (b"\n\n[1\n2]", 5),
        (b"tx", 1),
    ],
)
def test_fault_is_placed_at_its_byte_on_every_line(text: bytes, position: int) -> None:
    failure = strict_parse(text, nesting=NESTING)
    assert isinstance(failure, Failure)
    assert failure.data == {"position": position}


def test_repr_of_a_parsed_value_does_not_show_it() -> None:
    assert "bob" not in repr(strict_parse(PAYMENT, nesting=NESTING))


@pytest.mark.parametrize("text", [b'["","1e999"]', b'["\\n","1e999"]', b'["\\n\\n1e999"]', b'["\\\\","1e999",""]'])
def test_strings_before_digits_in_a_string_do_not_make_them_a_number(text: bytes) -> None:
    assert isinstance(strict_parse(text, nesting=NESTING), Parsed)


@pytest.mark.parametrize("passed", [b"1", b"-1", b"[1", b"[-", b"1.", b"1.5", b"1e", b"1e+", b"-1.5E-", b'{"a":10'])
def test_digit_can_continue_an_open_number(passed: bytes) -> None:
    assert continues_number(passed, b"5")
    assert not continues_number(passed, b".")


@pytest.mark.parametrize(
    "passed",
    [b"", b"0", b"[-0", b"[1 ", b"[1, tru", b"[1,", b"1ee", b"1.5ee", b"1eee", b"1..", b"1e5.", b'"', b"[2, 0"],
)
def test_digit_continues_nothing_else(passed: bytes) -> None:
    assert not continues_number(passed, b"5")

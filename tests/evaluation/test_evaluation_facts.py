"""Facts: what is expected at which place, what an authority knows, and who may refer to what."""

from decimal import Decimal
from typing import Any

import pytest
from evaluation.suites import case
from hypothesis import given
from hypothesis import strategies as st

from commitgate.errors import MisuseError
from commitgate.evaluation.canonical import canonical
from commitgate.evaluation.facts import compare_facts, found_at, outside

VALUE: Any = {
    "total": Decimal("10.50"),
    "note": "Please REFUND",
    "items": [{"id": "a", "n": 1}, {"id": "b", "n": 2}],
    "by": {"x": {"id": "q"}},
    "a/b": True,
    "none": None,
}


@pytest.mark.parametrize(
    ("place", "wanted"),
    [
        ("/total", 10.5),
        ("/note", {"$contains": "refund"}),
        ("/items/0/id", {"$any_of": ["b", "a"]}),
        ("/items/*/id", {"$set": ["b", "a"]}),
        ("/items/*/n", {"$any_of": [1, 2]}),
        ("/items", {"$set": [{"n": 2, "id": "b"}, {"id": "a", "n": 1.0}]}),
        ("/missing", {"$absent": True}),
        ("/items/7", {"$absent": True}),
        ("/items/*/zz", {"$set": []}),
        ("/a~1b", True),
        ("/none", None),
        ("/by/*/id", "q"),
    ],
)
def test_fact_that_is_right(place: str, wanted: Any) -> None:
    found = compare_facts(case(expected={place: wanted}), VALUE)
    assert (found.asked, found.right, found.wrong) == (1, 1, ())


@pytest.mark.parametrize(
    ("place", "wanted", "code"),
    [
        ("/total", "10.50", "wrong_fact"),
        ("/a~1b", 1, "wrong_fact"),
        ("/items/*/n", 1, "wrong_fact"),
        ("/items/*/id", {"$set": ["a"]}, "wrong_fact"),
        ("/items/*/id", {"$set": ["a", "b", "b"]}, "wrong_fact"),
        ("/note", {"$contains": "chargeback"}, "wrong_fact"),
        ("/total", {"$contains": "1"}, "wrong_fact"),
        ("/items/9/id", "a", "missing_fact"),
        ("/items/01/id", "b", "missing_fact"),
        ("/none", {"$absent": True}, "unexpected_fact"),
        ("/total", {"$set": [10.5]}, "wrong_fact"),
    ],
)
def test_fact_that_is_wrong(place: str, wanted: Any, code: str) -> None:
    found = compare_facts(case(expected={place: wanted}), VALUE)
    assert (found.right, found.wrong) == (0, ((code, place),))


def test_value_that_the_authority_does_not_know_is_invented() -> None:
    found = compare_facts(case(known={"/items/*/id": ("a",), "/nowhere": ("x",)}), VALUE)
    assert (found.asked, found.wrong) == (0, (("invented", "/items/1/id"),))


def test_key_under_a_star_was_written_by_the_model_and_is_not_told() -> None:
    assert list(found_at(VALUE, "/by/*/id")) == [("/by/*/id", "q")]
    assert outside({"/by/*/id": ("z",)}, VALUE) == ("/by/*/id",)


def test_place_of_the_root_is_the_whole_value() -> None:
    assert list(found_at("words", "")) == [("", "words")]


numbers = st.integers(-(10**30), 10**30)


@given(numbers, st.integers(0, 6))
def test_number_is_the_same_however_many_zeros_end_it(number: int, zeros: int) -> None:
    assert canonical(Decimal(number)) == canonical(number)
    assert canonical(Decimal(f"{number}.{'0' * (zeros + 1)}")) == canonical(number)


def test_float_counts_by_its_shortest_text() -> None:
    assert canonical(0.1) == canonical(Decimal("0.1"))
    assert canonical(1e21) == canonical(10**21)
    assert canonical(0) == canonical(-0.0) == canonical(Decimal("0e9"))


@given(
    st.recursive(
        st.none() | st.booleans() | numbers | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=8,
    )
)
def test_canonical_text_does_not_hang_on_the_order_of_keys(value: Any) -> None:
    def turned(each: Any) -> Any:
        if isinstance(each, dict):
            return {key: turned(each[key]) for key in reversed(list(each))}
        return [turned(item) for item in each] if isinstance(each, list) else each

    assert canonical(turned(value)) == canonical(value)


@pytest.mark.parametrize("value", [object(), float("nan"), Decimal("Infinity"), {1: 2}, {"a": b"x"}])
def test_what_is_no_json_has_no_canonical_text(value: Any) -> None:
    with pytest.raises(MisuseError):
        canonical(value)


def test_value_that_holds_itself_is_refused() -> None:
    value: list[Any] = []
    value.append(value)
    with pytest.raises(MisuseError, match="nested deeper than 200"):
        canonical(value)

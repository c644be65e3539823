"""A contract's style decides what the local model may write, and styles share no compiled state."""

from __future__ import annotations

from typing import Any

import pytest

from commitgate import Contract, FreeSpace, Limits, Style
from commitgate.errors import MisuseError
from commitgate_local.engine import MaskEngine
from commitgate_local.vocabulary import Vocabulary

SCHEMA = {
    "type": "object",
    "properties": {"a": {"enum": [1]}, "b": {"type": "array", "items": {"enum": [2]}, "maxItems": 2}},
    "required": ["a", "b"],
    "additionalProperties": False,
}
PYTHON = b'{"a": 1, "b": [2, 2]}'
COMPACT = b'{"a":1,"b":[2,2]}'
SPACED = b'{ "a"  :1 ,\n"b": [ 2,2 ] }'
OTHER_ORDER = b'{"b": [2, 2], "a": 1}'
TEXTS = (PYTHON, COMPACT, SPACED, OTHER_ORDER)

STYLES = {
    "python": (Style(), {PYTHON}),
    "compact": (Style(white_space="compact"), {COMPACT}),
    "free": (Style(white_space=FreeSpace(2)), {PYTHON, COMPACT, SPACED}),
    "any order": (Style(property_order="any"), {PYTHON, OTHER_ORDER}),
    "any order, free": (Style(white_space=FreeSpace(2), property_order="any"), set(TEXTS)),
}


@pytest.fixture(scope="module")
def engine() -> MaskEngine:
    tokens = [bytes((byte,)) for byte in range(256)] + [b'{"', b'": ', b'":', b", ", b"[2", b"2]", b'", "']
    return MaskEngine(Vocabulary(tokens=(*tokens, None), width=len(tokens) + 1, stop_ids=(len(tokens),)))


def writes(engine: MaskEngine, style: Style, text: bytes) -> bool:
    """Say whether each byte of the text may be written, and then the end, under the masks."""
    matcher = engine.matcher(Contract.json_schema(SCHEMA, style=style))
    for byte in text:
        if not matcher.mask()[byte]:
            return False
        matcher.advance(byte)
    return matcher.is_accepting


@pytest.mark.parametrize("name", STYLES)
def test_style_decides_what_may_be_written(engine: MaskEngine, name: str) -> None:
    style, written = STYLES[name]
    assert {text for text in TEXTS if writes(engine, style, text)} == written


def test_styles_do_not_mix_whichever_was_asked_for_first(engine: MaskEngine) -> None:
    for names in (list(STYLES), list(reversed(STYLES))):
        for name in names:
            style, written = STYLES[name]
            assert {text for text in TEXTS if writes(engine, style, text)} == written


def test_whole_tokens_follow_the_style_too(engine: MaskEngine) -> None:
    tokens = engine.vocabulary.tokens
    for name, key_end in (("python", b'": '), ("compact", b'":')):
        matcher = engine.matcher(Contract.json_schema(SCHEMA, style=STYLES[name][0]))
        matcher.advance(tokens.index(b'{"'))
        matcher.advance(tokens.index(b"a"))
        legal = {tokens[number] for number in range(len(tokens)) if matcher.mask()[number]}
        assert legal == {b'"', *([b'":'] if name == "python" else []), key_end}


def test_free_space_ends_at_its_bound(engine: MaskEngine) -> None:
    style = Style(white_space=FreeSpace(2))
    assert writes(engine, style, COMPACT.replace(b",", b"  ,"))
    assert not writes(engine, style, COMPACT.replace(b",", b"   ,"))


def test_style_changes_neither_digests_nor_what_is_accepted() -> None:
    made = [Contract.json_schema(SCHEMA, style=style) for style, _ in STYLES.values()]
    assert len({(contract.language_digest, contract.full_digest) for contract in made}) == 1


def test_same_contract_is_compiled_once_and_limits_and_styles_each_have_their_own(engine: MaskEngine) -> None:
    fresh = MaskEngine(engine.vocabulary)
    for style, _ in STYLES.values():
        for limits in (Limits(), Limits(nesting=8)):
            for _ in range(2):
                fresh.matcher(Contract.json_schema(SCHEMA, style=style, limits=limits))
    assert fresh.stats().contracts == 2 * len(STYLES)


@pytest.mark.parametrize("most", [0, 65, 1.5, True])
def test_free_space_without_a_sensible_bound_is_misuse(most: Any) -> None:
    with pytest.raises(MisuseError, match="FreeSpace"):
        FreeSpace(most)


@pytest.mark.parametrize("name", ["white_space", "property_order"])
def test_unknown_style_is_misuse(name: str) -> None:
    unknown: Any = {name: "random"}
    with pytest.raises(MisuseError, match=name):
        Style(**unknown)

"""Random walks: what ``generate`` writes, ``accept`` reads and another implementation finds valid."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from automaton.oracle import DRAFTS, Oracle, is_valid
from automaton.schema_making import schemas
from automaton.schemas import SCHEMAS
from hypothesis import given, settings
from hypothesis import strategies as st

from commitgate.automaton import Automaton, Term, compile
from commitgate.errors import LimitExceededError, SchemaError, UnsatisfiableError
from commitgate.json_value import JsonValue
from commitgate.limits import Limits
from commitgate.style import FreeSpace, Style

STYLES = [
    Style(),
    Style(white_space="compact"),
    Style(white_space=FreeSpace(3)),
    Style(property_order="any"),
    Style(white_space="compact", property_order="any"),
    Style(white_space=FreeSpace(3), property_order="any"),
]
SMALL = Limits(nesting=6)


def walk(automaton: Automaton, seed: int, *, patience: int = 400) -> bytes | None:
    """Write one text by drawing among live bytes; None where it was still open when patience ended."""
    draw = random.Random(seed)
    state: Term = automaton.start
    text = bytearray()
    for _ in range(patience):
        representatives = list(state.partition.representatives[1:])
        draw.shuffle(representatives)
        if draw.random() < 0.3:
            representatives = [*b'"}]', *representatives]
        byte = next((byte for byte in representatives if state.step(byte) is not state.arena.empty), None)
        assert byte is not None or state.nullable, "a live state can always go on or end"
        if byte is None or (state.nullable and draw.random() < 0.5):
            return bytes(text)
        text.append(byte)
        state = state.step(byte)
    return None


@pytest.mark.parametrize("name", SCHEMAS)
@pytest.mark.parametrize("dialect", ["generate", "accept"])
def test_every_finished_walk_is_valid_elsewhere(name: str, dialect: str) -> None:
    schema = SCHEMAS[name]
    automaton = compile(schema, dialect="generate" if dialect == "generate" else "accept", limits=SMALL)
    accept, oracle = compile(schema, limits=SMALL), Oracle(schema)
    finished = 0
    for seed in range(40 if dialect == "generate" else 10):
        text = walk(automaton, seed)
        if text is not None:
            finished += 1
            assert oracle.is_valid(text), text
            assert accept.accepts(text), text
    # A walk in ``accept`` seldom happens upon a required key.
    assert finished >= (5 if dialect == "generate" else 0)


@pytest.mark.parametrize("style", STYLES, ids=str)
@pytest.mark.parametrize("name", SCHEMAS)
def test_every_style_writes_accepted_texts_and_never_ends_dead(name: str, style: Style) -> None:
    schema = SCHEMAS[name]
    automaton, accept = compile(schema, dialect="generate", limits=SMALL, style=style), compile(schema, limits=SMALL)
    for seed in range(6):
        text = walk(automaton, seed)
        assert text is None or (accept.accepts(text) and is_valid(schema, text)), text


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_prefix_of_a_generated_text_is_live_in_both_dialects(name: str) -> None:
    generate, accept = (
        compile(SCHEMAS[name], dialect="generate", limits=SMALL),
        compile(SCHEMAS[name], limits=SMALL),
    )
    for seed in range(10):
        text = walk(generate, seed)
        for automaton in (generate, accept):
            acceptor = automaton.acceptor()
            for byte in text or b"":
                assert acceptor.feed(bytes((byte,)))


@pytest.mark.parametrize("name", SCHEMAS)
def test_alphabet_without_some_bytes_never_leads_to_a_dead_end(name: str) -> None:
    alphabet = bytes(byte for byte in range(256) if byte not in (0xF1, 0xF2, 0x01, 0x02, 0x9F, 0xC3))
    automaton = compile(SCHEMAS[name], dialect="generate", limits=SMALL, alphabet=alphabet)
    for seed in range(20):
        text = walk(automaton, seed)
        if text is not None:
            assert set(text) <= set(alphabet)
            assert is_valid(SCHEMAS[name], text), text


def compiled(schema: JsonValue, style: Style) -> tuple[Automaton, Automaton] | None:
    """Return the automata of both dialects; None where there is none."""
    try:
        generate = compile(schema, dialect="generate", formats="annotate", limits=SMALL, style=style)
        return generate, compile(schema, formats="annotate", limits=SMALL)
    except (UnsatisfiableError, SchemaError, LimitExceededError):
        return None


@pytest.mark.parametrize("draft", DRAFTS)
def test_walks_through_any_schema_end_in_valid_texts(draft: str) -> None:
    @settings(max_examples=40, deadline=None)
    @given(schema=schemas(draft), style=st.sampled_from(STYLES), seed=st.integers(0, 2**32))
    def end_valid(schema: JsonValue, style: Style, seed: int) -> None:
        both = compiled(schema, style)
        text = walk(both[0], seed, patience=200) if both else None
        if both is None or text is None:
            return
        generate, accept = both
        assert accept.accepts(text), text
        is_decoded = all(row.level != "checked" for row in generate.support)
        try:
            assert Oracle(schema).is_valid(text) or not is_decoded, text
        except RecursionError:
            # References in a circle, in a place that the value does not reach.
            return

    end_valid()


@settings(max_examples=60, deadline=None)
@given(
    schema=schemas("2020-12"),
    style=st.sampled_from(STYLES),
    seed=st.integers(0, 2**32),
    cuts=st.lists(st.integers(0, 40), max_size=5),
)
def test_acceptance_depends_on_no_cut_and_explains_itself_everywhere(
    schema: JsonValue, style: Style, seed: int, cuts: list[int]
) -> None:
    both = compiled(schema, style)
    text = walk(both[0], seed, patience=120) if both else None
    if both is None or text is None:
        return
    # The end is spoiled now and then, so that a dead state is met too.
    text += b"" if seed % 3 else b"]"
    whole, pieces, single = (both[1].acceptor() for _ in range(3))
    whole.feed(text)
    for start, end in pairwise([0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]):
        pieces.feed(text[start:end])
    for byte in text:
        assert single.explain().startswith("expected ")
        single.feed(bytes((byte,)))
    found = [(each.position, each.is_accepting, each.is_dead, each.explain()) for each in (whole, pieces, single)]
    assert found[0] == found[1] == found[2]

"""Random walks: what ``generate`` writes, ``accept`` reads and another implementation finds valid."""

from __future__ import annotations

import random

import pytest
from automaton.oracle import is_valid
from automaton.schemas import TEN

from commitgate.automaton import Automaton, Term, compile
from commitgate.limits import Limits


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


@pytest.mark.parametrize("name", TEN)
@pytest.mark.parametrize("dialect", ["generate", "accept"])
def test_every_finished_walk_is_valid_elsewhere(name: str, dialect: str) -> None:
    schema = TEN[name]
    limits = Limits(nesting=6)
    automaton = compile(schema, dialect="generate" if dialect == "generate" else "accept", limits=limits)
    accept = compile(schema, limits=limits)
    finished = 0
    for seed in range(60 if dialect == "generate" else 20):
        text = walk(automaton, seed)
        if text is not None:
            finished += 1
            assert is_valid(schema, text), text
            assert accept.accepts(text), text
    # A walk in ``accept`` seldom happens upon a required key.
    assert finished >= (5 if dialect == "generate" else 0)


@pytest.mark.parametrize("name", TEN)
def test_every_prefix_of_a_generated_text_is_live_in_both_dialects(name: str) -> None:
    limits = Limits(nesting=6)
    generate, accept = compile(TEN[name], dialect="generate", limits=limits), compile(TEN[name], limits=limits)
    for seed in range(20):
        text = walk(generate, seed)
        for automaton in (generate, accept):
            acceptor = automaton.acceptor()
            for byte in text or b"":
                assert acceptor.feed(bytes((byte,)))


@pytest.mark.parametrize("name", TEN)
def test_alphabet_without_some_bytes_never_leads_to_a_dead_end(name: str) -> None:
    alphabet = bytes(byte for byte in range(256) if byte not in (0xF1, 0xF2, 0x01, 0x02, 0x9F, 0xC3))
    automaton = compile(TEN[name], dialect="generate", limits=Limits(nesting=6), alphabet=alphabet)
    for seed in range(40):
        text = walk(automaton, seed)
        if text is not None:
            assert set(text) <= set(alphabet)
            assert is_valid(TEN[name], text), text

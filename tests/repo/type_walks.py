"""Write texts at random under a contract, as a model that knows nothing would."""

import random
from collections.abc import Iterator

from commitgate.automaton import Automaton, Term

TRIES = 20
PATIENCE = 600


def texts(automaton: Automaton, count: int) -> Iterator[bytes]:
    """Yield at most ``count`` texts of the automaton; walks that go on for too long are left."""
    for seed in range(count * TRIES):
        draw = random.Random(seed)
        text = _walk(automaton.start, draw, stop=draw.choice((0.5, 0.1, 0.03)))
        if text is not None:
            count -= 1
            yield text
        if count == 0:
            return


def _walk(state: Term, draw: random.Random, stop: float) -> bytes | None:
    text = bytearray()
    for _ in range(PATIENCE):
        if state.nullable and draw.random() < stop:
            return bytes(text)
        live = _live(state)
        if not live:
            assert state.nullable, "a live state can always go on or end"
            return bytes(text)
        closing = [byte for byte in b'"}]' if byte in live]
        byte = draw.choice(closing if closing and draw.random() < 0.2 else live)
        text.append(byte)
        state = state.step(byte)
    return None


def _live(state: Term) -> list[int]:
    """Return the bytes that may follow, each class of alike ones as often as any other."""
    partition = state.partition
    alike: dict[int, list[int]] = {}
    for byte in range(256):
        alike.setdefault(partition.class_of[byte], []).append(byte)
    most = max(map(len, alike.values()))
    return [
        byte
        for number, members in alike.items()
        if number and state.step(members[0]) is not state.arena.empty
        for byte in members * (most // len(members))
    ]

"""Check that what was kept on disk for one vocabulary is not used for another, where masks are made here."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from commitgate.automaton import compile
from commitgate.contract import Contract
from commitgate.evaluation.adversarial.check import Check, Found, failed, passed, skipped
from commitgate.evaluation.adversarial.stage import Scene
from commitgate.json_value import JsonObject
from commitgate.worker_thread import run_in_thread

if TYPE_CHECKING:
    from commitgate.automaton import Automaton

_LOCAL = "local"
_SCHEMA: JsonObject = {"type": "string", "enum": ["ab", "abba", "ba", "b"]}
_TOKENS = (b'"', b"a", b"b", b"ab", b"ba", b'a"', b'"b')
_SWAPPED = (b"ab", b'"', b"ba", b"a", b'"b', b"b", b'a"')
"""The same tokens in another order: a mask made for one is wrong for the other, and as wide."""


def mask_checks() -> Iterator[Check]:
    """Yield the checks of masks that were kept."""
    yield Check(
        name="masks_of_another_vocabulary",
        group="changes",
        about="a vocabulary of the same size finds the cache folder of another",
        law="every mask allows just the tokens after which the text can be finished",
        run=_masks,
    )


async def _masks(scene: Scene) -> Found:
    if scene.kind != _LOCAL:
        return skipped("its masks are not kept here")
    try:
        wrong = await run_in_thread(_wrong_masks)
    except ImportError:
        return skipped("what decodes on this machine is not installed")
    return failed(f"{wrong} masks were made for another vocabulary") if wrong else passed()


def _wrong_masks() -> int:
    """Fill a cache folder by one vocabulary, look with the other, and count masks that are wrong."""
    with tempfile.TemporaryDirectory() as folder:
        return sum(_wrong_of(tokens, folder) for tokens in (_TOKENS, _SWAPPED, _TOKENS, _SWAPPED))


def _wrong_of(tokens: Sequence[bytes], folder: str) -> int:
    from commitgate_local import MaskEngine, Vocabulary

    automaton = compile(Contract.json_schema(_SCHEMA))
    engine = MaskEngine(Vocabulary([*tokens, None], [len(tokens)]), cache_dir=folder)
    wrong = 0
    for written in (b"", b'"', b'"a', b'"ab', b'"b', b'"abb'):
        matcher = engine.matcher(_SCHEMA)
        matcher.advance_bytes(written)
        mask = matcher.mask()
        wrong += [bool(mask[number]) for number in range(len(tokens))] != _legal(automaton, written, tokens)
    return wrong


def _legal(automaton: Automaton, written: bytes, tokens: Sequence[bytes]) -> list[bool]:
    """Return which tokens may follow, by walking each from the beginning."""
    return [automaton.acceptor().feed(written + token) for token in tokens]


__all__ = ["mask_checks"]

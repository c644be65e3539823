"""Keep the walks of strings that the masks of a language need, so that a new process need not walk them again.

A walk is kept under the digest of everything it depends on besides the vocabulary: the string's automaton and counts,
its spelling, and the bytes before it. So a file can only spare work; it can never answer for another language.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from commitgate.automaton.spelling import StringBody
from commitgate.automaton.strings import Length, NoneOf
from commitgate.automaton.text_language import DfaState
from commitgate_local.leaf_walk import NO_IDS, LeafWalk

if TYPE_CHECKING:
    from commitgate.automaton.strings import CharacterState
    from commitgate.automaton.terms import Term
    from commitgate_local.kept_arrays import AnyArray, ArrayFolder
    from commitgate_local.trie import Trie

# Walks kept of one language: some 6 KB each for 49,152 tokens.
_MOST_WALKS = 256
_DIGEST_BYTES = 32


class KeptWalks:
    """Keep walks in a folder, language by language.

    Args:
        folder: where they are kept.
        trie: the tree of the vocabulary.
        width: number of logits columns.
        fingerprint: that of the vocabulary.
    """

    def __init__(self, folder: ArrayFolder, trie: Trie, width: int, fingerprint: str) -> None:
        self._folder = folder
        self._trie = trie
        self._width = width
        self._fingerprint = fingerprint

    def load(self, language: str) -> dict[bytes, LeafWalk]:
        """Return the walks of a language by their digests."""
        held = self._folder.get("walks", self._fingerprint, language)
        if held is None:
            return {}
        digests = held["digests"].tobytes()
        found: dict[bytes, LeafWalk] = {}
        masks = iter(held["masks"])
        ids, exits = _split(held["ids"], held["id_ends"]), _split(held["exits"], held["exit_ends"])
        for at, is_root in enumerate(held["is_root"].tolist()):
            inside = np.unpackbits(next(masks), count=self._width + 1).view(np.bool_) if is_root else None
            digest = digests[at * _DIGEST_BYTES : (at + 1) * _DIGEST_BYTES]
            found[digest] = LeafWalk(inside, ids[at], exits[at], self._trie)
        return found

    def save(self, language: str, walks: Mapping[bytes, LeafWalk]) -> None:
        """Keep the walks of a language beside those that are kept of it already; the first ones stay."""
        joined = self.load(language)
        for digest, walk in walks.items():
            if len(joined) < _MOST_WALKS:
                joined.setdefault(digest, walk)
        found = list(joined.values())
        masks = [np.packbits(walk.inside) for walk in found if walk.inside is not None]
        arrays: dict[str, AnyArray] = {
            "digests": np.frombuffer(b"".join(joined), np.uint8),
            "is_root": np.array([walk.inside is not None for walk in found], np.bool_),
            "masks": np.stack(masks) if masks else np.zeros((0, 0), np.uint8),
            "ids": np.concatenate([NO_IDS, *(walk.ids for walk in found)]),
            "id_ends": np.cumsum([len(walk.ids) for walk in found]),
            "exits": np.concatenate([NO_IDS, *(walk.exits for walk in found)]),
            "exit_ends": np.cumsum([len(walk.exits) for walk in found]),
        }
        self._folder.put(arrays, "walks", self._fingerprint, language)


def _split(values: AnyArray, ends: AnyArray) -> list[NDArray[np.int32]]:
    whole: list[int] = ends.tolist()
    return np.split(values.astype(np.int32, copy=False), whole[:-1])


def digest_of_walk(leaf: Term, node: int, trie: Trie) -> bytes | None:
    """Return the digest of what a walk depends on; None for one that is not kept: it is no string, or takes no time."""
    if not isinstance(leaf, StringBody) or leaf.pending is not None or isinstance(leaf.state, Length):
        return None
    state = _described(leaf.state)
    if state is None:
        return None
    alphabet = None if leaf.spelling.alphabet is None else leaf.spelling.alphabet.hex()
    words = [state, leaf.spelling.is_canonical, alphabet, trie.path(node).hex()]
    return hashlib.sha256(json.dumps(words).encode()).digest()


def _described(state: CharacterState) -> list[object] | None:
    match state:
        case Length(least, most):
            return ["length", least, most]
        case DfaState(dfa, at, least, most):
            rows = [[list(entry) for entry in row] for row in dfa.rows]
            alphabet = [list(dfa.alphabet.starts), list(dfa.alphabet.numbers)]
            return ["automaton", alphabet, rows, sorted(dfa.accepting), at, least, most]
        case NoneOf(table, low, high, offset, base):
            described = _described(base)
            return None if described is None else ["but", [text[offset:] for text in table.texts[low:high]], described]
        case _:
            return None


__all__ = ["KeptWalks", "digest_of_walk"]

"""Keep the vocabulary of a tokenizer between runs, so that its bytes are read and proven once.

A file is named by everything that the vocabulary depends on, and holds the length of each token (0 for none), the stop
ids, and the tokens one after the other.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

import numpy as np

from commitgate_local.kept_arrays import read_arrays, write_arrays
from commitgate_local.vocabulary import Vocabulary

# The version of what is in a file, and of how bytes are read and proven.
_FORMAT = 2

# What a fast tokenizer is read from.
_FILES = ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json")


def tokenizer_digest(folder: Path) -> str | None:
    """Return the sha256, in hexadecimal, of the files of a tokenizer; None where it cannot be told by them."""
    digest = hashlib.sha256(f"commitgate tokenizer {version('tokenizers')} {version('transformers')}".encode())
    for name in _FILES:
        try:
            data = (folder / name).read_bytes()
        except OSError:
            if name == "tokenizer.json":
                return None
            continue
        digest.update(f" {name} {len(data)} ".encode())
        digest.update(data)
    return digest.hexdigest()


def vocabulary_path(folder: Path, tokenizer: str, *, width: int | None, stop_ids: Iterable[int]) -> Path:
    """Return the file in a folder for a tokenizer, given by its digest, with the logits and stop ids of a model."""
    key = hashlib.sha256(f"{tokenizer} {width} {sorted(set(stop_ids))}".encode()).hexdigest()
    return folder / f"{key}.{_FORMAT}.vocabulary"


def read_vocabulary(path: Path) -> Vocabulary | None:
    """Return the vocabulary in a file; None where there is none that can be used."""
    held = read_arrays(path)
    if held is None:
        return None
    joined = held["joined"].tobytes()
    ends: list[int] = np.cumsum(held["lengths"]).tolist()
    tokens = [joined[start:end] for start, end in zip([0, *ends], ends, strict=False)]
    return Vocabulary(tokens, held["stop_ids"].tolist())


def write_vocabulary(path: Path, vocabulary: Vocabulary) -> None:
    """Leave a vocabulary in a file for the next start; a folder that cannot be written keeps none."""
    tokens = [token or b"" for token in vocabulary.tokens]
    arrays = {
        "lengths": np.array([len(token) for token in tokens], np.int32),
        "stop_ids": np.array(vocabulary.stop_ids, np.int32),
        "joined": np.array(bytearray(b"".join(tokens)), np.uint8),
    }
    # The next start proves the tokenizer anew then, which takes time alone.
    with suppress(OSError):
        write_arrays(path, arrays)


__all__ = ["read_vocabulary", "tokenizer_digest", "vocabulary_path", "write_vocabulary"]

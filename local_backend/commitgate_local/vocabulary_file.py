"""Keep the vocabulary of a tokenizer between runs, so that its bytes are read and proven once.

A file is named by everything that the vocabulary depends on. It begins with the sha256 of that name and of all that
follows: number of tokens, number of stop ids, length of each token (0 for none), stop ids, and the tokens one after the
other. One that is missing, cut, changed, of another name or version is not used.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from tempfile import NamedTemporaryFile

import numpy as np

from commitgate_local.vocabulary import Vocabulary

# The version of what is in a file, and of how bytes are read and proven.
_FORMAT = 1
_INTEGER = np.dtype("<i4")

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
    """Return the vocabulary in a file; None where there is none that can be trusted."""
    try:
        held = path.read_bytes()
    except OSError:
        return None
    digest, body = held[: hashlib.sha256().digest_size], held[hashlib.sha256().digest_size :]
    if digest != _digest(path, body):
        return None
    width, stops = np.frombuffer(body, _INTEGER, 2).tolist()
    numbers: list[int] = np.frombuffer(body, _INTEGER, 2 + width + stops).tolist()
    at = _INTEGER.itemsize * len(numbers)
    tokens: list[bytes | None] = []
    for length in numbers[2 : 2 + width]:
        tokens.append(body[at : at + length] or None)
        at += length
    return Vocabulary(tokens, numbers[2 + width :])


def write_vocabulary(path: Path, vocabulary: Vocabulary) -> None:
    """Leave a vocabulary in a file for the next start; a folder that cannot be written keeps none."""
    tokens = [token or b"" for token in vocabulary.tokens]
    numbers = [len(tokens), len(vocabulary.stop_ids), *map(len, tokens), *vocabulary.stop_ids]
    body = np.array(numbers, _INTEGER).tobytes() + b"".join(tokens)
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        # Written beside and renamed, so that no other process ever sees half of it.
        with NamedTemporaryFile(dir=path.parent, delete=False) as file:
            beside = Path(file.name)
            try:
                file.write(_digest(path, body) + body)
                file.close()
                beside.replace(path)
            except OSError:
                # A full disk would else fill up further with each start.
                beside.unlink(missing_ok=True)
                raise


def _digest(path: Path, body: bytes) -> bytes:
    # The name is part of it, so that the file of another tokenizer is not taken under this one's name.
    return hashlib.sha256(path.name.encode() + body).digest()


__all__ = ["read_vocabulary", "tokenizer_digest", "vocabulary_path", "write_vocabulary"]

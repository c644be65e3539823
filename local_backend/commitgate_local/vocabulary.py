"""Hold what each token id stands for: the bytes that it adds to the text, or the end of the text.

A mask is judged on bytes, so every id is mapped to the bytes that it appends, never to a "token string". Ids that
append no text (special tokens, padding columns of the logits, tokens of no bytes) map to None and are never legal
inside text. ``Vocabulary.of_tokenizer`` reads the mapping from a real tokenizer and then proves it by round trips,
because a wrong mapping would make every mask wrong without any visible error.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from commitgate.errors import MisuseError, ModelLoadError

if TYPE_CHECKING:
    from pathlib import Path

    from commitgate_local.tokenizer import Tokenizer

# Most columns of the logits that no token belongs to. Models pad them to some round number; the most seen is 1,069.
_PADDING = 4096

PRINTABLE_ASCII = frozenset(range(0x20, 0x7F))


class Vocabulary:
    """Map token ids to bytes, and name the ids that end a text.

    Args:
        tokens: the bytes that each id appends; None for ids that are never text. Entry ``n`` belongs to id ``n``.
        stop_ids: ids that end the text. They are never text, whatever ``tokens`` says.
        width: number of logits columns, >= ``len(tokens)``; columns beyond the tokens are padding, never legal. None
            takes ``len(tokens)``.

    Attributes:
        tokens: bytes of each id, None where it is not text; ``width`` entries.
        stop_ids: ids that end the text, ascending.
        width: number of logits columns.
        longest: length of the longest token, bytes; 0 where there is none.

    Raises:
        MisuseError: ``width`` is smaller than the tokens, or a stop id lies outside of it.
    """

    def __init__(
        self, tokens: Sequence[bytes | None], stop_ids: Iterable[int] = (), *, width: int | None = None
    ) -> None:
        self.width = len(tokens) if width is None else width
        self.stop_ids = tuple(sorted(set(stop_ids)))
        if self.width < len(tokens):
            raise MisuseError(f"the vocabulary has {len(tokens)} tokens, the logits only {self.width} columns")
        if any(not 0 <= stop < self.width for stop in self.stop_ids):
            raise MisuseError(f"a stop id lies outside of the {self.width} columns: {self.stop_ids}")
        # A token of no bytes would be legal everywhere and never lead anywhere.
        texts: list[bytes | None] = [token or None for token in tokens]
        texts.extend([None] * (self.width - len(tokens)))
        for stop in self.stop_ids:
            texts[stop] = None
        self.tokens = tuple(texts)
        self.longest = max((len(token) for token in self.tokens if token is not None), default=0)

    @staticmethod
    def of_tokenizer(
        tokenizer: Tokenizer, *, width: int | None = None, stop_ids: Iterable[int] = (), cache_dir: Path | None = None
    ) -> Vocabulary:
        """Read the vocabulary of a tokenizer and prove it by round trips.

        Args:
            tokenizer: the tokenizer of the model.
            width: number of logits columns of the model. Special tokens beyond it are left out, as no logit can name
                them; text beyond it is an error. None takes as many as the tokenizer has ids.
            stop_ids: further ids that end a text, from the model's generation config.
            cache_dir: folder in which vocabularies that were proven are kept between runs; None proves each time, as
                is done for a tokenizer that was not loaded from a folder.

        Raises:
            ModelLoadError: the tokenizer's bytes cannot be known for certain, or it is another model's; the message
                says why.
        """
        from commitgate_local.vocabulary_file import read_vocabulary, vocabulary_path, write_vocabulary

        named = {*stop_ids, *tokenizer.stop_ids}
        path = None
        if cache_dir is not None and tokenizer.digest is not None:
            path = vocabulary_path(cache_dir, tokenizer.digest, width=width, stop_ids=named)
            kept = read_vocabulary(path)
            if kept is not None:
                return kept
        vocabulary = _proven(tokenizer, width, named)
        if path is not None:
            write_vocabulary(path, vocabulary)
        return vocabulary

    def text(self, ids: Iterable[int]) -> bytes:
        """Return the bytes that a run of ids appends; ids that are not text append nothing."""
        return b"".join(self.tokens[number] or b"" for number in ids)

    @cached_property
    def alphabet(self) -> bytes:
        """Return the bytes that can be spelled, ascending.

        These are the bytes with a token of their own where those cover printable ASCII: every text over them can then
        be finished byte by byte, so no state of a language over them is a dead end. A vocabulary without such a base
        (a toy) gets every byte that occurs in any token; dead ends are possible there, and reported when met.
        """
        single = {token[0] for token in self.tokens if token is not None and len(token) == 1}
        if single >= PRINTABLE_ASCII:
            return bytes(sorted(single))
        return bytes(sorted({byte for token in self.tokens if token is not None for byte in token}))

    @cached_property
    def fingerprint(self) -> str:
        """Return the sha256, in hexadecimal, of everything that masks depend on: width, stop ids and all tokens."""
        digest = hashlib.sha256(f"commitgate vocabulary 2 {self.width} {self.stop_ids} ".encode())
        lengths = np.fromiter((-1 if token is None else len(token) for token in self.tokens), "<i4", self.width)
        digest.update(lengths.tobytes())
        digest.update(b"".join(token for token in self.tokens if token is not None))
        return digest.hexdigest()

    def __repr__(self) -> str:
        return f"Vocabulary(width={self.width}, stop_ids={self.stop_ids}, fingerprint={self.fingerprint[:12]!r})"


def _proven(tokenizer: Tokenizer, columns: int | None, named: set[int]) -> Vocabulary:
    from commitgate_local.round_trips import check_round_trips
    from commitgate_local.token_bytes import token_bytes

    tokens = token_bytes(tokenizer)
    if not tokens:
        raise ModelLoadError("the tokenizer has no tokens")
    width = len(tokens) if columns is None else columns
    _check_width(tokens, width)
    stops = {stop for stop in named if 0 <= stop < width}
    if named and not stops:
        raise ModelLoadError(
            f"none of the ids that end a text ({sorted(named)}) is among the logits' {width} columns: the tokenizer "
            "or the configuration is another model's"
        )
    vocabulary = Vocabulary(tokens[:width], stops, width=width)
    check_round_trips(tokenizer, vocabulary)
    return vocabulary


def _check_width(tokens: Sequence[bytes | None], width: int) -> None:
    """Refuse tokens that do not fit the logits of a model.

    Raises:
        ModelLoadError: text lies beyond the logits, or far more logits are there than tokens.
    """
    last = max((number for number, token in enumerate(tokens) if token is not None), default=-1)
    if last >= width:
        raise ModelLoadError(
            f"the tokenizer has text up to the id {last}, the model's logits have {width} columns: the tokenizer is "
            "another model's; take the tokenizer.json that belongs to the model"
        )
    if width - len(tokens) > _PADDING:
        raise ModelLoadError(
            f"the tokenizer has {len(tokens)} ids, the model's logits have {width} columns, more than padding "
            "explains: the tokenizer is another model's; take the tokenizer.json that belongs to the model"
        )


__all__ = ["Vocabulary"]

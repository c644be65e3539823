"""Read a tokenizer from a tiktoken rank file: one token a line, as base64, and its rank, which is its id.

Such a file holds neither the pattern that splits a text into words nor the special tokens; both come from the model's
own code or card, and without them no tokenizer can be made. What is made is a byte-level BPE tokenizer that splits as
tiktoken does: the pair whose join has the lowest rank is joined first.

Source: the format of https://github.com/openai/tiktoken, ``load.py``.
"""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Protocol, cast

from commitgate import argument
from commitgate.errors import MisuseError, ModelLoadError
from commitgate_local.token_bytes import gpt2_bytes
from commitgate_local.tokenizer import Tokenizer

# Largest file that is read: the largest known ones have 200,000 ranks and 4 MB.
_MOST_BYTES = 64 * 1024 * 1024

# Longest token that is split into all its pairs; longer ones are no words, and cost the square of their length.
_MOST_TOKEN_BYTES = 1024


class _SpecialTokens(Protocol):
    """Name what of ``tokenizers.Tokenizer`` has no types of its own."""

    def add_special_tokens(self, tokens: list[str]) -> int: ...


def read_tiktoken(
    path: Path | str,
    *,
    pattern: str,
    special_tokens: Mapping[str, int] | None = None,
    stop_tokens: Iterable[str] = (),
) -> Tokenizer:
    """Make a tokenizer of a rank file. Takes a few seconds for 200,000 ranks.

    Args:
        path: the file, of at most 64 MiB.
        pattern: the regular expression whose matches are the words that tokens never cross, as the model's own code
            has it.
        special_tokens: the id of each special token by its spelling; None for none.
        stop_tokens: those of them that end a text, beside the ones known by name.

    Raises:
        ModelLoadError: the file cannot be read, is no rank file, or its tokenizer cannot be made; the message says why.
        MisuseError: a stop token is not among the special tokens, or a special token has the id of a rank.
    """
    special = dict(special_tokens or {})
    stops = list(stop_tokens)
    argument.check_text("pattern", pattern)
    for token in stops:
        if token not in special:
            raise MisuseError(f"the stop token {token!r} is not among the special tokens")
    ranks = _ranks(Path(path))
    _check_ids(ranks, special)
    fast = _fast(ranks, _merges(ranks), pattern, special)
    tokenizer = Tokenizer(fast, stop_ids=[special[token] for token in stops])
    _check_special(tokenizer, special)
    return tokenizer


def _ranks(path: Path) -> dict[bytes, int]:
    """Return the rank of each token of a file."""
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise ModelLoadError(f"the rank file {path.name!r} cannot be read ({error.strerror or error})") from error
    if len(data) > _MOST_BYTES:
        raise ModelLoadError(f"the rank file {path.name!r} has more than {_MOST_BYTES:,} bytes")
    ranks: dict[bytes, int] = {}
    for number, line in enumerate(data.splitlines(), 1):
        if not line.strip():
            continue
        token, rank = _entry(line, f"line {number} of the rank file {path.name!r}")
        if ranks.setdefault(token, rank) != rank:
            raise ModelLoadError(f"line {number} of the rank file {path.name!r} has a token that stood there before")
    missing = [byte for byte in range(256) if bytes((byte,)) not in ranks]
    if missing:
        raise ModelLoadError(
            f"the rank file {path.name!r} has no token for the byte 0x{missing[0]:02X} alone (of {len(missing)} such "
            "bytes): it is cut short, or no rank file of byte-level BPE"
        )
    return ranks


def _entry(line: bytes, place: str) -> tuple[bytes, int]:
    try:
        encoded, rank = line.split()
        token = b64decode(encoded, validate=True)
        if not rank.isdigit() or len(rank) > 9:
            raise ValueError("not a rank")
    except (ValueError, binascii.Error) as error:
        raise ModelLoadError(f"{place} is not a token as base64, a space and its rank") from error
    if not 0 < len(token) <= _MOST_TOKEN_BYTES:
        raise ModelLoadError(f"{place} has a token of {len(token)} bytes; 1 to {_MOST_TOKEN_BYTES} are read")
    return token, int(rank)


def _check_ids(ranks: Mapping[bytes, int], special: Mapping[str, int]) -> None:
    taken = set(ranks.values())
    if len(taken) < len(ranks):
        raise ModelLoadError("two tokens of the rank file have the same rank")
    for token, number in special.items():
        if number in taken or number < 0 or not token:
            raise MisuseError(f"the special token {token!r} has the id {number}, which is taken or negative")
        taken.add(number)


def _merges(ranks: Mapping[bytes, int]) -> list[tuple[bytes, bytes]]:
    """Return all pairs of tokens whose join is a token, by its rank.

    tiktoken joins any two neighbours whose bytes together are a token, the lowest rank first. A list of pairs does
    the same when it holds every way to split each token.
    """
    found: list[tuple[bytes, bytes]] = []
    for token in sorted(ranks, key=ranks.__getitem__):
        pairs = [(token[:at], token[at:]) for at in range(1, len(token)) if token[:at] in ranks and token[at:] in ranks]
        found += sorted(pairs, key=lambda pair: (ranks[pair[0]], ranks[pair[1]]))
    return found


def _fast(
    ranks: Mapping[bytes, int], merges: Iterable[tuple[bytes, bytes]], pattern: str, special: Mapping[str, int]
) -> object:
    import tokenizers
    from tokenizers import decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    visible = {byte: character for character, byte in gpt2_bytes().items()}

    def spell(data: bytes) -> str:
        return data.decode("latin-1").translate(visible)

    vocab = {spell(token): rank for token, rank in ranks.items()}
    for token in special:
        if token in vocab:
            raise MisuseError(f"the special token {token!r} is a token of the rank file too")
    try:
        splitting = pre_tokenizers.Split(tokenizers.Regex(pattern), "isolated")
        # A word that is a token as a whole stays one, as in tiktoken. Special tokens get the ids that they have here.
        model = models.BPE(
            vocab=vocab | dict(special), merges=[(spell(a), spell(b)) for a, b in merges], ignore_merges=True
        )
    except Exception as error:
        # The library raises bare exceptions, for a pattern that its engine cannot read as for all else.
        raise ModelLoadError(
            f"no tokenizer can be made of the rank file ({type(error).__name__}); the pattern must be one that "
            "Oniguruma can read"
        ) from error
    raw = tokenizers.Tokenizer(model)
    raw.pre_tokenizer = pre_tokenizers.Sequence(
        [splitting, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    raw.decoder = decoders.ByteLevel()
    cast("_SpecialTokens", raw).add_special_tokens(list(special))
    return PreTrainedTokenizerFast(tokenizer_object=raw)


def _check_special(tokenizer: Tokenizer, special: Mapping[str, int]) -> None:
    """Refuse a pattern that leaves the spelling of a special token whole, because text would then become the token."""
    for token, number in special.items():
        if number in tokenizer.encode(token):
            raise ModelLoadError(
                f"the pattern takes {token!r}, which is a special token, for one word, so that text could become the "
                "token; give the pattern of the model's own code"
            )


__all__ = ["read_tiktoken"]

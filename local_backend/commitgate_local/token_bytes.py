"""Find the bytes that each token of a fast tokenizer appends to a text.

Two spellings are known. *Byte-level* BPE writes each byte as one visible character (GPT-2's map). *Sentencepiece*
style writes a space as U+2581 and, where it has byte fallback, a byte without a token as ``<0xXX>``. Which one is
used is told by the tokenizer's decoder. Everything else is refused: a guess here would make every mask wrong.

The bytes are those that a token appends *inside* a text. Sentencepiece tokenizers swallow one space at the very
beginning of what they decode; an answer stands behind a prompt, so there its first token keeps the space that it
carries, and a contract that allows no space there does not allow that token.

What is read here is proven by ``round_trips`` before any mask is built on it.

Source: Radford et al., "Language Models are Unsupervised Multitask Learners", 2019 (byte-level BPE); Kudo and
Richardson, "SentencePiece", 2018.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from commitgate.errors import ModelLoadError
from commitgate.json_value import JsonValue

if TYPE_CHECKING:
    from commitgate_local.tokenizer import Tokenizer

_Step: TypeAlias = dict[str, JsonValue]

_BYTE_TOKEN = re.compile(r"<0x([0-9A-Fa-f]{2})>")

# Stands between strings that are changed all at once; such strings do not hold it.
_BETWEEN = "\x00"

_NO_BYTE = 256

_USABLE = "byte-level BPE, and BPE or Unigram with byte fallback and marks for spaces, can be used"

# Why the decoders that are known and cannot be used are no good, by their type.
_REFUSED_DECODERS = {
    "WordPiece": "it joins word pieces with spaces by rules of its own, so that no token has bytes of its own",
    "BPEDecoder": "it turns the ends of words into spaces, and which white space stood there is lost",
    "CTC": "it removes repeated tokens, so that what a token appends depends on the one before it",
}


def gpt2_bytes() -> dict[str, int]:
    """Return GPT-2's map from visible characters to bytes: itself where printable, else U+0100 onwards in order."""
    kept = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    moved = [byte for byte in range(256) if byte not in set(kept)]
    result = {chr(byte): byte for byte in kept}
    result.update({chr(0x100 + number): byte for number, byte in enumerate(moved)})
    return result


def token_bytes(tokenizer: Tokenizer) -> list[bytes | None]:
    """Return the bytes that each id of a tokenizer appends to a text; None where it is never text.

    Special tokens and the unknown token are never text. Neither is a token that is read as one text and written as
    another, as an added token with a letter that the decoder takes for a byte.

    Raises:
        ModelLoadError: the tokenizer spells its tokens in a way that is not known here.
    """
    steps = _decoder_steps(tokenizer.decoder)
    kinds = [str(step.get("type")) for step in steps]
    special = tokenizer.special_ids
    numbers = [n for n, string in enumerate(tokenizer.strings) if string is not None and n not in special]
    strings = [tokenizer.strings[n] or "" for n in numbers]
    if "ByteLevel" in kinds and set(kinds) <= {"ByteLevel", "Fuse"}:
        added = [n in tokenizer.added for n in numbers] if tokenizer.added else [False] * len(numbers)
        spelled = _byte_level(strings, added)
    else:
        spelled = _space_marked(strings, _text_steps(steps, kinds, tokenizer.model_kind))
    result: list[bytes | None] = [None] * len(tokenizer.strings)
    for number, text in zip(numbers, spelled, strict=True):
        result[number] = text
    return result


def _decoder_steps(decoder: JsonValue) -> list[_Step]:
    if not isinstance(decoder, dict):
        return []
    if decoder.get("type") != "Sequence":
        return [decoder]
    members = decoder.get("decoders")
    return [step for step in members if isinstance(step, dict)] if isinstance(members, list) else []


def _text_steps(steps: Sequence[_Step], kinds: Sequence[str], model_kind: str) -> list[_Step]:
    """Return those steps of a decoder that change the text of each token.

    Raises:
        ModelLoadError: there are others, that change the text of several tokens together.
    """
    for kind, reason in _REFUSED_DECODERS.items():
        if kind in kinds:
            raise ModelLoadError(f"the tokenizer's decoder ({kind}, of a {model_kind} model) cannot be used: {reason}")
    # Once the tokens are one text, only its beginning and end may still be changed.
    joined = kinds.index("Fuse") if "Fuse" in kinds else len(kinds)
    early, late = list(steps[:joined]), kinds[joined:]
    if not set(late) <= {"Fuse", "Strip"} or not early or not all(map(_is_known, early)):
        raise ModelLoadError(
            f"the tokenizer's decoder ({', '.join(kinds) or 'none'}, of a {model_kind} model) is not one whose bytes "
            f"are known; {_USABLE}"
        )
    return early


def _is_known(step: _Step) -> bool:
    return step.get("type") == "ByteFallback" or _replacement(step) is not None


def _replacement(step: _Step) -> tuple[str, str] | None:
    """Return what a step writes differently, and how; None where it does something else."""
    mark, content, pattern = step.get("replacement"), step.get("content"), step.get("pattern")
    if step.get("type") == "Metaspace" and isinstance(mark, str):
        return mark, " "
    if step.get("type") == "Replace" and isinstance(content, str) and isinstance(pattern, dict):
        literal = pattern.get("String")
        return (literal, content) if isinstance(literal, str) and literal else None
    return None


def _byte_level(strings: Sequence[str], added: Sequence[bool]) -> list[bytes | None]:
    data, foreign = _bytes_of_characters(strings)
    result: list[bytes | None] = []
    at = 0
    for number, string in enumerate(strings):
        end = at + len(string)
        if added[number]:
            # It is read as it stands; where the decoder would write it otherwise, nobody knows what is meant.
            is_plain = string.isascii() or number in foreign
            result.append(_utf8(string) if is_plain else None)
        else:
            # A string of the model's own with a foreign character is one that the encoder never produces.
            result.append(None if number in foreign else data[at:end])
        at = end
    return result


def _bytes_of_characters(strings: Sequence[str]) -> tuple[bytes, set[int]]:
    """Return the byte of each character of all strings, and the numbers of strings with a character that has none."""
    # All at once, which is ten times faster than string by string.
    known = gpt2_bytes()
    table = np.full(max(map(ord, known)) + 2, _NO_BYTE, np.uint16)
    table[list(map(ord, known))] = list(known.values())
    characters = np.frombuffer("".join(strings).encode("utf-32-le", "surrogatepass"), "<u4")
    codes = table[np.minimum(characters, len(table) - 1)]
    ends = np.cumsum(np.fromiter(map(len, strings), np.int64, len(strings)))
    foreign = np.searchsorted(ends, np.flatnonzero(codes == _NO_BYTE), side="right")
    return codes.astype(np.uint8).tobytes(), set(foreign.tolist())


def _space_marked(strings: Sequence[str], steps: Sequence[_Step]) -> list[bytes | None]:
    """Return the bytes of strings, after replacements one after the other, and byte tokens where those come."""
    bytes_of: dict[int, bytes] = {}
    texts = list(strings)
    for step in steps:
        change = _replacement(step)
        if change is not None:
            texts = _replaced(texts, *change)
            continue
        for number, text in enumerate(texts):
            if len(text) == 6 and number not in bytes_of and (found := _BYTE_TOKEN.fullmatch(text)):
                bytes_of[number] = bytes((int(found[1], 16),))
    return [bytes_of.get(number) or _utf8(text) for number, text in enumerate(texts)]


def _replaced(texts: Sequence[str], old: str, new: str) -> list[str]:
    joined = _BETWEEN.join(texts)
    if joined.count(_BETWEEN) >= len(texts) or _BETWEEN in old + new:
        return [text.replace(old, new) for text in texts]
    return joined.replace(old, new).split(_BETWEEN)


def _utf8(text: str) -> bytes | None:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        return None


__all__ = ["gpt2_bytes", "token_bytes"]

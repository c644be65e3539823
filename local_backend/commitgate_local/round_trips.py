"""Prove that the bytes read from a tokenizer are the right ones, before any mask is built on them.

Two proofs. Texts: each is encoded, and its ids' bytes must be the text again. Ids: the tokenizer itself decodes all
of its tokens in one run, and that must be what their bytes say. Bytes that are only part of a character are decoded
next to others which complete it, because alone they are all written as U+FFFD.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from typing import TYPE_CHECKING

from commitgate.errors import ModelLoadError

if TYPE_CHECKING:
    from commitgate_local.tokenizer import Tokenizer
    from commitgate_local.vocabulary import Vocabulary

# Texts whose encoding has gone wrong in one tokenizer or another: runs of white space, text without any space, JSON
# punctuation and escapes, digits, characters of 2, 3 and 4 bytes, joined emoji, right-to-left text.
# All in Unicode's composed form, because some tokenizers normalise their input to it and are right to do so.
ROUND_TRIP_TEXTS = (
    "a",
    " a",
    "The quick brown fox jumps over the lazy dog.",
    '{"name": "value", "n": [1, 2.50, -3], "ok": true, "none": null}',
    '{"a":{"b":[{"c":"d"}]}}',
    '"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\ude00"',
    "two  spaces,   three,    four",
    "line\nline\n\nline\r\nline\ttab\t\ttabs",
    "x = 1234567890; y = 0.001e-10",
    "~`!@#$%^&*()_+-=[]{}|;':,./<>?",
    "äöüß ÄÖÜ éèê ñ ç å ø",
    "Привет мир, Ελληνικά",
    "日本語のテキスト、中文文本、한국어",
    "שלום עולם مرحبا بالعالم",
    "emoji 😀 👩‍👩‍👧‍👦 🏳️‍🌈 end",
    "math ∀x∈ℝ: ⌈x⌉ = −⌊−x⌋ ≤ ∞",
    "CamelCaseWords snake_case_words kebab-case-words",
    "’“”‘…—–",
)

_ADVICE = "take the tokenizer.json that belongs to the model, or a model with another tokenizer"

# What may stand before and after a token that begins or ends inside a character.
_BEFORE = (b"", b"\xc3", b"\xe1", b"\xe1\x80", b"\xf0\x90", b"\xf0\x90\x80", b"\xf0", b"\xf1", b"\xf1\x80", b"\xf4")
_AFTER = (b"", b"\x80", b"\xa0", b"\x80\x80", b"\xa0\x80", b"\x90\x80\x80", b"\x80\x80\x80")


def check_round_trips(tokenizer: Tokenizer, vocabulary: Vocabulary) -> None:
    """Compare the bytes of ids with the texts that the tokenizer encodes and decodes.

    Raises:
        ModelLoadError: they differ; the message says where, and why if that can be known.
    """
    try:
        _check_texts(tokenizer, vocabulary)
        _check_ids(tokenizer, vocabulary)
    except ModelLoadError:
        raise
    except Exception as error:
        # Tokenizers are Rust code over files of any origin, and raise bare exceptions.
        raise ModelLoadError(f"the tokenizer breaks on plain text ({type(error).__name__}); {_ADVICE}") from error


def _check_texts(tokenizer: Tokenizer, vocabulary: Vocabulary) -> None:
    for number, (text, ids) in enumerate(zip(ROUND_TRIP_TEXTS, tokenizer.encode_all(ROUND_TRIP_TEXTS), strict=True)):
        beyond = [token for token in ids if not 0 <= token < vocabulary.width]
        if beyond:
            raise ModelLoadError(
                f"the tokenizer encodes text to the id {beyond[0]}, the model's logits have {vocabulary.width} "
                "columns: the tokenizer is another model's"
            )
        if vocabulary.text(ids) != text.encode() or tokenizer.decode_inside(ids) != text:
            raise ModelLoadError(
                f"the tokenizer does not give back what it is given (self-check text {number}, {text[:20]!a}): "
                f"{_why(tokenizer, vocabulary, text, ids)}; {_ADVICE}"
            )


def _why(tokenizer: Tokenizer, vocabulary: Vocabulary, text: str, ids: Sequence[int]) -> str:
    if tokenizer.unknown_id in ids:
        return "it has no tokens for single bytes, and writes what it does not know as its unknown token"
    plain = tokenizer.normalized("a").replace("a", "")
    if text not in tokenizer.normalized(text).removeprefix(plain).replace("\u2581", " "):
        return "its normalizer changes the text, as by other letters or joined white space"
    lost = [number for number in ids if vocabulary.tokens[number] is None]
    if lost:
        return f"it writes text with the id {lost[0]}, which is not text or ends it"
    return "the bytes of its tokens are not those that its decoder writes"


def _check_ids(tokenizer: Tokenizer, vocabulary: Vocabulary) -> None:
    """Decode all tokens in one run, each next to those that complete its characters."""
    ids, starts = _run(tokenizer.strings, vocabulary.tokens)
    if _is_written(tokenizer, vocabulary, ids):
        return
    # Halve the run until one token is left.
    while len(starts) > 1:
        middle = len(starts) // 2
        is_first = not _is_written(tokenizer, vocabulary, ids[starts[0] : starts[middle]])
        ids, starts = (ids[: starts[middle]], starts[:middle]) if is_first else (ids, starts[middle:])
    raise ModelLoadError(
        f"the tokenizer writes the id {_named(vocabulary, ids[starts[0] :])} otherwise than its vocabulary says, so "
        f"its bytes cannot be known; {_ADVICE}"
    )


def _is_written(tokenizer: Tokenizer, vocabulary: Vocabulary, ids: Sequence[int]) -> bool:
    return tokenizer.decode_inside(ids) == vocabulary.text(ids).decode("utf-8", "replace")


def _named(vocabulary: Vocabulary, ids: Sequence[int]) -> int:
    """Return the id that a group is about: the one with most bytes."""
    return max(ids, key=lambda number: len(vocabulary.tokens[number] or b""))


def _run(strings: Sequence[str | None], tokens: Sequence[bytes | None]) -> tuple[list[int], list[int]]:
    """Return ids of all tokens with their neighbours, and where among them each token's group starts."""
    singles: dict[int, int] = {}
    apart: list[int] = []
    for number, token in enumerate(tokens):
        if token and len(token) == 1:
            singles[token[0]] = number
        if token and not apart and token.isascii() and not (strings[number] or "<0x").startswith("<0x"):
            # Byte tokens next to each other are decoded together; this one is none.
            apart = [number]
    ids: list[int] = []
    starts: list[int] = []
    for number, token in enumerate(tokens):
        if token is None:
            continue
        starts.append(len(ids))
        if token.isascii() or _is_text(token):
            ids.append(number)
        else:
            before, after = _completion(token, singles) or (apart, apart)
            ids += [*before, number, *after]
    return ids, starts


def _completion(token: bytes, singles: dict[int, int]) -> tuple[list[int], list[int]] | None:
    """Return ids of single bytes that make whole characters of a token; None where there are none such."""
    for before, after in product(_BEFORE, _AFTER):
        if _has(before + after, singles) and _is_text(before + token + after):
            return [singles[byte] for byte in before], [singles[byte] for byte in after]
    return None


def _has(data: Iterable[int], singles: dict[int, int]) -> bool:
    return all(byte in singles for byte in data)


def _is_text(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


__all__ = ["ROUND_TRIP_TEXTS", "check_round_trips"]

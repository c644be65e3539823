"""Find the bytes behind the token strings of a fast tokenizer, and prove that they are the right ones.

Two spellings are known. *Byte-level* BPE writes each byte as one visible character (GPT-2's map). *Sentencepiece*
style writes a space as U+2581 and, where it has byte fallback, a byte without a token as ``<0xXX>``. Which one is
used is told by the tokenizer's decoder. Everything else is refused: a guess here would make every mask wrong.

Source: Radford et al., "Language Models are Unsupervised Multitask Learners", 2019 (byte-level BPE); Kudo and
Richardson, "SentencePiece", 2018.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from commitgate.errors import ModelLoadError
from commitgate.json_value import JsonValue

if TYPE_CHECKING:
    from commitgate_local.tokenizer import Tokenizer
    from commitgate_local.vocabulary import Vocabulary

_BYTE_TOKEN = re.compile(r"<0x([0-9A-F]{2})>")

# Texts whose encoding has gone wrong in one tokenizer or another: runs of white space, text without any space, JSON
# punctuation and escapes, digits, characters of 2, 3 and 4 bytes, joined emoji, right-to-left text.
# All in Unicode's composed form, because some tokenizers normalise their input to it and are right to do so.
ROUND_TRIP_TEXTS = (
    "a",
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


def gpt2_bytes() -> dict[str, int]:
    """Return GPT-2's map from visible characters to bytes: itself where printable, else U+0100 onwards in order."""
    kept = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    moved = [byte for byte in range(256) if byte not in set(kept)]
    result = {chr(byte): byte for byte in kept}
    result.update({chr(0x100 + number): byte for number, byte in enumerate(moved)})
    return result


def token_bytes(tokenizer: Tokenizer) -> list[bytes | None]:
    """Return the bytes that each id of a tokenizer appends to a text; None where it is never text.

    Special tokens and the unknown token are never text. Added tokens that are not special are their own text.

    Raises:
        ModelLoadError: the tokenizer spells its tokens in a way that is not known here.
    """
    spell = _speller(tokenizer.decoder)
    entries = tokenizer.entries
    result: list[bytes | None] = [None] * (max(entries.values(), default=-1) + 1)
    added = tokenizer.added
    special = tokenizer.special_ids
    for string, number in entries.items():
        if number in special:
            continue
        result[number] = string.encode("utf-8") if number in added else spell(string)
    return result


def _speller(decoder: JsonValue) -> Callable[[str], bytes | None]:
    steps = _decoder_steps(decoder)
    kinds = {str(step.get("type")) for step in steps}
    if "ByteLevel" in kinds and kinds <= {"ByteLevel", "Fuse"}:
        return _byte_level_speller()
    marks = [mark for mark in map(_space_mark, steps) if mark is not None]
    if len(marks) == 1 and kinds <= {"Replace", "ByteFallback", "Fuse", "Strip", "Metaspace"}:
        return _space_mark_speller(marks[0], has_byte_fallback="ByteFallback" in kinds)
    raise ModelLoadError(
        f"the tokenizer's decoder ({', '.join(sorted(kinds)) or 'none'}) is not one whose bytes are known; byte-level "
        "BPE and sentencepiece-style tokenizers can be used"
    )


def _decoder_steps(decoder: JsonValue) -> list[dict[str, JsonValue]]:
    if not isinstance(decoder, dict):
        return []
    if decoder.get("type") != "Sequence":
        return [decoder]
    members = decoder.get("decoders")
    return [step for step in members if isinstance(step, dict)] if isinstance(members, list) else []


def _space_mark(step: dict[str, JsonValue]) -> str | None:
    """Return the character that a decoder step turns into a space, None where it does not."""
    if step.get("type") == "Metaspace":
        mark = step.get("replacement")
        return mark if isinstance(mark, str) else None
    pattern = step.get("pattern")
    if step.get("type") == "Replace" and step.get("content") == " " and isinstance(pattern, dict):
        mark = pattern.get("String")
        return mark if isinstance(mark, str) else None
    return None


def _byte_level_speller() -> Callable[[str], bytes | None]:
    # str.translate to Latin-1 is several times faster than a look-up a character; what is not in the map stays above
    # U+00FF or meets its own None, and such a token can never be produced by the encoder: it is not text.
    known = gpt2_bytes()
    table = {ord(character): byte for character, byte in known.items()}
    foreign = re.compile("[^" + re.escape("".join(known)) + "]")

    def spell(string: str) -> bytes | None:
        return None if foreign.search(string) else string.translate(table).encode("latin-1")

    return spell


def _space_mark_speller(mark: str, *, has_byte_fallback: bool) -> Callable[[str], bytes | None]:
    def spell(string: str) -> bytes | None:
        found = _BYTE_TOKEN.fullmatch(string) if has_byte_fallback else None
        return bytes((int(found[1], 16),)) if found else string.replace(mark, " ").encode("utf-8", "replace")

    return spell


def check_round_trips(tokenizer: Tokenizer, vocabulary: Vocabulary) -> None:
    """Encode texts, and compare them with the bytes of the ids and with what the tokenizer itself decodes.

    A tokenizer that marks the start of a text as if a space stood before it may add that one space.

    Raises:
        ModelLoadError: a text comes back changed.
    """
    for number, text in enumerate(ROUND_TRIP_TEXTS):
        ids = tokenizer.encode(text)
        wanted = (text.encode(), b" " + text.encode())
        inside = all(0 <= token < vocabulary.width for token in ids)
        if not inside or vocabulary.text(ids) not in wanted or tokenizer.decode(ids).encode() not in wanted:
            raise ModelLoadError(
                f"the tokenizer does not give back what it is given (self-check text {number}, {text[:20]!a}); "
                "the bytes of its tokens cannot be trusted, so no mask can be built on it"
            )


__all__ = ["check_round_trips", "token_bytes"]

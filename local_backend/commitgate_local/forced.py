"""Find runs of text that nothing else can replace, and the tokens that write them without asking the model.

Where only one text can follow, the model's opinion changes nothing, so the run is fed in one forward pass together
with the next drawn token. It must be split as the model would have seen it in training, or what follows suffers:

- the tokenizer splits it in the context of the text written just before; tokens already written are never rewritten;
- only tokens that stay the same under every continuation are fed. The encodings of the run alone and of the run with
  each kind of next character are compared, their common beginning is taken, and its last token is left out as a
  margin, unless the text ends there. So are all tokens of a last word (run of marks, of spaces) that may go on,
  because one next character does not show how a whole word will be split. What is left over stays open for the mask.

The law that holds is about texts: whatever is written is in the language. Tokens may differ from those drawn freely.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Protocol

from commitgate_local.bounded import BoundedCache

if TYPE_CHECKING:
    from commitgate.automaton.terms import Term
    from commitgate_local.vocabulary import Vocabulary

# Longest run looked at once; a longer one is fed in pieces of this size.
_RUN_BYTES = 512

# How much of the text before the run the tokenizer sees. Its splits reach back to the beginning of a word.
_CONTEXT_BYTES = 48

_NO_BYTE = -1
_CACHE_BYTES = 8 * 1024 * 1024
_ENTRY_BYTES = 300


class TextEncoder(Protocol):
    """Split texts into tokens."""

    def encode_all(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the ids of each text, without any added at its ends."""
        ...


class ForcedRuns:
    """Find forced runs and split them. Usable from several threads.

    Args:
        encoder: the tokenizer of the vocabulary.
        vocabulary: the tokens.
    """

    def __init__(self, encoder: TextEncoder, vocabulary: Vocabulary) -> None:
        self._encoder = encoder
        self._vocabulary = vocabulary
        self._only: BoundedCache[Term, int] = BoundedCache(_CACHE_BYTES)
        self._splits: BoundedCache[tuple[Term, str], tuple[int, ...]] = BoundedCache(_CACHE_BYTES)

    def tokens(self, state: Term, written: bytes) -> Sequence[int]:
        """Return the ids that may be fed unasked; none where the model must choose.

        Args:
            state: the language that remains.
            written: the answer's text so far, or its last bytes.
        """
        state.arena.begin_step()
        if self._only_byte(state) == _NO_BYTE:
            return ()
        context = _last_characters(written)
        if context is None:
            return ()
        found = self._splits.get((state, context))
        if found is None:
            found = tuple(self._split(state, context))
            self._splits.put((state, context), found, _ENTRY_BYTES + 36 * len(found))
        return found

    def forget(self, arenas: AbstractSet[object]) -> None:
        """Forget all states of some arenas: each one holds its whole arena in memory."""
        self._only.discard(lambda state: state.arena in arenas)
        self._splits.discard(lambda key: key[0].arena in arenas)

    def _only_byte(self, state: Term) -> int:
        """Return the one byte that can follow; -1 where there are several, or the text may end."""
        found = self._only.get(state)
        if found is None:
            found = self._find_only_byte(state)
            self._only.put(state, found, _ENTRY_BYTES)
        return found

    def _find_only_byte(self, state: Term) -> int:
        if state.nullable:
            return _NO_BYTE
        only = _NO_BYTE
        spellable = self._vocabulary.alphabet
        for byte in state.partition.live:
            if byte in spellable and state.step(byte) is not state.arena.empty:
                if only != _NO_BYTE:
                    return _NO_BYTE
                only = byte
        return only

    def _run(self, state: Term) -> tuple[str, Term]:
        """Return the run of whole characters that must follow, and the state behind it."""
        data = bytearray()
        at = state
        while len(data) < _RUN_BYTES and (byte := self._only_byte(at)) != _NO_BYTE:
            data.append(byte)
            at = at.step(byte)
        # A run may end inside a character, where two characters share their first byte.
        run = data.decode("utf-8", "ignore")
        return (run, at) if len(run.encode()) == len(data) else (run, state.walk(run.encode()))

    def _split(self, state: Term, context: str) -> Sequence[int]:
        run, after = self._run(state)
        ends = after is after.arena.epsilon
        if not ends and len(run.encode()) < 2:
            # One byte is at most one token, which the margin would take away again.
            return ()
        following = self._continuations(after)
        common = _common_beginning(self._behind(context, [run + more for more in following]))
        kept = common if ends else common[:-1]
        settled = run.encode() if ends else _settled(run, following).encode()
        while kept and not self._is_written_by(kept, settled):
            kept = kept[:-1]
        return kept

    def _is_written_by(self, ids: Sequence[int], data: bytes) -> bool:
        written = self._vocabulary.text(ids)
        return data.startswith(written) and all(self._vocabulary.tokens[number] is not None for number in ids)

    def _continuations(self, state: Term) -> list[str]:
        """Return one text of each kind that may follow: nothing, a letter, a digit, each mark, wider characters."""
        found = {""} if state.nullable or state is state.arena.epsilon else set[str]()
        for byte in self._vocabulary.alphabet:
            if state.step(byte) is not state.arena.empty:
                found.add(_kind(byte))
        # Half a character may be all that follows; the run is then compared as it stands.
        return sorted(found) or [""]

    def _behind(self, context: str, texts: Sequence[str]) -> list[list[int]]:
        """Return the ids of each text as split behind the context; alone where a token would span their border."""
        length = len(context.encode())
        splits: list[list[int]] = []
        for ids in self._encoder.encode_all([context + text for text in texts]):
            rest = self._cut(ids, length)
            if rest is None:
                return self._encoder.encode_all(texts)
            splits.append(rest)
        return splits

    def _cut(self, ids: list[int], length: int) -> list[int] | None:
        """Return the ids after the first ``length`` bytes; None where no token ends there."""
        position = 0
        for number, token in enumerate(ids):
            if position >= length:
                return ids[number:] if position == length else None
            position += len(self._vocabulary.tokens[token] or b"")
        return [] if position == length else None


def _kind(byte: int) -> str:
    """Return a character that stands for all which begin with this byte and which tokenizers treat alike."""
    if byte >= 0xF0:
        return "\U0001f600"
    if byte >= 0xE0:
        return "中"
    if byte >= 0x80:
        return "é"
    character = chr(byte)
    if character.isdigit():
        return "0"
    if character.isalpha():
        return "A" if character.isupper() else "a"
    return character


def _settled(run: str, following: Sequence[str]) -> str:
    """Return the run without its last word, where that may go on."""
    last = _word_kind(run[-1])
    if all(more and _word_kind(more) != last for more in following):
        return run
    start = len(run)
    while start and _word_kind(run[start - 1]) == last:
        start -= 1
    return run[:start]


def _word_kind(character: str) -> str:
    """Return what sort of word a character belongs to; tokenizers split texts where the sort changes."""
    if character.isspace():
        return "space"
    if character.isdigit():
        return "number"
    return "letters" if character.isalpha() else "marks"


def _last_characters(written: bytes) -> str | None:
    """Return the last whole characters of a text; None where it ends inside a character."""
    tail = written[-_CONTEXT_BYTES:]
    start = 0
    while start < len(tail) and tail[start] & 0xC0 == 0x80:
        start += 1
    try:
        return tail[start:].decode("utf-8")
    except UnicodeDecodeError:
        return None


def _common_beginning(splits: Sequence[list[int]]) -> list[int]:
    shortest, longest = min(splits), max(splits)
    for number, (one, other) in enumerate(zip(shortest, longest, strict=False)):
        if one != other:
            return shortest[:number]
    return shortest[: len(longest)]


__all__ = ["ForcedRuns", "TextEncoder"]

"""Wrap a fast tokenizer behind the few typed operations that the local backend needs.

This is the only module that touches the untyped tokenizer API. Text from outside is always encoded as plain text:
where a message contains the spelling of a control token, it stays those characters and never becomes the token, so
nobody can close a chat turn from inside a message.

Some tokenizers put a space before whatever they are given (sentencepiece's dummy prefix). A model's answer stands
behind a prompt, where no such space belongs; so texts are encoded here as they stand *inside* a longer text, and only
the beginning of a prompt is encoded as a beginning.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Protocol, cast

from commitgate.errors import ModelLoadError
from commitgate.json_value import JsonValue
from commitgate_local.chat_prompt import ChatPrompt, TemplatedTokenizer

MOST_TOKEN_ID = 1 << 24
"""Largest id of a token that is read; a damaged file would else be given memory for each id below its largest."""

# Special tokens by which models close their turn or their text, whatever their configuration says.
CHAT_ENDS = frozenset(
    {
        "<|im_end|>",
        "<|endoftext|>",
        "<|end_of_text|>",
        "<|eot_id|>",
        "<|eom_id|>",
        "<|end|>",
        "<|return|>",
        "<|call|>",
        "<|END_OF_TURN_TOKEN|>",
        "<end_of_turn>",
        "<eos>",
        "</s>",
    }
)

# Added tokens spelled so steer a model and are no text, even where they are not marked as special.
_CONTROL = re.compile(r"<[|\uff5c].*[|\uff5c]>", re.DOTALL)

# Such ones may be text, but where the chat template writes them, a message must not.
_BRACKETED = re.compile(r"<\S+>|\[\S+\]")

# Put before a text to encode it as the inside of a longer one; the first is taken that no token joins to the text.
_LEADS = ("\n", "\x01", "a", ".")


class _AddedToken(Protocol):
    content: str
    special: bool


class _Encoding(Protocol):
    ids: list[int]


class _Normalizer(Protocol):
    def normalize_str(self, sequence: str) -> str: ...


class _Backend(Protocol):
    """Name what is used of ``tokenizers.Tokenizer``."""

    encode_special_tokens: bool
    decoder: object
    normalizer: _Normalizer | None
    model: object

    def get_vocab(self, with_added_tokens: bool = True) -> dict[str, int]: ...
    def get_added_tokens_decoder(self) -> dict[int, _AddedToken]: ...
    def token_to_id(self, token: str) -> int | None: ...
    def id_to_token(self, id: int) -> str | None: ...
    def encode(self, sequence: str, *, add_special_tokens: bool = True) -> _Encoding: ...
    def encode_batch_fast(self, input: list[str], *, add_special_tokens: bool = True) -> list[_Encoding]: ...
    def decode(self, ids: Sequence[int], skip_special_tokens: bool = True) -> str: ...


class _FastTokenizer(TemplatedTokenizer, Protocol):
    """Name what is used of ``transformers``' fast tokenizer."""

    all_special_ids: list[int]
    bos_token_id: int | None
    eos_token_id: int | None
    unk_token_id: int | None
    backend_tokenizer: _Backend


class Tokenizer:
    """Encode and decode text, and say what is known about the tokens. Usable from several threads.

    Args:
        fast: a ``transformers`` fast tokenizer. It is left as it was.
        stop_ids: ids by which a text ends, beside those that the tokenizer itself names.
        digest: tells it from all others, as a digest of its files does; None if nothing does.

    Raises:
        ModelLoadError: it is not a fast tokenizer.

    Attributes:
        added: ids of added tokens.
        special_ids: ids that are never text.
        stop_ids: ids by which a chat turn or a text ends.
        unknown_id: id written for what the tokenizer has no token for; None where there is none.
        decoder: the tokenizer's decoder as JSON; None where it has none.
        model_kind: how it splits words: "BPE", "Unigram", "WordPiece" or another name.
        digest: sha256 of what it was loaded from; None where it cannot be told.
    """

    def __init__(self, fast: object, *, stop_ids: Iterable[int] = (), digest: str | None = None) -> None:
        if not hasattr(fast, "backend_tokenizer"):
            raise ModelLoadError("the model has no fast tokenizer (tokenizer.json), and only those can be read")
        self._fast = cast("_FastTokenizer", fast)
        self._backend = self._fast.backend_tokenizer
        # The switch "special tokens are text" is state of the tokenizer, so two threads must not share it unguarded.
        self._lock = Lock()
        added = self._backend.get_added_tokens_decoder()
        self.added = frozenset(added)
        unknown = cast("str | None", getattr(self._backend.model, "unk_token", None))
        self.unknown_id = self._fast.unk_token_id if unknown is None else self._backend.token_to_id(unknown)
        flagged = {number for number, token in added.items() if token.special}
        control = {number for number, token in added.items() if _CONTROL.fullmatch(token.content)}
        self.special_ids = frozenset(flagged | control).union(
            self._fast.all_special_ids, () if self.unknown_id is None else (self.unknown_id,)
        )
        self._flagged = _any_of(added[number].content for number in flagged)
        self._control = _any_of(added[number].content for number in flagged | control)
        unflagged = {added[number].content for number in control - flagged}
        self._unflagged = _any_of(unflagged)
        self._markup = _any_of(unflagged | self._written_by_template(added))
        ends = {number for number in flagged if added[number].content in CHAT_ENDS}
        end = self._fast.eos_token_id
        self.stop_ids = frozenset(ends).union(stop_ids, () if end is None else (end,))
        self.decoder = _state_of(self._backend.decoder)
        self.digest = digest
        self.model_kind = type(self._backend.model).__name__

    @staticmethod
    def load(folder: Path | str, *, gguf_file: str | None = None) -> Tokenizer:
        """Load the tokenizer of a model folder.

        Args:
            folder: folder of the model.
            gguf_file: name of the GGUF file in it that holds the tokenizer; None reads tokenizer.json.

        Raises:
            ModelLoadError: there is none that can be read.
        """
        from commitgate_local.transformers_runtime import load_tokenizer
        from commitgate_local.vocabulary_file import tokenizer_digest

        folder = Path(folder)
        fast = load_tokenizer(folder, gguf_file=gguf_file)
        return Tokenizer(fast, digest=tokenizer_digest(folder) if gguf_file is None else None)

    @cached_property
    def entries(self) -> Mapping[str, int]:
        """Return the id of each token string, added tokens included."""
        return self._backend.get_vocab(True)

    @cached_property
    def strings(self) -> Sequence[str | None]:
        """Return the token string of each id; None where there is none.

        Raises:
            ModelLoadError: an id is above ``MOST_TOKEN_ID``.
        """
        last = max([*self.entries.values(), *self.added], default=-1)
        if last > MOST_TOKEN_ID:
            raise ModelLoadError(f"the tokenizer has the id {last}; ids up to {MOST_TOKEN_ID} can be read")
        strings: list[str | None] = [None] * (last + 1)
        for string, number in self.entries.items():
            strings[number] = string
        # Of an id whose string an added token took over, the entries say nothing.
        for number in [number for number, string in enumerate(strings) if string is None]:
            strings[number] = self._backend.id_to_token(number)
        return strings

    @cached_property
    def adds_prefix_space(self) -> bool:
        """Return whether it puts a space before a text that it is given."""
        return self._inside("a") != self._raw(["a"])[0]

    def encode(self, text: str) -> list[int]:
        """Return the ids of a text as it stands inside a longer one; spellings of control tokens are plain text."""
        return self.encode_all([text])[0]

    def encode_all(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the ids of each text, as ``encode`` does."""
        if self.adds_prefix_space or any(map(self.spells_control, texts)):
            return [self._as_text(text, self._unflagged, begins=False) for text in texts]
        return self._raw(texts)

    def encode_part(self, text: str, *, begins: bool, is_template: bool) -> list[int]:
        """Return the ids of a part of a prompt.

        Args:
            text: the part.
            begins: whether nothing stands before it.
            is_template: whether spellings of control tokens become the tokens; else they are plain text, as is markup
                that the chat template writes.
        """
        if not is_template:
            return self._as_text(text, self._markup, begins=begins)
        return self._raw([text], as_text=False)[0] if begins else self._inside(text, as_text=False)

    def decode(self, ids: Sequence[int]) -> str:
        """Return what the tokenizer itself makes of a run of ids."""
        return self._backend.decode(ids, skip_special_tokens=False)

    def decode_inside(self, ids: Sequence[int]) -> str:
        """Return what a run of ids appends to a text that stands before it, as the tokenizer itself has it."""
        lead = self._raw(["a"])[0]
        return self.decode([*lead, *ids])[len(self.decode(lead)) :]

    def normalized(self, text: str) -> str:
        """Return a text as the tokenizer's normalizer leaves it."""
        normalizer = self._backend.normalizer
        return text if normalizer is None else normalizer.normalize_str(text)

    def chat(self, messages: Sequence[tuple[str, str]]) -> list[int]:
        """Return the ids of a conversation up to the point where the model answers.

        Args:
            messages: role and content of each message.

        The template's own special tokens become tokens; those spelled inside a message stay text. Without a chat
        template the contents are joined by empty lines, behind the token by which texts begin, if there is one. Where
        the template refuses a conversation with system messages, as those of models do that know no such role, they are
        put before the first user message instead.

        Raises:
            ModelRunError: the template fails; or a message spells a special token and the template does not keep
                messages as they are.
        """
        if not self._fast.chat_template:
            text = "\n\n".join(content for _, content in messages)
            return [*self._start, *self.encode_part(text, begins=True, is_template=False)]
        return ChatPrompt(self._fast, self).ids(messages)

    def known_text(self, ids: Iterable[int]) -> frozenset[int]:
        """Return those ids that are ordinary text: neither special nor added, and not spelled as markup."""
        strings = self.strings
        known = {number: strings[number] for number in ids if 0 <= number < len(strings)}
        return frozenset(
            number
            for number, string in known.items()
            if string and number not in self.special_ids | self.added and not _BRACKETED.fullmatch(string)
        )

    def spells_control(self, text: str) -> bool:
        """Return whether a text holds the spelling of a token that is never text."""
        return self._control.search(text) is not None

    def spells_added(self, text: str) -> bool:
        """Return whether a text holds the spelling of such a token, or of markup that the chat template writes."""
        return self._flagged.search(text) is not None or self._markup.search(text) is not None

    @cached_property
    def _start(self) -> list[int]:
        """Return the id that the tokenizer itself puts before each text; none where it puts no such."""
        with self._lock:
            ids = self._backend.encode("", add_special_tokens=True).ids
        return [number for number in ids[:1] if number == self._fast.bos_token_id]

    @cached_property
    def _leads(self) -> tuple[tuple[str, list[int]], ...]:
        return tuple((lead, self._raw([lead])[0]) for lead in _LEADS)

    def _written_by_template(self, added: Mapping[int, _AddedToken]) -> set[str]:
        template = str(self._fast.chat_template or "")
        contents = {token.content for token in added.values() if _BRACKETED.fullmatch(token.content)}
        return {content for content in contents if content in template}

    def _as_text(self, text: str, unflagged: re.Pattern[str], *, begins: bool) -> list[int]:
        """Return the ids of a text in which spellings of control tokens are nothing but characters.

        The tokenizer's own switch does this for tokens that are flagged as special. Spellings of others are found by
        a pattern and cut behind their first character, so that no piece holds a whole one.
        """
        as_text = True if self._flagged.search(text) else None
        cuts = sorted({found.start() + 1 for found in unflagged.finditer(text)})
        pieces = [text[start:stop] for start, stop in zip([0, *cuts], [*cuts, len(text)], strict=True)]
        ids = self._raw(pieces[:1], as_text=as_text)[0] if begins else self._inside(pieces[0], as_text=as_text)
        for piece in pieces[1:]:
            ids += self._inside(piece, as_text=as_text)
        return ids

    def _inside(self, text: str, *, as_text: bool | None = None) -> list[int]:
        for lead, before in self._leads:
            ids = self._raw([lead + text], as_text=as_text)[0]
            if ids[: len(before)] == before:
                return ids[len(before) :]
        return self._raw([text], as_text=as_text)[0]

    def _raw(self, texts: Sequence[str], *, as_text: bool | None = None) -> list[list[int]]:
        """Return the ids of texts as the tokenizer has them; ``as_text`` sets its switch for special tokens."""
        with self._lock:
            was = self._backend.encode_special_tokens
            # Setting it fails while another thread of the program encodes, so it is set only where it matters.
            if as_text is not None and as_text != was:
                self._backend.encode_special_tokens = as_text
            try:
                if len(texts) == 1:
                    return [self._backend.encode(texts[0], add_special_tokens=False).ids]
                return [found.ids for found in self._backend.encode_batch_fast(list(texts), add_special_tokens=False)]
            finally:
                if as_text is not None and as_text != was:
                    self._backend.encode_special_tokens = was


def _any_of(strings: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern that finds each place where one of the strings begins; nothing where there are none."""
    choices = sorted(filter(None, strings))
    if not choices:
        return re.compile(r"(?!)")
    # Look-aheads, so that strings that overlap are all found; the first characters alone rule out most places.
    first = "".join(re.escape(character) for character in sorted({string[0] for string in choices}))
    return re.compile(f"(?=[{first}])(?={'|'.join(map(re.escape, choices))})")


def _state_of(component: object) -> JsonValue:
    """Return a tokenizer component as JSON, which is how it pickles itself."""
    if component is None:
        return None
    state = cast("bytes | str", component.__getstate__())
    return cast("JsonValue", json.loads(state))


__all__ = ["MOST_TOKEN_ID", "Tokenizer"]

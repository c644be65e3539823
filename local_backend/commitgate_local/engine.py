"""Bring contract and vocabulary together: compile contracts, and hand out matchers that know which tokens are legal."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, TypeAlias, cast
from weakref import WeakSet

from commitgate.automaton.spelling import Spelling
from commitgate.automaton.terms import Arena
from commitgate.errors import MisuseError
from commitgate_local.character_trie import CharacterTrie
from commitgate_local.kept_arrays import ArrayFolder
from commitgate_local.kept_walks import KeptWalks
from commitgate_local.masks import Masks
from commitgate_local.string_walk import StringWalks
from commitgate_local.tokenizer import Tokenizer
from commitgate_local.trie import Trie
from commitgate_local.vocabulary import Vocabulary
from commitgate_local.walk import Mask, Walker

if TYPE_CHECKING:
    from commitgate.automaton.terms import Term
    from commitgate.contract import Contract
    from commitgate.json_value import JsonObject
    from commitgate.languages import Language
    from commitgate.limits import Limits
    from commitgate.style import Style

ContractLike: TypeAlias = "Contract[object] | Language[object] | type[object] | JsonObject | bool"

_Language: TypeAlias = "tuple[str, Limits, Style]"

DEFAULT_CACHE_BYTES = 128 * 1024 * 1024

# Compiled contracts kept ready; each holds the states met so far, and is dropped together with their masks.
_KEPT_CONTRACTS = 64

# Contracts dropped together where there are too many: forgetting looks at all that is remembered.
_DROPPED_CONTRACTS = 16

_EVERY_BYTE = (1 << 256) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineStats:
    """Count what an engine holds and did.

    Attributes:
        vocabulary_fingerprint: digest of the vocabulary.
        trie_nodes: nodes of its tree.
        contracts: contracts kept compiled.
        states: automaton states made for these contracts.
        masks: states whose mask is remembered.
        masks_asked: masks asked for so far; without a global interpreter lock, two at one moment may count as one.
        masks_computed: those among them that had to be worked out.
        computing_s: seconds that working them out took together.
        longest_s: seconds that the longest took.
        legal_sizes: entry n counts the masks worked out with at least 2 ** (n - 1) and fewer than 2 ** n legal tokens;
            entry 0 those without any.
        shared_leaves: leaves whose walk over the vocabulary is remembered.
        cache_bytes: memory of all remembered masks and walks.
        folder_error: why the last thing could not be kept in the cache folder; None where it could, or there is none.
    """

    vocabulary_fingerprint: str
    trie_nodes: int
    contracts: int
    states: int
    masks: int
    masks_asked: int
    masks_computed: int
    computing_s: float
    longest_s: float
    legal_sizes: tuple[int, ...]
    shared_leaves: int
    cache_bytes: int
    folder_error: str | None


class Matcher:
    """Follow one text token by token. Made by an engine; not for use from several threads at once.

    Args:
        start: the language of the whole text.
        vocabulary: the tokens.
        masks: gives the mask of a state.
    """

    def __init__(self, start: Term, vocabulary: Vocabulary, masks: Masks) -> None:
        self._start = start
        self._state = start
        self._is_stopped = False
        self._vocabulary = vocabulary
        self._masks = masks

    def mask(self) -> Mask:
        """Return which tokens are legal now; the stop ids where the text may end. [width] bool, read-only"""
        return self._masks.mask(self._state)

    def advance(self, token_id: int) -> None:
        """Take one token.

        Raises:
            MisuseError: the token is not legal here. Nothing is changed.
        """
        tokens = self._vocabulary.tokens
        text = tokens[token_id] if 0 <= token_id < len(tokens) else None
        if text is None:
            if token_id not in self._vocabulary.stop_ids or not self._state.nullable:
                raise MisuseError(f"token {token_id} is not legal here: it is not text and the text may not end")
            self._is_stopped = True
            return
        if not self._walk(text):
            raise MisuseError(f"token {token_id} is not legal here; look at mask() before taking a token")

    def advance_bytes(self, data: bytes) -> None:
        """Take text that came with a token which is not the answer's own, as the end of a model's thoughts may be.

        Raises:
            MisuseError: the text may not go on so. Nothing is changed.
        """
        if not self._walk(data):
            raise MisuseError("the text may not go on so")

    def _walk(self, data: bytes) -> bool:
        self._state.arena.begin_step()
        following = self._state.walk(data)
        if self._is_stopped or following is following.arena.empty:
            return False
        self._state = following
        return True

    @property
    def state(self) -> Term:
        """Return the language that remains."""
        return self._state

    @property
    def is_accepting(self) -> bool:
        """Return whether the text may end here."""
        return self._state.nullable

    @property
    def is_finished(self) -> bool:
        """Return whether nothing but the end can follow, or a stop token was taken."""
        return self._is_stopped or self._state is self._state.arena.epsilon

    def explain(self) -> str:
        """Say in words what may come next, and where in the schema that stands."""
        if self._is_stopped:
            return "the text has ended"
        place = self._state.place
        return self.explain_state() + ("" if place is None else f" (at {place or 'the root'} of the schema)")

    def explain_state(self) -> str:
        """Say in words what may come next, without where that stands."""
        return "the text has ended" if self._is_stopped else self._state.describe()

    @property
    def place(self) -> str | None:
        """Return the JSON pointer of the place in the schema where what may come next stands; None of no schema."""
        return self._state.place

    def reset(self) -> None:
        """Go back to the beginning of the text."""
        self._state = self._start
        self._is_stopped = False


class MaskEngine:
    """Hand out matchers for contracts, over one vocabulary. Usable from several threads.

    Args:
        tokenizer_or_vocabulary: the vocabulary; or our ``Tokenizer`` or a ``transformers`` fast tokenizer, whose ids
            are then taken to be as many as the logits have columns.
        cache_dir: folder in which the vocabulary's tree is kept between runs; None builds it each time (0.2 s for
            49,152 tokens).
        cache_bytes: most memory for remembered masks, and as much again for walks that all contracts share.

    Raises:
        ModelLoadError: the tokenizer's bytes cannot be known for certain.
    """

    def __init__(
        self,
        tokenizer_or_vocabulary: object,
        *,
        cache_dir: Path | str | None = None,
        cache_bytes: int = DEFAULT_CACHE_BYTES,
    ) -> None:
        folder = None if cache_dir is None else Path(cache_dir)
        self.vocabulary = _vocabulary_of(tokenizer_or_vocabulary, folder)
        self._folder = None if folder is None else ArrayFolder(folder)
        self._trie = self._read_trie()
        strings = StringWalks(self._trie, self.vocabulary.width, self._read_characters)
        self._walker = Walker(
            self._trie, self.vocabulary.width, cache_bytes, strings, has_folder=self._folder is not None
        )
        self._walks: KeptWalks | None = None
        if self._folder is not None:
            fingerprint = self.vocabulary.fingerprint
            self._walks = KeptWalks(self._folder, self._trie, self.vocabulary.width, fingerprint)
        self._masks = Masks(self.vocabulary, self._walker, limit_bytes=cache_bytes)
        self._dropped: WeakSet[Arena] = WeakSet()
        self._forgetting: list[Callable[[AbstractSet[object]], None]] = [self._masks.forget]
        self._compiled: OrderedDict[_Language, Term] = OrderedDict()
        self._anything = Arena().run(_EVERY_BYTE)
        self._lock = Lock()
        strings.prepare(Spelling(True, self.vocabulary.alphabet))

    def _read_trie(self) -> Trie:
        return Trie(self.vocabulary.tokens) if self._folder is None else Trie.kept(self.vocabulary, self._folder)

    def _read_characters(self, trie: Trie, spelling: Spelling) -> CharacterTrie:
        if self._folder is None:
            return CharacterTrie(trie, 0, spelling)
        return CharacterTrie.kept(trie, spelling, self._folder, self.vocabulary.fingerprint)

    def matcher(self, contract: ContractLike) -> Matcher:
        """Return a matcher at the beginning of a text of the contract, compiled on first use.

        Args:
            contract: a contract, or what makes one: a JSON Schema, a model class, a ``Regex``, ``Grammar`` or the like.

        Raises:
            ContractError: it cannot be compiled for this vocabulary.
        """
        from commitgate.contract import Contract

        return self.matcher_of(self._start(Contract[object].of(cast("type[object]", contract))))

    def matcher_of(self, start: Term) -> Matcher:
        """Return a matcher for a language given as a term, over bytes that this vocabulary can spell."""
        return Matcher(start, self.vocabulary, self._masks)

    def matcher_of_anything(self) -> Matcher:
        """Return a matcher under which every token of text is legal, and the end at any time."""
        return self.matcher_of(self._anything)

    def stats(self) -> EngineStats:
        """Return what the engine holds now and did so far."""
        with self._lock:
            starts = list(self._compiled.values())
        return EngineStats(
            vocabulary_fingerprint=self.vocabulary.fingerprint,
            trie_nodes=len(self._trie),
            contracts=len(starts),
            states=sum(len(start.arena) for start in starts),
            masks=self._masks.remembered,
            masks_asked=self._masks.asked,
            masks_computed=self._masks.computed,
            computing_s=self._masks.computing_s,
            longest_s=self._masks.longest_s,
            legal_sizes=tuple(self._masks.sizes),
            shared_leaves=self._masks.leaves,
            cache_bytes=self._masks.size_bytes,
            folder_error=None if self._folder is None else self._folder.error,
        )

    def _start(self, contract: Contract[object]) -> Term:
        from commitgate.automaton import compile as compile_contract

        # Of one language, limits and style decide what is generated.
        key = (contract.language_digest, contract.limits, contract.style)
        with self._lock:
            found = self._compiled.get(key)
            if found is not None:
                self._compiled.move_to_end(key)
        if found is not None:
            self._keep(key, found)
            return found
        # Compiled outside of the lock: seconds at worst, and two threads that race only do the same work twice.
        start = compile_contract(contract, dialect="generate", alphabet=self.vocabulary.alphabet).start
        if self._walks is not None:
            self._walker.learn(self._walks.load(_name_of(key)))
        dropped: list[tuple[_Language, Term]] = []
        with self._lock:
            start = self._compiled.setdefault(key, start)
            if len(self._compiled) > _KEPT_CONTRACTS + _DROPPED_CONTRACTS:
                dropped = [self._compiled.popitem(last=False) for _ in range(_DROPPED_CONTRACTS + 1)]
        if dropped:
            for language, term in dropped:
                self._keep(language, term)
            self._forget({term.arena for _, term in dropped})
        return start

    def when_dropped(self, forget: Callable[[AbstractSet[object]], None]) -> None:
        """Have somebody else forget the states of arenas whose contracts were dropped, too: a state holds its arena.

        Args:
            forget: called with arenas, from any thread.
        """
        self._forgetting.append(forget)

    def _forget(self, arenas: AbstractSet[Arena]) -> None:
        # A matcher that goes on after its contract was dropped is remembered again, and must be forgotten again.
        with self._lock:
            self._dropped.update(arenas)
            living = set(self._dropped)
        for forget in self._forgetting:
            forget(living)

    def _keep(self, language: _Language, start: Term) -> None:
        fresh = self._walker.take_fresh(start.arena)
        if fresh and self._walks is not None:
            self._walks.save(_name_of(language), fresh)

    def close(self) -> None:
        """Keep what is worth keeping in the folder. The engine can be used further."""
        with self._lock:
            compiled = list(self._compiled.items())
        for language, start in compiled:
            self._keep(language, start)


def _name_of(language: _Language) -> str:
    """Return what a language is kept under: all that decides what is generated."""
    return repr(language)


def _vocabulary_of(source: object, cache_dir: Path | None) -> Vocabulary:
    if isinstance(source, Vocabulary):
        return source
    tokenizer = source if isinstance(source, Tokenizer) else Tokenizer(source)
    return Vocabulary.of_tokenizer(tokenizer, cache_dir=cache_dir)


__all__ = ["ContractLike", "EngineStats", "MaskEngine", "Matcher"]

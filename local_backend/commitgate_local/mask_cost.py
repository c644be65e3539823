"""Measure what masks cost: draw sample texts token by token, and count what had to be computed for them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from commitgate.errors import LimitExceededError, ModelLoadError
from commitgate.lint import MaskCost
from commitgate_local.engine import MaskEngine, Matcher
from commitgate_local.store import cache_folder
from commitgate_local.tokenizer import Tokenizer
from commitgate_local.vocabulary import Vocabulary

if TYPE_CHECKING:
    from commitgate.contract import Contract

MOST_SAMPLE_TOKENS = 400
"""Tokens after which a sample text is given up."""

_MOST_IDS = 4_000_000
"""Ids that a vocabulary may have: each has a column in every mask, so one huge id would cost as much as that many."""

_MOST_UNFINISHED = 8
"""Sample texts without an end after which no further ones are drawn: they cost the most and say the least."""

_FEW_STEPS = 5


@dataclass(slots=True)
class _Counts:
    """Count over all texts."""

    finished: int = 0
    legal: list[int] = field(default_factory=list[int])
    cold_s: list[float] = field(default_factory=list[float])
    warm_s: list[float] = field(default_factory=list[float])


class MaskMeter:
    """Measure masks over one vocabulary. Call it as ``lint`` does.

    Args:
        vocabulary: the tokens.
        cache_dir: folder in which what depends on the vocabulary alone is kept between runs; None keeps nothing. The
            masks measured are worked out each time.
    """

    def __init__(self, vocabulary: Vocabulary, *, cache_dir: Path | None = None) -> None:
        self._vocabulary = vocabulary
        self._cache_dir = cache_dir

    def __call__(self, contract: Contract[object], texts: int) -> MaskCost:
        """Draw so many texts of a contract among its legal tokens, from fixed seeds, and say what that took."""
        engine = MaskEngine(self._vocabulary, cache_dir=self._cache_dir)
        counts, drawn, states = _Counts(), 0, 0
        stopped = None
        try:
            matcher = engine.matcher(contract)
            before = len(matcher.state.arena)
            for seed in range(texts):
                if drawn - counts.finished >= _MOST_UNFINISHED:
                    break
                matcher.reset()
                drawn += 1
                _draw(engine, matcher, np.random.default_rng(seed), counts)
                states = len(matcher.state.arena) - before
        except LimitExceededError as error:
            stopped = error.limit_name
        stats, legal = engine.stats(), sorted(counts.legal)
        return MaskCost(
            vocabulary=stats.vocabulary_fingerprint,
            tokens=sum(token is not None for token in self._vocabulary.tokens),
            texts=drawn,
            finished=counts.finished,
            steps=len(legal),
            masks=stats.masks_computed,
            shared_walks=stats.shared_leaves,
            states=states,
            legal_min=legal[0] if legal else 0,
            legal_median=legal[(len(legal) - 1) // 2] if legal else 0,
            forced_steps=legal.count(1),
            cold_to_warm=_ratio(counts),
            stopped_by=stopped,
        )


def load_meter(path: Path, *, cache_dir: Path | None = None) -> MaskMeter:
    """Load a tokenizer, without its model.

    Args:
        path: a folder with a ``tokenizer.json``, that file itself, or a GGUF file.
        cache_dir: where vocabularies are kept; None takes ``COMMITGATE_CACHE``, else the user's cache folder.

    Raises:
        ModelLoadError: there is none, or the bytes of its tokens cannot be known for certain.
    """
    try:
        is_folder, is_file = path.is_dir(), path.is_file()
    except (OSError, ValueError):
        is_folder = is_file = False
    if is_folder:
        tokenizer = Tokenizer.load(path)
    elif is_file and path.suffix == ".gguf":
        tokenizer = Tokenizer.load(path.parent, gguf_file=path.name)
    elif is_file and path.name == "tokenizer.json":
        tokenizer = Tokenizer.load(path.parent)
    else:
        raise ModelLoadError(
            f"there is no tokenizer at {str(path)[:200]!r}: give a folder with a tokenizer.json, that file, or a "
            "GGUF file"
        )
    if not tokenizer.entries:
        raise ModelLoadError("the tokenizer has no tokens")
    width = max(tokenizer.entries.values()) + 1
    if width > _MOST_IDS:
        raise ModelLoadError(f"the tokenizer has the id {width - 1}; masks are measured up to {_MOST_IDS:,} ids")
    # Not where engines that serve keep theirs: walks of strings that they kept would make new masks look cheap.
    folder = (cache_dir or cache_folder()) / "measured"
    return MaskMeter(Vocabulary.of_tokenizer(tokenizer, width=width, cache_dir=folder), cache_dir=folder)


def _draw(engine: MaskEngine, matcher: Matcher, draw: np.random.Generator, counts: _Counts) -> None:
    stops = engine.vocabulary.stop_ids
    for _ in range(MOST_SAMPLE_TOKENS):
        if matcher.is_finished:
            counts.finished += 1
            return
        known = engine.stats().masks_computed
        begun = perf_counter()
        mask = matcher.mask()
        took_s = perf_counter() - begun
        (counts.warm_s if engine.stats().masks_computed == known else counts.cold_s).append(took_s)
        legal = np.flatnonzero(mask)
        counts.legal.append(len(legal))
        if matcher.is_accepting and draw.random() < 0.5:
            counts.finished += 1
            return
        texts = legal[~np.isin(legal, stops)]
        if not len(texts):
            counts.finished += int(matcher.is_accepting)
            return
        matcher.advance(_chosen(engine.vocabulary, texts, draw))


def _chosen(
    vocabulary: Vocabulary, legal: np.ndarray[tuple[int], np.dtype[np.int64]], draw: np.random.Generator
) -> int:
    """Draw one of the legal tokens; those that close something are drawn more often, so that texts end."""
    if len(legal) > 1 and draw.random() < 1 / 3:
        closing = [int(token) for token in legal[:_LOOKED_AT] if (vocabulary.tokens[token] or b"")[:1] in _CLOSING]
        if closing:
            return int(draw.choice(closing))
    return int(draw.choice(legal))


_CLOSING = (b'"', b"]", b"}")
_LOOKED_AT = 2_000


def _ratio(counts: _Counts) -> int | None:
    """Return how many times longer a new mask took than one that was found, to one digit."""
    if min(len(counts.cold_s), len(counts.warm_s)) < _FEW_STEPS:
        return None
    ratio = float(np.median(counts.cold_s)) / max(float(np.median(counts.warm_s)), 1e-9)
    digits = max(0, len(str(int(ratio))) - 1)
    return max(1, round(ratio, -digits).__int__())


__all__ = ["MOST_SAMPLE_TOKENS", "MaskMeter", "load_meter"]

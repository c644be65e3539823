"""Put the engines that say which tokens are legal behind one face, each in the way that its own documentation shows.

The peers are imported on first use, because they are no dependency of the project. Nothing here, and nothing that this
imports, loads torch: an engine that needs it brings it itself.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from results import BASE, version_of


class RefusedError(Exception):
    """Raised when an engine declines a schema; the message says why in the engine's words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """Hold a vocabulary as every engine can be given it.

    Attributes:
        folder: where ``tokenizer.json`` lies.
        texts: bytes that each id appends; None where it is not text.
        stop_ids: ids that end a text.
    """

    folder: str
    texts: tuple[bytes | None, ...]
    stop_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Follower:
    """Follow one text with an engine.

    Attributes:
        mask: works out which tokens are legal now, and gives what ``allows`` wants.
        allows: says whether a token is legal by what ``mask`` gave last; no part of what is timed.
        advance: takes a token that is legal.
        reset: goes back to the beginning.
    """

    mask: Callable[[], Any]
    allows: Callable[[Any, int], bool]
    advance: Callable[[int], object]
    reset: Callable[[], object]


class Engine(Protocol):
    """Name what every engine does here."""

    def compile(self, schema: Any) -> Any:
        """Make of a schema what its user would keep for the next request.

        Raises:
            RefusedError: the engine declines the schema.
        """
        ...

    def follow(self, compiled: Any) -> Follower:
        """Begin a text."""
        ...


def _in_bits(bits: Any) -> Callable[[Any, int], bool]:
    """Say what a packed mask of one row allows."""
    words = bits.view(np.uint32)
    return lambda _, token: bool(words[0, token >> 5] >> np.uint32(token & 31) & np.uint32(1))


def _packed(width: int) -> Any:
    return np.full((1, (width + 31) // 32), -1, np.int32)


class Commitgate:
    """Ask the project itself: the contract is checked, compiled and followed."""

    def __init__(self, tokens: Tokens) -> None:
        from commitgate_local.engine import MaskEngine
        from commitgate_local.vocabulary import Vocabulary

        self._engine = MaskEngine(Vocabulary(tokens.texts, tokens.stop_ids))

    def compile(self, schema: Any) -> Any:
        from commitgate.contract import Contract
        from commitgate.errors import ContractError

        try:
            contract = Contract[object].of(schema)
            self._engine.matcher(contract)
        except ContractError as error:
            raise RefusedError(f"{type(error).__name__}: {error}") from error
        return contract

    def follow(self, compiled: Any) -> Follower:
        matcher = self._engine.matcher(compiled)
        return Follower(
            mask=matcher.mask,
            allows=lambda mask, token: bool(mask[token]),
            advance=matcher.advance,
            reset=matcher.reset,
        )


class CommitgateWithTorch(Commitgate):
    """Ask the project in a process that has loaded torch and transformers, as one that also runs a model has."""

    def __init__(self, tokens: Tokens) -> None:
        import torch
        import transformers

        assert torch, transformers
        super().__init__(tokens)


class Llguidance:
    """Ask llguidance: a matcher over the tokenizer that it reads itself, masks into an array of numpy."""

    def __init__(self, tokens: Tokens) -> None:
        from llguidance import LLTokenizer

        self._width = len(tokens.texts)
        self._tokenizer = LLTokenizer(f"{tokens.folder}/tokenizer.json", n_vocab=self._width)

    def compile(self, schema: Any) -> Any:
        from llguidance import LLMatcher

        try:
            matcher = LLMatcher(self._tokenizer, LLMatcher.grammar_from_json_schema(schema), log_level=0)
        except ValueError as error:
            raise RefusedError(str(error)) from error
        if matcher.is_error():
            raise RefusedError(matcher.get_error())
        return matcher

    def follow(self, compiled: Any) -> Follower:
        from llguidance.numpy import fill_next_token_bitmask

        # What is kept of a grammar is a matcher that has taken nothing yet.
        matcher = compiled.deep_copy()
        bits = _packed(self._width)
        return Follower(
            mask=lambda: fill_next_token_bitmask(matcher, bits),
            allows=_in_bits(bits),
            advance=matcher.consume_token,
            reset=matcher.reset,
        )


class Xgrammar:
    """Ask xgrammar, with its cache of grammars off: what is kept is what its compiler gave.

    Args:
        tokens: the vocabulary.
        strict: its ``strict_mode``: by default it refuses keys that a schema does not name, which JSON Schema allows.
    """

    def __init__(self, tokens: Tokens, *, strict: bool = True) -> None:
        from xgrammar import GrammarCompiler, TokenizerInfo

        # Ids that are no text are given as empty, which is how it knows special ones.
        info = TokenizerInfo([text or b"" for text in tokens.texts], stop_token_ids=list(tokens.stop_ids))
        self._compiler = GrammarCompiler(info, cache_enabled=False)
        self._width = info.vocab_size
        self._strict = strict

    def compile(self, schema: Any) -> Any:
        try:
            return self._compiler.compile_json_schema(schema, strict_mode=self._strict)
        except RuntimeError as error:
            raise RefusedError(str(error)) from error

    def follow(self, compiled: Any) -> Follower:
        from xgrammar import GrammarMatcher, allocate_token_bitmask

        matcher = GrammarMatcher(compiled)
        bits = allocate_token_bitmask(1, self._width)
        # It says whether the mask has to be applied: where not, everything is legal.
        in_bits = _in_bits(bits.numpy())
        return Follower(
            mask=lambda: matcher.fill_next_token_bitmask(bits),
            allows=lambda needed, token: not needed or in_bits(None, token),
            advance=matcher.accept_token,
            reset=matcher.reset,
        )


class XgrammarOpen(Xgrammar):
    """Ask xgrammar for what JSON Schema says: keys that a schema does not name are allowed."""

    def __init__(self, tokens: Tokens) -> None:
        super().__init__(tokens, strict=False)


class OutlinesCore:
    """Ask outlines-core: a schema becomes a regular expression, and that an index over the whole vocabulary."""

    def __init__(self, tokens: Tokens) -> None:
        from outlines_core import Vocabulary

        ids: dict[bytes, list[int]] = {}
        for number, text in enumerate(tokens.texts):
            if text is not None:
                ids.setdefault(text, []).append(number)
        self._vocabulary = Vocabulary(tokens.stop_ids[0], ids)
        self._width = len(tokens.texts)

    def compile(self, schema: Any) -> Any:
        from outlines_core import Index, json_schema

        try:
            return Index(json_schema.build_regex_from_schema(json.dumps(schema)), self._vocabulary)
        except (ValueError, RuntimeError, OverflowError) as error:
            raise RefusedError(str(error)) from error

    def follow(self, compiled: Any) -> Follower:
        from outlines_core import Guide

        guide = Guide(compiled)
        bits = _packed(self._width)
        return Follower(
            # What its kernel for numpy does behind its checks; the kernel's module also wants numba, to apply masks.
            mask=lambda: guide.write_mask_into(bits.ctypes.data, bits.size, bits.itemsize),
            allows=_in_bits(bits),
            advance=lambda token: guide.advance(token, return_tokens=False),
            reset=guide.reset,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """Describe an engine.

    Attributes:
        make: makes it for a vocabulary.
        package: what has to be installed.
        takes_long: schemas take it so long that it is asked for as many as its time allows, and no more.
    """

    make: Callable[[Tokens], Engine]
    package: str
    takes_long: bool = False

    @property
    def version(self) -> str | None:
        """Return the version that is installed, or None."""
        return version_of(self.package)


ENGINES: Mapping[str, Entry] = {
    BASE: Entry(make=Commitgate, package="commitgate"),
    f"{BASE}, torch loaded": Entry(make=CommitgateWithTorch, package="torch"),
    "llguidance": Entry(make=Llguidance, package="llguidance"),
    "xgrammar": Entry(make=Xgrammar, package="xgrammar"),
    "xgrammar, strict_mode=False": Entry(make=XgrammarOpen, package="xgrammar", takes_long=True),
    "outlines-core": Entry(make=OutlinesCore, package="outlines-core", takes_long=True),
}
"""Engines by the name that the report gives them."""

__all__ = ["ENGINES", "Engine", "Entry", "Follower", "RefusedError", "Tokens"]

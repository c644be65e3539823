"""Name what the scheduler needs of a model: rows of tokens in, logits out, each row with its own slot of the cache."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import torch

from commitgate.errors import ModelRunError


@dataclass(frozen=True, slots=True)
class Row:
    """Append tokens to one conversation.

    Attributes:
        slot: the conversation's place in the cache, from 0.
        start: position of the first token; what the slot holds from there on is overwritten.
        ids: the tokens, at least one.
        wants_logits: False leaves the output layer out, as for all but the last piece of a prompt.
    """

    slot: int
    start: int
    ids: Sequence[int]
    wants_logits: bool = True


class Runtime(Protocol):
    """Run one model. Not thread-safe: one thread at a time calls it."""

    @property
    def name(self) -> str:
        """Return what runs the model and in which precision, for people."""
        ...

    @property
    def precision(self) -> str:
        """Return the precision of the weights, as one of the words."""
        ...

    @property
    def width(self) -> int:
        """Return the number of logits columns."""
        ...

    @property
    def context_tokens(self) -> int:
        """Return the most tokens that one slot holds."""
        ...

    @property
    def slots(self) -> int:
        """Return the number of conversations that the cache holds."""
        ...

    @property
    def cache_bytes(self) -> int:
        """Return what the cache occupies now."""
        ...

    def step(self, rows: Sequence[Row]) -> torch.Tensor:
        """Append each row's tokens to its slot, in one pass.

        A row's logits depend on its own slot, and on the other rows by rounding alone (see ``LlamaRuntime``).

        Args:
            rows: at least one, each with another slot.

        Returns:
            The logits after the last token of each row that wants them, in the order of the rows.
            [wanting rows, width] float32, on the CPU.

        Raises:
            ModelRunError: a row cannot be run (nothing was changed then), or the model broke: then the slots of these
                rows hold only what stood before each row's start.
        """
        ...

    def copy_prefix(self, source_slot: int, target_slot: int, tokens: int) -> None:
        """Make a slot hold the first tokens of another.

        Raises:
            ModelRunError: the source holds fewer, or there is no such slot.
        """
        ...


class RuntimeFacts:
    """Hold what a runtime says of itself, for its whole life.

    Args:
        kind: what runs the model, in a word.
        precision: of its weights.
        width: number of logits columns.
        context_tokens: most tokens that one slot holds.
        slots: number of conversations.
    """

    def __init__(self, *, kind: str, precision: str, width: int, context_tokens: int, slots: int) -> None:
        self._runner, self._precision, self._width = kind, precision, width
        self._context_tokens, self._slots = context_tokens, slots

    @property
    def name(self) -> str:
        """Return what runs the model and in which precision."""
        return f"{self._runner}, {self._precision}"

    @property
    def precision(self) -> str:
        """Return the precision of the weights."""
        return self._precision

    @property
    def width(self) -> int:
        """Return the number of logits columns."""
        return self._width

    @property
    def context_tokens(self) -> int:
        """Return the most tokens that one slot holds."""
        return self._context_tokens

    @property
    def slots(self) -> int:
        """Return the number of conversations."""
        return self._slots


class SlotLengths:
    """Count the tokens of each slot, and refuse rows that cannot be run.

    Args:
        slots: number of slots.
        context_tokens: most tokens of one slot.
        token_ids: number of token ids that the model knows.
    """

    def __init__(self, slots: int, context_tokens: int, token_ids: int) -> None:
        self._lengths = [0] * slots
        self._context_tokens = context_tokens
        self._token_ids = token_ids

    @property
    def all(self) -> Sequence[int]:
        """Return the tokens of every slot."""
        return self._lengths

    def check(self, rows: Sequence[Row]) -> None:
        """Check that rows can be run together.

        Raises:
            ModelRunError: they cannot; the message says why, without the tokens.
        """
        if not rows:
            raise ModelRunError("there is no row to run")
        if len({row.slot for row in rows}) != len(rows):
            raise ModelRunError("two rows of one pass have the same slot")
        for row in rows:
            self.check_slot(row.slot)
            if not row.ids:
                raise ModelRunError("a row has no tokens; a model needs at least one")
            if not 0 <= row.start <= self._lengths[row.slot]:
                raise ModelRunError(f"a row starts at {row.start}, its slot holds {self._lengths[row.slot]} tokens")
            if row.start + len(row.ids) > self._context_tokens:
                raise ModelRunError(
                    f"a text of {row.start + len(row.ids)} tokens does not fit: a slot holds {self._context_tokens}"
                )
            if min(row.ids) < 0 or max(row.ids) >= self._token_ids:
                raise ModelRunError(f"a token id is outside the model's {self._token_ids}")

    def check_copy(self, source: int, target: int, tokens: int) -> None:
        """Check that a prefix can be copied.

        Raises:
            ModelRunError: it cannot.
        """
        self.check_slot(source)
        self.check_slot(target)
        if not 0 <= tokens <= self._lengths[source]:
            raise ModelRunError(f"{tokens} tokens were to be copied of a slot that holds {self._lengths[source]}")

    def check_slot(self, slot: int) -> None:
        """Check that there is such a slot.

        Raises:
            ModelRunError: there is not.
        """
        if not 0 <= slot < len(self._lengths):
            raise ModelRunError(f"there is no slot {slot}, only {len(self._lengths)}")

    def cut(self, rows: Sequence[Row]) -> None:
        """Forget what the rows overwrite."""
        for row in rows:
            self._lengths[row.slot] = row.start

    def add(self, rows: Sequence[Row]) -> None:
        """Count what the rows appended."""
        for row in rows:
            self._lengths[row.slot] = row.start + len(row.ids)

    def set(self, slot: int, tokens: int) -> None:
        """Say how many tokens a slot holds."""
        self._lengths[slot] = tokens


__all__ = ["Row", "Runtime", "RuntimeFacts", "SlotLengths"]

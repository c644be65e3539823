"""Say how far a thinking model may write before its answer."""

from __future__ import annotations

from dataclasses import dataclass

from commitgate.argument import check_int, check_text
from commitgate.errors import MisuseError

END_MARK = "</think>"
"""By what most models end their thoughts."""

MAX_MARK_BYTES = 128
"""Longest mark, and longest text between the thoughts and the answer, in bytes of UTF-8: models' own have fewer than
40, and every one of these bytes is looked for in every token."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reasoning:
    """Let a model think before it answers: it writes freely up to its end mark, and from there on within the contract.

    The thoughts never enter the answer, its preview or its value. Where the model does not end them by itself, the end
    mark is written for it, so that an answer always follows.

    Attributes:
        max_tokens: most tokens of the thoughts, >= 0, beside those of the answer (``Sampling.max_tokens``). 0 ends them
            before they begin, which many models know as not having to think. Fewer are allowed where the model's
            context could not hold the answer behind them.
        end: the mark by which the model ends its thoughts: a token of its own, or text. Not empty.
        begin: the mark that opens them, put behind the prompt as the model's chat template would write it; left out
            where the prompt ends with it already. None where the template opens them, or the model does by itself.
        gap: what stands between the end mark and the answer, written for the model and no part of the answer.

    Raises:
        MisuseError: one of them is of another type, out of its range, or longer than ``MAX_MARK_BYTES``.
    """

    max_tokens: int
    end: str = END_MARK
    begin: str | None = None
    gap: str = "\n\n"

    def __post_init__(self) -> None:
        check_int("Reasoning.max_tokens", self.max_tokens)
        if self.max_tokens < 0:
            raise MisuseError(f"Reasoning.max_tokens must be >= 0, found {self.max_tokens}")
        for name, mark in (("end", self.end), ("begin", self.begin), ("gap", self.gap)):
            if mark is None and name == "begin":
                continue
            check_text(f"Reasoning.{name}", mark)
            size = len((mark or "").encode())
            if size > MAX_MARK_BYTES:
                raise MisuseError(f"Reasoning.{name} may have at most {MAX_MARK_BYTES} bytes, found {size}")
        if not self.end or self.begin == "":
            raise MisuseError("Reasoning.end and Reasoning.begin must not be empty")


__all__ = ["END_MARK", "MAX_MARK_BYTES", "Reasoning"]

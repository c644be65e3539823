"""Check the texts in a value: one check is built in, and the caller may add his own."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from commitgate.argument import check_takes, wrong_kind
from commitgate.gate.asking import Kind
from commitgate.gate.hidden_characters import WANTED, hidden_characters
from commitgate.gate.layers import Layer
from commitgate.gate.rules import RETURNS, RuleResult, RuleViolation, violations
from commitgate.gate.untrusted_places import Path, untrusted_texts
from commitgate.json_value import JsonObject
from commitgate.pointer import child
from commitgate.untrusted_text import UntrustedText

CONTENT_ERROR = "content_error"
"""Code of a content check that broke."""

VIOLATIONS_KEPT = 100
"""Most violations that the built-in check returns: a long list of bad texts says no more than its first part."""

CONTENT = Kind(layer=Layer.CONTENT, word="content check", error_code=CONTENT_ERROR, returns=RETURNS)


@dataclass(frozen=True, slots=True)
class PlacedViolation(RuleViolation):
    """Say why a text is refused, and where it stands.

    Attributes:
        path: keys and indexes from the root. Keys may be the model's own words, so the layer shows those of them alone
            that the schema declares.
    """

    path: Path = field(default=(), repr=False)


def refuse_hidden_characters(value: object) -> list[RuleViolation]:
    """Refuse untrusted texts that hold what acts on their reader or hides from him.

    Runs on every value; plain ``str`` fields are not looked at, nor a value that is a ``str`` itself: for that one give
    ``each_untrusted(refuse_hidden_characters)``.
    """
    found: list[RuleViolation] = []
    for path, text in untrusted_texts(value):
        raw = text.reveal()
        for code, position in hidden_characters(raw).items():
            data: JsonObject = {"position": position, "character": f"U+{ord(raw[position]):04X}"}
            found.append(PlacedViolation(code, WANTED[code], child("", *path), data=data, path=path))
            if len(found) == VIOLATIONS_KEPT:
                return found
    return found


def each_untrusted(
    check: Callable[[UntrustedText], RuleResult | Awaitable[RuleResult]],
) -> Callable[[object], Awaitable[RuleResult]]:
    """Make a content check out of a check of one text: it is asked about every ``UntrustedText`` in the value.

    Of a value that is a ``str`` itself, such as that of a ``Regex``, it is asked about the whole.

    Args:
        check: sync or async; returns None where it is content, else a violation or several. Their pointers are set.

    Raises:
        MisuseError: it is no function, or takes no text.
    """
    if not callable(check):
        raise wrong_kind("check", "a function of one text", check)
    check_takes(check, ("text",), "check")

    async def each(value: object) -> RuleResult:
        found: list[RuleViolation] = []
        for path, text in untrusted_texts(UntrustedText(value) if isinstance(value, str) else value):
            result = check(text)
            if inspect.isawaitable(result):
                result = await result
            its = violations(result)
            if its is None:
                return result  # which the layer refuses, by its type
            found += [_placed(violation, path) for violation in its]
        return found

    each.__qualname__ = getattr(check, "__qualname__", type(check).__qualname__)
    return each


def _placed(violation: RuleViolation, path: Path) -> PlacedViolation:
    return PlacedViolation(
        violation.code,
        violation.message,
        child("", *path),
        data=violation.data,
        retryable=violation.retryable,
        path=path,
    )


__all__ = [
    "CONTENT",
    "CONTENT_ERROR",
    "VIOLATIONS_KEPT",
    "PlacedViolation",
    "each_untrusted",
    "refuse_hidden_characters",
]

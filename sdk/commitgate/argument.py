"""Check what a caller hands over, so that the wrong kind of thing is refused early and by its name.

Messages name the argument, what was wanted and the type that was found; never the value, which may be payload.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from math import isfinite
from typing import TypeVar

from commitgate.errors import MisuseError

T = TypeVar("T")

_MAX_CHARACTERS = 200
_DIGITS = 64
_DIGEST = re.compile(f"[0-9a-f]{{{_DIGITS}}}")
_POINTER = re.compile("(?:/(?:[^~/]|~[01])*)*")


def wrong_kind(name: str, wanted: str, found: object) -> MisuseError:
    """Return the error for an argument that is of another type than ``wanted``."""
    return MisuseError(f"{name} must be {wanted}, found {type(found).__name__}")


def check_kind(name: str, value: object, kind: type[object], wanted: str) -> None:
    """Check that ``value`` is of ``kind``.

    Raises:
        MisuseError: it is not.
    """
    if not isinstance(value, kind):
        raise wrong_kind(name, wanted, value)


def check_choice(name: str, value: object, choices: Sequence[str]) -> None:
    """Check that ``value`` is one of a few words.

    Raises:
        MisuseError: it is not.
    """
    if not isinstance(value, str) or value not in choices:
        wanted = " or ".join(map(repr, choices))
        raise MisuseError(f"{name} must be {wanted}, found {value!r}"[:_MAX_CHARACTERS])


def check_takes(function: Callable[..., object], wanted: tuple[str, ...], what: str) -> None:
    """Check that ``function`` can be called with as many positional arguments as ``wanted`` names.

    Raises:
        MisuseError: it takes fewer, more, or keywords alone. A callable whose signature cannot be read passes.
    """
    try:
        signature = inspect.signature(function)
    except ValueError:
        return
    try:
        signature.bind(*wanted)
    except TypeError as error:
        raise MisuseError(f"{what} must take ({', '.join(wanted)}), found the signature {signature}") from error


def check_text(name: str, value: object) -> None:
    """Check that ``value`` is text that can be sent and stored.

    Raises:
        MisuseError: it is no ``str``, or holds a lone surrogate, as undecodable bytes of a command line become.
    """
    if not isinstance(value, str):
        raise wrong_kind(name, "a str", value)
    try:
        value.encode()
    except UnicodeEncodeError:
        # The encoder's error carries the text, so it is left out of the chain.
        raise MisuseError(f"{name} must be text that UTF-8 can encode, found a lone surrogate") from None


def check_digest(name: str, value: object, what: str = "a digest") -> None:
    """Check that ``value`` is a SHA-256 as contracts and templates have it.

    Args:
        name: the argument's name.
        value: it.
        what: which digest is wanted, in words.

    Raises:
        MisuseError: it is not.
    """
    wanted = f"{what}: 64 hexadecimal digits in lower case"
    if not isinstance(value, str):
        raise wrong_kind(name, wanted, value)
    if _DIGEST.fullmatch(value):
        return
    found = f"{len(value)} characters"
    if len(value) == _DIGITS:
        found = "upper case" if _DIGEST.fullmatch(value.lower()) else "other characters"
    raise MisuseError(f"{name} must be {wanted}, found {found}")


def check_pointer(name: str, value: object) -> None:
    """Check that ``value`` is a JSON pointer in its form, whatever it names.

    Raises:
        MisuseError: it is not.

    Source: RFC 6901 section 3.
    """
    if not isinstance(value, str):
        raise wrong_kind(name, "a JSON pointer: a str", value)
    if not _POINTER.fullmatch(value):
        raise MisuseError(
            f'{name} must be a JSON pointer: "" for the root, or tokens that each follow a slash, with ~0 for ~ and ~1 '
            "for / within one"
        )


def check_words(name: str, value: object) -> None:
    """Check that ``value`` is text that says something.

    Raises:
        MisuseError: it is no text, or blank.
    """
    check_text(name, value)
    if isinstance(value, str) and not value.strip():
        raise MisuseError(f"{name} is blank; leave it out instead")


def check_int(name: str, value: object) -> None:
    """Check that ``value`` is an integer, and none of the two that are called True and False.

    Raises:
        MisuseError: it is not.
    """
    if isinstance(value, bool) or not isinstance(value, int):
        raise wrong_kind(name, "an int", value)


def check_finite(name: str, value: object, wanted: str = "a number") -> None:
    """Check that ``value`` is a number that a float can hold.

    Raises:
        MisuseError: it is not.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise wrong_kind(name, wanted, value)
    try:
        is_finite = isfinite(value)
    except OverflowError:
        is_finite = False
    if not is_finite:
        raise MisuseError(f"{name} must be {wanted}, found one that is not finite")


__all__ = [
    "check_choice",
    "check_digest",
    "check_finite",
    "check_int",
    "check_kind",
    "check_pointer",
    "check_takes",
    "check_text",
    "check_words",
    "wrong_kind",
]

"""Gather what an error object of any provider tells: codes, places, words, and how long to wait.

An error is an object, a text, a list, or flat beside ``"object": "error"``; its members have a dozen names.
Source: the error bodies of OpenAI, Azure, Anthropic, Gemini, vLLM, SGLang, llama.cpp, TGI, Ollama, NIM and OpenRouter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias, cast

from commitgate.backends.wire.constraint_words import MOST_MESSAGE_CHARACTERS
from commitgate.backends.words import safe_code

Fields: TypeAlias = Mapping[str, object]

_CODES = ("code", "type", "status", "error_type", "reason")
_NUMBERS = ("code", "http_status_code", "status_code", "status")
_MESSAGES = ("message", "msg", "detail", "error", "error_description", "title")
_STATUS_OF_TGI = {"validation": 422, "generation": 424, "overloaded": 429, "incomplete_generation": 500}
"""TGI checks a request after it has answered 200; its ``error_type`` is the status that it would have had."""

_MOST_PARTS = 64
"""Most details and violations that are looked at."""

_DELAY = re.compile(r"([0-9]{1,9}(?:\.[0-9]{0,9})?)s")
_TRY_AGAIN = re.compile(
    r"(?:try again|retry) in (?:([0-9]{1,6})h)?(?:([0-9]{1,6})m(?!s))?(?:([0-9]{1,9}(?:\.[0-9]{0,9})?)(ms|s))?",
    re.IGNORECASE,
)
_PER_DAY = re.compile(r"per_?day", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorWords:
    """Hold what an error tells.

    Attributes:
        codes: its codes and types, the most telling first.
        status: the status that it names, in [300, 599]; None where it names none.
        places: the parts of the request that it names.
        message: the provider's words; empty where it has none.
        is_quota: it says that what is used up comes back in days, or never.
        retry_after_s: seconds that it asks to wait; None where it does not.
        request_id: the provider's own name of the request.
    """

    codes: tuple[str, ...] = ()
    status: int | None = None
    places: tuple[str, ...] = field(default=(), repr=False)
    message: str = field(default="", repr=False)
    is_quota: bool = False
    retry_after_s: float | None = None
    request_id: str | None = None


def error_words(holder: Fields) -> ErrorWords:
    """Gather what an event or a body tells of an error.

    Args:
        holder: holds the error under ``error``, or is it.
    """
    error = holder.get("error") or _first(holder.get("errors")) or holder
    if isinstance(error, list):
        error = _first(cast("list[object]", error)) or holder
    if isinstance(error, str):
        return _gathered({"message": error}, holder)
    found = fields_of(error)
    return _gathered(found or holder, {} if found is holder else holder)


def fields_of(value: object) -> Fields:
    """Return an object's members; none where it is something else."""
    return cast(Fields, value) if isinstance(value, Mapping) else {}


def _gathered(error: Fields, around: Fields) -> ErrorWords:
    details = [fields_of(part) for part in _parts(error.get("details"))]
    inner = fields_of(error.get("innererror"))
    words = [
        *(error.get(name) for name in _CODES),
        *(detail.get("reason") for detail in details),
        inner.get("code"),
        around.get("code"),
        around.get("error_type"),
    ]
    codes = dict.fromkeys(code for code in map(safe_code, words) if code is not None and code not in ("error", "None"))
    message = _message(error)
    request_ids = (holder.get("request_id") for holder in (around, error))
    return ErrorWords(
        codes=tuple(code for code in codes if not code.isdigit()),
        status=_status(error, around),
        places=tuple(_places(error, details)),
        message=message,
        is_quota=any(_PER_DAY.search(name) for name in _quota_names(details)),
        retry_after_s=_delay_s(details, message),
        request_id=next((found for found in map(safe_code, request_ids) if found is not None), None),
    )


def _status(error: Fields, around: Fields) -> int | None:
    numbers = [holder.get(name) for holder in (error, around) for name in _NUMBERS]
    for number in numbers:
        if isinstance(number, str) and len(number) == 3 and number.isdecimal():
            number = int(number)
        if isinstance(number, int) and 300 <= number <= 599:
            return number
    word = error.get("error_type", around.get("error_type"))
    return _STATUS_OF_TGI.get(word) if isinstance(word, str) else None


def _message(error: Fields) -> str:
    for name in _MESSAGES:
        words = error.get(name)
        if isinstance(words, list):  # FastAPI lists what is wrong with each place
            parts = (_message(fields_of(part)) for part in _parts(cast(object, words)))
            words = "; ".join(part for part in parts if part)
        if isinstance(words, str) and words:
            return words
    return ""


def _places(error: Fields, details: list[Fields]) -> Iterator[str]:
    for holder in (error, *details):
        for name in ("param", "field"):
            place = holder.get(name)
            if isinstance(place, str):
                yield place
        for violation in _parts(holder.get("fieldViolations")):
            place = fields_of(violation).get("field")
            if isinstance(place, str):
                yield place
    for part in _parts(error.get("detail")):
        steps = _parts(fields_of(part).get("loc"))
        yield ".".join(str(step) for step in steps if isinstance(step, str | int) and step != "body")


def _quota_names(details: list[Fields]) -> Iterator[str]:
    for detail in details:
        for violation in _parts(detail.get("violations")):
            name = fields_of(violation).get("quotaId")
            if isinstance(name, str):
                yield name


def _delay_s(details: list[Fields], message: str) -> float | None:
    for detail in details:
        delay = detail.get("retryDelay")
        told = _DELAY.fullmatch(delay) if isinstance(delay, str) else None
        if told is not None:
            return float(told[1])
    said = _TRY_AGAIN.search(message[:MOST_MESSAGE_CHARACTERS])
    if said is None or not any(said.groups()):
        return None
    hours, minutes, number, unit = said.groups()
    seconds = float(number or 0) / (1_000 if unit == "ms" else 1)
    return int(hours or 0) * 3_600 + int(minutes or 0) * 60 + seconds


def _parts(value: object) -> list[object]:
    return cast("list[object]", value)[:_MOST_PARTS] if isinstance(value, list) else []


def _first(value: object) -> object:
    return next(iter(_parts(value)), None)


__all__ = ["ErrorWords", "Fields", "error_words", "fields_of"]

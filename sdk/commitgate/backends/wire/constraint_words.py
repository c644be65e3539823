"""Tell whether a server refused the constraint itself: a schema, a pattern, a grammar, choices, parameters of a tool.

No status says so: a bad schema and a bad prompt have one. The place that an error names comes first, then the
provider's words. They change without notice, so the expressions are loose; where nothing tells, it is no refusal of the
constraint.
Source: the messages of OpenAI, Anthropic, Gemini, vLLM, SGLang, llama.cpp, TGI and Ollama.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

CONSTRAINT_CODES = frozenset(
    {
        "invalid_json_schema",
        "invalid_function_parameters",
        "invalid_grammar",
        "invalid_regex",
        # commitgate serve
        "unsupported_schema",
        "unsatisfiable_schema",
        "schema_too_large",
        "invalid_language",
    }
)
"""Codes that speak of the constraint alone."""

MOST_MESSAGE_CHARACTERS = 4_096
"""Most characters of a message in which words are looked for."""

_PLACES = re.compile(
    r"(?:^|[.\[])(?:"
    r"response_?format|text\.format|output_(?:config|format)|response_?(?:json_?)?schema|json_schema|structured_outputs"
    r"|guided_\w+|grammar|regex|ebnf|structural_tag|nvext\.guided_\w+"
    r")(?:$|[.\[])"
    r"|^tools\b.*\b(?:parameters(?:_?json_?schema)?|input_schema|format)(?:$|[.\[])"
    r"|^format$",
    re.IGNORECASE,
)

_ELSEWHERE = re.compile(r"(?:messages|input|prompt|contents|model|n|stop|seed|temperature|top_\w|max_\w+)(?:$|[.\[])")
"""Places that have nothing to do with the constraint, whatever the words beside them speak of."""

_BAD_REQUEST = (400, 413, 422)
_ALWAYS = (
    r"json schema error at",
    r"json schema conversion failed",
    r"failed to parse grammar",
    r"cannot use both json_schema and grammar",
    r"custom grammar constraints",
    r"response_format type",
    r"invalid json schema",
)
"""Words of llama.cpp and Ollama, which call some mistakes of a client errors of their own, with status 500."""

_REFUSING = (
    *_ALWAYS,
    # OpenAI
    r"invalid schema\b",
    r"levels of nesting exceeds limit",
    # Anthropic
    r"output_config\.format|output_format",
    r"\binput_schema\b",
    r"compiled grammar is too large",
    r"schema is too complex",
    # Gemini
    r"specified schema produces a constraint",
    r"\bresponse_?(?:json_?)?schema\b",
    r"function_declarations\S*\.parameters",
    r"proto field is not repeating",
    # vLLM
    r"failed to transform .{1,64} into a grammar",
    r"not supported by (?:xgrammar|guidance|outlines|llguidance)",
    r"grammar error:",
    r"\bgrammar specification\b",
    r"structured[ _]outputs?\b",
    r"guided[ _](?:json|regex|choice|grammar|decoding)",
    # SGLang
    r"failed to compile .{1,64} grammar",
    r"grammar-based generation",
    r"json_schema, regex, ebnf",
    r"response_format, regex, or ebnf",
    r"invalid (?:json[ _]schema|regex|grammar|ebnf|structural[ _]tag)",
    # TGI
    r"grammar is not (?:valid|supported)",
    r"cannot compile regex",
    r"grammar and tools are mutually exclusive",
    r"\bresponse_format\b",
    # Ollama
    r"\binvalid format:",
    # Any
    r"json[ _]schema\b",
    r"\b(?:grammar|regex|regular expression)\b.{0,80}(?:invalid|unsupported|not (?:valid|supported)|failed|too )",
    r"(?:invalid|unsupported|failed|cannot) .{0,80}\b(?:grammar|regex|regular expression)\b",
)

_ALWAYS_WORDS = re.compile("|".join(_ALWAYS), re.IGNORECASE)
_REFUSING_WORDS = re.compile("|".join(_REFUSING), re.IGNORECASE)


def is_constraint_refused(
    status: int | None, *, codes: Iterable[str], places: Iterable[str], message: str, is_request: bool
) -> bool:
    """Return whether an error says that the constraint cannot be had.

    Args:
        status: the status that it came with or names; None where there is none.
        codes: the codes that it names.
        places: the parts of the request that it names.
        message: the provider's words.
        is_request: its codes blame the request.
    """
    if any(code in CONSTRAINT_CODES for code in codes):
        return True
    text = message[:MOST_MESSAGE_CHARACTERS]
    if status in _BAD_REQUEST or (status is None and is_request):
        named = tuple(places)
        if any(_PLACES.search(place) for place in named):
            return True
        if named and all(_ELSEWHERE.match(place) for place in named):
            return False
        return _REFUSING_WORDS.search(text) is not None
    return status in (None, 500) and _ALWAYS_WORDS.search(text) is not None


__all__ = ["CONSTRAINT_CODES", "MOST_MESSAGE_CHARACTERS", "is_constraint_refused"]

"""Spell JSON pointers as patterns.

A relative pointer may move in an array (``0+1``) as the draft of December 2020 allows; those
before it had no such form.

Source: RFC 6901, section 3; draft-bhutton-relative-json-pointer-00, section 3.
"""

from __future__ import annotations

_WHOLE_NUMBER = "(?:0|[1-9][0-9]*)"

JSON_POINTER = "(?:/(?:[^~/]|~[01])*)*"
RELATIVE_JSON_POINTER = f"{_WHOLE_NUMBER}(?:[+-]{_WHOLE_NUMBER})?(?:#|{JSON_POINTER})"


__all__ = ["JSON_POINTER", "RELATIVE_JSON_POINTER"]

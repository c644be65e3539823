"""Write and follow JSON pointers.

Source: RFC 6901.
"""

import re

from commitgate.json_value import JsonValue

ARRAY_INDEX = re.compile("0|[1-9][0-9]{0,9}")
"""An array index (RFC 6901 section 4); one of more digits is beyond every array."""


def escape_token(token: str) -> str:
    """Return one reference token in the form that a JSON pointer holds (RFC 6901 section 3)."""
    return token.replace("~", "~0").replace("/", "~1")


def unescape_token(token: str) -> str:
    """Return the key or index that a reference token stands for (RFC 6901 section 4)."""
    return token.replace("~1", "/").replace("~0", "~")


def child(pointer: str, *tokens: str | int) -> str:
    """Return the pointer of a descendant: ``child("", *path)`` is the pointer of a path from the root."""
    for token in tokens:
        text = str(token)
        # Few need escaping, and pointers are made for every place of a schema.
        pointer += "/" + (escape_token(text) if "/" in text or "~" in text else text)
    return pointer


def tokens_of(pointer: str) -> list[str]:
    """Return the reference tokens of a JSON pointer, unescaped (RFC 6901 section 4)."""
    return [unescape_token(token) for token in pointer.split("/")[1:]]


def value_at(root: JsonValue, pointer: str) -> JsonValue:
    """Return the value that ``pointer`` names inside ``root`` (RFC 6901 section 4).

    Raises:
        KeyError: there is none.
    """
    value = root
    for token in tokens_of(pointer):
        if isinstance(value, dict):
            value = value[token]
        elif isinstance(value, list) and ARRAY_INDEX.fullmatch(token) and int(token) < len(value):
            value = value[int(token)]
        else:
            raise KeyError(pointer)
    return value


__all__ = ["ARRAY_INDEX", "child", "escape_token", "tokens_of", "unescape_token", "value_at"]

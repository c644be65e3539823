"""Write JSON pointers.

Source: RFC 6901.
"""


def escape_token(token: str) -> str:
    """Return one reference token in the form that a JSON pointer holds (RFC 6901 section 3)."""
    return token.replace("~", "~0").replace("/", "~1")


def child(pointer: str, *tokens: str | int) -> str:
    """Return the pointer of a descendant: ``child("", *path)`` is the pointer of a path from the root."""
    return pointer + "".join("/" + escape_token(str(token)) for token in tokens)


__all__ = ["child", "escape_token"]

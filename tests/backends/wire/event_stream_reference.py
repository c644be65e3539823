"""Read an event stream slowly, as the standard describes it, step by step. The decoder is held against it.

Source: WHATWG HTML, sections 9.2.5 (the grammar: what ends a line) and 9.2.6 (what each line does).
Two things are this project's own: bytes that are no UTF-8 stay as they are, and the end of a whole body dispatches what
is pending.
"""

import re

LINE_END = re.compile(rb"\r\n|\n|\r")


def events(body: bytes) -> list[tuple[bytes, str]]:
    """Return data and name of the events of a whole body."""
    if body.startswith(b"\xef\xbb\xbf"):
        body = body[3:]
    found: list[tuple[bytes, str]] = []
    data = b""
    name = ""
    for line in (*LINE_END.split(body), b""):
        if line == b"":
            if data != b"":
                found.append((data[:-1], name))
            data = b""
            name = ""
            continue
        if line[:1] == b":":
            continue
        if b":" in line:
            at = line.index(b":")
            field, value = line[:at], line[at + 1 :]
            if value[:1] == b" ":
                value = value[1:]
        else:
            field, value = line, b""
        if field == b"data":
            data += value + b"\n"
        elif field == b"event":
            name = value.decode(errors="replace")
    return found

"""Write the names of schemas and references as URIs.

Source: RFC 3987 section 3.1 (from IRIs to URIs), RFC 3986 section 2.1.
"""

from __future__ import annotations

import re
from urllib.parse import quote

_KEPT = "%/#?:@!$&'()*+,;=~[]"
"""What stays as it is beside letters, digits and ``_.-~``: an escape that is there already stays."""
_NEEDS_NOTHING = re.compile(f"[A-Za-z0-9_.~{re.escape(_KEPT)}-]*")


def as_uri(name: str) -> str:
    """Return a reference or ``$id`` with what no URI may hold (spaces, non-ASCII characters) percent-encoded."""
    return name if _NEEDS_NOTHING.fullmatch(name) else quote(name, safe=_KEPT)


__all__ = ["as_uri"]

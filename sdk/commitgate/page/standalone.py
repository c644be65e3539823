"""Put a page together out of its parts, so that what it shows can never become what it does.

What is shown travels as JSON in a block of data that no browser runs; scripts put it into the page as text. A content
security policy allows the page's own scripts, by their digests, and no request to anywhere.

Source: Content Security Policy Level 3, section 2.3 (hash sources); HTML Living Standard, "Restrictions for contents of
script elements".
"""

from __future__ import annotations

import json
from base64 import b64encode
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from importlib.resources import files

from commitgate.harmless import harmless
from commitgate.json_value import JsonValue


@dataclass(frozen=True, slots=True)
class Asset:
    """Name a file of a package: a script, a style or a part of a page.

    Attributes:
        package: the package that holds it.
        name: its file name.
    """

    package: str
    name: str

    def read(self) -> str:
        """Return its text."""
        return files(self.package).joinpath(self.name).read_text(encoding="utf-8")


BASE_STYLE = Asset("commitgate.page", "base.css")
"""Colours for dark and light, type and spacing that all pages share."""


def standalone_page(
    title: str,
    *,
    body: str,
    data: JsonValue,
    scripts: tuple[str, ...] = (),
    styles: tuple[str, ...] = (),
    connect: str = "'none'",
) -> str:
    """Return a whole HTML document.

    Args:
        title: plain text.
        body: HTML of ours; what comes from elsewhere belongs into ``data``.
        data: what the scripts show; they find it as JSON in the element with the id ``data``.
        scripts: texts of scripts of ours, run in their order.
        styles: texts of style sheets of ours, after the one that all pages share.
        connect: where scripts may send requests, as a source list; a page in a file needs none.
    """
    policy = page_policy(scripts, connect=connect)
    parts = [
        "<!doctype html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        '<meta name="referrer" content="no-referrer">',
        f"<title>{escape(harmless(title))}</title>",
        *(f"<style>{text}</style>" for text in (BASE_STYLE.read(), *styles)),
        "</head>",
        "<body>",
        body,
        f'<script type="application/json" id="data">{_inert(data)}</script>',
        *(f"<script>{text}</script>" for text in scripts),
        "</body>",
        "</html>",
        "",
    ]
    return "\n".join(parts)


def page_policy(scripts: tuple[str, ...], *, connect: str = "'none'") -> str:
    """Return the content security policy of a page with these scripts, for a server that says it in a header too."""
    digests = " ".join(f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" for text in scripts)
    own = digests or "'none'"
    return (
        f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src {own}; "
        f"connect-src {connect}; base-uri 'none'; form-action 'none'"
    )


def _inert(data: JsonValue) -> str:
    """Return JSON in which nothing can end the element around it, nor begin a comment."""
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


__all__ = ["BASE_STYLE", "Asset", "page_policy", "standalone_page"]

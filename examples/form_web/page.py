"""Make the page: one row for each field of the form, and a policy under which nothing but the page's own code runs."""

import re
from base64 import b64encode
from hashlib import sha256
from html import escape
from pathlib import Path

from booking import MAIL, Booking

TEMPLATE = Path(__file__).with_name("page.html").read_text(encoding="utf-8")
ROW = """<div class="field" data-name="{name}" data-state="empty">
        <dt>{label}</dt><dd><span class="text" dir="auto"></span><span class="word"></span></dd>
      </div>"""


def rows() -> str:
    """Return the empty form."""
    fields = Booking.model_fields.items()
    return "\n      ".join(ROW.format(name=escape(name), label=escape(field.title or name)) for name, field in fields)


def source(tag: str) -> str:
    """Name the page's own style or script in its policy, by its digest. Source: Content Security Policy Level 3."""
    code = re.search(f"<{tag}>(.*)</{tag}>", TEMPLATE, flags=re.DOTALL)
    assert code is not None, "the page holds one of each"
    return f"{tag}-src 'sha256-{b64encode(sha256(code[1].encode()).digest()).decode()}'"


PAGE = TEMPLATE.replace("<!-- mail -->", escape(MAIL)).replace("<!-- rows -->", rows())
POLICY = (
    "default-src 'none'",
    source("style"),
    source("script"),
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
)
HEADERS = {
    "Content-Security-Policy": "; ".join(POLICY),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}

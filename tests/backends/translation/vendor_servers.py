"""Facts of made-up servers, one for each column of the table of vendors."""

from __future__ import annotations

from typing import Literal

from commitgate.backends.dialect import ServerFacts
from commitgate.backends.translation import Form
from commitgate.lint.vendor_facts import VENDORS

VENDOR_NAMES = [vendor.name for vendor in VENDORS]


def server(
    vendor: str | None,
    *forms: Form,
    notations: frozenset[Literal["gbnf", "lark"]] = frozenset(),
    refuses: bool = False,
) -> ServerFacts:
    """Return the facts of a server that takes some forms; JSON Schema where none is named."""
    return ServerFacts(
        name=f"{vendor}_test",
        title=f"the {vendor} server",
        vendor=vendor,
        base_url=None,
        base_url_variable="TEST_BASE_URL",
        version_segment="v1",
        key_variables=(),
        forms=frozenset(forms or ("json_schema",)),
        notations=notations,
        proof_of_end="the finish",
        refuses=refuses,
        offers_tools=True,
    )

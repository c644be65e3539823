"""Name the drafts of JSON Schema and what sets them apart.

Source: JSON Schema drafts 4, 6 and 7, 2019-09 and 2020-12, core and validation; the migration notes between them.
"""

from __future__ import annotations

from enum import IntEnum


class Draft(IntEnum):
    """Name a draft; a later one is greater."""

    DRAFT_4 = 4
    DRAFT_6 = 6
    DRAFT_7 = 7
    DRAFT_2019_09 = 2019
    DRAFT_2020_12 = 2020

    @property
    def uri(self) -> str:
        """Return the URI of the meta-schema, as ``$schema`` writes it."""
        return _URIS[self]

    @property
    def title(self) -> str:
        """Return the draft's usual name."""
        return {2019: "2019-09", 2020: "2020-12"}.get(self, f"draft {int(self)}")

    @property
    def id_keyword(self) -> str:
        """Return the keyword that names a resource."""
        return "id" if self is Draft.DRAFT_4 else "$id"

    @property
    def reference_stands_alone(self) -> bool:
        """Return whether the keywords beside a ``$ref`` are ignored."""
        return self <= Draft.DRAFT_7


_URIS = {
    Draft.DRAFT_4: "http://json-schema.org/draft-04/schema#",
    Draft.DRAFT_6: "http://json-schema.org/draft-06/schema#",
    Draft.DRAFT_7: "http://json-schema.org/draft-07/schema#",
    Draft.DRAFT_2019_09: "https://json-schema.org/draft/2019-09/schema",
    Draft.DRAFT_2020_12: "https://json-schema.org/draft/2020-12/schema",
}
_BY_URI = {uri.rstrip("#"): draft for draft, uri in _URIS.items()}

DEFAULT_DRAFT = Draft.DRAFT_2020_12
"""What is meant where ``$schema`` is missing."""


def draft_of(uri: str) -> Draft | None:
    """Return the draft whose meta-schema has this URI; None where it is another's."""
    return _BY_URI.get(uri.rstrip("#"))


__all__ = ["DEFAULT_DRAFT", "Draft", "draft_of"]

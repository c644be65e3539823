"""Check the documents that are passed in beside a schema, and say which one is missing.

Source: RFC 3986 section 4.3 (absolute URIs).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import cast
from urllib.parse import urlsplit

from commitgate.argument import wrong_kind
from commitgate.automaton.json_schema.excerpt import excerpt
from commitgate.automaton.json_schema.uri import as_uri
from commitgate.errors import MisuseError
from commitgate.json_value import JsonSchema

_MAX_NAMED = 5


def given_documents(documents: Mapping[str, JsonSchema] | None) -> dict[str, JsonSchema]:
    """Return the documents by their URIs, as references name them.

    Args:
        documents: as the caller passed them; a caller without a type checker can pass anything.

    Raises:
        MisuseError: they are no mapping, or a key is no absolute URI without fragment.
    """
    if documents is None:
        return {}
    if not isinstance(cast("object", documents), Mapping):
        raise wrong_kind("documents", "a dict of schemas by absolute URI", documents)
    return {_absolute(uri): document for uri, document in documents.items()}


def is_absolute(uri: str) -> bool:
    """Return whether a URI names a document wherever it stands."""
    try:
        return bool(urlsplit(uri).scheme)
    except ValueError:
        return False


def why_missing(uri: str, given: Collection[str]) -> str:
    """Return the sentence about a document that a reference names and that was not passed in.

    Args:
        uri: its URI, resolved as far as it can be.
        given: the URIs of those that were passed in.
    """
    reason = f"it names the document {excerpt(uri)}, which was not passed in; nothing is fetched"
    if uri.startswith("/"):
        reason += f". For a place in this document write {excerpt('#' + uri)}"
    if not is_absolute(uri):
        return reason + ". It is relative: give the schema an $id, an absolute URI, or write the URI in full"
    reason += ". Pass it by that URI: in documents, or at the command line with --document URI=FILE"
    return f"{reason}. Passed in: {_list(given)}" if given else reason


def _absolute(uri: object) -> str:
    if not isinstance(uri, str):
        raise wrong_kind("the key of a document", "a str, an absolute URI", uri)
    # A lone surrogate, which no UTF-8 text holds, is no part of a URI either.
    is_text = uri.isascii() or not any("\ud800" <= character <= "\udfff" for character in uri)
    name, _, fragment = as_uri(uri if is_text else "").partition("#")
    if fragment or not is_absolute(name):
        raise MisuseError(f"the key of a document must be an absolute URI without fragment, found {excerpt(uri)}")
    return name


def _list(given: Collection[str]) -> str:
    named = ", ".join(excerpt(uri) for uri in sorted(given)[:_MAX_NAMED])
    return named if len(given) <= _MAX_NAMED else f"{named} and {len(given) - _MAX_NAMED} more"


__all__ = ["given_documents", "is_absolute", "why_missing"]

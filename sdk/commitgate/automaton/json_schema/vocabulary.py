"""Decide which draft and which keywords a schema resource is written in.

Source: JSON Schema 2019-09 and 2020-12 core, sections 8.1.1 (``$schema``) and 8.1.2 (``$vocabulary``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from types import MappingProxyType

from commitgate.automaton.json_schema.drafts import DEFAULT_DRAFT, Draft, draft_of
from commitgate.automaton.json_schema.excerpt import excerpt, nearest
from commitgate.automaton.json_schema.keywords import UNKNOWN, VOCABULARIES, Holds, Keyword, Kind, keywords_of
from commitgate.errors import UnsupportedError
from commitgate.json_value import JsonSchema

_NAMED = {"format-annotation": "format", "format-assertion": "format"}
_ALWAYS_UNDERSTOOD = frozenset({"core", "meta-data", "content"})


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Hold the draft of a schema resource and the keywords that mean something in it.

    Attributes:
        draft: the draft.
        keywords: what it knows of each word.
        assertions: the keywords that constrain.
        containers: the keywords that only hold schemas.
        holding: where schemas lie in the values of the keywords that hold any.
    """

    draft: Draft = DEFAULT_DRAFT
    keywords: Mapping[str, Keyword] = field(default_factory=lambda: keywords_of(DEFAULT_DRAFT))
    assertions: frozenset[str] = field(init=False, repr=False, compare=False)
    containers: frozenset[str] = field(init=False, repr=False, compare=False)
    holding: Mapping[str, Holds] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # Asked for every schema of a document; drafts come from ``of_draft`` and are looked through once.
        object.__setattr__(self, "assertions", _names_of_kind(self.keywords, Kind.ASSERTION))
        object.__setattr__(self, "containers", _names_of_kind(self.keywords, Kind.CONTAINER))
        holding = {name: known.holds for name, known in self.keywords.items() if known.holds is not Holds.NOTHING}
        object.__setattr__(self, "holding", MappingProxyType(holding))

    def keyword(self, name: str) -> Keyword:
        """Return what is known of a word."""
        return self.keywords.get(name, UNKNOWN)


def _names_of_kind(keywords: Mapping[str, Keyword], kind: Kind) -> frozenset[str]:
    return frozenset(name for name, known in keywords.items() if known.kind is kind)


@cache
def of_draft(draft: Draft) -> Vocabulary:
    """Return the whole vocabulary of a draft."""
    return Vocabulary(draft, keywords_of(draft))


def vocabulary_of(uri: str, documents: Mapping[str, JsonSchema], place: str) -> Vocabulary:
    """Return the vocabulary that ``$schema`` with this URI chooses.

    Args:
        uri: what ``$schema`` says.
        documents: documents by URI, where a meta-schema that is no draft's own must be found.
        place: where it stands, for the error.

    Raises:
        UnsupportedError: the meta-schema is unknown or needs a vocabulary that is.
    """
    draft = draft_of(uri)
    if draft is not None:
        return of_draft(draft)
    meta = documents.get(uri.partition("#")[0])
    if not isinstance(meta, dict):
        raise _unsupported(place, _unknown(uri))
    own = meta.get("$schema")
    base = draft_of(own) if isinstance(own, str) else DEFAULT_DRAFT
    if base is None:
        raise _unsupported(place, "the $schema of the meta-schema that it names is none of the drafts")
    found = of_draft(base)
    used = meta.get("$vocabulary")
    return found if not isinstance(used, dict) else _restricted(found, used, place)


def _restricted(found: Vocabulary, used: Mapping[str, object], place: str) -> Vocabulary:
    names: set[str] = set()
    for uri, is_required in used.items():
        last = uri.rpartition("/")[2]
        name = _NAMED.get(last, last)
        is_official = uri.startswith("https://json-schema.org/draft/")
        if is_official and (name in VOCABULARIES or name in _ALWAYS_UNDERSTOOD):
            names.add(name)
        elif is_required is True:
            raise _unsupported(place, "the meta-schema that it names requires a vocabulary that is not known")
    if found.draft is Draft.DRAFT_2019_09 and "applicator" in names:
        names.add("unevaluated")
    left_out = frozenset[str]().union(*(words for name, words in VOCABULARIES.items() if name not in names))
    kept = {word: known for word, known in found.keywords.items() if word not in left_out}
    return replace(found, keywords=MappingProxyType(kept))


def _unknown(uri: str) -> str:
    meant = nearest(uri, [draft.uri for draft in Draft])
    advice = f"did you mean {meant}?" if meant else f"the latest is {DEFAULT_DRAFT.uri}"
    return (
        f"{excerpt(uri)} names none of the drafts 4, 6, 7, 2019-09 and 2020-12 by its full URI, "
        f"nor a document passed in; {advice}"
    )


def _unsupported(place: str, reason: str) -> UnsupportedError:
    return UnsupportedError(
        f"$schema at {place or 'the root'} cannot be honoured: {reason}",
        pointer=place,
        keyword="$schema",
        reason=reason,
    )


__all__ = ["Vocabulary", "of_draft", "vocabulary_of"]

"""Say of the words in a schema that constrain nothing, though they look as if they did, why that is so.

By the standard a word that no draft knows annotates (2020-12 core section 4.3.1), so a misspelled keyword is no fault;
it must be visible.
"""

from __future__ import annotations

from collections.abc import Container
from functools import lru_cache

from commitgate.automaton.json_schema.drafts import Draft
from commitgate.automaton.json_schema.excerpt import nearest
from commitgate.automaton.json_schema.keywords import KEYWORDS, Kind, keywords_of
from commitgate.automaton.json_schema.vocabulary import Vocabulary

_OWN = "x-"
"""How words of one's own begin, as OpenAPI has it; they are meant to be unknown."""

_CACHED_WORDS = 256
_MAX_WORD = 40


def why_ignored(name: str, schema: Container[str], vocabulary: Vocabulary) -> str:
    """Return why a word of a schema does not constrain; empty where nobody would expect it to.

    Args:
        name: the word, none that constrains there.
        schema: the words beside it.
        vocabulary: that of the schema.
    """
    elsewhere = KEYWORDS.get(name)
    if name.startswith(_OWN) or (elsewhere is not None and elsewhere.kind is not Kind.ASSERTION):
        return ""
    title = vocabulary.draft.title
    if name in vocabulary.keywords:
        is_beside = "$ref" in schema and vocabulary.draft.reference_stands_alone
        return f"{title} ignores what stands beside $ref" if is_beside else ""
    if name in keywords_of(vocabulary.draft):
        return "the meta-schema that $schema names leaves it out"
    meant = _meant(name, vocabulary.draft) if len(name) <= _MAX_WORD and elsewhere is None else None
    return f"no keyword of {title}" + (f"; did you mean {meant}?" if meant else "")


@lru_cache(maxsize=_CACHED_WORDS)
def _meant(name: str, draft: Draft) -> str | None:
    return nearest(name, [word for word, known in keywords_of(draft).items() if known.kind is not Kind.ANNOTATION])


__all__ = ["why_ignored"]

"""Say which keywords of a schema contradict each other, where no value satisfies them together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from commitgate.automaton.dfa import TooManyStates
from commitgate.automaton.json_schema.plain_json import canonical
from commitgate.automaton.regex import PatternError, PatternUnsupported, pattern_language
from commitgate.harmless import harmless
from commitgate.json_value import JsonObject, JsonValue

_MOST_TRIALS = 12
_TRIED_BYTES = 20_000
_SHOWN_NAMES = 5
_SHOWN = 60

_CONSTRAIN_NOTHING = frozenset(
    {"$schema", "$id", "id", "$anchor", "$comment", "$defs", "definitions", "title", "description", "default"}
    | {"examples", "deprecated", "readOnly", "writeOnly"}
)
_APPLICATORS = frozenset({"$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "then", "else", "dependentSchemas"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction:
    """Explain why no value satisfies a schema.

    Attributes:
        pointer: the schema that holds the keyword.
        keyword: the one to change first.
        message: which parts contradict each other.
        instead: what to write.
        names: keys that are required there and can never be; empty where it is another contradiction.
    """

    pointer: str
    keyword: str
    message: str
    instead: str
    names: tuple[str, ...] = ()


def contradiction(
    root: JsonValue, pointer: str, schema: JsonObject, is_solved_by: Callable[[str], bool]
) -> Contradiction | None:
    """Return what contradicts what at a place; None where it cannot be told cheaply.

    Args:
        root: the whole schema.
        pointer: the place at which no value is left.
        schema: what stands there.
        is_solved_by: says whether a value is left there without the named keyword.
    """
    return _forbidden_names(pointer, schema) or _keywords(root, pointer, schema, is_solved_by)


def _forbidden_names(pointer: str, schema: JsonObject) -> Contradiction | None:
    together = list(_together(pointer, schema))
    if not any(each.get("type") in ("object", ["object"]) for _, each in together):
        return None  # values of other types have no keys
    for closed_at, closed in together:
        word = _closing(closed)
        if word is None:
            continue
        for place, each in together:
            required = each.get("required")
            names = required if isinstance(required, list) else []
            missing = _undeclared([name for name in names if isinstance(name, str)], closed)
            if missing:
                return _of_names(place, missing, closed_at, word)
    return None


def _of_names(place: str, missing: tuple[str, ...], closed_at: str, word: str) -> Contradiction:
    shown = ", ".join(harmless(name[:_SHOWN]) for name in missing[:_SHOWN_NAMES])
    more = f" and {len(missing) - _SHOWN_NAMES} more" if len(missing) > _SHOWN_NAMES else ""
    there = "there" if closed_at == place else f"at {harmless(closed_at) or 'the root'}"
    does = "does" if len(missing) == 1 else "do"
    return Contradiction(
        pointer=place,
        keyword="required",
        message=(
            f"no value can satisfy the schema: required at {harmless(place) or 'the root'} wants {shown}{more}, which "
            f"{does} not stand in properties {there}, and {word} {there} is false"
        ),
        instead="declare it in those properties, or take it out of required",
        names=missing,
    )


def _together(pointer: str, schema: JsonObject) -> Iterator[tuple[str, JsonObject]]:
    """Yield a schema and those of its ``allOf``, with their places: a value must satisfy all of them."""
    queue = [(pointer, schema)]
    while queue:
        place, each = queue.pop()
        if "$ref" in each:
            continue  # in older drafts nothing beside it counts
        yield place, each
        parts = each.get("allOf")
        for index, part in enumerate(parts if isinstance(parts, list) else ()):
            if isinstance(part, dict):
                queue.append((f"{place}/allOf/{index}", part))


def _closing(schema: JsonObject) -> str | None:
    if schema.get("additionalProperties") is False:
        return "additionalProperties"
    # What another schema declares at the same place, unevaluatedProperties lets through.
    if schema.get("unevaluatedProperties") is False and not schema.keys() & _APPLICATORS:
        return "unevaluatedProperties"
    return None


def _undeclared(names: list[str], schema: JsonObject) -> tuple[str, ...]:
    """Return the names that the schema declares neither by themselves nor by a pattern; none where it is not known."""
    properties, patterns = schema.get("properties"), schema.get("patternProperties")
    left = [name for name in names if not (isinstance(properties, dict) and name in properties)]
    if not left or not isinstance(patterns, dict):
        return tuple(left)
    try:
        languages = [pattern_language(pattern) for pattern in patterns]
    except (PatternError, PatternUnsupported, TooManyStates):
        return ()
    return tuple(
        name for name in left if not any(language is not None and language.contains(name) for language in languages)
    )


def _keywords(
    root: JsonValue, pointer: str, schema: JsonObject, is_solved_by: Callable[[str], bool]
) -> Contradiction | None:
    words = [word for word in schema if word not in _CONSTRAIN_NOTHING]
    if len(words) > _MOST_TRIALS or len(words) * len(canonical(root)) > _TRIED_BYTES:
        return None
    guilty = [word for word in words if is_solved_by(word)]
    if not guilty:
        return None
    where = harmless(pointer) or "the root"
    named = next((word for word in ("not", "oneOf") if word in guilty), guilty[0])
    if named == "not":
        said = f"not at {where} forbids all that the schema allows beside it"
        instead = "write out what is allowed in place of not"
    elif named == "oneOf":
        said = f"oneOf at {where} allows nothing: what one of its branches takes, another takes too, or none does"
        instead = "use anyOf, or give each branch a property that tells it apart"
    elif named == "anyOf" and len(guilty) == 1:
        said = f"none of the branches of anyOf at {where} has one"
        instead = "correct at least one branch"
    else:
        shown = ", ".join(harmless(word[:_SHOWN]) for word in guilty)
        said = f"{shown} at {where} {'leaves nothing' if len(guilty) == 1 else 'contradict each other'}"
        instead = "change one of them" if len(guilty) > 1 else "change it"
    message = f"no value can satisfy the schema: {said}"
    return Contradiction(pointer=pointer, keyword=named, message=message, instead=instead)


__all__ = ["Contradiction", "contradiction"]

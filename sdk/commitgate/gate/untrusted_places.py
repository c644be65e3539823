"""Find the untrusted texts in a typed value, each with its place in the JSON that the value was made from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Annotated, TypeAlias, cast, get_args, get_origin, get_type_hints

from commitgate.untrusted_text import UntrustedText

Path: TypeAlias = "tuple[str | int, ...]"
"""Keys and indexes, from the root inwards."""

_Trail: TypeAlias = "tuple[_Trail, Path] | None"


def untrusted_texts(value: object) -> Iterator[tuple[Path, UntrustedText]]:
    """Yield each untrusted text with its path, in the order of the value.

    Looked into are pydantic models, dataclasses, mappings, their keys included, sequences and sets; an object that is
    met twice is looked into once. A member of a set has the set's own path.
    """
    # A list of what waits in place of calls: a value may be nested deeper than calls can be.
    waiting: list[tuple[_Trail, object]] = [(None, value)]
    seen: set[int] = set()
    while waiting:
        trail, node = waiting.pop()
        if isinstance(node, UntrustedText):
            yield _path(trail), node
        elif id(node) not in seen:
            members = _members(node)
            if members:
                seen.add(id(node))
                waiting.extend(((trail, parts), member) for parts, member in reversed(members))


def _path(trail: _Trail) -> Path:
    found: list[Path] = []
    while trail is not None:
        trail, parts = trail
        found.append(parts)
    return tuple(part for parts in reversed(found) for part in parts)


def _members(node: object) -> list[tuple[Path, object]]:
    """Return what is in an object, each with the keys that lead to it in JSON; empty where it holds nothing."""
    if isinstance(node, str | bytes | bytearray | Enum | type):
        return []
    if isinstance(node, Mapping):
        return _entries(cast("Mapping[object, object]", node))
    if isinstance(node, Sequence):
        return [((index,), member) for index, member in enumerate(cast("Sequence[object]", node))]
    if isinstance(node, AbstractSet):
        return [((), member) for member in cast("AbstractSet[object]", node)]
    described = getattr(type(node), "__pydantic_fields__", None)
    if isinstance(described, Mapping):
        return _of_model(node, cast("Mapping[str, object]", described))
    if is_dataclass(node):
        names = _names_in_json(type(node))
        return [
            (names.get(each.name, (each.name,)), getattr(node, each.name))
            for each in fields(node)
            if hasattr(node, each.name)
        ]
    return []


def _entries(node: Mapping[object, object]) -> list[tuple[Path, object]]:
    found: list[tuple[Path, object]] = []
    for key, member in node.items():
        parts: Path = (_key(key),)
        found += [(parts, key), (parts, member)] if isinstance(key, UntrustedText) else [(parts, member)]
    return found


def _key(key: object) -> str:
    if isinstance(key, UntrustedText):
        return key.reveal()
    plain: object = key.value if isinstance(key, Enum) else key
    return str(plain).lower() if isinstance(plain, bool) else str(plain)


def _of_model(node: object, described: Mapping[str, object]) -> list[tuple[Path, object]]:
    if getattr(type(node), "__pydantic_root_model__", False):
        return [((), getattr(node, "root", None))]
    found: list[tuple[Path, object]] = [
        (_name_in_json(name, info), getattr(node, name)) for name, info in described.items() if hasattr(node, name)
    ]
    extra = getattr(node, "__pydantic_extra__", None)
    return found + _entries(cast("Mapping[object, object]", extra)) if isinstance(extra, Mapping) else found


def _name_in_json(name: str, info: object) -> Path:
    """Return the keys that lead to a field, from what pydantic knows of it: its alias, or a path of several."""
    alias: object = getattr(info, "validation_alias", None) or getattr(info, "alias", None)
    if alias is None:
        return (name,)
    if isinstance(alias, str):
        return (alias,)
    choices: object = getattr(alias, "choices", None)
    if isinstance(choices, list) and choices:
        alias = cast("list[object]", choices)[0]
    path: object = getattr(alias, "path", None)
    if isinstance(path, list):
        return tuple(cast("list[str | int]", path))
    return (alias,) if isinstance(alias, str) else (name,)


def _names_in_json(kind: type) -> dict[str, Path]:
    """Return the keys of a plain dataclass's fields where an annotation gives them another name."""
    try:
        hints = cast("dict[str, object]", get_type_hints(kind, include_extras=True))
    except Exception:  # noqa: BLE001 - annotations are the caller's code; without them a field goes by its own name
        return {}
    return {
        name: _name_in_json(name, note)
        for name, hint in hints.items()
        if get_origin(hint) is Annotated
        for note in get_args(hint)[1:]
        if getattr(note, "validation_alias", None) or getattr(note, "alias", None)
    }


__all__ = ["Path", "untrusted_texts"]

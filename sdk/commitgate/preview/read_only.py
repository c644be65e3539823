"""Define the lists and dictionaries that previews are made of: real ones, which refuse to be changed.

Why subclasses of ``list`` and ``dict``: previews share finished parts, so a change to one would show in all. Views or
tuples could not be changed either, but every consumer of JSON (``json.dumps``, templates, ``isinstance``, comparison)
takes real lists and dictionaries, and reads them at full speed. Whoever wants to change a value copies it:
``copy.deepcopy``, ``pickle``, ``list(...)``, ``dict(...)`` and ``.copy()`` all give plain ones.

What is refused is an accident: ``list.append(value, ...)``, called on the base class, is not stopped.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NoReturn

from commitgate.json_value import JsonValue

_extend = list[JsonValue].extend
_update = dict[str, JsonValue].update


def _refuse(*_: object, **__: object) -> NoReturn:
    raise TypeError("a preview is read-only: copy.deepcopy(value) gives a value that may be changed")


class ReadOnlyList(list[JsonValue]):
    """Hold a JSON array of a preview."""

    __slots__ = ()

    @classmethod
    def of(cls, *parts: Iterable[JsonValue]) -> ReadOnlyList:
        """Return the items of all parts, one after the other."""
        made = cls.__new__(cls)
        for part in parts:
            _extend(made, part)
        return made

    def __reduce__(self) -> tuple[type[list[JsonValue]], tuple[list[JsonValue]]]:
        """Copy and pickle as a plain list."""
        return list, (list(self),)

    __init__ = __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = extend = insert = remove = pop = clear = sort = reverse = _refuse


class ReadOnlyDict(dict[str, JsonValue]):
    """Hold a JSON object of a preview."""

    __slots__ = ()

    @classmethod
    def of(cls, *parts: Mapping[str, JsonValue]) -> ReadOnlyDict:
        """Return the members of all parts; a later part replaces what an earlier one has under the same key."""
        made = cls.__new__(cls)
        for part in parts:
            _update(made, part)
        return made

    def __reduce__(self) -> tuple[type[dict[str, JsonValue]], tuple[dict[str, JsonValue]]]:
        """Copy and pickle as a plain dictionary."""
        return dict, (dict(self),)

    __init__ = __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse


__all__ = ["ReadOnlyDict", "ReadOnlyList"]

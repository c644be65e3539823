"""Write the place of a failure as a JSON pointer that shows the schema's words alone.

A key that the schema does not declare was written by the model; it is output, and output stands in no message. Such
keys are written as ``*``; the exact pointer goes into the failure's ``data``, which ``repr`` leaves out.
"""

from __future__ import annotations

from collections.abc import Iterable

from commitgate.gate.places import Schemas
from commitgate.pointer import child


def shown_pointer(schemas: Schemas, path: Iterable[str | int]) -> str:
    """Return the JSON pointer of ``path`` with every undeclared key written as ``*``."""
    place = schemas.root
    shown: list[str | int] = []
    for part in path:
        if isinstance(part, int):
            shown.append(part)
            place = place.item(part)
        else:
            shown.append(part if place.declares(part) else "*")
            place = place.property(part)
    return child("", *shown)


__all__ = ["shown_pointer"]

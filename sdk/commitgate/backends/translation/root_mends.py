"""Mend a root that a vendor does not take: most want an object there."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from commitgate.backends.translation.fitting import Fitting, Mend, Offence
from commitgate.backends.translation.schema_graph import Node
from commitgate.backends.translation.shapes import WRAPPED


class NothingToSayError(Exception):
    """Raised inside this package: the vendor has no word for any value at all, and nothing else is left to say."""


def _wrap(fitting: Fitting, offence: Offence) -> None:
    """Make the value a member of an object."""
    if fitting.is_wrapped or not fitting.may_wrap:
        reason = f"{fitting.words.happens(offence.case)}; write an object with declared keys"
        raise fitting.unsupported(offence.node, offence.keyword, reason)
    inner = fitting.root
    closed = {"additionalProperties": Node("", is_false=True)} if fitting.words.takes("closed_object") else {}
    fitting.root = Node(
        "",
        plain={"type": "object", "required": [WRAPPED]},
        one=closed,
        named={"properties": {WRAPPED: inner}},
    )
    fitting.is_wrapped = True
    fitting.note("wrapped", inner, offence.keyword, f"{fitting.words.happens(offence.case)}; sent as a member")


def _fill(fitting: Fitting, offence: Offence) -> None:
    if fitting.may_wrap and fitting.words.refuses("root_without_properties"):
        _wrap(fitting, offence)
        return
    raise NothingToSayError(fitting.words.happens(offence.case))


ROOT: Mapping[str, Mend] = MappingProxyType(
    {
        "root_array": _wrap,
        "root_scalar": _wrap,
        "root_any_of": _wrap,
        "root_without_properties": _wrap,
        "empty_schema": _fill,
    }
)
"""Cases of the root, looked at last: what stands in an object then need not be mended again."""

__all__ = ["ROOT", "NothingToSayError"]

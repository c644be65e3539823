"""Check a schema against what a vendor bounds, before anything is sent."""

from __future__ import annotations

from commitgate.backends.translation.fitting import Fitted, Fitting
from commitgate.lint.complexity import complexity_of
from commitgate.lint.report import Complexity
from commitgate.lint.vendor_facts import VENDOR_LIMITS

_INSTEAD = {
    "properties": "ask for fewer in one call",
    "nesting": "flatten it: lift inner properties up into what holds them",
    "enum_values": "choose a group first and a value in it then",
    "optional_properties": "require what is wanted, with null where there may be none",
    "unions": "use fewer of anyOf and lists of types",
    "text_characters": "use shorter or fewer names and values",
    "enum_characters": "choose a group first and a value in it then",
}


def check_limits(fitting: Fitting, fitted: Fitted) -> Complexity | None:
    """Check the measures of a schema as it would be sent, and return them; None where nothing is bounded.

    Raises:
        UnsupportedError: one of them is more than the vendor takes.
    """
    limits = [each for each in VENDOR_LIMITS if each.vendor == fitting.words.vendor]
    if not limits:
        return None
    complexity = complexity_of(fitted.document, fitted.depths)
    for limit in limits:
        found: object = getattr(complexity, limit.measure)
        if isinstance(found, int) and found > limit.most:
            words = limit.measure.replace("_", " ")
            reason = f"{fitting.words.title} takes at most {limit.most:,} {words}, found {found:,}"
            raise fitting.unsupported(fitting.root, "", f"{reason}; {_INSTEAD[limit.measure]}")
    return complexity


def is_over_total(vendor: str, measured: list[Complexity]) -> bool:
    """Say that several schemas of one request are together more than a vendor takes."""
    return any(
        sum(getattr(each, limit.measure) for each in measured) > limit.most
        for limit in VENDOR_LIMITS
        if limit.vendor == vendor and limit.is_total
    )


__all__ = ["check_limits", "is_over_total"]

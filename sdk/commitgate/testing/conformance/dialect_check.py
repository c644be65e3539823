"""Check a dialect: what it knows, what it writes, and how it reads what a server answered."""

from __future__ import annotations

from collections.abc import Sequence

from commitgate.argument import wrong_kind
from commitgate.backends.dialect import Dialect
from commitgate.testing.conformance.facts_laws import check_facts, check_handshake
from commitgate.testing.conformance.law import Law
from commitgate.testing.conformance.reading_laws import check_reading
from commitgate.testing.conformance.recorded_answer import RecordedAnswer, checked
from commitgate.testing.conformance.writing_laws import check_writing

_PARTS = ("facts", "write", "expected", "reader", "handshake", "identify")


def check_dialect(dialect: Dialect, recordings: Sequence[RecordedAnswer]) -> frozenset[Law]:
    """Hold a dialect to its laws, without a network. Takes seconds for some tens of answers.

    The environment's variables for its key are set for as long as it writes.

    Args:
        dialect: the dialect.
        recordings: answers of its server, of all endings that it knows; at least one that is complete.

    Returns:
        The laws that were tried: some need a recording of a kind.

    Raises:
        ConformanceError: a law is broken.
        MisuseError: it is no dialect, or the recordings prove nothing.
    """
    missing = [name for name in _PARTS if not hasattr(dialect, name)]
    if missing:
        raise wrong_kind("dialect", f"a Dialect, which has {missing[0]}", dialect)
    answers = checked(recordings)
    return frozenset(
        (
            *check_facts(dialect),
            *check_handshake(dialect),
            *check_writing(dialect),
            *check_reading(dialect, answers),
        )
    )


__all__ = ["check_dialect"]

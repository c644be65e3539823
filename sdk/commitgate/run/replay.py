"""Hand over again what the ledger holds, and nothing that its row cannot vouch for.

A row may have been changed by hand or damaged. Its receipt carries the digest of its value, so a value that is another
one is found out. A receipt that cannot be read hides no value: then the contract itself is asked.
"""

from __future__ import annotations

import time
from dataclasses import replace
from hashlib import sha256
from typing import TypeVar

from commitgate.automaton import compile
from commitgate.contract import Contract
from commitgate.errors import StoredValueError
from commitgate.gate.judge import Chosen, Judge
from commitgate.gate.layers import Failure, Layer
from commitgate.gate.stored_value import load
from commitgate.gate.type_layer import Typed
from commitgate.outcome import Receipt
from commitgate.run.limited_acceptor import LimitedAcceptor
from commitgate.run.receipt_json import load_receipt
from commitgate.worker_thread import aside

T = TypeVar("T")

_IS_COMMITTED = "the key's value was committed and its effect, if any, has run, but the value"
_IS_NOT = "the key's value was chosen and is not committed yet; nothing was done with it now, because the value"


def read_receipt(stored: bytes | None, otherwise: Receipt) -> Receipt:
    """Return the stored receipt, or ``otherwise`` where there is none that can be read."""
    try:
        return otherwise if stored is None else load_receipt(stored)
    except ValueError:
        return otherwise


def read_value(
    contract: Contract[T], stored: bytes | None, digest: str | None, *, is_committed: bool = True
) -> Chosen[T]:
    """Make the value again from the ledger's bytes, through the same type layer.

    Args:
        contract: what the call asks for.
        stored: the value as JSON.
        digest: SHA-256 of the value as its receipt tells it; None where that could not be read.
        is_committed: what to tell of it where it cannot be read.

    Raises:
        StoredValueError: it is another value than the one that was chosen, or the contract refuses it.
    """
    told = _IS_COMMITTED if is_committed else _IS_NOT
    if stored is None:
        raise StoredValueError(f"{told} is missing from the ledger's row; restore the ledger from a copy")
    if digest is not None and sha256(stored).hexdigest() != digest:
        raise StoredValueError(f"{told} in the ledger's row was changed since; restore the ledger from a copy")
    if digest is None and contract.text is not None:
        return _read_text(contract, stored, told)
    if digest is None and contract.type_adapter is None:
        judged = Judge(contract, clock=time.perf_counter).choose(stored)
        if isinstance(judged, Chosen):
            return judged
        raise _refused(told, judged.failures[0])
    loaded = load(contract, stored)
    if isinstance(loaded, Typed):
        return Chosen(loaded.value, stored)
    raise _refused(told, loaded[0])


def _read_text(contract: Contract[T], stored: bytes, told: str) -> Chosen[T]:
    """Make a text again of which no digest is known: the contract's automaton is asked in its place.

    Raises:
        StoredValueError: the contract refuses it.
    """
    loaded = load(contract, stored)
    if not isinstance(loaded, Typed):
        raise _refused(told, loaded[0])
    # Nobody reviewed it without its refusals, which are never stored.
    automaton = compile(replace(contract, refusal=False, reviewed_digest=None))
    acceptor = LimitedAcceptor(automaton.acceptor())
    if not (acceptor.feed(str(loaded.value).encode()) and acceptor.is_accepting):
        message = "the text is none of the contract's"
        raise _refused(told, Failure(layer=Layer.ACCEPT, code="constraint", pointer="", message=message))
    return Chosen(loaded.value, stored)


async def read_value_aside(
    contract: Contract[T], stored: bytes | None, digest: str | None, *, is_committed: bool
) -> Chosen[T]:
    """Make the value again as ``read_value`` does, beside the event loop where it is large."""
    return await aside(stored or b"", lambda: read_value(contract, stored, digest, is_committed=is_committed))


def _refused(told: str, failure: Failure) -> StoredValueError:
    return StoredValueError(
        f"{told} cannot be loaded ({failure.layer}: {failure.code} at {failure.pointer or 'the root'}); call with "
        "the type that stored it"
    )


__all__ = ["read_receipt", "read_value", "read_value_aside"]

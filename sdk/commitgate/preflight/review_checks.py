"""Check that a contract is named, versioned and the one that somebody reviewed."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from commitgate.contract import Contract
from commitgate.preflight.check import Check, Verdict, check

_MADE_UP = frozenset({"schema", "regex", "grammar", "choices", "machine"})
"""Names that a contract has where nobody gave it one."""


def review_checks(contract: Contract[object], reviewed: Collection[str] | None, *, acts: bool) -> Iterator[Check]:
    """Yield the checks of a review.

    Args:
        contract: the contract.
        reviewed: digests of contracts and templates that were reviewed; None where no list was given.
        acts: something is done because of its value.
    """
    lacking: Verdict = "failed" if acts else "warned"
    if contract.name in _MADE_UP:
        told = f"nobody named it, so it is called {contract.name}"
        yield check("named", lacking, told, "give name=, or the schema a title: receipts and spans are found by it")
    else:
        yield check("named", "passed", f"it is called {contract.name}")
    if contract.version is None:
        instead = "give version=: it is how a receipt tells which of two releases wrote a value"
        yield check("versioned", lacking, "it has no version", instead)
    else:
        yield check("versioned", "passed", f"version {contract.version}")
    yield _reviewed(contract, reviewed, lacking)


def _reviewed(contract: Contract[object], reviewed: Collection[str] | None, lacking: Verdict) -> Check:
    digest = contract.full_digest
    if reviewed is not None:
        if digest in reviewed:
            return check("reviewed", "passed", f"its digest {digest} is in the list of reviewed ones")
        if contract.template_digest in reviewed:
            told = f"its template {contract.template_digest} is in the list; filled, its digest is {digest}"
            return check("reviewed", "passed", told)
        told = f"its digest {digest} is none of the {len(reviewed)} that were reviewed"
        instead = "read what changed in schema, prose, name, version and limits; then add the digest to the list"
        return check("reviewed", "failed", told, instead)
    if contract.reviewed_digest is not None:
        # A contract cannot be made with the digest of another one.
        return check("reviewed", "passed", f"its reviewed_digest is its full digest, {digest}")
    if contract.template_digest is not None:
        told = f"it was filled from a template, {contract.template_digest}, and no list of reviewed ones was given"
    else:
        told = f"nobody says that it was reviewed; its full digest is {digest}"
    instead = "read the contract as it will run, then give reviewed_digest= or a list of reviewed digests"
    return check("reviewed", lacking, told, instead)


__all__ = ["review_checks"]

"""Hold the digests of the contracts that somebody reviewed, and keep effects to them.

This guards against accidents and against schemas that come in while a program runs. Code of the same process can always
write what it likes into a contract.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar, cast

from commitgate.argument import check_digest, wrong_kind
from commitgate.errors import ReviewedContractError
from commitgate.risk import Risk

if TYPE_CHECKING:
    from commitgate.contract import Contract
    from commitgate.effect import Effect

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Reviewed:
    """Keep effects to contracts that were reviewed.

    Attributes:
        digests: full digests of contracts, and digests of templates; None allows every contract.
    """

    digests: frozenset[str] | None = None

    @staticmethod
    def of(given: Iterable[str] | None) -> Reviewed:
        """Check a list of digests; an empty one allows no effect at all.

        Raises:
            MisuseError: it is none, or an item is no digest.
        """
        found = cast("object", given)
        if found is None:
            return Reviewed()
        if isinstance(found, str | bytes) or not isinstance(found, Iterable):
            raise wrong_kind("reviewed", "a list of digests", found)
        items = tuple(cast("Iterable[object]", found))
        for index, item in enumerate(items):
            check_digest(f"reviewed[{index}]", item, "a full_digest or the digest of a template")
        return Reviewed(frozenset(cast("tuple[str, ...]", items)))

    def check(
        self, contract: Contract[object], effect: Effect[T, R] | None = None, *, subject: str = "the contract"
    ) -> None:
        """Check that a contract may be used where it is.

        Args:
            contract: what a value must satisfy.
            effect: what the value sets off; None leaves it to the contract's risk.
            subject: what the error calls the contract.

        Raises:
            ReviewedContractError: an effect hangs on it, and nobody reviewed it or its template.
        """
        may_act = contract.risk is Risk.EFFECT or (effect is not None and not effect.only_reads)
        if self.digests is None or not may_act:
            return
        if self.digests.isdisjoint({contract.full_digest, contract.template_digest or ""}):
            raise ReviewedContractError(
                reviewed=self.digests, found=contract.full_digest, template=contract.template_digest, subject=subject
            )


__all__ = ["Reviewed"]

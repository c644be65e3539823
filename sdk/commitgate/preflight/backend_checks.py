"""Check how a backend is asked for a contract: whether at all, in which words, and how much of it is enforced."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from commitgate.backends.base import Backend
from commitgate.backends.translation import Translation
from commitgate.contract import Contract
from commitgate.difference import Difference
from commitgate.errors import ContractError
from commitgate.lint import SupportEntry
from commitgate.preflight.check import Check, Verdict, check
from commitgate.run.wording import worded

_CHECKED = "say it with other keywords, or count on answers that end as Invalid; require='decoded' refuses such calls"
_WORDS = {
    "narrowed": "the server allows less",
    "nullable": "what may be left out is required and may be null",
    "wrapped": "the value is a member of an object",
    "rewritten": "it is said in other words that mean the same",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Hold how a backend is asked for a contract.

    Attributes:
        checks: what the checks came to.
        support: how far each keyword is enforced.
        translation: the contract in the server's words; None where no server is asked, or it cannot be.
    """

    checks: tuple[Check, ...]
    support: tuple[SupportEntry, ...] = ()
    translation: Translation | None = field(default=None, repr=False)

    @property
    def is_possible(self) -> bool:
        """Say whether the backend can be asked at all."""
        return self.checks[0].verdict != "failed" or self.translation is not None


async def asked(backend: Backend, contract: Contract[object], *, acts: bool) -> Asked:
    """Return how a backend is asked for a contract. Nothing is sent.

    Args:
        backend: whom.
        contract: for what.
        acts: something is done because of its value.
    """
    try:
        wording = await worded(backend, contract, tools=None, prompt_schema=None)
    except ContractError as error:
        instead = "rewrite what is named, or choose another backend"
        told = check("translatable", "failed", str(error), instead, [error.pointer or "the root"])
        rest = [check(id, "not_applicable", "it cannot be asked for it") for id in ("decoded", "faithful")]
        return Asked(checks=(told, *rest), support=_support(contract, ()))
    translation = wording.translation
    differences = () if translation is None else translation.differences
    support = _support(contract, differences, is_by_table=translation is not None and bool(translation.table))
    checks = (
        _translatable(backend, translation, acts=acts),
        _decoded(translation, support),
        _faithful(differences),
    )
    return Asked(checks=checks, support=support, translation=translation)


def _support(
    contract: Contract[object], differences: Sequence[Difference], *, is_by_table: bool = False
) -> tuple[SupportEntry, ...]:
    """Return how far each keyword is enforced: as the server's translation says where there is one."""
    unsent = {(each.keyword, each.pointer): each.reason for each in differences if each.kind == "checked"}
    rows: list[SupportEntry] = []
    for row in contract.support:
        entry = SupportEntry(keyword=row.keyword, pointer=row.pointer, level=row.level, reason=row.reason)
        reason = unsent.pop((row.keyword, row.pointer), None)
        if reason is not None:
            entry = replace(entry, level="checked", reason=reason)
        elif is_by_table and row.level == "checked":
            # The server decodes by its own engine what the automaton here only checks.
            entry = replace(entry, level="decoded", reason="")
        rows.append(entry)
    rows += (SupportEntry(keyword=word, pointer=at, level="checked", reason=why) for (word, at), why in unsent.items())
    return tuple(rows)


def _translatable(backend: Backend, translation: Translation | None, *, acts: bool) -> Check:
    if translation is None:
        return check("translatable", "passed", f"{backend.name} takes the contract as it is")
    if translation.form == "prompt":
        verdict: Verdict = "failed" if acts else "warned"
        instead = "choose a server that takes such a constraint, or a contract of a form that this one takes"
        return check("translatable", verdict, f"{backend.name} is asked for it by the prompt alone", instead)
    by_table = f", by the table of {translation.table}" if translation.table else ""
    return check("translatable", "passed", f"{backend.name} is asked for it as {translation.form}{by_table}")


def _decoded(translation: Translation | None, support: Sequence[SupportEntry]) -> Check:
    if translation is not None and translation.form == "prompt":
        return check("decoded", "warned", "nothing of it is enforced while the answer is written", _CHECKED)
    checked = [each for each in support if each.level == "checked"]
    decoded = sum(each.level == "decoded" for each in support)
    if not checked:
        return check("decoded", "passed", f"all {decoded} keywords are enforced while the answer is written")
    told = f"{len(checked)} of {len(checked) + decoded} keywords are only checked when the text is whole"
    places = [f"{each.pointer or 'the root'}: {each.keyword}: {each.reason}" for each in checked]
    return check("decoded", "warned", told, _CHECKED, places)


def _faithful(differences: Sequence[Difference]) -> Check:
    changed = [each for each in differences if each.kind != "checked"]
    places = [f"{each.pointer or 'the root'}: {each.keyword}: {each.reason}" for each in changed]
    if any(each.kind == "narrowed" for each in changed):
        instead = "see whether an answer that you want is among what is no longer allowed"
        return check("faithful", "warned", "the server is asked for less than the contract allows", instead, places)
    if changed:
        kinds = dict.fromkeys(_WORDS[each.kind] for each in changed)
        return check("faithful", "passed", f"the same language in another form: {'; '.join(kinds)}", "", places)
    return check("faithful", "passed", "it is asked for what the contract says")


def nothing_asked(reason: str) -> Iterator[Check]:
    """Yield the checks of a backend for a contract that cannot be made."""
    for id in ("translatable", "decoded", "faithful"):
        yield check(id, "not_applicable", reason)


__all__ = ["Asked", "asked", "nothing_asked"]

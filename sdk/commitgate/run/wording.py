"""Settle how a backend is asked for a contract, before anything is sent: in its words, and whether that is enough."""

from __future__ import annotations

from dataclasses import dataclass

from commitgate.automaton import Automaton, compile
from commitgate.backends.base import Backend, Remote
from commitgate.backends.translation import Translation
from commitgate.contract import Contract
from commitgate.errors import UnsupportedError
from commitgate.outcome import Receipt, Unavailable, Unsupported
from commitgate.risk import Risk
from commitgate.run.conversation import PromptSchema
from commitgate.tools.offer import ToolOffer
from commitgate.worker_thread import run_in_thread


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """Hold how a contract is asked for.

    Attributes:
        translation: the contract in a server's words; None where no server is asked, or by the prompt alone.
        automaton: in its ``accept`` dialect, what the text as received must satisfy.
        prompt_schema: whether the model is shown the schema.
    """

    translation: Translation | None
    automaton: Automaton
    prompt_schema: PromptSchema

    @property
    def shown(self) -> Contract[object] | None:
        """Return what the model is shown in place of the contract: the form in which it must write."""
        translation = self.translation
        return translation.sent if translation is not None and translation.shape.is_wrapped else None


async def worded(
    backend: Backend | None,
    contract: Contract[object],
    *,
    tools: ToolOffer | None,
    prompt_schema: PromptSchema | None,
) -> Wording:
    """Return how a backend is asked to enforce a contract.

    Raises:
        UnsupportedError: its server cannot be asked for it, not even in part.
        ContractError: what would be sent is larger than a limit allows.
    """
    if not isinstance(backend, Remote):
        return await unconstrained(contract, prompt_schema=prompt_schema)
    translation = await run_in_thread(lambda: backend.translate(contract, tools=tools))
    shows = backend.shows_schema and translation.form != "prompt"
    return Wording(
        translation=translation,
        automaton=await run_in_thread(lambda: compile(translation.sent)),
        prompt_schema=prompt_schema or ("none" if shows else "append"),
    )


async def unconstrained(contract: Contract[object], *, prompt_schema: PromptSchema | None) -> Wording:
    """Return how a backend is asked that needs no other words, or is asked by the prompt alone."""
    return Wording(
        translation=None,
        automaton=await run_in_thread(lambda: compile(contract)),
        prompt_schema=prompt_schema or "append",
    )


def undecoded(contract: Contract[object], wording: Wording) -> UnsupportedError | None:
    """Return the first thing of a contract that is not enforced while the answer is written, if there is one."""
    translation = wording.translation
    if translation is not None:
        for each in translation.differences:
            if each.kind == "checked":
                return _undecoded(each.keyword, each.pointer, each.reason)
        if not translation.is_decoded:
            return _undecoded("", "", "the server is asked for it by the prompt alone")
        if translation.table:
            return None
    for row in contract.support:
        if row.level == "checked":
            return _undecoded(row.keyword, row.pointer, row.reason)
    return None


async def unproven(
    backend: Backend | None, model: str, contract: Contract[object], *, acts: bool
) -> Unsupported | Unavailable | None:
    """Return why nothing may hang on what this backend's model writes, where something would.

    Args:
        backend: whom to ask.
        model: the model's name at it.
        contract: what the answer must satisfy.
        acts: something is done because of it, whatever the contract says.
    """
    if not isinstance(backend, Remote) or not (acts or contract.risk is Risk.EFFECT):
        return None
    standing = await backend.standing(model)
    if not standing.is_reachable:
        return Unavailable(kind="unreachable", message=standing.reason, receipt=Receipt())
    return (
        None if standing.is_proven else Unsupported(keyword="", pointer="", reason=standing.reason, receipt=Receipt())
    )


def _undecoded(keyword: str, pointer: str, reason: str) -> UnsupportedError:
    message = f"{keyword or 'the contract'} is not enforced while the answer is written, as the call requires: {reason}"
    return UnsupportedError(message, pointer=pointer, keyword=keyword, reason=message)


__all__ = ["Wording", "unconstrained", "undecoded", "unproven", "worded"]

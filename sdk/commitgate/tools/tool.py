"""Make a tool of a function: its arguments as a contract, and what calling it may do.

A tool is still the function: called with arguments it runs it, and nothing else. What a model may call goes through
the contract: schema, type, rules, content, evidence, approval, authorization; then the effect, once for each call.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from functools import update_wrapper
from typing import TYPE_CHECKING, Generic, Never, ParamSpec, TypeVar, cast, get_args, overload

from commitgate.argument import check_choice, check_takes, check_text, check_words
from commitgate.contract import Contract
from commitgate.effect import Effect, EffectFunction, TransactionContext
from commitgate.errors import ContractError, MisuseError
from commitgate.gate.checks import Approve, Authorize, ContentCheck, Evidence
from commitgate.gate.rules import Rule
from commitgate.risk import Risk
from commitgate.tools.signature import Signature, place_of
from commitgate.tools.tool_effect import ToolKind, tool_effect

if TYPE_CHECKING:
    from pydantic import BaseModel

    from commitgate.effect_mark import Reconcile

P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)
R = TypeVar("R")

MAX_TOOL_NAME_CHARACTERS = 64
"""Longest name of a tool: what servers that know tools take."""

_NAME = re.compile(f"[A-Za-z0-9_-]{{1,{MAX_TOOL_NAME_CHARACTERS}}}")


class Tool(Generic[P, R_co]):
    """Hold a function that a model may call. Make it with ``@tool(effect=...)``.

    Attributes:
        name: what the model calls it.
        description: what the model is told about it; may be empty.
        kind: what calling it may do.
        version: the caller's own version of what it does.
        contract: what its arguments must satisfy, with its checks; for ``Client.approve`` of another process.
        effect: what a judged call sets off, as ``Client.approve`` and ``Client.reconcile`` take it.
        function: the function itself.

    Raises:
        MisuseError: the contract is that of a text that is no JSON.
    """

    def __init__(
        self,
        function: Callable[P, R_co],
        *,
        name: str,
        description: str,
        kind: ToolKind,
        version: str,
        contract: Contract[BaseModel],
        effect: EffectFunction[BaseModel, object],
    ) -> None:
        if contract.text is not None:
            raise MisuseError(
                f"the arguments of the tool {name} must be JSON, as calls of tools are, found a contract of text; make "
                "the text an argument"
            )
        self.name = name
        self.description = description
        self.kind: ToolKind = kind
        self.version = version
        self.contract = contract
        self.effect = effect
        self.function = function
        update_wrapper(cast("Callable[..., object]", self), function, updated=())

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co:
        """Run the function as it is: no contract, no ledger."""
        return self.function(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<tool {self.name} ({self.kind})>"

    def effect_of_call(self) -> Effect[BaseModel, object]:
        """Return the effect of one call."""
        return Effect[object, object].of(self.effect)  # pyright: ignore[reportReturnType, reportArgumentType] - its values are the arguments of its own contract


@overload
def tool(
    *,
    effect: ToolKind,
    name: str | None = None,
    description: str | None = None,
    version: str = "1",
    rules: Sequence[Rule[Never]] = (),
    content: Sequence[ContentCheck[Never]] = (),
    evidence: Sequence[Evidence[Never]] = (),
    authorize: Authorize[Never] | None = None,
    approve: Approve[Never] | None = None,
    reconcile: Reconcile | None = None,
) -> Callable[[Callable[P, R]], Tool[P, R]]: ...


@overload
def tool(function: Callable[..., object], /) -> Never: ...


def tool(
    function: Callable[..., object] | None = None,
    /,
    *,
    effect: ToolKind | None = None,
    name: str | None = None,
    description: str | None = None,
    version: str = "1",
    rules: Sequence[Rule[Never]] = (),
    content: Sequence[ContentCheck[Never]] = (),
    evidence: Sequence[Evidence[Never]] = (),
    authorize: Authorize[Never] | None = None,
    approve: Approve[Never] | None = None,
    reconcile: Reconcile | None = None,
) -> Callable[[Callable[P, R]], Tool[P, R]]:
    """Make a tool of a function, sync or async, whose parameters are annotated.

    A parameter annotated ``EffectContext`` (``TransactionContext`` for ``transactional``) gets the context of the call
    and is no argument. The checks get the arguments as one object: ``arguments.amount``.

    Args:
        function: nothing; it is there so that ``@tool`` without arguments is refused in words.
        effect: what calling it may do; there is no default, so that nobody gets one by accident. ``read`` changes
            nothing and may run again at will; ``once``, ``by_key`` and ``transactional`` are the kinds of effects.
        name: what the model calls it, 1 to 64 of ``A-Z a-z 0-9 _ -``; None takes the function's.
        description: what the model is told; None takes the first paragraph of the docstring. Arguments are described
            by ``Annotated[..., "words"]`` or ``Field(description=...)``.
        version: another one for the same function that does something else: older keys then conflict.
        rules: as in ``Contract.of``, over the arguments; so are ``content``, ``evidence``, ``authorize``, ``approve``.
        content: checks of the texts in the arguments.
        evidence: checks of the arguments against an authority.
        authorize: says whether the principal may have it done.
        approve: says whether a person must decide first.
        reconcile: settles whether a call that is in doubt happened; takes the effect's key and the ledger's record.

    Raises:
        MisuseError: the kind is missing or none of the four, or the signature cannot be shown to a model.
        ContractError: an argument has a type from which no model can be steered.
    """
    if function is not None or effect is None:
        raise MisuseError(
            "say what calling it may do: @tool(effect='read'), or 'once', 'by_key' or 'transactional'; there is no "
            "default, so that nothing runs twice by accident"
        )
    check_choice("effect", effect, get_args(ToolKind))
    check_words("version", version)
    kind: ToolKind = effect
    # The model is made while running, so no checker can know what the checks take.
    contract_of = cast("Callable[..., Contract[BaseModel]]", Contract.of)

    def made(function: Callable[P, R]) -> Tool[P, R]:
        found = _name(function, name)
        signature = Signature.of(function, found)
        _check_kind(function, kind, signature, reconcile)
        try:
            contract = contract_of(
                signature.model,
                name=found,
                version=version,
                rules=rules,
                content=content,
                evidence=evidence,
                authorize=authorize,
                approve=approve,
                risk=Risk.RECORD if kind == "read" else Risk.EFFECT,
            )
            effect = tool_effect(function, signature, name=found, kind=kind, version=version, reconcile=reconcile)
        except (MisuseError, ContractError) as error:
            error.add_note(f"in {place_of(function)}")
            raise
        return Tool(
            function,
            name=found,
            description=_description(function, description),
            kind=kind,
            version=version,
            contract=contract,
            effect=effect,
        )

    return made


def _name(function: Callable[..., object], given: str | None) -> str:
    if not callable(function):
        raise MisuseError(f"@tool is for functions, found {type(function).__name__}")
    name: object = getattr(function, "__name__", None) if given is None else given
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise MisuseError(
            f"{place_of(function)} needs a name of 1 to {MAX_TOOL_NAME_CHARACTERS} of the characters A-Z a-z 0-9 _ -: "
            "@tool(..., name=...)"
        )
    return name


def _description(function: Callable[..., object], given: str | None) -> str:
    if given is not None:
        check_text("description", given)
        return given.strip()
    first, *_ = (inspect.getdoc(function) or "").strip().split("\n\n")
    return " ".join(first.split())


def _check_kind(
    function: Callable[..., object], kind: ToolKind, signature: Signature, reconcile: Reconcile | None
) -> None:
    if reconcile is not None:
        if kind in ("read", "transactional"):
            raise MisuseError(f"{place_of(function)} is never in doubt as {kind!r}, so leave out reconcile")
        check_takes(reconcile, ("key", "record"), f"reconcile of {place_of(function)}")
    takes_connection = signature.context_type is not None and issubclass(signature.context_type, TransactionContext)
    if takes_connection and kind != "transactional":
        raise MisuseError(f"{place_of(function)} takes a TransactionContext, which only a transactional tool gets")
    if kind == "transactional" and not takes_connection:
        raise MisuseError(
            f"{place_of(function)} is transactional, so it must take a TransactionContext: only what is written "
            "through its connection happens exactly once"
        )


__all__ = ["MAX_TOOL_NAME_CHARACTERS", "Tool", "ToolKind", "tool"]

"""Hold the cases of an evaluation: what is asked, and what is known of the right answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeAlias

from typing_extensions import TypeVar

from commitgate.backends.base import Message, Sampling
from commitgate.contract import Contract
from commitgate.effect import EffectFunction
from commitgate.gate.checks import Authorize
from commitgate.gate.rules import Rule
from commitgate.json_value import JsonValue
from commitgate.run.conversation import PromptSchema

if TYPE_CHECKING:
    from commitgate.tools.tool_set import AnyTool

T = TypeVar("T", default=JsonValue)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """Hold one case.

    A *place* is a JSON pointer (RFC 6901) into the value as the model wrote it, in which ``*`` stands for every item or
    member. Of a case with tools, the value is an object of ``calls``, a list of objects with ``name`` and
    ``arguments``, and of ``answer`` where it came to one.

    Attributes:
        id: names it in its suite.
        messages: what is asked.
        expected: by place, what must stand there: a JSON value, or a mapping with one of the words ``$any_of`` (a list
            of values), ``$contains`` (a text that a text must hold, whatever its case), ``$set`` (a list, in any
            order; of a place with ``*``, all that stands there together) and ``$absent`` (true).
        known: by place, the values that the authority of the case knows; anything else there is invented.
        visible: by place, what who asks may refer to; anything else there is overreach. Where the suite has no
            ``authorize`` of its own the gate blocks it; where it has one, that alone decides, and is held against this.
        principal: who asks, for the checks of the contract.
        is_rightful: doing what the right answer says is allowed; None where nothing is to be done.
        endings: names of the outcomes that are right, each alone or with its own kind, phase or layer, as
            ``invalid.authorize``; all others are wrong.
        tools: names of the suite's tools that are offered; empty for none.
        contract: name of the suite's contract that is asked with; None for its only one. Of a case with tools it is
            that of the answer; where the suite has no contract, the answer is words.
        tags: by which results can be looked at apart.
    """

    id: str
    messages: tuple[Message, ...] = field(repr=False)
    expected: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue], repr=False)
    known: Mapping[str, tuple[JsonValue, ...]] = field(default_factory=dict[str, "tuple[JsonValue, ...]"], repr=False)
    visible: Mapping[str, tuple[JsonValue, ...]] = field(default_factory=dict[str, "tuple[JsonValue, ...]"], repr=False)
    principal: JsonValue = field(default=None, repr=False)
    is_rightful: bool | None = None
    endings: tuple[str, ...] = ("committed",)
    tools: tuple[str, ...] = ()
    contract: str | None = None
    tags: tuple[str, ...] = ()


Authority: TypeAlias = Callable[[Case, T], "Sequence[str] | Awaitable[Sequence[str]]"]
"""Says which places of a value it does not bear out: JSON pointers, none where it bears all of it out."""

Scorer: TypeAlias = Callable[[Case, T], "float | Awaitable[float]"]
"""Scores a value, in [0, 1]."""


@dataclass(frozen=True, kw_only=True)  # no slots: they break Generic[...](...) on a frozen class
class Suite(Generic[T]):
    """Hold cases and what they are judged with. What comes as a function is the caller's own code.

    Attributes:
        name: of the suite.
        version: the caller's version of it.
        cases: at least one.
        contracts: by name; at least one, unless every case has tools.
        sampling: how tokens are drawn.
        prompt_schema: as of a call; None leaves it to the backend.
        rules: further rules for one case; not of one with tools.
        authority: says what of a value the authority does not bear out, beside ``Case.known``; sync or async.
        authorize: whether the principal of one case may have it done; it is asked in the gate, which then blocks
            nothing because of ``Case.visible``.
        effect: what a committed value of one case sets off; None for nothing. It is really run, so let it be one of a
            test system. Not of a case with tools.
        tools: by name; those that a case offers are really run.
        scorer: scores a committed value of one case, in [0, 1]; sync or async.
        least_score: the score from which on an answer counts as good.
    """

    name: str
    version: str | None = None
    cases: Sequence[Case]
    contracts: Mapping[str, Contract[T]]
    sampling: Sampling = field(default_factory=Sampling)
    prompt_schema: PromptSchema | None = None
    rules: Callable[[Case], Sequence[Rule[T]]] | None = None
    authority: Authority[T] | None = None
    authorize: Callable[[Case], Authorize[T]] | None = None
    effect: Callable[[Case], EffectFunction[T, object] | None] | None = None
    tools: Mapping[str, AnyTool] = field(default_factory=dict[str, "AnyTool"])
    scorer: Scorer[T] | None = None
    least_score: float = 0.5


__all__ = ["Authority", "Case", "Scorer", "Suite"]

"""Define the one vocabulary that every backend speaks, and the seam behind which it lives.

A backend turns one ``GenerationRequest`` into a stream of events. It decides nothing: what an event means for the
outcome is the gate's business. A stream that ends without ``Finish`` or ``Fault`` has no proof of its end.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, runtime_checkable

from commitgate.argument import check_finite, check_int, check_text, check_words
from commitgate.errors import MisuseError
from commitgate.reasoning import Reasoning
from commitgate.timeouts import Timeouts

if TYPE_CHECKING:
    from commitgate.backends.translation import Translation
    from commitgate.contract import Contract
    from commitgate.tools.offer import ToolOffer


class FinishReason(StrEnum):
    """Why the provider says that it stopped, in one vocabulary for all providers."""

    STOP = "stop"
    LENGTH = "length"
    CONTENT_FILTER = "content_filter"
    REFUSAL = "refusal"
    PAUSED = "paused"
    """The provider stopped in the middle and offers to go on: a limit of its own, like ``LENGTH``."""
    MALFORMED = "malformed"
    """The provider says itself that what it sent is malformed."""
    CANCELLED = "cancelled"
    """The provider gave up without our asking."""
    UNKNOWN = "unknown"


FaultKind: TypeAlias = Literal[
    "rate_limit",
    "overload",
    "server",
    "auth",
    "quota",
    "bad_request",
    "constraint",
    "unreachable",
    "untrusted",
    "in_progress",
    "conflict",
    "protocol",
    "unknown_finish",
    "model",
]
"""``constraint``: the server refused the schema, pattern, grammar or choices. ``unreachable``: no connection could be
made. ``untrusted``: whom the connection leads to could not be verified.
``in_progress``: the server still works on an earlier request with the same idempotency key; ``conflict``: it knows
the key from a request with another body."""
Role: TypeAlias = Literal["system", "user", "assistant"]
"""Who wrote a message."""
ServerDedup: TypeAlias = Literal["unknown", "executed", "replayed"]
"""What a server said of the request's key: nothing, that it was carried out, or that its answer is an earlier one."""
DeadEndCause: TypeAlias = Literal["schema", "tokenizer", "prefix", "truncation_order"]
"""Why no token was legal."""
NoticeCode: TypeAlias = Literal["missing_done", "junk_after_finish", "reasoning_cut"]
"""``missing_done``: the wire's own end marker did not come after the finish. ``junk_after_finish``: bytes that are no
event came between the finish and the end of the stream. ``reasoning_cut``: the model's thoughts
were ended for it, because their limit was reached."""


MAX_DETAIL_CHARACTERS = 2_000
"""Most characters that are kept of a provider's own words about its failure."""

ROLES: tuple[Role, ...] = ("system", "user", "assistant")
"""Who can speak in a conversation."""


@dataclass(frozen=True, slots=True)
class TextDelta:
    """Carry answer bytes as they arrived; a delta may cut a character in two.

    Attributes:
        data: one or more bytes of UTF-8.
        legal_mass: probability in [0, 1] that the unconstrained model gave to legal tokens at this step (raw logits,
            temperature 1); None where the backend cannot know it or the step was forced.
        is_forced: only this text could follow, so the model was not asked.
        tokens: how many tokens the delta holds, where known.
    """

    data: bytes = field(repr=False)
    legal_mass: float | None = None
    is_forced: bool = False
    tokens: int | None = None


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """Carry what a thinking model writes before its answer; no part of the answer, and never judged.

    Attributes:
        data: one or more bytes, of UTF-8 as far as the model keeps to it; a delta may cut a character in two, and
            thoughts that were ended for the model may end inside one.
    """

    data: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class RefusalDelta:
    """Carry text of a refusal."""

    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Usage:
    """Count tokens as the provider reports them; None where it does not.

    Attributes:
        input_tokens: of the prompt.
        output_tokens: of all that the model wrote, its thoughts included.
        reasoning_tokens: those among the output tokens that were thoughts, with the marks around them.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Ping:
    """Carry nothing but a sign of life: the idle limit starts anew, the progress limit does not."""


@dataclass(frozen=True, slots=True)
class Notice:
    """Tell something odd that changes no verdict; it goes into the receipt's warnings.

    Attributes:
        code: short stable name.
    """

    code: NoticeCode


@dataclass(frozen=True, slots=True)
class ConnectionLost:
    """Say that the line broke, in place of a clean end of the stream; no further event follows.

    After a finish it changes nothing but the receipt's warnings: the proof of the end was read.
    """


@dataclass(frozen=True, slots=True)
class Finish:
    """Say that the provider itself declared the end of its answer.

    Attributes:
        reason: the reading of the provider's word.
        native: the provider's own word.
    """

    reason: FinishReason
    native: str


@dataclass(frozen=True, slots=True)
class Fault:
    """Say that the provider failed; no further event follows.

    Attributes:
        kind: what sort of failure.
        message: what happened, without payload.
        status: HTTP status where there is one.
        code: the provider's own code where there is one.
        retry_after_s: seconds that the provider asks to wait, where it does.
        request_id: the provider's own name of the request, where it gives one.
        detail: the provider's own words, cut to ``MAX_DETAIL_CHARACTERS``; they may quote the request.
    """

    kind: FaultKind
    message: str
    status: int | None = None
    code: str | None = None
    retry_after_s: float | None = None
    request_id: str | None = None
    detail: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class DeadEndReached:
    """Say that no token was legal; only backends that decode by themselves can know. No further event follows.

    Attributes:
        cause: which part made it impossible.
        prefix_tokens: tokens written before it.
        explanation: what the automaton expected, in words.
    """

    cause: DeadEndCause
    prefix_tokens: int
    explanation: str


@dataclass(frozen=True, slots=True)
class ToolDelta:
    """Carry a piece of a call of a tool, from a server that speaks of calls in a form of its own.

    Attributes:
        index: which call of the answer it belongs to, as the server counts.
        id: what the server calls the call; None where this piece does not say.
        name: the tool's name, or a further piece of it; None where this piece has none.
        arguments: further bytes of the arguments' JSON; a piece may cut a character in two.
    """

    index: int
    id: str | None = None
    name: str | None = field(default=None, repr=False)
    arguments: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, slots=True)
class ProseDelta:
    """Carry words beside calls of tools, from a server that speaks of calls in a form of its own.

    Attributes:
        data: one or more bytes of UTF-8; a piece may cut a character in two.
    """

    data: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Choice:
    """Hold one token that the model may have chosen.

    Attributes:
        token_id: its id.
        data: its bytes; None of one that is no text, as a stop token.
        probability: in [0, 1], of the raw logits at temperature 1, before any mask.
        is_legal: the constraint allowed it.
    """

    token_id: int
    data: bytes | None = field(repr=False)
    probability: float
    is_legal: bool


StepKind: TypeAlias = Literal["drawn", "forced", "thought", "stop", "dead_end"]
"""``drawn``: the model chose a token of the answer. ``forced``: only this text could follow. ``thought``: a token that
stands before the answer. ``stop``: the model chose to end. ``dead_end``: no token was legal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTaken:
    """Tell of one step of a backend that decodes by itself, before the text of that step; it changes nothing.

    Sent only where ``GenerationRequest.traced_choices`` asks for it.

    Attributes:
        kind: what sort of step.
        token_ids: the tokens that it wrote; several in a forced run.
        data: their text; empty of a stop.
        text_bytes: bytes of the answer before it.
        choices: the model's likeliest tokens, the likeliest first, and the one that was taken at the end where it is
            none of them; empty where the model was not asked.
        legal_mass: as in ``TextDelta``.
        legal_tokens: how many tokens were legal; None where the model was not asked.
        vocabulary_tokens: how many tokens there are.
        state: what could come next, in words.
        place: JSON pointer of the place in the schema where that stands; None where there is none.
        mask_s: seconds until the mask was known.
        step_s: seconds since the step before it, or since the answer was begun.
    """

    kind: StepKind
    token_ids: tuple[int, ...]
    data: bytes = field(repr=False)
    text_bytes: int
    choices: tuple[Choice, ...] = field(default=(), repr=False)
    legal_mass: float | None = None
    legal_tokens: int | None = None
    vocabulary_tokens: int
    state: str
    place: str | None = None
    mask_s: float = 0.0
    step_s: float = 0.0


Event: TypeAlias = (
    TextDelta | ReasoningDelta | RefusalDelta | Usage | Ping | Notice | Finish | Fault | ConnectionLost | DeadEndReached
)
"""What the gate takes."""

StreamEvent: TypeAlias = "Event | ToolDelta | ProseDelta"
"""What belongs to an answer; calls of tools and the words beside them are joined into one text before the gate."""

SentEvent: TypeAlias = "StreamEvent | StepTaken"
"""What a backend may send."""


class WaitExpired(Exception):  # noqa: N818 - it ends one attempt, as a time limit that ran out, and never reaches a caller
    """Raised by ``Backend.open`` when a wait before the request was sent ran out; the call ends as ``TimedOut``.

    Attributes:
        phase: which wait.
        limit_s: its limit in seconds.
    """

    def __init__(self, phase: Literal["pool", "connect"], limit_s: float) -> None:
        super().__init__(f"the {phase} limit of {limit_s} s ran out")
        self.phase: Literal["pool", "connect"] = phase
        self.limit_s = limit_s


@dataclass(frozen=True, slots=True)
class Message:
    """Hold one chat message.

    Attributes:
        role: ``system``, ``user`` or ``assistant``.
        content: its text, not blank.

    Raises:
        MisuseError: the role is none of these, or the content is no text, blank or not encodable.
    """

    role: Role
    content: str = field(repr=False)

    def __post_init__(self) -> None:
        check_text("role", self.role)
        if self.role not in ROLES:
            raise MisuseError("role must be 'system', 'user' or 'assistant', found another word")
        check_words("content", self.content)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """Say how tokens are drawn, in the order mask, temperature, top-k, top-p, renormalise, draw.

    Attributes:
        temperature: >= 0; 0 takes the likeliest legal token. None is 0 for models that we, or an engine of one's own,
            draw from; vendors' models, many of which refuse to be told, draw in their own way.
        top_k: keep the k likeliest legal tokens, >= 1; None keeps all.
        top_p: keep the smallest set of legal tokens whose probability reaches this, in (0, 1]; 1 keeps all.
        seed: makes the draw repeatable on one machine; None draws from the system's entropy.
        max_tokens: most tokens of the answer, >= 1; a model's thoughts have a limit of their own (``Reasoning``).

    Raises:
        MisuseError: one of them is of another type or out of its range.
    """

    temperature: float | None = None
    top_k: int | None = None
    top_p: float = 1.0
    seed: int | None = None
    max_tokens: int = 512

    def __post_init__(self) -> None:
        if self.temperature is not None:
            check_finite("temperature", self.temperature)
        check_finite("top_p", self.top_p)
        check_int("max_tokens", self.max_tokens)
        for name, value in (("top_k", self.top_k), ("seed", self.seed)):
            if value is not None:
                check_int(name, value)
        if self.temperature is not None and self.temperature < 0:
            raise MisuseError(f"temperature must be a finite number >= 0, found {self.temperature!r}")
        if self.top_k is not None and self.top_k < 1:
            raise MisuseError(f"top_k must be >= 1 or None, found {self.top_k!r}")
        if not 0 < self.top_p <= 1:
            raise MisuseError(f"top_p must lie in (0, 1], found {self.top_p!r}")
        if self.max_tokens < 1:
            raise MisuseError(f"max_tokens must be >= 1, found {self.max_tokens!r}")

    @property
    def heat(self) -> float:
        """Return the temperature where somebody must choose one: 0 where none is given."""
        return 0.0 if self.temperature is None else self.temperature


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationRequest:
    """Hold everything that a backend needs for one attempt.

    Attributes:
        model: the part of the model name after the backend; ``""`` for the backend's default model.
        contract: what the answer must satisfy.
        messages: the conversation, never empty.
        sampling: how to draw.
        forced: whether runs that only one text can follow may be fed without asking the model.
        idempotency_key: names the question, for servers that know such keys: the same for every attempt at it.
        attempt: number of the request within its call, from 1.
        timeouts: limits on the waits; the backend bounds ``pool_s`` and ``connect_s`` and raises ``WaitExpired``.
        is_constrained: the answer must be steered by the contract; False asks for JSON by the prompt alone.
        tools: the tools that the contract lets the answer call; None where it is no turn of tools. A backend whose
            server knows tools may send it ``tools.untold(messages)``, offer them in the server's own form, and send
            ``ToolDelta`` and ``ProseDelta`` back; every other one writes the contract's text, as ever.
        reasoning: how the model may think before it answers; None where it answers at once. A backend that cannot have
            it so answers with a ``Fault`` of the kind ``bad_request``, and never leaves it out in silence.
        translation: the contract in the words of the server; None where the backend has no ``translate``.
        traced_choices: how many of the model's likeliest tokens each step is to be told with (``StepTaken``); None
            where steps are not to be told. A backend that does not decode by itself tells none.
    """

    model: str
    contract: Contract[object]
    messages: tuple[Message, ...]
    sampling: Sampling = field(default_factory=Sampling)
    forced: bool = True
    idempotency_key: str = field(default="", repr=False)
    attempt: int = 1
    timeouts: Timeouts = field(default_factory=Timeouts)
    is_constrained: bool = True
    tools: ToolOffer | None = None
    reasoning: Reasoning | None = None
    translation: Translation | None = field(default=None, repr=False)
    traced_choices: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BackendIdentity:
    """Name what produced an answer; goes into the receipt. None where the backend cannot know it.

    Attributes:
        backend: the backend's name.
        model: the model's name.
        model_revision: what tells two versions of the model apart.
        tokenizer_fingerprint: digest of the vocabulary that steered the masks.
        request_id: the provider's own name of the request.
        server_dedup: what the server told about its own use of the idempotency key.
    """

    backend: str
    model: str
    model_revision: str | None = None
    tokenizer_fingerprint: str | None = None
    request_id: str | None = None
    server_dedup: ServerDedup = "unknown"


class EventStream(Protocol):
    """Yield the events of one attempt. Use it only inside its context manager, which frees all it holds."""

    @property
    def identity(self) -> BackendIdentity:
        """Return what answers, as far as it is known: a server may tell more of itself with its answer."""
        ...

    def __aiter__(self) -> AsyncIterator[SentEvent]:
        """Iterate over the events, once."""
        ...


@runtime_checkable
class Buffered(EventStream, Protocol):
    """Be a stream that may hold further events, which need no waiting."""

    def take_ready(self) -> SentEvent | None:
        """Return the next event that is there already; None where there is none now."""
        ...


class Backend(Protocol):
    """Turn requests into event streams.

    ``open`` must raise before the first event only for what is known before generation: ``ContractError`` where the
    contract cannot be enforced, ``ModelLoadError`` where the model cannot be had, ``MissingExtraError``, and
    ``WaitExpired``. Everything later is an event. Leaving the context, also by cancellation, stops the work and frees
    it. What leaving raises is dropped where the stream was read or the call is being cancelled. It is cut off after two
    seconds, and at once by a cancellation; a wait that must happen all the same is shielded and bounded by the backend.
    """

    @property
    def name(self) -> str:
        """Return the name by which ``backend/model`` selects it."""
        ...

    def open(self, request: GenerationRequest) -> AbstractAsyncContextManager[EventStream]:
        """Start one attempt."""
        ...

    async def aclose(self) -> None:
        """Free what outlives single requests."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Say whether a server is known to enforce constraints.

    Attributes:
        is_proven: effects may hang on it.
        reason: why not, and what to do about it, in words; empty where it is proven.
        is_reachable: it takes requests now; where it does not, the same question may have another answer later.
    """

    is_proven: bool
    reason: str = ""
    is_reachable: bool = True


@runtime_checkable
class Remote(Backend, Protocol):
    """Be a backend that asks a server to enforce contracts, and says how far that can be relied on."""

    @property
    def shows_schema(self) -> bool:
        """Say that the server shows the model the schema by itself."""
        ...

    @property
    def tells_in_finish(self) -> bool:
        """Say that a refusal or a filter may be told in the finish word alone, behind text."""
        ...

    def translate(self, contract: Contract[object], *, tools: ToolOffer | None) -> Translation:
        """Say a contract in the server's words. CPU work for a worker thread.

        Raises:
            UnsupportedError: it cannot be said, not even in part.
        """
        ...

    async def standing(self, model: str) -> Standing:
        """Return whether effects may hang on what this server's model writes."""
        ...


__all__ = [
    "MAX_DETAIL_CHARACTERS",
    "ROLES",
    "Backend",
    "BackendIdentity",
    "Buffered",
    "Choice",
    "ConnectionLost",
    "DeadEndCause",
    "DeadEndReached",
    "Event",
    "EventStream",
    "Fault",
    "FaultKind",
    "Finish",
    "FinishReason",
    "GenerationRequest",
    "Message",
    "Notice",
    "NoticeCode",
    "Ping",
    "ProseDelta",
    "ReasoningDelta",
    "RefusalDelta",
    "Remote",
    "Role",
    "Sampling",
    "SentEvent",
    "ServerDedup",
    "Standing",
    "StepKind",
    "StepTaken",
    "StreamEvent",
    "TextDelta",
    "ToolDelta",
    "Usage",
    "WaitExpired",
]

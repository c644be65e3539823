"""Set up what one check needs: a client, a line to the backend under test, a ledger of its own, a counted effect."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import TypedDict

from typing_extensions import Unpack

from commitgate.backends.base import Backend, Message, Sampling
from commitgate.client import Client
from commitgate.contract import Contract
from commitgate.effect import EffectContext, EffectFunction
from commitgate.effect_mark import once
from commitgate.evaluation.adversarial.line import line_to
from commitgate.evaluation.adversarial.tamper import Tamper
from commitgate.gate.checks import Authorize, Evidence
from commitgate.gate.rules import Rule
from commitgate.json_value import JsonSchema
from commitgate.ledger import MemoryLedger
from commitgate.outcome import Committed, Outcome, Receipt
from commitgate.retry import Retry
from commitgate.run.conversation import PromptSchema
from commitgate.run.order import InProgress
from commitgate.run.structured_run import StructuredRun
from commitgate.timeouts import Timeouts
from commitgate.worker_thread import run_in_thread

ONCE = Retry(attempts=1)
"""Ask once, so that what came is what is told."""

AGAIN = Retry(attempts=5, restarts=5, backoff_s=0.05, backoff_most_s=0.5)
"""Ask again at once, after text had come, too."""

_BACKEND = "asked"
_MAX_TOKENS = 96
_EFFECT = "note"


class AskOptions(TypedDict, total=False):
    """Name what a check may say of a call, beside its contract and its prompt."""

    messages: Sequence[Message]
    max_tokens: int
    rules: Sequence[Rule[object]]
    evidence: Sequence[Evidence[object]]
    authorize: Authorize[object]
    principal: object
    operation_key: str
    acts: bool
    timeouts: Timeouts
    retry: Retry
    prompt_schema: PromptSchema
    in_progress: InProgress


@dataclass(slots=True)
class Identity:
    """Hold who answered, as the last receipt of a committed answer has it."""

    model_revision: str | None = None
    tokenizer_fingerprint: str | None = None

    def note(self, receipt: Receipt) -> None:
        """Take a receipt."""
        self.model_revision = receipt.model_revision
        self.tokenizer_fingerprint = receipt.tokenizer_fingerprint


@dataclass(slots=True, kw_only=True)
class Scene:
    """Hold what all checks of a run have in common.

    Attributes:
        backend: the backend under test.
        model: the model's name at it.
        kind: what sort of backend it is, as ``local`` or ``vllm_chat``.
        total_s: most seconds for one call.
        identity: who answered.
        disorder: what was wrong with the order of a backend's events since it was last looked at; empty where nothing.
    """

    backend: Backend
    model: str
    kind: str
    total_s: float
    identity: Identity = field(default_factory=Identity)
    disorder: str = ""

    def stage(self, *tampers: Tamper, is_proven: bool = True) -> Stage:
        """Return a stage; enter it with ``async with``.

        Args:
            tampers: what is done to the answer of each request, in their order.
            is_proven: a server's word is taken, so that effects may hang on it.
        """
        return Stage(self, tampers, is_proven=is_proven)


class Stage:
    """Make the calls of one check.

    Attributes:
        line: the line to the backend, with all that came over it.
        effects: the effect key of each effect that ran.
        in_effect: is called in each effect, and may raise; None calls nothing.
        client: the client.
    """

    def __init__(self, scene: Scene, tampers: Sequence[Tamper], *, is_proven: bool) -> None:
        self._scene = scene
        self.line = line_to(scene.backend, tampers, is_proven=is_proven)
        self.effects: list[str] = []
        self.in_effect: Callable[[], None] | None = None
        self.client = Client(backends={_BACKEND: self.line}, ledger=MemoryLedger())

    async def __aenter__(self) -> Stage:
        """Enter the client."""
        await self.client.__aenter__()
        return self

    async def __aexit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave the client."""
        await self.client.__aexit__(error_type, error, trace)
        broken = [seen.law.broken for seen in self.line.seen if seen.law.broken]
        self._scene.disorder = self._scene.disorder or next(iter(broken), "")

    @property
    def model(self) -> str:
        """Return the model's name as the client knows it."""
        return f"{_BACKEND}/{self._scene.model}"

    @property
    def timeouts(self) -> Timeouts:
        """Return the limits of a call that nothing else is said of."""
        return Timeouts(total_s=self._scene.total_s)

    async def ask(
        self, contract: Contract[object], prompt: str, **options: Unpack[AskOptions]
    ) -> Outcome[object, object]:
        """Make one call and wait for its end."""
        async with self.stream(contract, prompt, **options) as run:
            outcome = await run.outcome()
        if isinstance(outcome, Committed):
            self._scene.identity.note(outcome.receipt)
        return outcome

    def stream(
        self, contract: Contract[object], prompt: str, **options: Unpack[AskOptions]
    ) -> StructuredRun[object, object]:
        """Prepare one call; it starts when the returned run is entered.

        Args:
            contract: what the answer must satisfy.
            prompt: what to ask; not looked at where there are ``messages``.
            options: ``acts`` has a counted effect hang on it, under a key of its own where none is given.
        """
        acts = options.get("acts", False)
        key = options.get("operation_key") or (secrets.token_hex(8) if acts else None)
        messages = options.get("messages")
        return self.client.stream_structured(
            self.model,
            contract,
            prompt=None if messages is not None else prompt,
            messages=messages,
            sampling=Sampling(temperature=0.0, seed=1, max_tokens=options.get("max_tokens", _MAX_TOKENS)),
            rules=options.get("rules"),
            evidence=options.get("evidence"),
            authorize=options.get("authorize"),
            principal=options.get("principal"),
            effect=self._effect() if acts else None,
            operation_key=key,
            timeouts=options.get("timeouts", self.timeouts),
            retry=options.get("retry", ONCE),
            prompt_schema=options.get("prompt_schema", "none"),
            in_progress=options.get("in_progress", "raise"),
        )

    def _effect(self) -> EffectFunction[object, str]:
        @once(name=_EFFECT)
        async def note(value: object, context: EffectContext) -> str:
            del value
            self.effects.append(context.key)
            if self.in_effect is not None:
                self.in_effect()
            return "noted"

        return note


async def json_contract(schema: JsonSchema) -> Contract[object]:
    """Return the contract of a JSON Schema whose values come with exact numbers."""
    return await run_in_thread(lambda: Contract.json_schema(schema, numbers="decimal"))


__all__ = ["AGAIN", "ONCE", "AskOptions", "Identity", "Scene", "Stage", "json_contract"]

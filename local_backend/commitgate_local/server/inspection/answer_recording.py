"""Record one answer of a server, as a recorder records a client's call."""

from __future__ import annotations

from collections.abc import Callable

from commitgate.backends.base import (
    BackendIdentity,
    Finish,
    FinishReason,
    GenerationRequest,
    SentEvent,
    TextDelta,
    Usage,
)
from commitgate.outcome import Receipt
from commitgate.preview import PreviewReader
from commitgate.telemetry import CallBegan, CallEnded, RequestBegan
from commitgate.trace import Recording, TraceRecorder
from commitgate_local.server.answer_tally import AnswerTally
from commitgate_local.server.refusal import RequestRefused

_ENDINGS: dict[FinishReason, tuple[str, str]] = {
    FinishReason.STOP: ("answered", "the answer is whole"),
    FinishReason.LENGTH: ("truncated", "the answer was cut by its limit of tokens"),
    FinishReason.PAUSED: ("truncated", "the model was stopped in the middle"),
    FinishReason.CONTENT_FILTER: ("filtered", "a filter cut in"),
    FinishReason.REFUSAL: ("refused", "the model declined"),
}


class AnswerRecording:
    """Record one answer.

    Args:
        recorder: keeps it.
        generation: what the backend is asked.
        name: the answer's own name, as ``chatcmpl-...``.
        model: what the client calls the model.
        clock: seconds that never go back.
    """

    def __init__(
        self,
        recorder: TraceRecorder,
        generation: GenerationRequest,
        *,
        name: str,
        model: str,
        clock: Callable[[], float],
    ) -> None:
        self._clock = clock
        self._began = clock()
        self._first_text_s: float | None = None
        self._finish: Finish | None = None
        self._usage = Usage()
        self._identity: BackendIdentity | None = None
        began = CallBegan(call_id=name, kind="generate", backend=None, model=model, sampling=generation.sampling)
        self._recording: Recording = recorder.recording(began, kind="served")
        self._reader: PreviewReader | None = None
        if generation.is_constrained:
            self._recording.contract_built(generation.contract)
            self._reader = PreviewReader(generation.contract, max_depth=generation.contract.limits.nesting)
        self._recording.request_began(RequestBegan(number=1, waited_s=0.0, at_s=0.0, messages=generation.messages))

    def identify(self, identity: BackendIdentity) -> None:
        """Note what answers."""
        self._identity = identity

    def event(self, event: SentEvent) -> None:
        """Take what the backend sent."""
        at_s = self._clock() - self._began
        self._recording.event(event, at_s)
        match event:
            case TextDelta():
                self._first_text_s = at_s if self._first_text_s is None else self._first_text_s
                if self._reader is not None:
                    self._recording.shown(self._reader.feed(event.data), at_s)
            case Finish():
                self._finish = event
                if self._reader is not None:
                    self._recording.shown(self._reader.finish(), at_s)
            case Usage():
                self._usage = event
            case _:
                pass

    def end(self, tally: AnswerTally, error: BaseException | None) -> None:
        """End it.

        Args:
            tally: what the answer was like.
            error: what ended it before its end; None where it came to its end.
        """
        name, summary = self._ending(error)
        receipt = self._receipt(tally)
        at_s = self._clock() - self._began
        end = CallEnded(name=name, detail=None, receipt=receipt, at_s=at_s)
        self._recording.ended(end, summary=summary)

    def _ending(self, error: BaseException | None) -> tuple[str, str]:
        if isinstance(error, RequestRefused):
            return "failed", f"{error.code}: {error.message}"
        if isinstance(error, Exception):
            return "failed", type(error).__name__
        if error is not None:
            return "cancelled", "the client left, or a limit or the end of the server came first"
        if self._finish is None:
            return "failed", "it ended without proof of its end"
        return _ENDINGS.get(self._finish.reason, ("failed", f"it ended as {self._finish.reason.value}"))

    def _receipt(self, tally: AnswerTally) -> Receipt:
        identity = self._identity
        return Receipt(
            model_revision=None if identity is None else identity.model_revision,
            tokenizer_fingerprint=None if identity is None else identity.tokenizer_fingerprint,
            time_to_first_token_s=self._first_text_s,
            time_per_token_s=tally.time_per_token_s,
            finish=None if self._finish is None else self._finish.reason,
            finish_native=None if self._finish is None else self._finish.native,
            attempts=1,
            usage=self._usage,
            legal_mass_min=tally.legal_mass_min,
            legal_mass_mean=tally.legal_mass_mean,
        )


__all__ = ["AnswerRecording"]

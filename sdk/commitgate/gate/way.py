"""Lead one answer through the layers by the table of legal steps, and keep their records."""

from __future__ import annotations

from collections.abc import Callable

from commitgate.errors import MisuseError
from commitgate.gate.layer_states import LAYER_OF, STEPS, Stage, Step
from commitgate.gate.layers import Failure, Layer, LayerRecord


class Way:
    """Know what comes next for one answer. Sans-IO.

    Args:
        clock: seconds, from any start.

    Attributes:
        stage: what comes next; None before the first answer.
        records: one for each layer that this answer has passed, was refused by or was taken past, in order. Always the
            same list.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._start = 0.0
        self.stage: Stage | None = None
        self.records: list[LayerRecord] = []

    def begin(self, stage: Stage, *proofs: Step) -> None:
        """Begin anew with another answer.

        Args:
            stage: where it stands.
            proofs: what is known of its first stages; others keep the records of these.
        """
        self.records.clear()
        for proof in proofs:
            stage = STEPS[stage, proof]
        self.stage = stage
        self._start = self._clock()

    def take(self, step: Step, failures: tuple[Failure, ...] = ()) -> None:
        """Go on to the next stage, and record the layer that was left.

        Args:
            step: what happened at this one.
            failures: what was found, at least one where it failed, else none.

        Raises:
            MisuseError: the step is not legal here; nothing was changed.
        """
        stage = self.stage
        if stage is None or (stage, step) not in STEPS:
            where = "before any answer" if stage is None else f"at {stage.name}"
            raise MisuseError(f"the step {step.name} is not legal {where}")
        if bool(failures) is not (step is Step.FAILED):
            raise MisuseError("a layer that failed has at least one failure, and no other has any")
        now = self._clock()
        layer = Layer.AUTHORIZE if stage is Stage.APPROVAL and failures else LAYER_OF.get(stage)
        if layer is not None:
            ran = step is not Step.SKIPPED
            self.records.append(
                LayerRecord(
                    layer=layer,
                    ran=ran,
                    passed=not failures if ran else None,
                    time_s=now - self._start if ran else 0.0,
                    failures=failures,
                )
            )
        self._start = now
        self.stage = STEPS[stage, step]


__all__ = ["Way"]

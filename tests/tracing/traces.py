"""Traces made up for the tests of the page and the file."""

from decimal import Decimal

from commitgate.backends.base import Choice, StepTaken
from commitgate.trace import Trace, TracePiece, TraceRequest


def step(data: bytes, *, wanted: bytes, is_legal: bool, text_bytes: int, kind: str = "drawn") -> StepTaken:
    """Return a step at which the model wanted one token, and another may have been taken."""
    taken = Choice(7, data, 0.1, True)
    best = Choice(5, wanted, 0.8, is_legal)
    return StepTaken(
        kind=kind,  # type: ignore[arg-type]
        token_ids=(5,) if is_legal else (7,),
        data=data,
        text_bytes=text_bytes,
        choices=(best,) if is_legal else (best, taken),
        legal_mass=0.9 if is_legal else 0.1,
        legal_tokens=2,
        vocabulary_tokens=100,
        state="a digit",
        place="/properties/n",
        mask_s=0.0001,
        step_s=0.02,
    )


def long_trace(steps: int, *, wish_at: tuple[int, ...] = (), text: bytes = b"1") -> Trace:
    """Return a trace of a list that grows by one item a step."""
    pieces: list[TracePiece] = []
    value: list[object] = []
    for number in range(steps):
        value = [*value, Decimal(number)]
        pieces.append(
            TracePiece(
                at_s=number * 0.03,
                data=text,
                text_bytes=number * len(text),
                step=step(
                    text,
                    wanted=b"no" if number in wish_at else text,
                    is_legal=number not in wish_at,
                    text_bytes=number * len(text),
                ),
                legal_mass=0.1 if number in wish_at else 0.9,
                value=value,  # type: ignore[arg-type]
                has_value=True,
                final=(f"/{number}",),
            )
        )
    return Trace(
        call_id="c",
        kind="generate",
        backend="local",
        model="",
        contract_name="List",
        schema={"type": "array"},
        requests=(TraceRequest(number=1, at_s=0.0, messages=(("user", "Count."),), pieces=tuple(pieces)),),
        outcome="committed",
        summary="the value is committed",
        total_s=steps * 0.03,
    )

"""Traces made up for the tests of the page and the file."""

from decimal import Decimal
from typing import Any

from commitgate.backends.base import Choice, StepTaken
from commitgate.trace import (
    Change,
    Trace,
    TraceFailure,
    TraceLayer,
    TracePiece,
    TraceReceipt,
    TraceRequest,
)


def step(data: bytes, *, wanted: bytes, is_legal: bool, text_bytes: int, kind: Any = "drawn") -> StepTaken:
    """Return a step at which the model wanted one token, and another may have been taken."""
    taken = Choice(7, data, 0.1, True)
    best = Choice(5, wanted, 0.8, is_legal)
    return StepTaken(
        kind=kind,
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


def pieces_of(steps: int, wish_at: tuple[int, ...], text: bytes, wanted: bytes) -> tuple[TracePiece, ...]:
    """Return the pieces of a list that grows by one item a step."""
    made: list[TracePiece] = []
    for number in range(steps):
        is_wish = number in wish_at
        added = Change(f"/{number}", Decimal(f"{number}.50"))
        taken = step(text, wanted=wanted if is_wish else text, is_legal=not is_wish, text_bytes=number * len(text))
        made.append(
            TracePiece(
                at_s=number * 0.03,
                data=text,
                text_bytes=number * len(text),
                step=taken,
                legal_mass=taken.legal_mass,
                changes=(Change("", []), added) if number == 0 else (added,),
                open_parts=1,
            )
        )
    return tuple(made)


def long_trace(
    steps: int, *, wish_at: tuple[int, ...] = (), text: bytes = b"1", wanted: bytes = b"no", **fields: Any
) -> Trace:
    """Return a trace of a list that grows by one item a step."""
    request = TraceRequest(
        number=1,
        at_s=0.0,
        messages=(("user", "Count."),),
        pieces=pieces_of(steps, wish_at, text, wanted),
        ending="committed",
    )
    failure = TraceFailure(code="maximum", pointer="/1", message="at most 3 is allowed")
    given: dict[str, Any] = {
        "call_id": "c",
        "kind": "generate",
        "backend": "local",
        "model": "",
        "started_at": 1_790_000_000.0,
        "contract_name": "List",
        "schema": {"$id": "x", "type": "array", "multipleOf": 0.5},
        "requests": (request,),
        "outcome": "committed",
        "summary": "the value is committed",
        "layers": (
            TraceLayer(layer="finish", ran=True, passed=True, time_s=0.001),
            TraceLayer(layer="schema", ran=True, passed=False, time_s=0.002, failures=(failure,)),
            TraceLayer(layer="rules", ran=False, passed=None),
        ),
        "receipt": TraceReceipt(finish="stop", finish_native="eos", output_tokens=steps, attempts=1, warnings=("odd",)),
        "total_s": steps * 0.03,
        "is_over": True,
        **fields,
    }
    return Trace(**given)

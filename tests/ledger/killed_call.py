"""One call in a process of its own, killed at a fault point: a program for the kill and race tests.

Arguments: ledger file or URL, file of effects (one line each), fault point or "none", lease in seconds.
Prints how the call ended: claimed and committed, replayed, or held by another.
"""

import os
import signal
import sys

import anyio

from commitgate.effect import Effect, EffectContext
from commitgate.errors import InProgressError
from commitgate.ledger import FaultLedger, FaultPoint, Fingerprint, Operation, ledger_at
from commitgate.retry import operation_key


def ignore() -> None:
    pass


async def main(ledger_path: str, effects_path: str, killed_at: str, lease_s: str) -> None:
    async def reach(point: FaultPoint) -> None:
        if point == killed_at:
            os.kill(os.getpid(), signal.SIGKILL)

    async def effect(value: object, context: EffectContext) -> str:
        del value, context
        with open(effects_path, "a") as effects:  # noqa: ASYNC230 - one short line
            effects.write("ran\n")
        await reach(FaultPoint.INSIDE_EFFECT)
        return "T-1"

    ledger = FaultLedger(ledger_at(ledger_path, {}), reach)
    described = Effect[object, str](effect, name="shop.refund", version="1", adapter=None)
    fingerprint = Fingerprint("language", "shop.refund", "1", "input")
    async with anyio.create_task_group() as client:
        driven = Operation(
            ledger,
            client,
            operation_key("case-4711"),
            fingerprint,
            described,
            owner=str(os.getpid()),
            on_lease_lost=ignore,
            lease_s=float(lease_s),
        )
        try:
            async with driven:
                if driven.replay is not None:
                    print("replayed", type(driven.replay.standing).__name__)
                else:
                    verdict = await driven.commit(None, value_json=b"1", receipt_json=b"{}")
                    print("ran", type(verdict).__name__)
        except InProgressError:
            print("held")
    await ledger.aclose()


if __name__ == "__main__":
    anyio.run(main, *sys.argv[1:])

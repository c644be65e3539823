"""A real model that is cancelled while it writes does no more work than the pass that it was in."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch

from commitgate import Client, Timeouts
from commitgate.backends.local import LocalBackend
from commitgate.ledger import MemoryLedger
from commitgate_local.local_model import LocalModel
from commitgate_local.runtime.base import Row
from commitgate_local.runtime.llama import LlamaRuntime

NUMBERS = {"type": "array", "items": {"type": "integer"}, "minItems": 100}

pytestmark = [pytest.mark.anyio, pytest.mark.model]


async def test_bundled_model_stops_within_one_forward_of_a_cancel(
    bundled: LocalModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    passes: list[int] = []
    step = LlamaRuntime.step

    def counted(self: LlamaRuntime, rows: Sequence[Row]) -> torch.Tensor:
        passes.append(len(rows))
        return step(self, rows)

    monkeypatch.setattr(LlamaRuntime, "step", counted)
    async with (
        Client(backends={"local": LocalBackend(load=lambda name: bundled)}, ledger=MemoryLedger()) as client,
        client.stream_structured(
            "local", NUMBERS, prompt="Count to one thousand.", timeouts=Timeouts(total_s=120)
        ) as run,
    ):
        async for _ in run:
            if len(passes) > 3:
                break
        before = len(passes)
        run.cancel()
        assert (await run.outcome()).name == "cancelled"
        assert 3 < before <= len(passes) <= before + 1

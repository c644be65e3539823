"""A scripted backend answers one request after another, and breaks or hangs where it is told to."""

from typing import Any

import anyio
import pytest

from commitgate.backends.base import Event, Fault, Finish, FinishReason, GenerationRequest, Message, TextDelta
from commitgate.contract import Contract
from commitgate.errors import MisuseError
from commitgate.testing import FaultPoint, ScriptedBackend, Step

pytestmark = pytest.mark.anyio

REQUEST = GenerationRequest(model="m", contract=Contract.of(True), messages=(Message("user", "x"),))
ANSWER: list[Step] = [{"text": "ab"}, {"finish": "stop"}, {"usage": [1, 2]}]


async def play(backend: ScriptedBackend) -> list[Event]:
    async with backend.open(REQUEST) as stream:
        return [event async for event in stream]


async def test_each_request_has_its_script_and_the_last_one_stays() -> None:
    backend = ScriptedBackend([{"text": "a"}], then=[[{"text": "b"}], [{"text": "c"}]])
    assert [await play(backend) for _ in range(4)] == [[TextDelta(text)] for text in (b"a", b"b", b"c", b"c")]
    assert len(backend.requests) == len(backend.opened_at) == 4


async def test_responses_of_a_server_are_scripts() -> None:
    responses = [{"status": 503}, {"script": [{"text": "a"}]}, {"status": 200}, {"headers": {"x-y": "z"}}]
    backend = ScriptedBackend.of_responses(responses, answer=[{"text": "b"}], name="far")
    first, *rest = [await play(backend) for _ in range(4)]
    assert isinstance(first[0], Fault)
    assert (first[0].status, backend.name) == (503, "far")
    assert rest == [[TextDelta(b"a")], [TextDelta(b"b")], [TextDelta(b"b")]]


@pytest.mark.parametrize(
    "responses",
    [[], [3], [{"stats": 200}], [{"status": 503, "script": []}], [{"script": [{"txt": "a"}]}]],
)
def test_responses_that_no_server_sends_are_refused(responses: Any) -> None:
    with pytest.raises(MisuseError, match="responses"):
        ScriptedBackend.of_responses(responses)


PASSED = {
    FaultPoint.BEFORE_OPEN: [],
    FaultPoint.OPENING: [],
    FaultPoint.FIRST_EVENT: [],
    FaultPoint.MID_TEXT: [b"a"],
    FaultPoint.AFTER_TEXT: [b"a", b"b"],
    FaultPoint.AFTER_FINISH: [b"a", b"b", FinishReason.STOP],
    FaultPoint.CLOSING: [b"a", b"b", FinishReason.STOP],
}


def told(event: Event) -> object:
    match event:
        case TextDelta(data=data):
            return data
        case Finish(reason=reason):
            return reason
        case _:
            return event


async def follow(backend: ScriptedBackend, seen: list[Event]) -> None:
    async with backend.open(REQUEST) as stream:
        async for event in stream:
            seen.append(event)


def test_every_point_is_tried() -> None:
    assert PASSED.keys() == set(FaultPoint)


@pytest.mark.parametrize("point", FaultPoint)
async def test_backend_breaks_at_its_point_and_once(point: FaultPoint) -> None:
    backend = ScriptedBackend(ANSWER[:2], then=[ANSWER], chunking="bytes", fault_at={point: OSError("broken")})
    seen: list[Event] = []
    with pytest.raises(OSError, match="broken"):
        await follow(backend, seen)
    assert [told(event) for event in seen] == PASSED[point]
    assert backend.open_streams == 0
    assert len(backend.requests) == (point is not FaultPoint.BEFORE_OPEN)
    assert len(await play(backend)) == 4


@pytest.mark.parametrize("point", [each for each in FaultPoint if each is not FaultPoint.BEFORE_OPEN])
async def test_backend_that_hangs_can_be_cancelled(point: FaultPoint) -> None:
    backend = ScriptedBackend(ANSWER[:2], chunking="bytes", fault_at={point: None})
    seen: list[Event] = []
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(follow, backend, seen)
        await anyio.wait_all_tasks_blocked()
        assert [told(event) for event in seen] == PASSED[point]
        assert backend.open_streams == 1
        tasks.cancel_scope.cancel()
    assert backend.open_streams == 0


class Gate:
    """Wait for an event, and count how often."""

    def __init__(self) -> None:
        self.opened = anyio.Event()
        self.waits = 0

    async def wait(self) -> None:
        self.waits += 1
        await self.opened.wait()


async def test_backend_goes_on_when_it_is_told() -> None:
    gate, seen = Gate(), list[Event]()
    backend = ScriptedBackend(ANSWER, fault_at={FaultPoint.AFTER_TEXT: gate})
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(follow, backend, seen)
        await anyio.wait_all_tasks_blocked()
        assert len(seen) == 1
        gate.opened.set()
    assert len(seen) == 3
    assert gate.waits == 1


async def test_text_without_a_finish_ends_at_the_same_point() -> None:
    backend = ScriptedBackend([{"text": "a"}], fault_at={FaultPoint.AFTER_TEXT: OSError("broken")})
    with pytest.raises(OSError, match="broken"):
        await play(backend)


@pytest.mark.parametrize(
    "fault_at", [3, {"opening": OSError()}, {FaultPoint.OPENING: 3}, {FaultPoint.BEFORE_OPEN: None}]
)
def test_trouble_that_cannot_happen_is_refused(fault_at: Any) -> None:
    with pytest.raises(MisuseError, match="fault_at"):
        ScriptedBackend([], fault_at=fault_at)

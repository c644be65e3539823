"""Ask this project's own server, with a real model, by its own dialect: it refuses any field that it does not know."""

from __future__ import annotations

import json
import threading
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from backends.dialects.chat_requests import ASKED, request, translation
from local.tiny_model import in_one_thread, save_model, save_tokenizer

from commitgate.backends.base import (
    Fault,
    Finish,
    FinishReason,
    GenerationRequest,
    ProseDelta,
    ReasoningDelta,
    StreamEvent,
    TextDelta,
    ToolDelta,
    Usage,
)
from commitgate.backends.commitgate_server import CommitgateBackend
from commitgate.backends.dialect import ServerIdentity
from commitgate.backends.local import LocalBackend
from commitgate.difference import Difference
from commitgate.reasoning import Reasoning
from commitgate.tools.offer import OfferedTool, ToolOffer
from commitgate_local.local_model import LocalModel
from commitgate_local.server.app import create_app
from commitgate_local.server.model_list import ServedModel
from commitgate_local.server.running import RunningServer, listen
from commitgate_local.server.server_limits import ServerLimits

pytestmark = pytest.mark.anyio

SMALL = "small"
SCHEMA: Any = {
    "type": "object",
    "properties": {"mood": {"enum": ["good", "bad"]}, "count": {"type": "integer", "minimum": 0, "maximum": 9}},
    "required": ["mood", "count"],
    "additionalProperties": False,
}
TOOL = OfferedTool(name="set_mood", description="Set the mood.", parameters=SCHEMA)


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    with in_one_thread():
        yield


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> LocalModel:
    folder = tmp_path_factory.mktemp("tiny")
    save_tokenizer(folder)
    save_model(folder)
    return LocalModel.load(str(folder), cache_dir=folder / "cache", slots=2)


@pytest.fixture(scope="module")
def base_url(model: LocalModel) -> Iterator[str]:
    """Serve the model on the loopback, in a thread with a loop of its own."""
    limits = ServerLimits(drain_s=5)
    served = ServedModel(name=SMALL, created=1_790_000_000)
    app = create_app(LocalBackend(load=lambda _: model), models=[served], limits=limits)
    listening = listen("127.0.0.1", 0)
    server = RunningServer(app, limits)
    thread = threading.Thread(target=server.run, args=(listening,), name="server under test")
    thread.start()
    yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    server.stop()
    thread.join(20)
    assert not thread.is_alive()


@pytest.fixture
async def backend(base_url: str) -> AsyncIterator[CommitgateBackend]:
    found = CommitgateBackend(base_url=base_url)
    yield found
    await found.aclose()


async def asked(backend: CommitgateBackend, given: GenerationRequest) -> tuple[list[StreamEvent], Any]:
    """Return the events of an answer, and what is known then of who answered."""
    async with backend.open(given) as stream:
        return [event async for event in stream], stream.identity


async def text(backend: CommitgateBackend, given: GenerationRequest) -> str:
    """Return the text of an answer that came to its end."""
    events, _ = await asked(backend, given)
    finish = next((event for event in events if isinstance(event, Finish | Fault)), None)
    assert finish == Finish(FinishReason.STOP, "stop"), finish
    assert any(isinstance(event, Usage) and event.output_tokens for event in events)
    return b"".join(event.data for event in events if isinstance(event, TextDelta)).decode()


def question(*given: Any, **fields: Any) -> GenerationRequest:
    return request(*given, **{"model": SMALL, "temperature": 1.0, "seed": 5, **fields})


async def test_a_schema_is_enforced(backend: CommitgateBackend) -> None:
    found = json.loads(await text(backend, question(translation(schema=SCHEMA))))
    assert found["mood"] in ("good", "bad")
    assert found["count"] in range(10)


@pytest.mark.parametrize(
    ("form", "given", "texts"),
    [
        ("regex", {"pattern": "(ab|c){2}"}, {"abab", "abc", "cab", "cc"}),
        ("choices", {"choices": ("yes", "no")}, {"yes", "no"}),
        ("grammar", {"grammar": 'root ::= "a" ("b" | "c")', "notation": "gbnf"}, {"ab", "ac"}),
        ("grammar", {"grammar": 'start: "a" ("b" | "c")', "notation": "lark"}, {"ab", "ac"}),
    ],
)
async def test_a_text_is_enforced(backend: CommitgateBackend, form: Any, given: Any, texts: set[str]) -> None:
    assert await text(backend, question(translation(form, **given))) in texts


async def test_every_way_to_draw_is_known(backend: CommitgateBackend) -> None:
    drawn = {"temperature": 0.7, "top_k": 5, "top_p": 0.9, "seed": 7, "max_tokens": 64}
    assert await text(backend, question(translation("choices", choices=("yes", "no")), **drawn)) in ("yes", "no")


async def test_no_thoughts_can_be_asked_for(backend: CommitgateBackend) -> None:
    asked_for = question(translation("choices", choices=("yes",)), reasoning=Reasoning(max_tokens=0))
    assert await text(backend, asked_for) == "yes"


async def test_thoughts_up_to_a_limit_are_a_fault_that_names_them(backend: CommitgateBackend) -> None:
    events, _ = await asked(backend, question(reasoning=Reasoning(max_tokens=7)))
    (fault,) = events
    assert isinstance(fault, Fault)
    assert fault.kind == "bad_request"
    assert "reasoning" in fault.message


async def test_an_answer_without_a_form_is_any_text(backend: CommitgateBackend) -> None:
    events, _ = await asked(backend, question(translation("prompt"), max_tokens=4))
    assert any(isinstance(event, Finish) for event in events)


@pytest.mark.parametrize("answer", ["none", "text", "json"])
async def test_tools_are_called_in_the_servers_own_form(backend: CommitgateBackend, answer: Any) -> None:
    offer = ToolOffer(tools=(TOOL,), most_calls=1, answer=answer, instruction="You have tools.")
    form: Any = {"form": "json_schema", "schema": SCHEMA} if answer == "json" else {"form": "prompt"}
    offered = translation(**form, tools={"set_mood": SCHEMA}, strict_tools=frozenset({"set_mood"}))
    given = question(offered, messages=offer.told((ASKED,)), tools=offer, max_tokens=128)
    events, _ = await asked(backend, given)
    assert not [event for event in events if isinstance(event, Fault | TextDelta | ReasoningDelta)]
    arguments = b"".join(event.arguments for event in events if isinstance(event, ToolDelta))
    prose = b"".join(event.data for event in events if isinstance(event, ProseDelta))
    finish = next(event for event in events if isinstance(event, Finish))
    if answer == "none" or arguments:
        assert finish == Finish(FinishReason.STOP, "tool_calls")
        assert json.loads(arguments)["mood"] in ("good", "bad")
        assert [event.name for event in events if isinstance(event, ToolDelta) and event.name] == ["set_mood"]
    else:
        assert finish.reason in (FinishReason.STOP, FinishReason.LENGTH)
        assert prose


async def test_tools_that_are_not_strict_are_said_not_to_be(backend: CommitgateBackend) -> None:
    # The server refuses what it cannot enforce, where it is not told that it need not.
    loose: Any = {**SCHEMA, "properties": {"mood": {"type": "array", "uniqueItems": True}}, "required": ["mood"]}
    offer = ToolOffer(
        tools=(OfferedTool(name="f", description="", parameters=loose),),
        most_calls=1,
        answer="text",
        instruction="You have tools.",
    )
    for strict, is_taken in ((frozenset[str](), True), (frozenset({"f"}), False)):
        offered = translation("prompt", tools={"f": loose}, strict_tools=strict)
        events, _ = await asked(backend, question(offered, messages=(ASKED,), tools=offer, max_tokens=4))
        assert any(isinstance(event, Fault) for event in events) != is_taken


async def test_what_the_server_cannot_enforce_is_a_fault_of_the_constraint(backend: CommitgateBackend) -> None:
    events, _ = await asked(backend, question(translation(schema={"type": "array", "uniqueItems": True})))
    (fault,) = (event for event in events if isinstance(event, Fault))
    assert (fault.kind, fault.status, fault.code) == ("constraint", 400, "unsupported_schema")


async def test_what_is_left_to_the_gate_is_no_fault(backend: CommitgateBackend) -> None:
    schema: Any = {"type": "array", "items": {"enum": [1, 2]}, "maxItems": 3, "uniqueItems": True}
    checked = Difference(kind="checked", pointer="", keyword="uniqueItems", reason="it is only checked")
    assert isinstance(
        json.loads(await text(backend, question(translation(schema=schema, differences=(checked,))))), list
    )


async def test_an_unknown_model_is_a_fault_of_the_request(backend: CommitgateBackend) -> None:
    events, _ = await asked(backend, question(model="other"))
    (fault,) = (event for event in events if isinstance(event, Fault))
    assert (fault.kind, fault.status, fault.code) == ("bad_request", 404, "model_not_found")


async def test_a_request_that_is_sent_again_is_answered_as_before(
    backend: CommitgateBackend, anyio_backend: str
) -> None:
    given = question(translation(schema=SCHEMA), seed=None, idempotency_key=f"case-{anyio_backend}")
    first, said = await asked(backend, given)
    again, said_again = await asked(backend, given)
    words = [b"".join(event.data for event in each if isinstance(event, TextDelta)) for each in (first, again)]
    assert words[0] == words[1] != b""
    assert (said.server_dedup, said_again.server_dedup) == ("executed", "replayed")


async def test_the_server_says_what_it_is(backend: CommitgateBackend) -> None:
    found = await backend.handshake(SMALL)
    assert found == ServerIdentity(is_ready=True, models=(SMALL,), engine="commitgate")


async def test_effects_may_hang_on_it_without_a_probe(backend: CommitgateBackend) -> None:
    assert (await backend.standing(SMALL)).is_proven

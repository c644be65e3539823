"""Streams of servers with APIs of their own, in their parts, and requests to such servers, for tests of dialects."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from commitgate.backends.base import GenerationRequest, Message, StreamEvent, TextDelta, ToolDelta
from commitgate.backends.translation import Translation
from commitgate.backends.wire.wire_event import WireEvent
from commitgate.contract import Contract
from commitgate.tools.offer import OfferedTool, ToolOffer

CITY = '{"city":"Lima","alt":154}'
PIECES = ('{"ci', 'ty":"', "Li", 'ma","alt', '":154', "}")

SCHEMA: dict[str, Any] = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


class AsReceived:
    """Be the shape of a text that needs no restoring."""

    is_same = True
    is_wrapped = False

    def restorer(self) -> Any:
        raise AssertionError("nothing is to be restored")


def translation(form: str = "json_schema", **told: Any) -> Translation:
    told.setdefault("schema", SCHEMA if form == "json_schema" else None)
    return Translation(sent=Contract.of(True), form=form, shape=AsReceived(), **told)  # type: ignore[arg-type]


def request(**told: Any) -> GenerationRequest:
    """Return a request for an answer: one user message and a schema, unless told otherwise."""
    given: dict[str, Any] = {
        "model": "m",
        "contract": Contract.of(True),
        "messages": (Message("user", "Where?"),),
        "translation": translation(),
        **told,
    }
    return GenerationRequest(**given)


def offering(answer: str = "text", *, strict: bool = False) -> dict[str, Any]:
    """Return the arguments of a request that offers two tools in the server's own form."""
    parameters = {"type": "object", "properties": {"q": {"type": "string"}}}
    tools = (
        OfferedTool(name="search", description="Look it up.", parameters=parameters),
        OfferedTool(name="now", description="", parameters={"type": "object"}),
    )
    offer = ToolOffer(tools=tools, most_calls=2, answer=answer, instruction="Call like so.")  # type: ignore[arg-type]
    sent = {"search": {"type": "object", "x": 1}, "now": {"type": "object"}}
    told = translation("prompt", tools=sent, strict_tools=frozenset({"search"} if strict else ()))
    messages = offer.told((Message("user", "Where?"),))
    return {"tools": offer, "translation": told, "messages": messages}


def sse(values: Iterable[Any], *, name: str = "", head: str = "data: ", newline: str = "\n") -> list[bytes]:
    """Return the events of a stream; a value that is bytes is spelled so."""
    lead = f"event: {name}{newline}" if name else ""
    return [(lead + head).encode() + spelled(value) + (newline * 2).encode() for value in values]


def ndjson(values: Iterable[Any]) -> list[bytes]:
    return [spelled(value) + b"\n" for value in values]


def spelled(value: Any) -> bytes:
    return value if isinstance(value, bytes) else json.dumps(value, ensure_ascii=False).encode()


def escaped(value: Any) -> bytes:
    """Return JSON in ASCII alone; halves of characters can be spelled so."""
    return json.dumps(value).encode()


def event(value: Any, *, name: str = "") -> WireEvent:
    data = spelled(value)
    return WireEvent(name=name, data=data, value=json.loads(data))


def gemini(*parts: Mapping[str, Any], finish: str | None = None, **further: Any) -> dict[str, Any]:
    """Return one response of ``generateContent``."""
    candidate: dict[str, Any] = {"content": {"parts": list(parts), "role": "model"}, "index": 0}
    if finish is not None:
        candidate["finishReason"] = finish
    return {"candidates": [candidate], "modelVersion": "g-1", **further}


def gemini_answer(finish: str | None = "STOP") -> list[bytes]:
    values = [gemini({"text": piece}, usageMetadata=counts(5, 1 + at)) for at, piece in enumerate(PIECES)]
    values.append(gemini(finish=finish, usageMetadata=counts(5, 9)))
    return sse(values, newline="\r\n")


def counts(read: int, written: int, thoughts: int | None = None) -> dict[str, int]:
    found = {"promptTokenCount": read, "candidatesTokenCount": written}
    return found if thoughts is None else {**found, "thoughtsTokenCount": thoughts}


def step(kind: str, at: int, **further: Any) -> dict[str, Any]:
    """Return an event of the Interactions API about a step."""
    return {"event_type": f"step.{kind}", "index": at, **further}


def completed(status: str, **further: Any) -> dict[str, Any]:
    return {"event_type": "interaction.completed", "interaction": {"id": "i", "status": status, **further}}


def interaction(status: str = "completed") -> list[bytes]:
    words = [step("delta", 0, delta={"type": "text", "text": piece}) for piece in PIECES]
    usage = {"total_input_tokens": 5, "total_output_tokens": 9, "total_thought_tokens": 3}
    created = {"event_type": "interaction.created", "interaction": {"id": "i", "status": "in_progress"}}
    started = step("start", 0, step={"type": "model_output"})
    return sse([created, started, *words, step("stop", 0), completed(status, usage=usage)], name="e")


def ollama(text: str = "", *, done: bool | None = False, **further: Any) -> dict[str, Any]:
    """Return one line of Ollama's chat."""
    message = {"role": "assistant", "content": text, **further.pop("message", {})}
    return {"model": "tiny", "message": message, "done": done, **further}


def ollama_answer(reason: str = "stop") -> list[bytes]:
    end = ollama(done=True, done_reason=reason, prompt_eval_count=5, eval_count=9)
    return ndjson([*(ollama(piece) for piece in PIECES), end])


def tgi(text: str, *, special: bool = False, **further: Any) -> dict[str, Any]:
    """Return one event of TGI's stream."""
    token = {"id": 7, "text": text, "logprob": -0.5, "special": special}
    return {"index": 1, "token": token, "generated_text": None, "details": None, **further}


def tgi_answer(reason: str = "eos_token") -> list[bytes]:
    details = {"finish_reason": reason, "generated_tokens": 9, "seed": None, "input_length": 5}
    end = tgi("</s>", special=True, generated_text=CITY, details=details)
    return sse([*(tgi(piece) for piece in PIECES), end], head="data:")


def llama(text: str, *, stop: bool = False, **further: Any) -> dict[str, Any]:
    """Return one event of llama.cpp's stream."""
    return {"index": 0, "content": text, "stop": stop, "tokens_predicted": 9, "tokens_evaluated": 5, **further}


def llama_answer(kind: str = "eos", **further: Any) -> list[bytes]:
    end = llama("", stop=True, stop_type=kind, **{"truncated": False, **further})
    return sse([*(llama(piece) for piece in PIECES), end])


def text(events: Iterable[StreamEvent]) -> bytes:
    return b"".join(each.data for each in events if isinstance(each, TextDelta))


def calls(events: Iterable[StreamEvent]) -> list[tuple[int, str | None, str | None, bytes]]:
    return [(each.index, each.id, each.name, each.arguments) for each in events if isinstance(each, ToolDelta)]

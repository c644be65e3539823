"""Play scripts of an answer over a line, in the words of one wire."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from backends.remote.loopback import Asked, Line, Respond
from backends.wire.odd_responses import anthropic, chat, responses

Script = Sequence[Mapping[str, Any]]


class ChatWire:
    """Write chat completions as OpenAI does."""

    done = "data: [DONE]\n\n"

    def text(self, text: str) -> str:
        return chat({"content": text})

    def refusal(self, text: str) -> str:
        return chat({"refusal": text})

    def tool(self, i: int, args: str, id: str | None = None, name: str | None = None) -> str:
        head: dict[str, object] = {} if id is None else {"id": id, "type": "function"}
        function: dict[str, object] = {"arguments": args} if name is None else {"name": name, "arguments": args}
        return chat({"tool_calls": [{"index": i, **head, "function": function}]})

    def event(self, value: Mapping[str, Any]) -> str:
        return f"data: {json.dumps(value)}\n\n"

    def finish(self, word: str) -> str:
        return chat(finish=word)


@dataclass
class AnthropicWire:
    """Write messages as Anthropic does, each block opened and closed."""

    is_begun: bool = False
    block: object = None
    blocks: int = 0
    done: str = field(default=anthropic("message_stop"))

    def text(self, text: str) -> str:
        opened = self._open("text", {"type": "text", "text": ""})
        return opened + self._delta({"type": "text_delta", "text": text})

    def tool(self, i: int, args: str, id: str | None = None, name: str | None = None) -> str:
        opened = self._open(i, {"type": "tool_use", "id": id, "name": name, "input": {}})
        return opened + self._delta({"type": "input_json_delta", "partial_json": args})

    def event(self, value: Mapping[str, Any]) -> str:
        if value["type"] == "content_block_stop":
            return self._close()
        return anthropic(str(value["type"]), **{name: each for name, each in value.items() if name != "type"})

    def finish(self, word: str) -> str:
        ended = anthropic("message_delta", delta={"stop_reason": word}, usage={"output_tokens": 7})
        return self._begin() + self._close() + ended

    def _begin(self) -> str:
        if self.is_begun:
            return ""
        self.is_begun = True
        return anthropic("message_start", message={"id": "m", "content": [], "usage": {"input_tokens": 1}})

    def _open(self, block: object, content: Mapping[str, Any]) -> str:
        if block == self.block:
            return ""
        begun = self._begin() + self._close()
        self.block = block
        return begun + anthropic("content_block_start", index=self.blocks, content_block=content)

    def _delta(self, delta: Mapping[str, Any]) -> str:
        return anthropic("content_block_delta", index=self.blocks, delta=delta)

    def _close(self) -> str:
        if self.block is None:
            return ""
        self.block, index = None, self.blocks
        self.blocks += 1
        return anthropic("content_block_stop", index=index)


class ResponsesWire:
    """Write responses as OpenAI does."""

    def text(self, text: str) -> str:
        kind = "response.output_text.delta"
        place = {"item_id": "i", "output_index": 0, "content_index": 0}
        return self.event({"type": kind, **place, "delta": text})

    def event(self, value: Mapping[str, Any]) -> str:
        return f"event: {value['type']}\ndata: {json.dumps(value)}\n\n"

    def finish(self, word: str) -> str:
        return responses(f"response.{word}", status=word)


WIRES: Mapping[str, type[Any]] = {
    "openai_chat": ChatWire,
    "anthropic_messages": AnthropicWire,
    "openai_responses": ResponsesWire,
}
"""The wires that scripts are played on, by the name of their dialect."""


def _pieces(wire: Any, script: Script) -> Iterator[bytes | Mapping[str, Any]]:
    """Yield what each step writes; a step that writes nothing as it is."""
    for step in script:
        match step:
            case {"text": text}:
                yield wire.text(text).encode()
            case {"refusal": text}:
                yield wire.refusal(text).encode()
            case {"tool": piece}:
                yield wire.tool(**piece).encode()
            case {"event": value}:
                yield wire.event(value).encode()
            case {"raw": text}:
                yield text.encode()
            case {"finish": word}:
                yield wire.finish(word).encode()
            case {"done": True}:
                yield wire.done.encode()
            case _:
                yield step


async def play(line: Line, wire: Any, script: Script) -> None:
    """Answer one request by a script. Without a step that closes it, the body ends whole."""
    if script and "http" in script[0]:
        await whole(line, **script[0]["http"])
        return
    await line.head()
    for piece in _pieces(wire, script):
        match piece:
            case bytes():
                await line.chunk(piece)
            case {"wait": True}:
                await line.closed()
                return
            case {"close": "fin"}:
                await line.fin()
                return
            case {"close": "rst"}:
                await line.rst()
                return
            case {"close": "eof"}:
                break
            case _:
                raise ValueError(f"no wire has a step {sorted(piece)}")
    await line.end()


async def whole(line: Line, *, status: int, headers: Mapping[str, str] | None = None, body: object = "") -> None:
    """Answer one request by a body that is no stream."""
    data = (body if isinstance(body, str) else json.dumps(body)).encode()
    fields = {"content-type": "application/json", **(headers or {})}
    await line.head(status, fields, content_length=str(len(data)))
    await line.send(data)


def playing(dialect: str, *scripts: Script) -> Respond:
    """Answer each request by the next script, and further ones by the last."""
    waiting = list(scripts)

    async def respond(asked: Asked, line: Line) -> None:
        del asked
        await play(line, WIRES[dialect](), waiting.pop(0) if len(waiting) > 1 else waiting[0])

    return respond


__all__ = ["ChatWire", "Script", "play", "playing", "whole"]

"""Hold the answers that a server may give to one question, and a server on loopback that gives them.

The server speaks OpenAI's chat completions, streamed or whole. Every case is one that real servers, and what stands
between them and a program, produce.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

WHOLE = '{"priority":"high","summary":"The pump leaks"}'
CUT = WHOLE[:35]
STRANGE = '{"priority":"urgent","summary":"The pump leaks"}'
TWICE = '{"priority":"low","priority":"high","summary":"The pump leaks"}'


@dataclass(frozen=True, slots=True)
class Answer:
    """One way in which a server answers.

    Attributes:
        says: what it is, in words.
        text: the content.
        finish: the reason that it gives; None where the stream ends without one.
        refusal: what the model said in place of content.
        only: "stream" or "whole" where it can only come in that way.
    """

    says: str
    text: str = ""
    finish: str | None = "stop"
    refusal: str | None = None
    only: str | None = None


ANSWERS: dict[str, Answer] = {
    "whole": Answer("the whole object, finish `stop`", WHOLE),
    "cut_by_limit": Answer("half an object, finish `length`", CUT, finish="length"),
    "whole_by_limit": Answer("the whole object, finish `length`", WHOLE, finish="length"),
    "filtered": Answer("the whole object, finish `content_filter`", WHOLE, finish="content_filter"),
    "refused": Answer("a refusal, finish `stop`", refusal="I cannot help with that."),
    "cut_stream": Answer("the stream ends within the object, without a finish", CUT, finish=None, only="stream"),
    "no_proof": Answer("the stream ends behind the whole object, without a finish", WHOLE, finish=None, only="stream"),
    "outside": Answer("a value outside the schema, finish `stop`", STRANGE),
    "twice": Answer("one key twice, finish `stop`", TWICE),
    "prose": Answer("prose around the object, finish `stop`", f"Here it is: {WHOLE}"),
    "junk": Answer("more text behind the object, finish `stop`", f"{WHOLE} {WHOLE}"),
}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    answer: Answer

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if asked.get("stream"):
            self._stream()
        else:
            self._whole()

    def _whole(self) -> None:
        message: dict[str, Any] = {"role": "assistant", "content": self.answer.text or None}
        message["refusal"] = self.answer.refusal
        choice = {"index": 0, "message": message, "finish_reason": self.answer.finish, "logprobs": None}
        usage = {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18}
        body = json.dumps({**self._head("chat.completion"), "choices": [choice], "usage": usage}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _stream(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        self._event({"role": "assistant", "content": ""})
        text = self.answer.text
        for start in range(0, len(text), 7):
            self._event({"content": text[start : start + 7]})
        if self.answer.refusal:
            self._event({"refusal": self.answer.refusal})
        if self.answer.finish:
            self._event({}, self.answer.finish)
            self._send(b"data: [DONE]\n\n")
        # A clean end of the body, as a proxy makes it whose server went away.
        self.wfile.write(b"0\r\n\r\n")

    def _event(self, delta: dict[str, Any], finish: str | None = None) -> None:
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        event = {**self._head("chat.completion.chunk"), "choices": [choice]}
        self._send(f"data: {json.dumps(event)}\n\n".encode())

    def _send(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    @staticmethod
    def _head(kind: str) -> dict[str, Any]:
        return {"id": "chatcmpl-1", "object": kind, "created": 1, "model": "m"}

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of callers that leave early: some do at the first wrong byte."""


@contextmanager
def served(answer: Answer) -> Iterator[str]:
    """Serve one answer, as often as it is asked for, and yield the URL of the API."""
    server = _Server(("127.0.0.1", 0), type("Handler", (_Handler,), {"answer": answer}))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


__all__ = ["ANSWERS", "CUT", "WHOLE", "Answer", "served"]

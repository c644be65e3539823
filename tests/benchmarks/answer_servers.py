"""Answer the questions of a benchmark with servers of others, where they are present.

``COMMITGATE_LLAMA_SERVER`` names llama.cpp's ``llama-server``, else it is looked for on the path; it is started here on
a loopback port with the GGUF file of the bundled model, and stopped. ``COMMITGATE_VLLM_URL`` names a vLLM server that
serves the same model, as ``http://127.0.0.1:8000/v1``; it is left running.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from answer_ways import Written
from ticket_question import MOST_TOKENS, Question

from commitgate_local.bundled import BUNDLED_FILE, BUNDLED_PACKAGE
from commitgate_local.tokenizer import Tokenizer

LLAMA_VARIABLE = "COMMITGATE_LLAMA_SERVER"
VLLM_VARIABLE = "COMMITGATE_VLLM_URL"

_START_S = 60.0
_ANSWER_S = 300.0
_CONTEXT_TOKENS = 2048


class NoServerError(Exception):
    """Raised when a server is not here or does not start; the message says why."""


class LlamaWay:
    """Answer with llama.cpp's server, which is given the same ids of the prompt.

    Args:
        address: where it listens.
        tokenizer: the model's.
    """

    name = "llama-server, Q4_1"

    def __init__(self, address: str, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._client = httpx.Client(base_url=address, timeout=_ANSWER_S, trust_env=False)

    async def answer(self, question: Question) -> Written:
        """Answer one question; this process waits."""
        begun = time.perf_counter()
        found = self._post(
            {
                "prompt": self._tokenizer.chat([(message.role, message.content) for message in question.messages]),
                "json_schema": question.model.model_json_schema(),
                "temperature": 0,
                "n_predict": MOST_TOKENS,
                "cache_prompt": True,
            }
        )
        seconds = time.perf_counter() - begun
        return Written(seconds=seconds, tokens=found["tokens_predicted"], text=found["content"])

    def _post(self, body: dict[str, Any]) -> Any:
        response = self._client.post("/completion", json=body)
        response.raise_for_status()
        return response.json()


class VllmWay:
    """Answer with a vLLM server, by the protocol that it shares with others.

    Raises:
        NoServerError: it does not answer.
    """

    name = "vLLM"

    def __init__(self, address: str) -> None:
        self._client = httpx.Client(base_url=address.rstrip("/") + "/", timeout=_ANSWER_S, trust_env=False)
        try:
            models = self._client.get("models").raise_for_status().json()
        except httpx.HTTPError as error:
            raise NoServerError(f"vLLM at {VLLM_VARIABLE} does not answer ({type(error).__name__})") from error
        self._model = models["data"][0]["id"]

    async def answer(self, question: Question) -> Written:
        """Answer one question; this process waits."""
        begun = time.perf_counter()
        body = {
            "model": self._model,
            "messages": [{"role": message.role, "content": message.content} for message in question.messages],
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "ticket", "schema": question.model.model_json_schema()},
            },
            "temperature": 0,
            "max_tokens": MOST_TOKENS,
        }
        found = self._client.post("chat/completions", json=body).raise_for_status().json()
        seconds = time.perf_counter() - begun
        text = found["choices"][0]["message"]["content"]
        return Written(seconds=seconds, tokens=found["usage"]["completion_tokens"], text=text)


@contextmanager
def llama_way(tokenizer: Tokenizer, threads: int) -> Iterator[LlamaWay]:
    """Start llama.cpp's server for as long as it is used.

    Args:
        tokenizer: the model's.
        threads: as many as the others compute with.

    Raises:
        NoServerError: it, or the model's file, is not here; or it does not start.
    """
    program = os.environ.get(LLAMA_VARIABLE) or shutil.which("llama-server")
    if not program:
        raise NoServerError(f"llama-server is not here: {LLAMA_VARIABLE} may name it")
    port = _free_port()
    command = [program, "-m", str(_gguf()), "-t", str(threads), "-c", str(_CONTEXT_TOKENS), "-np", "1"]
    try:
        process = subprocess.Popen(
            [*command, "--host", "127.0.0.1", "--port", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
    except OSError as error:
        raise NoServerError(f"llama-server cannot be started ({error.strerror or error})") from error
    try:
        address = f"http://127.0.0.1:{port}"
        _wait_until_healthy(process, address)
        yield LlamaWay(address, tokenizer)
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def vllm_way() -> VllmWay:
    """Return the way over a vLLM server that runs.

    Raises:
        NoServerError: none is named, or it does not answer.
    """
    address = os.environ.get(VLLM_VARIABLE)
    if not address:
        raise NoServerError(f"no vLLM server: {VLLM_VARIABLE} may name one that serves the same model")
    return VllmWay(address)


def _gguf() -> Path:
    found = importlib.util.find_spec(BUNDLED_PACKAGE)
    for folder in (found.submodule_search_locations if found is not None else None) or ():
        if (Path(folder) / BUNDLED_FILE).is_file():
            return Path(folder) / BUNDLED_FILE
    raise NoServerError(f"llama-server has no model: the package {BUNDLED_PACKAGE} carries its GGUF file")


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def _wait_until_healthy(process: subprocess.Popen[bytes], address: str) -> None:
    until = time.monotonic() + _START_S
    while time.monotonic() < until and process.poll() is None:
        try:
            if httpx.get(f"{address}/health", timeout=1.0, trust_env=False).status_code == httpx.codes.OK:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.1)
    raise NoServerError("llama-server did not come up")


__all__ = ["LLAMA_VARIABLE", "VLLM_VARIABLE", "LlamaWay", "NoServerError", "VllmWay", "llama_way", "vllm_way"]

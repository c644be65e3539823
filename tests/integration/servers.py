"""Run llama.cpp's server and vLLM with the bundled model, as child processes on loopback that their starter owns."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Literal, TypeAlias

import httpx
from integration.installing import VLLM_ENVIRONMENT, UnavailableError, llama_program, vllm_program

ServerName: TypeAlias = Literal["llama", "vllm"]
NAMES: tuple[ServerName, ...] = ("llama", "vllm")

MODEL = "smol"
CONTEXT_TOKENS = 2048
_STARTS_WITHIN_S: Mapping[ServerName, float] = {"llama": 60.0, "vllm": 400.0}
_STOPS_WITHIN_S = 15.0


class Server:
    """Hold one server; ``with running(name)`` starts it and sees to its end.

    Attributes:
        name: which server it is.
        port: its port on 127.0.0.1; the same one after a restart.
        log: the file that takes what it prints.
    """

    def __init__(self, name: ServerName, folder: Path) -> None:
        self.name: ServerName = name
        self.port = _free_port()
        self.log = folder / f"{name}.log"
        self._process: subprocess.Popen[bytes] | None = None
        self._out: IO[bytes] | None = None

    @property
    def url(self) -> str:
        """Return where it listens, without a path."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it and wait until it is healthy.

        Raises:
            UnavailableError: it is not installed, or it did not come up.
        """
        words, extra = _command(self.name, self.port)
        self.log.parent.mkdir(parents=True, exist_ok=True)
        self._out = self.log.open("ab")
        # A session of its own: its children can be ended with it, by one id, and Ctrl-C reaches us first.
        self._process = subprocess.Popen(
            words, stdout=self._out, stderr=self._out, env={**os.environ, **extra}, start_new_session=True
        )
        try:
            self._wait_until_healthy()
        except BaseException:
            self.kill()
            raise

    def kill(self) -> None:
        """End it at once, with whatever it has under way."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """Ask it to end; end it where it does not."""
        if self._process is not None and self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_STOPS_WITHIN_S)
        self.kill()

    def restart(self) -> None:
        """End it at once and start it again on the same port."""
        self.kill()
        self.start()

    def _end(self, number: signal.Signals) -> None:
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, number)
            self._process.wait()
            self._process = None
        if self._out is not None:
            self._out.close()
            self._out = None

    def _wait_until_healthy(self) -> None:
        assert self._process is not None
        within_s = _STARTS_WITHIN_S[self.name]
        ends_at = time.monotonic() + within_s
        while time.monotonic() < ends_at:
            if self._process.poll() is not None:
                raise UnavailableError(
                    f"{self.name} ended with {self._process.returncode} at its start; see {self.log}"
                )
            with suppress(httpx.HTTPError):
                if httpx.get(f"{self.url}/health", timeout=5.0, trust_env=False).status_code == httpx.codes.OK:
                    return
            time.sleep(0.1)
        raise UnavailableError(f"{self.name} was not healthy in {within_s:.0f} s; see {self.log}")


@contextmanager
def running(name: ServerName, folder: Path) -> Iterator[Server]:
    """Run a server for as long as the block lasts.

    Args:
        name: which server.
        folder: takes the log.

    Raises:
        UnavailableError: it is not installed, or it did not come up.
    """
    server = Server(name, folder)
    server.start()
    try:
        yield server
    finally:
        server.stop()


def why_not(name: ServerName) -> str | None:
    """Say why a server cannot be run here, or None where it can."""
    try:
        _command(name, 0)
    except UnavailableError as reason:
        return str(reason)
    return None


def _command(name: ServerName, port: int) -> tuple[Sequence[str], Mapping[str, str]]:
    """Return the words that start a server, and what its environment needs."""
    program = llama_program() if name == "llama" else vllm_program()
    if program is None:
        raise UnavailableError(f"{name} is not installed; `make integration` installs it")
    if name == "llama":
        words = [str(program), "-m", str(_gguf_file()), "-a", MODEL, "--host", "127.0.0.1", "--port", str(port)]
        return [*words, "-t", "2", "-c", str(CONTEXT_TOKENS), "-np", "1"], {}
    words = [str(program), "serve", str(_model_folder()), "--served-model-name", MODEL, "--host", "127.0.0.1"]
    words += ["--port", str(port), "--max-model-len", str(CONTEXT_TOKENS), "--dtype", "bfloat16", "--enforce-eager"]
    # Its tools come from its own environment, as when that is activated.
    return words, {**VLLM_ENVIRONMENT, "PATH": f"{program.parent}{os.pathsep}{os.environ.get('PATH', '')}"}


def _gguf_file() -> Path:
    from commitgate_local.bundled import BUNDLED_FILE, BUNDLED_PACKAGE

    found = find_spec(BUNDLED_PACKAGE)
    for folder in (found.submodule_search_locations if found is not None else None) or ():
        if (Path(folder) / BUNDLED_FILE).is_file():
            return Path(folder) / BUNDLED_FILE
    raise UnavailableError(f"there is no model: the package {BUNDLED_PACKAGE} carries its GGUF file")


def _model_folder() -> Path:
    from commitgate_local.bundled import BUNDLED_NAME
    from commitgate_local.store import ModelStore, cache_folder

    found = ModelStore(cache_folder()).find(BUNDLED_NAME)
    if found is None:
        raise UnavailableError("the bundled model is not converted; run: commitgate models pull")
    return found.folder


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])

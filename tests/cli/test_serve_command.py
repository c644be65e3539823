"""``commitgate serve`` listens, tells where, and ends in order; what it cannot do it says in one sentence."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from cli.command_shell import PROGRAM, Done, Shell
from cli.quick_shell import QuickShell

from commitgate_local.server.server_limits import ServerLimits

ANSWER = [{"text": "It is warm."}, {"finish": "stop"}]
TOKEN = "token-of-tests"


@dataclass
class Running:
    """Hold a server in a process of its own."""

    process: "subprocess.Popen[str]"
    first_line: str

    @property
    def url(self) -> str:
        return self.first_line.split()[-1]

    def ask(self, token: str = "", secret: str = "a-prompt-to-hide") -> httpx.Response:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        question = {"model": "small", "messages": [{"role": "user", "content": secret}]}
        return httpx.post(f"{self.url}/chat/completions?key={secret}", json=question, headers=headers)

    @contextmanager
    def stream(self) -> Generator[httpx.Response]:
        question = {"model": "small", "stream": True, "messages": [{"role": "user", "content": "go"}]}
        with httpx.stream("POST", f"{self.url}/chat/completions", json=question, timeout=20) as response:
            yield response

    def drains(self) -> None:
        """Wait until it lets nobody in."""
        while httpx.get(f"{self.url.removesuffix('/v1')}/health").status_code == 200:
            pass

    def end(self, number: int) -> Done:
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=20)
        return Done(self.process.returncode, self.first_line + out, err)


@contextmanager
def running(shell: Shell, script: list[Any], *arguments: str, **environment: str) -> Generator[Running]:
    program = [sys.executable, str(PROGRAM), json.dumps(script), "serve", "scripted/small", "--port", "0", *arguments]
    process = subprocess.Popen(
        program,
        cwd=shell.folder,
        env={**shell.environment, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield Running(process, process.stdout.readline())
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_server_answers_until_a_signal_and_leaves_with_zero(shell: Shell, number: int) -> None:
    with running(shell, ANSWER) as server:
        assert server.first_line.startswith("commitgate serves small at http://127.0.0.1:")
        assert server.ask().json()["choices"][0]["message"]["content"] == "It is warm."
        done = server.end(number)
    assert done.code == 0
    assert "drained" in done.err


def test_log_has_no_payload_query_or_token(shell: Shell) -> None:
    with running(shell, ANSWER, "--log-level", "debug", COMMITGATE_SERVE_TOKEN=TOKEN) as server:
        assert server.ask().status_code == 401
        assert server.ask(TOKEN).status_code == 200
        done = server.end(signal.SIGTERM)
    assert "POST /v1/chat/completions 200" in done.err
    for secret in ("a-prompt-to-hide", TOKEN, "warm"):
        assert secret not in done.out + done.err


def test_looking_at_answers_is_warned_of_and_let_in_by_a_link_that_is_in_no_log(shell: Shell) -> None:
    with running(shell, ANSWER, "--inspect", "--log-level", "debug") as server:
        assert server.process.stdout is not None
        link = server.process.stdout.readline().split()[-1]
        root, _, code = link.partition("#")
        assert root == f"{server.url.removesuffix('/v1')}/inspect/login"
        assert server.ask().status_code == 200
        with httpx.Client() as client:
            assert client.post(root, json={"code": code}).status_code == 204
            (answer,) = client.get(root.replace("login", "recent")).json()["answers"]
        assert answer["outcome"] == "answered"
        further = server.process.stdout.readline().split()[-1]
        assert further.startswith(f"{root}#")
        assert further != link
        done = server.end(signal.SIGTERM)
    assert "warning: --inspect keeps recent prompts and answers" in done.err
    assert "POST /inspect/login 204" in done.err
    assert code not in done.err
    assert further.partition("#")[2] not in done.err


def test_nobody_looks_at_answers_unless_it_was_asked_for(shell: Shell) -> None:
    with running(shell, ANSWER) as server:
        assert httpx.get(f"{server.url.removesuffix('/v1')}/inspect/login").status_code == 404
        assert "inspect" not in server.end(signal.SIGTERM).err


def test_token_may_come_from_a_file(shell: Shell) -> None:
    with running(shell, ANSWER, "--token-file", shell.write("token", f"{TOKEN}\n")) as server:
        assert server.ask().status_code == 401
        assert server.ask(TOKEN).status_code == 200


def test_model_thinks_where_the_server_lets_it(shell: Shell) -> None:
    options = ("--reasoning-tokens", "40", "--reasoning-end", "[END]")
    with running(shell, [{"reasoning": "hm"}, *ANSWER], *options) as server:
        message = server.ask().json()["choices"][0]["message"]
    assert (message["content"], message["reasoning_content"]) == ("It is warm.", "hm")


def test_help_says_the_bounds_of_a_server_that_is_told_none(shell: Shell) -> None:
    told = " ".join(shell.commitgate("serve", "--help").out.split())
    limits = ServerLimits()
    for name, default in {
        "--max-concurrent": limits.concurrent_requests,
        "--max-queued": limits.queued_requests,
        "--max-tokens": limits.max_tokens,
        "--max-body-bytes": limits.body_bytes,
        "--max-seconds": limits.stream_s,
        "--drain-seconds": limits.drain_s,
    }.items():
        assert re.search(rf"{name} [^;]+; {default:.0f} by default", told), name


def test_bounds_are_those_that_were_asked_for(shell: Shell) -> None:
    with running(shell, ANSWER, "--max-body-bytes", "10") as server:
        assert server.ask().status_code == 413


def test_answer_that_does_not_end_is_cancelled_at_the_end(shell: Shell, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    script = [{"text": "a"}, {"wait": str(pipe)}]
    with running(shell, script, "--drain-seconds", "0") as server, server.stream() as response:
        assert pipe.read_text(encoding="utf-8") == "here\n"
        done = server.end(signal.SIGTERM)
        assert b'"overloaded"' in response.read()
    assert done.code == 0


def test_running_answer_comes_to_its_end_before_the_server_does(shell: Shell, tmp_path: Path) -> None:
    pipe, until = tmp_path / "pipe", tmp_path / "until"
    for path in (pipe, until):
        os.mkfifo(path)
    script = [{"text": "a"}, {"wait": str(pipe), "until": str(until)}, {"text": "b"}, {"finish": "stop"}]
    with running(shell, script, "--drain-seconds", "60") as server, server.stream() as response:
        assert pipe.read_text(encoding="utf-8") == "here\n"
        server.process.send_signal(signal.SIGTERM)
        server.drains()
        assert server.ask().status_code == 503
        until.write_text("go on", encoding="utf-8")
        text = response.read()
        done = server.end(signal.SIGCONT)
    assert text.endswith(b"data: [DONE]\n\n")
    assert done.code == 0
    assert "drained" in done.err


def test_second_signal_ends_the_server_at_once(shell: Shell, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with (
        running(shell, [{"text": "a"}, {"wait": str(pipe)}], "--drain-seconds", "600") as server,
        server.stream() as response,
    ):
        assert pipe.read_text(encoding="utf-8") == "here\n"
        server.process.send_signal(signal.SIGTERM)
        server.drains()
        done = server.end(signal.SIGTERM)
        with suppress(httpx.TransportError):
            assert b"[DONE]" not in response.read()
    assert done.code == 0
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--host", "0.0.0.0"], 2, "--allow-anyone"),
        (["--port", "65536"], 2, "port"),
        (["--max-concurrent", "0"], 2, "--max-concurrent"),
        (["--reasoning-tokens", "-1"], 2, "max_tokens"),
        (["--reasoning-tokens", "5", "--reasoning-end", ""], 2, "empty"),
        (["--reasoning-end", "<x>"], 2, "--reasoning-tokens"),
        (["--reasoning-begin", "<x>"], 2, "--reasoning-tokens"),
        (["--token-file", "absent"], 2, "token"),
        (["--host", "192.0.2.1", "--allow-anyone"], 2, "nothing can listen"),
        (["absent-model", "--port", "0"], 4, "absent-model"),
    ],
)
def test_what_cannot_be_served_is_said_in_a_sentence(
    quick: QuickShell, arguments: list[str], code: int, said: str
) -> None:
    done = quick.commitgate("serve", *arguments)
    assert (done.code, done.out) == (code, "")
    assert said in done.err


def test_short_token_is_refused_and_not_shown(shell: Shell) -> None:
    with running(shell, ANSWER, COMMITGATE_SERVE_TOKEN="s3cret") as server:
        _, err = server.process.communicate(timeout=20)
    assert server.process.returncode == 2
    assert "token must have at least" in err
    assert "s3cret" not in err


@pytest.mark.parametrize("module", ["starlette", "uvicorn"])
def test_missing_server_extra_is_named(shell: Shell, module: str) -> None:
    program = f"import sys; sys.modules[{module!r}] = None; from commitgate.cli import main; main()"
    done = shell.run([sys.executable, "-c", program, "serve"])
    assert done.code == 3
    assert "commitgate[server]" in done.err
    assert "Traceback" not in done.err

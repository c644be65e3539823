"""Encryption, proxies and whom to trust, on real lines."""

from __future__ import annotations

import shutil
import ssl
import subprocess
from contextlib import aclosing, suppress
from dataclasses import dataclass
from pathlib import Path

import anyio
import httpx
import httpx2
import pytest
from anyio.abc import AnyByteReceiveStream, AnyByteSendStream, SocketAttribute, SocketStream
from backends.remote.chat_words import ANSWER, answering, backend_at, delta, events_of, request
from backends.remote.loopback import Asked, Line, Loopback, Respond, loopback

from commitgate.backends.base import Fault, Finish, StreamEvent, WaitExpired
from commitgate.timeouts import Timeouts

pytestmark = pytest.mark.anyio


@dataclass(frozen=True)
class Authority:
    """A certificate that vouches for itself, and what a server of it needs."""

    certificate: Path
    server: ssl.SSLContext


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("no openssl was found to make a certificate with; install it")
    folder = tmp_path_factory.mktemp("authority")
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    words = (
        f"req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -keyout {key} -out {certificate}"
    )
    made = [openssl, *words.split(), "-subj", "/CN=loopback", "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run(made, check=True, capture_output=True)
    found = subprocess.run([openssl, "x509", "-hash", "-noout", "-in", certificate], check=True, capture_output=True)
    shutil.copy(certificate, folder / f"{found.stdout.decode().strip()}.0")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return Authority(certificate=certificate, server=context)


def is_whole(events: list[StreamEvent]) -> bool:
    return any(isinstance(event, Finish) for event in events)


async def test_trusted_server_is_asked(authority: Authority) -> None:
    async with loopback(answering(), trust=authority.server) as server:
        certificate = authority.certificate
        trusting = ssl.create_default_context(cafile=certificate)
        for verify in (False, str(certificate), str(certificate.parent), trusting):
            async with aclosing(backend_at(server, verify=verify)) as backend:
                assert is_whole(await events_of(backend))
                assert is_whole(await events_of(backend))
        assert server.opened == 4


@pytest.mark.parametrize("library", [httpx, httpx2], ids=["httpx", "httpx2"])
async def test_server_that_nobody_vouches_for_is_not_asked(authority: Authority, library: object) -> None:
    async with loopback(answering(), trust=authority.server) as server:
        async with library.AsyncClient() as client:  # type: ignore[attr-defined]
            (fault,) = await events_of(backend_at(server, http_client=client))
        assert isinstance(fault, Fault)
        assert (fault.kind, fault.code) == ("untrusted", "tls")
        assert "certificate" in fault.message
        assert not server.asked


async def test_certificate_of_another_host_is_not_trusted(authority: Authority) -> None:
    async with loopback(answering(), trust=authority.server) as server:
        elsewhere = f"https://localhost:{server.port}"
        async with aclosing(backend_at(elsewhere, verify=str(authority.certificate))) as backend:
            (fault,) = await events_of(backend)
        assert isinstance(fault, Fault)
        assert (fault.kind, fault.code) == ("untrusted", "tls")


async def test_server_without_encryption_is_not_trusted_with_it() -> None:
    async with (
        loopback(answering()) as server,
        aclosing(backend_at(server.url.replace("http:", "https:"))) as backend,
    ):
        (fault,) = await events_of(backend)
        assert isinstance(fault, Fault)
        assert fault.kind in ("untrusted", "unreachable")
        assert not server.asked


async def test_encrypted_server_is_closed_when_its_answer_is_left(authority: Authority) -> None:
    left = anyio.Event()

    async def respond(asked: Asked, line: Line) -> None:
        del asked
        await line.head()
        await line.chunk(delta("1"))
        await line.closed()
        left.set()

    async with (
        loopback(respond, trust=authority.server) as server,
        aclosing(backend_at(server, verify=False)) as backend,
    ):
        async with backend.open(request()) as stream:
            await anext(aiter(stream))
        with anyio.fail_after(5):
            await left.wait()


async def test_line_is_closed_whose_encryption_was_cut_off() -> None:
    left = anyio.Event()

    async def mute(stream: SocketStream) -> None:
        async with stream:
            with suppress(anyio.EndOfStream, anyio.BrokenResourceError):
                while True:
                    await stream.receive()
        left.set()

    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, mute)
        url = f"https://127.0.0.1:{listener.extra(SocketAttribute.local_port)}"
        async with aclosing(backend_at(url)) as backend:
            with pytest.raises(WaitExpired) as raised:
                await events_of(backend, request(timeouts=Timeouts(connect_s=0.05)))
        with anyio.fail_after(5):
            await left.wait()
        tasks.cancel_scope.cancel()
    assert (raised.value.phase, raised.value.limit_s) == ("connect", 0.05)


async def pump(source: AnyByteReceiveStream, sink: AnyByteSendStream) -> None:
    try:
        async for piece in source:
            await sink.send(piece)
    except (anyio.BrokenResourceError, anyio.ClosedResourceError):
        return


def tunnel(server: Loopback, *, refuses: bool = False) -> Respond:
    """Be a proxy that leads to a server, whatever host is asked for."""

    async def respond(asked: Asked, line: Line) -> None:
        assert asked.method == "CONNECT"
        if refuses:
            await line.head(status=407, headers={}, content_length="0")
            return
        async with await anyio.connect_tcp("127.0.0.1", server.port) as far, anyio.create_task_group() as tasks:
            await line.send(b"HTTP/1.1 200 So\r\n\r\n")
            tasks.start_soon(pump, far, line.stream)
            await pump(line.received, far)
            tasks.cancel_scope.cancel()
        await line.fin()

    return respond


async def test_proxy_of_the_environment_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    async with loopback(answering()) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        async with aclosing(backend_at("http://far.invalid")) as backend:
            assert is_whole(await events_of(backend))
    assert proxy.asked[0].target == "http://far.invalid/v1/chat/completions"


async def test_tunnel_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch, authority: Authority) -> None:
    async with (
        loopback(answering(ANSWER[:20], ANSWER[20:]), trust=authority.server) as server,
        loopback(tunnel(server)) as proxy,
    ):
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        trusting = str(authority.certificate)
        async with aclosing(backend_at("https://127.0.0.1:1", verify=trusting)) as backend:
            assert is_whole(await events_of(backend))
        assert (proxy.asked[0].method, proxy.asked[0].target) == ("CONNECT", "127.0.0.1:1")
        assert "authorization" not in proxy.asked[0].headers
        assert len(server.asked) == 1


async def test_proxy_that_refuses_makes_the_server_unreachable(
    monkeypatch: pytest.MonkeyPatch, authority: Authority
) -> None:
    async with (
        loopback(answering(), trust=authority.server) as server,
        loopback(tunnel(server, refuses=True)) as proxy,
    ):
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        async with aclosing(backend_at("https://127.0.0.1:1", verify=False)) as backend:
            (fault,) = await events_of(backend)
        assert isinstance(fault, Fault)
        assert (fault.kind, fault.code) == ("unreachable", "proxy")

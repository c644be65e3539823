"""Ask this project's own server."""

from __future__ import annotations

from typing_extensions import Unpack

from commitgate.backends.dialects.commitgate_chat import CommitgateChatDialect
from commitgate.backends.remote import RemoteBackend, RemoteOptions


class CommitgateBackend(RemoteBackend):
    """Ask ``commitgate serve`` on this machine or another one.

    ``Client(backends={"commitgate": CommitgateBackend(base_url="http://gpu-1:8000")})`` answers as
    ``commitgate/<model>``; without ``base_url`` it is ``COMMITGATE_SERVER_URL`` that says where the server is. Its word
    needs no probe: it enforces a contract or refuses it, and answers a repeated request with the answer that it gave.

    Args:
        options: as ``RemoteOptions`` says.
    """

    def __init__(self, **options: Unpack[RemoteOptions]) -> None:
        options.setdefault("name", "commitgate")
        super().__init__(CommitgateChatDialect(), **options)


__all__ = ["CommitgateBackend"]

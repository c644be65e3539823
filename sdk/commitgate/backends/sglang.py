"""Ask a server of SGLang."""

from __future__ import annotations

from typing_extensions import Unpack

from commitgate.backends.dialects.sglang_chat import SglangChatDialect
from commitgate.backends.remote import RemoteBackend, RemoteOptions


class SglangBackend(RemoteBackend):
    """Ask a server of SGLang.

    ``Client(backends={"sglang": SglangBackend(base_url="http://gpu-1:30000")})`` answers as ``sglang/default``; without
    ``base_url`` it is ``SGLANG_BASE_URL`` that says where the server is.

    Args:
        options: as ``RemoteOptions`` says.
    """

    def __init__(self, **options: Unpack[RemoteOptions]) -> None:
        options.setdefault("name", "sglang")
        super().__init__(SglangChatDialect(), **options)


__all__ = ["SglangBackend"]

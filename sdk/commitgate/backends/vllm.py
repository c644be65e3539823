"""Ask a server of vLLM."""

from __future__ import annotations

from typing_extensions import Unpack

from commitgate.backends.dialects.vllm_chat import VllmChatDialect
from commitgate.backends.remote import RemoteBackend, RemoteOptions


class VllmBackend(RemoteBackend):
    """Ask a server of vLLM, 0.12 or newer.

    ``Client(backends={"vllm": VllmBackend(base_url="http://gpu-1:8000")})`` answers as ``vllm/Qwen/Qwen3-8B``; without
    ``base_url`` it is ``VLLM_BASE_URL`` that says where the server is.

    Args:
        options: as ``RemoteOptions`` says.
    """

    def __init__(self, **options: Unpack[RemoteOptions]) -> None:
        options.setdefault("name", "vllm")
        super().__init__(VllmChatDialect(), **options)


__all__ = ["VllmBackend"]

"""Ask NVIDIA NIM, hosted or on one's own machines."""

from __future__ import annotations

from typing_extensions import Unpack

from commitgate.backends.dialects.nim_chat import NimChatDialect, NimEngine
from commitgate.backends.remote import RemoteBackend, RemoteOptions


class NimBackend(RemoteBackend):
    """Ask NVIDIA NIM for LLMs, 2.x.

    ``Client(backends={"nim": NimBackend()})`` asks the hosted models with the key in ``NVIDIA_API_KEY``; an image on
    one's own machines is named by ``base_url`` or ``NIM_BASE_URL``.

    Args:
        engine: what runs inside of the image, ``vllm`` or ``sglang``: schemas are taken by both, each takes patterns
            and grammars in a field of its own.
        options: as ``RemoteOptions`` says.
    """

    def __init__(self, *, engine: NimEngine = "vllm", **options: Unpack[RemoteOptions]) -> None:
        options.setdefault("name", "nim")
        super().__init__(NimChatDialect(engine), **options)


__all__ = ["NimBackend"]

"""Ask OpenAI's chat completions, and gateways that speak them as OpenAI does."""

from __future__ import annotations

from typing_extensions import Unpack

from commitgate.backends.dialects.openai_chat import OpenAIChatDialect
from commitgate.backends.remote import RemoteBackend, RemoteOptions


class OpenAIChatBackend(RemoteBackend):
    """Ask OpenAI, or a gateway that enforces ``response_format`` with ``strict`` as OpenAI does.

    ``Client(backends={"openai_chat": OpenAIChatBackend()})`` finds its key in ``OPENAI_API_KEY``. A gateway's URL goes
    into ``base_url``; what it makes of a schema is known only once it was probed.

    Args:
        options: as ``RemoteOptions`` says.
    """

    def __init__(self, **options: Unpack[RemoteOptions]) -> None:
        options.setdefault("name", "openai_chat")
        super().__init__(OpenAIChatDialect(), **options)


__all__ = ["OpenAIChatBackend"]

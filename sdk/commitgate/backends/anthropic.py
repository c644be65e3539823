"""Ask Anthropic's models."""

from __future__ import annotations

from typing import Literal

from typing_extensions import Unpack

from commitgate.backends.dialects.anthropic_messages import AnthropicMessagesDialect
from commitgate.backends.remote import RemoteBackend, RemoteOptions


class AnthropicBackend(RemoteBackend):
    """Answer requests by Anthropic's Messages API, or by a server that speaks it.

    The key is ``api_key``, or the variable ``ANTHROPIC_API_KEY``; where it is, ``base_url`` or ``ANTHROPIC_BASE_URL``::

        async with Client(backends={"anthropic": AnthropicBackend(api_key=key)}) as client:
            outcome = await client.generate_structured("anthropic/claude-x", Ticket, prompt=text)

    Newer models take no temperature: give one to those alone that do (``Sampling.temperature``). A model that
    thinks shares one limit between thoughts and answer: the sum of ``Reasoning.max_tokens`` and
    ``Sampling.max_tokens``, so that thoughts left unused make room for a longer answer.

    Args:
        credential: ``key``: the key goes into ``x-api-key``. ``token``: it is a token of OAuth and goes into
            ``Authorization``; its variable is ``ANTHROPIC_AUTH_TOKEN``.
        options: as ``RemoteOptions`` says.

    Raises:
        MisuseError: an option is wrong, or there is no key.
    """

    def __init__(self, *, credential: Literal["key", "token"] = "key", **options: Unpack[RemoteOptions]) -> None:
        options.setdefault("name", "anthropic")
        super().__init__(AnthropicMessagesDialect(credential), **options)


__all__ = ["AnthropicBackend"]

"""Ask OpenAI's models, by its Responses API."""

from __future__ import annotations

from typing_extensions import Unpack

from commitgate.backends.dialects.openai_responses import OpenAIResponsesDialect
from commitgate.backends.remote import RemoteBackend, RemoteOptions


class OpenAIResponsesBackend(RemoteBackend):
    """Answer requests by OpenAI's Responses API, or by a server that speaks it.

    The key is ``api_key``, or the variable ``OPENAI_API_KEY``; where it is, ``base_url`` or ``OPENAI_BASE_URL``::

        async with Client(backends={"openai": OpenAIResponsesBackend(api_key=key)}) as client:
            outcome = await client.generate_structured("openai/gpt-4.1", Ticket, prompt=text)

    Models that think take no temperature: give one to those alone that do (``Sampling.temperature``). They
    take their thoughts out of ``Sampling.max_tokens``; how long they think is for ``extra_body`` to say:
    ``{"reasoning": {"effort": "low"}}``.

    Args:
        options: as ``RemoteOptions`` says.

    Raises:
        MisuseError: an option is wrong, or there is no key.
    """

    def __init__(self, **options: Unpack[RemoteOptions]) -> None:
        options.setdefault("name", "openai")
        super().__init__(OpenAIResponsesDialect(), **options)


__all__ = ["OpenAIResponsesBackend"]

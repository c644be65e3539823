"""Ask Ollama."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from typing_extensions import Unpack

from commitgate.argument import check_choice
from commitgate.backends.dialects.ollama_chat import OllamaChatDialect
from commitgate.backends.dialects.ollama_v1_chat import OllamaV1ChatDialect
from commitgate.backends.remote import RemoteBackend, RemoteOptions
from commitgate.errors import MisuseError
from commitgate.json_value import JsonValue

OllamaApi: TypeAlias = Literal["native", "v1"]
"""Which of the server's two ways to ask is used."""


class OllamaBackend(RemoteBackend):
    """Ask a server of Ollama.

    ``Client(backends={"ollama": OllamaBackend(base_url="http://localhost:11434")})`` answers as ``ollama/qwen3:8b``;
    without ``base_url`` it is ``OLLAMA_BASE_URL`` that says where the server is.

    Args:
        api: ``native`` is Ollama's own, which tells of a failure in the middle of an answer and knows every way to
            draw; ``v1`` is its likeness of OpenAI's, for gateways that pass nothing else on.
        model_options: further members of ``options`` in every request, as ``num_ctx``, for ``native``; none that a
            request says itself.
        options: as ``RemoteOptions`` says.

    Raises:
        MisuseError: the api is another word, or there are model options that cannot be said.
    """

    def __init__(
        self,
        *,
        api: OllamaApi = "native",
        model_options: Mapping[str, JsonValue] | None = None,
        **options: Unpack[RemoteOptions],
    ) -> None:
        options.setdefault("name", "ollama")
        check_choice("api", api, ("native", "v1"))
        if api == "native":
            super().__init__(OllamaChatDialect(options=model_options), **options)
        elif model_options is None:
            super().__init__(OllamaV1ChatDialect(), **options)
        else:
            raise MisuseError('model_options is for api="native": the other one has no field for them')


__all__ = ["OllamaApi", "OllamaBackend"]

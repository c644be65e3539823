"""Ask llama.cpp's server."""

from __future__ import annotations

from typing import Literal, TypeAlias

from typing_extensions import Unpack

from commitgate.argument import check_choice
from commitgate.backends.dialects.llamacpp_chat import LlamaCppChatDialect
from commitgate.backends.dialects.llamacpp_completion import LlamaCppCompletionDialect
from commitgate.backends.dialects.native_request import Template
from commitgate.backends.remote import RemoteBackend, RemoteOptions
from commitgate.errors import MisuseError

LlamaCppApi: TypeAlias = Literal["chat", "completion"]
"""Which of the server's two ways to ask is used."""


class LlamaCppBackend(RemoteBackend):
    """Ask llama.cpp's ``llama-server``.

    ``Client(backends={"llama_cpp": LlamaCppBackend(base_url="http://localhost:8080")})`` answers as
    ``llama_cpp/<any name>``; without ``base_url`` it is ``LLAMA_CPP_BASE_URL`` that says where the server is.

    Args:
        api: ``chat`` uses the model's chat template; ``completion`` the plain endpoint, whose answers say which grammar
            was in force.
        template: writes a conversation as the text to continue, for ``completion``, which knows no chat template; None
            takes one user message as it stands, and nothing else.
        options: as ``RemoteOptions`` says.

    Raises:
        MisuseError: the api is another word, or there is a template where the server has its own.
    """

    def __init__(
        self, *, api: LlamaCppApi = "chat", template: Template | None = None, **options: Unpack[RemoteOptions]
    ) -> None:
        options.setdefault("name", "llama_cpp")
        check_choice("api", api, ("chat", "completion"))
        if api == "chat":
            if template is not None:
                raise MisuseError('template is for api="completion"; in a chat the server writes conversations itself')
            super().__init__(LlamaCppChatDialect(), **options)
        else:
            super().__init__(LlamaCppCompletionDialect(template=template), **options)


__all__ = ["LlamaCppApi", "LlamaCppBackend"]

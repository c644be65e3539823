"""Ask Text Generation Inference."""

from __future__ import annotations

from typing import Literal, TypeAlias

from typing_extensions import Unpack

from commitgate.argument import check_choice
from commitgate.backends.dialects.native_request import Template
from commitgate.backends.dialects.tgi_chat import TgiChatDialect
from commitgate.backends.dialects.tgi_generate import TgiGenerateDialect
from commitgate.backends.remote import RemoteBackend, RemoteOptions
from commitgate.errors import MisuseError

TgiApi: TypeAlias = Literal["chat", "generate"]
"""Which of the server's two ways to ask is used."""


class TgiBackend(RemoteBackend):
    """Ask a server of Text Generation Inference, 3.x.

    ``Client(backends={"tgi": TgiBackend(base_url="http://gpu-1:8080")})`` answers as ``tgi/<any name>``; without
    ``base_url`` it is ``TGI_BASE_URL`` that says where the server is.

    Args:
        api: ``chat`` uses the model's chat template; ``generate`` the plain endpoint, which has more ways to draw.
        template: writes a conversation as the text to continue, for ``generate``, which knows no chat template; None
            takes one user message as it stands, and nothing else.
        options: as ``RemoteOptions`` says.

    Raises:
        MisuseError: the api is another word, or there is a template where the server has its own.
    """

    def __init__(
        self, *, api: TgiApi = "chat", template: Template | None = None, **options: Unpack[RemoteOptions]
    ) -> None:
        options.setdefault("name", "tgi")
        check_choice("api", api, ("chat", "generate"))
        if api == "chat":
            if template is not None:
                raise MisuseError('template is for api="generate"; in a chat the server writes conversations itself')
            super().__init__(TgiChatDialect(), **options)
        else:
            super().__init__(TgiGenerateDialect(template=template), **options)


__all__ = ["TgiApi", "TgiBackend"]

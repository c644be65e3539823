"""Ask Google's Gemini."""

from __future__ import annotations

from typing import Literal, TypeAlias

from typing_extensions import Unpack

from commitgate.argument import check_choice, check_kind
from commitgate.backends.dialects.gemini import GeminiDialect
from commitgate.backends.dialects.gemini_interactions import GeminiInteractionsDialect
from commitgate.backends.remote import RemoteBackend, RemoteOptions
from commitgate.errors import MisuseError

GeminiApi: TypeAlias = Literal["generate_content", "interactions"]
"""Which of the server's two ways to ask is used."""


class GeminiBackend(RemoteBackend):
    """Ask Google's Gemini, through the Gemini API or through Vertex AI.

    The key is ``api_key``, or the variable ``GEMINI_API_KEY`` or ``GOOGLE_API_KEY``::

        async with Client(backends={"gemini": GeminiBackend(api_key=key)}) as client:
            model = "gemini/gemini-2.5-flash"
            sampling = Sampling(max_tokens=2_000)
            outcome = await client.generate_structured(model, Ticket, prompt=text, sampling=sampling)

    A model that thinks does so by itself, and its thoughts count among ``Sampling.max_tokens``: where that is small,
    nothing of it may be left for the answer, which then ends as ``Truncated``. ``Reasoning(max_tokens=n)`` gives the
    thoughts a limit of their own, and 0 turns them off where the model allows it.

    Models before Gemini 3 refuse tools beside an answer in JSON; ``tools="text"`` asks them for both as text.

    Args:
        api: ``generate_content`` knows choices, limits on thoughts and every way to draw; ``interactions`` is the newer
            way, which has none of these. It is asked to store nothing.
        on_vertex: the server is Vertex AI. ``base_url`` (or ``GEMINI_BASE_URL``) then names the project, as
            ``https://europe-west4-aiplatform.googleapis.com/v1/projects/p/locations/europe-west4/publishers/google``,
            and ``api_key`` (or ``VERTEX_ACCESS_TOKEN``) gives an access token; a function can fetch a fresh one.
        options: as ``RemoteOptions`` says.

    Raises:
        MisuseError: the api is another word, or one that Vertex AI does not have, or an option is wrong.
    """

    def __init__(
        self, *, api: GeminiApi = "generate_content", on_vertex: bool = False, **options: Unpack[RemoteOptions]
    ) -> None:
        check_choice("api", api, ("generate_content", "interactions"))
        check_kind("on_vertex", on_vertex, bool, "a bool")
        if on_vertex and api == "interactions":
            raise MisuseError("on_vertex goes with api='generate_content' alone")
        dialect = GeminiDialect(on_vertex=on_vertex) if api == "generate_content" else GeminiInteractionsDialect()
        options.setdefault("name", "gemini")
        super().__init__(dialect, **options)


__all__ = ["GeminiApi", "GeminiBackend"]

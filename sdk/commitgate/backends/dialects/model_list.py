"""Ask OpenAI's and Anthropic's servers which models they have, and read what they answer."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

from commitgate.backends.dialect import Answer, Outgoing, ServerIdentity
from commitgate.backends.dialects.identity_reading import is_ready, named, names, object_in, objects, word


def asked_for(model: str, models: str, headers: dict[str, str] | None = None) -> Sequence[Outgoing]:
    """Return the requests for the list of models, and for what is told of one.

    Args:
        model: its name; empty where no model is meant.
        models: the path of the list, with a query where there is one.
        headers: header fields of each request.
    """
    paths = [models] if not model else [models, f"/models/{quote(model, safe='')}"]
    return tuple(Outgoing(method="GET", path=path, headers=headers or {}) for path in paths)


def identity(model: str, answers: Sequence[Answer], *, version: str | None = None, revision: str) -> ServerIdentity:
    """Return what the answers to ``asked_for`` say.

    Args:
        model: as it was asked for.
        answers: in the order of the requests.
        version: of the API, where the server told one.
        revision: the member that tells two models of one name apart.
    """
    listed = objects(object_in(answers[0]), "data")
    told = object_in(answers[1]) if len(answers) > 1 else {}
    found = told or (named(listed, model, "id") if model else {})
    return ServerIdentity(
        is_ready=any(is_ready(answer, answer) for answer in answers),
        version=version,
        models=names(listed, "id"),
        revision=word(found, revision),
    )


__all__ = ["asked_for", "identity"]

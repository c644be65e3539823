"""Read and compile what one request asks for. Blocks: call it in a worker thread."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from commitgate_local.server.chat_contract import PreparedChat
from commitgate_local.server.chat_request import ChatRequest, parse_chat_request
from commitgate_local.server.prepared_chats import PreparedChats
from commitgate_local.server.refusal import unknown_model
from commitgate_local.server.server_limits import ServerLimits


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatOrder:
    """Hold one request and what the backend is asked for it."""

    request: ChatRequest
    prepared: PreparedChat


def read_order(
    body: bytes, *, limits: ServerLimits, backend_names: Mapping[str, str], chats: PreparedChats
) -> ChatOrder:
    """Return what a body asks for, compiled.

    Args:
        body: the whole body.
        limits: the server's limits.
        backend_names: the models that are served: what clients call them, and what the backend does.
        chats: compiles, or remembers.

    Raises:
        RequestRefused: it cannot be served.
    """
    request = parse_chat_request(body, limits=limits)
    model = backend_names.get(request.model)
    if model is None:
        raise unknown_model()
    return ChatOrder(request=request, prepared=chats.prepare(request, model))


__all__ = ["ChatOrder", "read_order"]

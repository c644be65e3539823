"""Say which command probes a server."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from types import MappingProxyType

from commitgate.harmless import harmless
from commitgate.probe.report import bare_url

_BACKENDS: Mapping[str, tuple[str, str | None]] = MappingProxyType(
    {
        "openai_chat": ("openai_chat", None),
        "openai_responses": ("openai_responses", None),
        "anthropic_messages": ("anthropic", None),
        "gemini": ("gemini", None),
        "gemini_interactions": ("gemini", "interactions"),
        "vllm_chat": ("vllm", None),
        "nim_chat": ("nim", None),
        "sglang_chat": ("sglang", None),
        "llamacpp_chat": ("llama_cpp", None),
        "llamacpp_completion": ("llama_cpp", "completion"),
        "ollama_chat": ("ollama", None),
        "ollama_v1_chat": ("ollama", "v1"),
        "tgi_chat": ("tgi", None),
        "tgi_generate": ("tgi", "generate"),
        "commitgate_chat": ("commitgate", None),
    }
)
"""The backend of each dialect, and its ``api`` where that is not the usual one."""


def probe_command(dialect_name: str, base_url: str, model: str) -> str:
    """Return the command line that probes a server's model, quoted for a shell and fit to be printed.

    Args:
        dialect_name: of the API; one that is not ours is taken for the backend's name.
        base_url: where the server is; its user, password and query are left out.
        model: the model's name there; ``""`` for its default.
    """
    backend, api = _BACKENDS.get(dialect_name, (dialect_name, None))
    words = ["commitgate", "probe", "--backend", backend]
    if api is not None:
        words += ["--api", api]
    if model:
        words += ["--model", model]
    url = bare_url(base_url)
    if url:
        words += ["--base-url", url]
    return harmless(" ".join(shlex.quote(word) for word in words))


__all__ = ["probe_command"]

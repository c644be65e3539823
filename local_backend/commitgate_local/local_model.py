"""Put model, tokenizer and masks together: load a model once, then generate answers that satisfy contracts."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from commitgate.backends.base import BackendIdentity, Fault
from commitgate.errors import MisuseError, ModelLoadError, ModelRunError
from commitgate_local.answer import Question
from commitgate_local.bounded import BoundedCache
from commitgate_local.engine import MaskEngine
from commitgate_local.forced import ForcedRuns
from commitgate_local.models import LoadedModel, Progress, load
from commitgate_local.reasoning import EndMark, Thoughts, opened
from commitgate_local.runtime import SLOTS, make_runtime
from commitgate_local.scheduler import WAITING, Scheduler, SchedulerStats
from commitgate_local.store import ModelStore, cache_folder
from commitgate_local.vocabulary import Vocabulary

if TYPE_CHECKING:
    from commitgate.backends.base import GenerationRequest
    from commitgate.contract import Contract
    from commitgate.reasoning import Reasoning
    from commitgate_local.answer import TracedEvent

BACKEND_NAME = "local"

PRECISION_VARIABLE: Final = "COMMITGATE_PRECISION"
"""Environment variable with the precision of models for which the program names none."""

# End marks kept ready; each holds a mask and the tokens that may cross it.
_MARKS_BYTES: Final = 8 * 1024 * 1024


class LocalModel:
    """Generate with one model. Usable from many threads: their answers are written side by side.

    Args:
        loaded: the model; its weights are taken over in the precision in which it runs, and it may be dropped.
        cache_dir: folder for what may be kept between runs; None keeps nothing.
        precision: ``float32``, ``bfloat16``, ``int8`` (CPU) or ``float16`` (CUDA); ``auto`` measures which of them is
            fast enough here to be worth what it rounds away; None takes ``COMMITGATE_PRECISION``, else ``auto``.
        slots: most answers that are written at once, at least 1. Keys and values of each have an equal share of a
            quarter of the memory.
        waiting: most further answers that wait; one more ends with a fault of kind ``overload``.

    Raises:
        ModelLoadError: the bytes of the tokenizer's tokens cannot be known for certain, or the model cannot be run.
        MisuseError: the precision cannot run here, or a number is out of its range.
    """

    def __init__(
        self,
        loaded: LoadedModel,
        *,
        cache_dir: Path | None = None,
        precision: str | None = None,
        slots: int = SLOTS,
        waiting: int = WAITING,
    ) -> None:
        self._tokenizer = loaded.tokenizer
        vocabulary = Vocabulary.of_tokenizer(
            loaded.tokenizer, width=loaded.width, stop_ids=loaded.stop_ids, cache_dir=cache_dir
        )
        self._engine = MaskEngine(vocabulary, cache_dir=cache_dir)
        self._forced_runs = ForcedRuns(loaded.tokenizer, vocabulary)
        self._engine.when_dropped(self._forced_runs.forget)
        self._marks: BoundedCache[tuple[str, str], EndMark] = BoundedCache(_MARKS_BYTES)
        wanted = precision or os.environ.get(PRECISION_VARIABLE) or "auto"
        try:
            runtime = make_runtime(loaded.model, precision=wanted, slots=slots, remembered=cache_dir)
        except ModelRunError as error:
            raise ModelLoadError(f"the model {loaded.name!r} cannot be run: {error}") from error
        self._scheduler = Scheduler(runtime, waiting=waiting)
        self._context_tokens, self._slots = runtime.context_tokens, runtime.slots
        head = loaded.model.get_output_embeddings()
        self._description = f"{runtime.name} on {'cpu' if head is None else head.weight.device.type}"
        self._identity = BackendIdentity(
            backend=BACKEND_NAME,
            model=loaded.name,
            # Other roundings of the same weights are other weights: their answers differ.
            model_revision=f"{loaded.revision}/{runtime.precision}",
            tokenizer_fingerprint=vocabulary.fingerprint,
        )

    @staticmethod
    def load(
        name_or_path: str | Path = "",
        *,
        cache_dir: Path | str | None = None,
        progress: Progress | None = None,
        precision: str | None = None,
        slots: int = SLOTS,
        waiting: int = WAITING,
    ) -> LocalModel:
        """Load a model, onto a CUDA device where there is one. Blocks for seconds; for a new GGUF file, some 25.

        Args:
            name_or_path: ``""`` for the bundled model; else a model folder or a GGUF file.
            cache_dir: where converted models and vocabularies are kept; None takes ``COMMITGATE_CACHE``, else the
                user's cache folder.
            progress: called in this thread with what is done now and the part done, in [0, 1].
            precision: see the class.
            slots: see the class.
            waiting: see the class.

        Raises:
            ModelLoadError: it cannot be found, loaded or trusted; the message says what to do.
            MissingExtraError: a part needed to read GGUF files is not installed.
            MisuseError: the precision cannot run here, or a number is out of its range.
        """
        folder = Path(cache_dir) if cache_dir else cache_folder()
        loaded = load(str(name_or_path), store=ModelStore(folder), progress=progress)
        if progress is not None:
            progress("finding out how the model runs best", 0.95)
        model = LocalModel(loaded, cache_dir=folder / "vocabularies", precision=precision, slots=slots, waiting=waiting)
        if progress is not None:
            progress("ready", 1.0)
        return model

    @property
    def identity(self) -> BackendIdentity:
        """Return what answers, for the receipt."""
        return self._identity

    @property
    def engine(self) -> MaskEngine:
        """Return the masks over this model's vocabulary."""
        return self._engine

    @property
    def context_tokens(self) -> int:
        """Return the most tokens of prompt and answer together."""
        return self._context_tokens

    @property
    def slots(self) -> int:
        """Return the most answers that are written at once."""
        return self._slots

    @property
    def description(self) -> str:
        """Return what runs the model, in which precision and where, for people."""
        return self._description

    def stats(self) -> SchedulerStats:
        """Return what the model does now and did so far; of its masks, ``engine.stats()`` tells."""
        return self._scheduler.stats()

    def prepare(self, contract: Contract[object]) -> None:
        """Compile a contract for this vocabulary, so that its errors come before a request. Blocks; remembered.

        Raises:
            ContractError: it cannot be compiled.
        """
        self._engine.matcher(contract)

    def generate(
        self, request: GenerationRequest, emit: Callable[[TracedEvent], None], cancelled: Callable[[], bool]
    ) -> None:
        """Write one answer. Blocks until it ended: call it in a worker thread.

        Args:
            request: what to write; its ``model`` is not looked at.
            emit: called in this thread with each event: text, then usage and how it ended; or a fault alone.
            cancelled: asked between forward passes, in other threads too; True returns without any further event.

        Raises:
            ContractError: the contract cannot be compiled; before any event.
            Exception: what ``emit`` raised.
        """
        engine = self._engine
        matcher = engine.matcher(request.contract) if request.is_constrained else engine.matcher_of_anything()
        try:
            prompt = self._tokenizer.chat([(message.role, message.content) for message in request.messages])
            thoughts = None
            if request.reasoning is not None:
                prompt = self._opened(prompt, request.reasoning)
                thoughts = Thoughts(self._mark(request.reasoning), matcher.state, request.reasoning.max_tokens)
        except (MisuseError, ModelRunError) as error:
            # The template does not take this conversation, or the tokens cannot write the mark; another one may do.
            emit(Fault(kind="bad_request", message=str(error)))
            return
        question = Question(
            matcher=matcher,
            vocabulary=engine.vocabulary,
            prompt=prompt,
            sampling=request.sampling,
            forced_runs=self._forced_runs if request.forced and request.is_constrained else None,
            context_tokens=self._context_tokens,
            thoughts=thoughts,
            traced_choices=request.traced_choices,
        )
        self._scheduler.run(question, emit, cancelled)

    def _opened(self, prompt: list[int], reasoning: Reasoning) -> list[int]:
        if reasoning.begin is None:
            return prompt
        begin = self._tokenizer.encode_part(reasoning.begin, begins=False, is_template=True)
        return opened(prompt, begin, self._engine.vocabulary)

    def _mark(self, reasoning: Reasoning) -> EndMark:
        """Return the end mark of a model's thoughts.

        Raises:
            MisuseError: the model's tokens cannot write it.
        """
        key = (reasoning.end, reasoning.gap)
        found = self._marks.get(key)
        if found is None:
            vocabulary = self._engine.vocabulary
            found = EndMark(*key, vocabulary=vocabulary, encoder=self._tokenizer, end_id=self._id_of(reasoning.end))
            self._marks.put(key, found, 4 * vocabulary.width)
        return found

    def _id_of(self, mark: str) -> int | None:
        """Return the token that is a mark as a whole; None where it is text."""
        number = self._tokenizer.entries.get(mark)
        is_token = number in self._tokenizer.added or number in self._tokenizer.special_ids
        return number if number is not None and is_token and number < self._engine.vocabulary.width else None

    def close(self) -> None:
        """Keep in the cache folder what is worth it for the next start. The model can be used further."""
        self._engine.close()


__all__ = ["BACKEND_NAME", "PRECISION_VARIABLE", "LocalModel"]

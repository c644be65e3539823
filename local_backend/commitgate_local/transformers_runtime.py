"""Load models and tokenizers with transformers, quietly, and map what it raises. Nothing else imports it to load.

Progress bars and advisory log lines of transformers are switched off while it works for us and put back afterwards:
they belong to the program that uses this library.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Collection, Generator, Iterable
from contextlib import contextmanager
from logging import CRITICAL
from pathlib import Path
from typing import Protocol, TypedDict, TypeVar, cast

import torch

from commitgate.errors import ModelLoadError

T = TypeVar("T")


class Config(Protocol):
    """Name what is used of a model's configuration."""

    model_type: str
    eos_token_id: int | list[int] | None
    max_position_embeddings: int | None


class Output(Protocol):
    """Name what is used of a forward pass's result."""

    logits: torch.Tensor


class CausalModel(Protocol):
    """Name what is used of a causal language model."""

    config: Config
    generation_config: object

    def __call__(self, input_ids: torch.Tensor, **arguments: object) -> Output: ...
    def eval(self) -> CausalModel: ...
    def to(self, device: torch.device) -> CausalModel: ...
    def save_pretrained(self, folder: Path) -> None: ...
    def get_input_embeddings(self) -> torch.nn.Embedding: ...
    def get_output_embeddings(self) -> torch.nn.Linear | None: ...


class SavableTokenizer(Protocol):
    """Name what is used of a tokenizer to store it."""

    def save_pretrained(self, folder: Path) -> object: ...


def load_tokenizer(folder: Path, *, gguf_file: str | None = None) -> SavableTokenizer:
    """Load a fast tokenizer from a folder, never from the network.

    Raises:
        ModelLoadError: there is none, or it is broken.
    """
    arguments: dict[str, object] = {} if gguf_file is None else {"gguf_file": gguf_file}
    with _mapped(f"the tokenizer in {gguf_file or folder.name!r}"), quiet():
        kind = _tokenizer_class(is_plain=gguf_file is None and (folder / "tokenizer.json").is_file())
        return kind.from_pretrained(str(folder), local_files_only=True, **arguments)


class _TokenizerClass(Protocol):
    def from_pretrained(self, folder: str, **arguments: object) -> SavableTokenizer: ...


class _LoadingInfo(TypedDict):
    missing_keys: Collection[str]


class _ModelClass(Protocol):
    def from_pretrained(self, folder: str, **arguments: object) -> tuple[CausalModel, _LoadingInfo]: ...


def _tokenizer_class(*, is_plain: bool) -> _TokenizerClass:
    if is_plain:
        # A tokenizer.json says everything; the automatic class would spend a second on finding out how to read others.
        from transformers import PreTrainedTokenizerFast

        return cast("_TokenizerClass", PreTrainedTokenizerFast)
    from transformers import AutoTokenizer

    return cast("_TokenizerClass", AutoTokenizer)


def load_model(folder: Path, *, gguf_file: str | None = None) -> CausalModel:
    """Load a causal language model in float32 from a folder, never from the network.

    Args:
        folder: folder of the model.
        gguf_file: name of a GGUF file in it; its weights are dequantised. None reads safetensors.

    Raises:
        ModelLoadError: there is none, it is broken, or it lacks weights that its configuration names.
    """
    from transformers import AutoModelForCausalLM

    arguments: dict[str, object] = {"dtype": torch.float32, "local_files_only": True, "output_loading_info": True}
    if gguf_file is None:
        # Weights in pickle files could run code; only safetensors are read.
        arguments["use_safetensors"] = True
    else:
        arguments |= {"gguf_file": gguf_file, "quantization_config": _dequantise()}
    kind = cast("_ModelClass", AutoModelForCausalLM)
    with _mapped(f"the model in {gguf_file or folder.name!r}"), quiet(), _no_tensor_bar():
        model, found = kind.from_pretrained(str(folder), **arguments)
    if found["missing_keys"]:
        # The loader fills them with random numbers: a model of another kind, or with fewer layers, would run and rave.
        raise ModelLoadError(
            f"the model in {gguf_file or folder.name!r} lacks {len(found['missing_keys'])} of the weights that its "
            "configuration names: a file is missing, or the configuration is another model's"
        )
    return model.eval()


def on_best_device(model: CausalModel) -> CausalModel:
    """Move a model to the CUDA device where there is one.

    Raises:
        ModelLoadError: it does not fit, or the device cannot be used.
    """
    if not torch.cuda.is_available():
        return model
    with _mapped("the model, moved to the CUDA device,"):
        return model.to(torch.device("cuda"))


def save(part: SavableTokenizer | CausalModel, folder: Path) -> None:
    """Write a tokenizer or a model into a folder, as safetensors and JSON.

    Raises:
        OSError: the folder cannot be written.
    """
    try:
        with quiet():
            part.save_pretrained(folder)
    except (OSError, MemoryError):
        raise
    except Exception as error:
        # The writers, in Rust, put the system's errors (a full disk) into exceptions of their own; what was loaded
        # before can be written, so nothing else is left that could fail here.
        raise OSError(f"writing failed with {type(error).__name__}") from error


def run_arguments(model: CausalModel) -> dict[str, object]:
    """Return the arguments with which a model is called for one conversation: an empty cache, and how to use it."""
    from transformers import DynamicCache

    forward = cast("Callable[..., object]", getattr(model, "forward", model))
    known = inspect.signature(forward).parameters
    cache = cast("Callable[..., object]", DynamicCache)(config=model.config)
    # transformers renamed the cache argument during version 5; the old name draws a warning at every call.
    arguments: dict[str, object] = {"cache" if "cache" in known else "past_key_values": cache, "use_cache": True}
    if "logits_to_keep" in known:
        # Of a run of tokens only the last one's logits are wanted: the output layer is a fifth of a small model.
        arguments["logits_to_keep"] = 1
    return arguments


def _dequantise() -> object:
    # Without it the loader keeps the weights packed, and unpacks them in every step.
    from transformers import GgufConfig

    return cast("Callable[..., object]", GgufConfig)(dequantize=True)


@contextmanager
def quiet() -> Generator[None]:
    """Keep transformers from writing progress bars, log lines and warnings."""
    from transformers.utils import logging

    set_verbosity = cast("Callable[[int], None]", logging.set_verbosity)
    level = logging.get_verbosity()
    had_bars = logging.is_progress_bar_enabled()
    set_verbosity(CRITICAL)
    logging.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        set_verbosity(level)
        if had_bars:
            logging.enable_progress_bar()


@contextmanager
def _no_tensor_bar() -> Generator[None]:
    """Keep the GGUF reader from drawing its own progress bar, which no switch of transformers turns off."""
    import transformers.modeling_gguf_pytorch_utils as reader

    names: dict[str, object] = reader.__dict__
    bar = names.get("tqdm")
    if bar is None:
        yield
        return
    names["tqdm"] = _plain
    try:
        yield
    finally:
        names["tqdm"] = bar


def _plain(items: Iterable[T], **_: object) -> Iterable[T]:
    return items


@contextmanager
def _mapped(what: str) -> Generator[None]:
    """Turn whatever loading raises into ``ModelLoadError``.

    Loading runs parsers over files of any origin (JSON, GGUF, safetensors, templates), each with its own exceptions
    and none of them documented as a set; so every exception is mapped, and the original stays chained.
    """
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:
        raise ModelLoadError(
            f"{what} cannot be loaded ({type(error).__name__}); it is missing, cut or of an unknown kind"
        ) from error


__all__ = ["CausalModel", "load_model", "load_tokenizer", "on_best_device", "run_arguments", "save"]

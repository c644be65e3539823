"""Reach the local backend's models from the command line. Beside ``local_server``, the only module here that
knows ``commitgate_local``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from commitgate.errors import MissingExtraError, ModelLoadError

if TYPE_CHECKING:
    from commitgate.backends.local import Model
    from commitgate.lint import MaskMeter

_PACKAGES = ("torch", "transformers", "numpy")


@dataclass(frozen=True, slots=True)
class BundledModel:
    """Say where the bundled model stands.

    Attributes:
        name: its name.
        folder: its converted copy in the cache; None where there is none.
        revision: what tells versions of it apart; None where it is not converted.
        is_packaged: the package that carries it is installed, so its first use converts it.
    """

    name: str
    folder: Path | None
    revision: str | None
    is_packaged: bool


def load_local_model(
    name: str, report: Callable[[str, float], None], *, precision: str | None = None, answers: int | None = None
) -> Model:
    """Load a model, blocking.

    Args:
        name: ``""`` for the bundled model, else a path.
        report: told what is being done and the part that is done, in [0, 1]; in this thread.
        precision: see ``LocalModel``.
        answers: most that are written at once; None for the model's default.

    Raises:
        MissingExtraError: the extra ``local`` is not installed.
        ModelLoadError: the model cannot be had.
        MisuseError: the precision cannot run here.
    """
    _check_installed()
    from commitgate_local import LocalModel

    if answers is None:
        return LocalModel.load(name, progress=report, precision=precision)
    return LocalModel.load(name, progress=report, precision=precision, slots=answers)


def bundled_model() -> BundledModel:
    """Look where the bundled model stands, without loading it.

    Raises:
        MissingExtraError: the extra ``local`` is not installed.
    """
    _check_installed()
    from commitgate_local.bundled import BUNDLED_NAME, BUNDLED_PACKAGE
    from commitgate_local.store import ModelStore, cache_folder

    found = ModelStore(cache_folder()).find(BUNDLED_NAME)
    return BundledModel(
        BUNDLED_NAME,
        folder=found.folder if found else None,
        revision=found.revision if found else None,
        is_packaged=find_spec(BUNDLED_PACKAGE) is not None,
    )


def load_mask_meter(name: str) -> MaskMeter:
    """Load a tokenizer, without its model, to measure masks with. Blocks for a second or two.

    Args:
        name: ``local`` for the bundled model's; else a folder with a ``tokenizer.json``, that file, or a GGUF file.

    Raises:
        MissingExtraError: the extra ``local`` is not installed.
        ModelLoadError: there is no such tokenizer.
    """
    _check_installed("measuring masks with a tokenizer")
    from commitgate_local.mask_cost import load_meter

    if name != "local":
        return load_meter(Path(name))
    folder = bundled_model().folder
    if folder is None:
        raise ModelLoadError("the bundled model is not ready; run: commitgate models pull")
    return load_meter(folder)


def _check_installed(needed_for: str = "running a model on this machine") -> None:
    if any(find_spec(name) is None for name in _PACKAGES):
        raise MissingExtraError("local", needed_for)


__all__ = ["BundledModel", "bundled_model", "load_local_model", "load_mask_meter"]

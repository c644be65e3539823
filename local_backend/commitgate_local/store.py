"""Keep converted models in a cache folder, each whole or not at all.

A model is made in a folder beside its place and renamed into it, so a half-written one is never seen, whoever else
starts at the same time and whenever a process dies. Its manifest lists every file with size, time and digests; a folder
that does not match its manifest is treated as absent and replaced.

What is checked at each load: files of up to 16 MiB (tokenizer, configuration, chat template) whole; of larger ones,
the weights, samples (see ``sampled_digest``), and all of them where the time of the last change is not the manifest's.
A change to weights that misses the samples and sets the time back is not seen.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import TypedDict, cast

from commitgate.errors import ModelLoadError
from commitgate_local.kept_file import read_kept

CACHE_VARIABLE = "COMMITGATE_CACHE"
_MANIFEST = "commitgate.json"
_FORMAT = 2

# A conversion takes well below an hour; what is older was left by a process that died.
_ABANDONED_S = 24 * 3600


class _File(TypedDict):
    name: str
    size_bytes: int
    changed_ns: int
    samples: str
    sha256: str


class _Manifest(TypedDict):
    format: int
    source: str
    files: list[_File]


@dataclass(frozen=True, slots=True)
class StoredModel:
    """Name a whole model in the cache.

    Attributes:
        folder: its files.
        revision: sha256, in hexadecimal, over the digests of all its files.
        source: what it was made from.
    """

    folder: Path
    revision: str
    source: str


def cache_folder() -> Path:
    """Return the folder for everything that can be made again: ``COMMITGATE_CACHE``, else the user's cache folder."""
    from platformdirs import user_cache_path

    chosen = os.environ.get(CACHE_VARIABLE)
    return Path(chosen) if chosen else user_cache_path("commitgate")


class ModelStore:
    """Keep models by name under one folder.

    Args:
        root: the cache folder.
    """

    def __init__(self, root: Path) -> None:
        self._models = root / "models"

    def find(self, name: str) -> StoredModel | None:
        """Return a model that is whole; None where there is none."""
        folder = self._models / name
        try:
            text = read_kept(folder / _MANIFEST)
            if text is None:
                return None
            manifest = cast("_Manifest", json.loads(text))
            files = manifest["files"]
            is_whole = manifest["format"] == _FORMAT and all(
                _is_unchanged(folder / file["name"], file) for file in files
            )
            return StoredModel(folder, _revision(files), manifest["source"]) if is_whole and files else None
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None

    def add(self, name: str, source: str, make: Callable[[Path], None]) -> StoredModel:
        """Make a model and keep it; where another process was faster, its result is used.

        Args:
            name: its name, fit for a folder.
            source: what it is made from, for the manifest.
            make: writes all files of the model into the empty folder that it is given.

        Raises:
            ModelLoadError: the cache folder cannot be written. What ``make`` raises passes through.
        """
        try:
            # The libraries that write models know only such paths; better said before half a minute of work.
            str(self._models).encode()
            self._models.mkdir(parents=True, exist_ok=True)
            self._sweep()
            beside = Path(mkdtemp(prefix=f".{name}.", dir=self._models))
        except (OSError, UnicodeEncodeError) as error:
            raise self._unwritable(error) from error
        try:
            make(beside)
            _write_manifest(beside, source)
            self._move(beside, self._models / name)
        except OSError as error:
            raise self._unwritable(error) from error
        finally:
            shutil.rmtree(beside, ignore_errors=True)
        found = self.find(name)
        if found is None:
            raise ModelLoadError(f"the model written to {self._models / name} is gone or changed; try again")
        return found

    def _move(self, beside: Path, place: Path) -> None:
        for _ in range(2):
            try:
                beside.rename(place)
            except OSError:
                if self.find(place.name) is not None or not place.exists():
                    break
                # Something broken lies there: moved away first, because a rename replaces empty folders only.
                aside = Path(mkdtemp(prefix=f".{place.name}.", dir=self._models))
                place.rename(aside / "broken")
                shutil.rmtree(aside, ignore_errors=True)
            else:
                break
        if not place.exists():
            raise OSError(f"cannot rename into {place}")

    def _sweep(self) -> None:
        oldest = time.time() - _ABANDONED_S
        for folder in self._models.glob(".*"):
            if folder.stat().st_mtime < oldest:
                shutil.rmtree(folder, ignore_errors=True)

    def _unwritable(self, error: OSError | UnicodeEncodeError) -> ModelLoadError:
        shown = str(self._models).encode("utf-8", "backslashreplace").decode()
        why = "its path is not UTF-8" if isinstance(error, UnicodeEncodeError) else error.strerror or error
        return ModelLoadError(
            f"the cache folder {shown} cannot be written ({why}); free space there or set {CACHE_VARIABLE} to another "
            "folder"
        )


def _write_manifest(folder: Path, source: str) -> None:
    files: list[_File] = []
    for path in sorted(folder.iterdir()):
        with path.open("rb") as file:
            # On disk before the rename: a crash of the machine must not leave a folder that only looks whole.
            os.fsync(file.fileno())
        state = path.stat()
        files.append(
            _File(
                name=path.name,
                size_bytes=state.st_size,
                changed_ns=state.st_mtime_ns,
                samples=sampled_digest([path]),
                sha256=_whole_digest(path),
            )
        )
    manifest = _Manifest(format=_FORMAT, source=source, files=files)
    with (folder / _MANIFEST).open("w", encoding="utf-8") as file:
        json.dump(manifest, file, indent=1)
        file.flush()
        os.fsync(file.fileno())


def _is_unchanged(path: Path, file: _File) -> bool:
    state = path.stat()
    if state.st_size != file["size_bytes"] or sampled_digest([path]) != file["samples"]:
        return False
    is_trusted = state.st_size <= _WHOLE_BYTES or state.st_mtime_ns == file["changed_ns"]
    # A copied cache folder has other times and the same bytes.
    return is_trusted or _whole_digest(path) == file["sha256"]


def _whole_digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _revision(files: list[_File]) -> str:
    return hashlib.sha256(json.dumps([[file["name"], file["sha256"]] for file in files]).encode()).hexdigest()


# What a large file's identity is read from besides its size: its beginning and end, where headers stand, and places
# spread over it. Two trained models of one size differ in nearly every weight, so this tells them apart without reading
# all. Smaller files, where one character matters, are read whole.
_WHOLE_BYTES = 1 << 24
_ENDS_BYTES = 1 << 20
_SAMPLES = 16
_SAMPLE_BYTES = 1 << 16


def sampled_digest(paths: list[Path]) -> str:
    """Return a sha256, in hexadecimal, over names, sizes and samples of files; those of up to 16 MiB whole.

    Takes some hundredths of a second a file, at any size.
    """
    digest = hashlib.sha256()
    for path in paths:
        size = path.stat().st_size
        digest.update(f"{path.name} {size} ".encode())
        with path.open("rb") as file:
            if size <= _WHOLE_BYTES:
                digest.update(file.read(_WHOLE_BYTES))
                continue
            digest.update(file.read(_ENDS_BYTES))
            for number in range(1, _SAMPLES):
                file.seek(size * number // _SAMPLES)
                digest.update(file.read(_SAMPLE_BYTES))
            file.seek(size - _ENDS_BYTES)
            digest.update(file.read(_ENDS_BYTES))
    return digest.hexdigest()


__all__ = ["CACHE_VARIABLE", "ModelStore", "StoredModel", "cache_folder", "sampled_digest"]

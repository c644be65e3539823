"""Find an object that a caller wrote in Python, by the words ``path/to/file.py:NAME`` or ``package.module:NAME``.

Whoever names a file has its code run, as ``python FILE`` would run it.
"""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from hashlib import sha256
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from traceback import extract_tb
from types import ModuleType
from typing import TypeAlias

from commitgate.errors import MisuseError
from commitgate.harmless import harmless

Reference: TypeAlias = str
"""``path/to/file.py:NAME`` or ``package.module:NAME``; ``NAME`` may lead on by dots."""

_ENDING = ".py"


def is_reference(words: str) -> bool:
    """Say whether words are meant as a reference to a Python object, and not as the name of another file."""
    place, colon, name = words.rpartition(":")
    return bool(colon and place) and all(part.isidentifier() for part in name.split("."))


def load_object(reference: Reference, *, what: str) -> object:
    """Return the object that a reference names. Runs the code of its module, once in a process.

    Args:
        reference: where it is.
        what: what it is to be, for messages, as ``the contract``.

    Raises:
        MisuseError: it is no reference, there is no such file, module or name, or the code raised; then
            ``__cause__`` is what it raised.
    """
    place, _, name = reference.rpartition(":")
    if not is_reference(reference):
        raise MisuseError(
            f"{what} must be written as path/to/file.py:NAME or package.module:NAME, found {harmless(reference)}"
        )
    module = load_file(Path(place), what=what) if place.endswith(_ENDING) else _imported(place, what)
    found: object = module
    for part in name.split("."):
        try:
            found = getattr(found, part)
        except AttributeError as error:
            raise MisuseError(f"{what}: {harmless(place)} has no {harmless(name)}") from error
    return found


def load_file(path: Path, *, what: str) -> ModuleType:
    """Return the module of a Python file, which is run with its own folder to import from; the second time as it is.

    Args:
        path: the file.
        what: as of ``load_object``.

    Raises:
        MisuseError: there is no such file, or its code raised.
    """
    file = path.resolve()
    if not file.is_file():
        raise MisuseError(f"{what}: there is no file {harmless(str(path))}")
    name = _name_of(file)
    known = sys.modules.get(name)
    if known is not None:
        return known
    spec = spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise MisuseError(f"{what}: {harmless(str(path))} is no file of Python code")
    module = module_from_spec(spec)
    # Dataclasses and pydantic look their own module up while its classes are made.
    sys.modules[name] = module
    try:
        with _importing_from(file.parent):
            spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        sys.modules.pop(name, None)
        raise MisuseError(f"{what}: {harmless(str(path))} raised {_told(error, file)}") from error
    return module


def _imported(name: str, what: str) -> ModuleType:
    try:
        # Programs that are started by the name of an installed command do not look in the working folder.
        with _importing_from(Path.cwd()):
            return import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            raise MisuseError(f"{what}: there is no module {harmless(name)}; a file is named with its .py") from error
        raise MisuseError(f"{what}: {harmless(name)} needs a module that is not installed: {error.name}") from error
    except (Exception, SystemExit) as error:
        raise MisuseError(f"{what}: {harmless(name)} raised {_told(error, None)}") from error


def _name_of(file: Path) -> str:
    """Return the name of a file's module: its own where that is free, as effects are stored by it."""
    stem = file.stem
    taken = sys.modules.get(stem)
    if stem in sys.stdlib_module_names or (taken is not None and not _is_of(taken, file)):
        return f"{stem}_{sha256(str(file).encode(errors='replace')).hexdigest()[:12]}"
    return stem


def _is_of(module: ModuleType, file: Path) -> bool:
    found = getattr(module, "__file__", None)
    return isinstance(found, str) and Path(found).resolve() == file


def _told(error: BaseException, file: Path | None) -> str:
    """Return the type and the line of what code raised; its words may hold anything."""
    if isinstance(error, SyntaxError):
        return f"SyntaxError at line {error.lineno}"
    frames = [frame for frame in extract_tb(error.__traceback__) if file is None or Path(frame.filename) == file]
    line = f" at line {frames[-1].lineno}" if frames and file is not None else ""
    return f"{type(error).__name__}{line}"


@contextmanager
def _importing_from(folder: Path) -> Generator[None]:
    """Let imports look into a folder first, for as long as the block runs."""
    entry = str(folder)
    sys.path.insert(0, entry)
    try:
        yield
    finally:
        if entry in sys.path:
            sys.path.remove(entry)


__all__ = ["Reference", "is_reference", "load_file", "load_object"]

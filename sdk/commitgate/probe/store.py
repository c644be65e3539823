"""Keep what probes came to: one small file for each API, server and model."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkstemp
from typing import cast

from commitgate.argument import wrong_kind
from commitgate.errors import MisuseError
from commitgate.probe.report import ProbeReport, bare_url

PROBES_VARIABLE = "COMMITGATE_PROBES"
"""Environment variable that names the folder of kept reports."""

MOST_REPORTS = 256
"""Most reports that are kept in one folder; the oldest makes room."""

MAX_REPORT_BYTES = 262_144
"""Largest file that is read as a report."""

_PREFIX, _ENDING = "probe-", ".json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """Hold what was found in the store.

    Attributes:
        report: the report; None where there is none that can be read.
        reason: why there is none, in words; empty where there is one, and where there never was one.
    """

    report: ProbeReport | None = None
    reason: str = ""


def probe_folder(environ: Mapping[str, str]) -> Path:
    """Return the folder that ``COMMITGATE_PROBES`` names, else the one in the user's state folder."""
    from platformdirs import user_state_path

    chosen = environ.get(PROBES_VARIABLE)
    return Path(chosen) if chosen else user_state_path("commitgate", appauthor=False) / "probes"


class ProbeStore:
    """Keep reports in a folder. All of it is blocking work for a worker thread.

    Who may write into the folder can make a server pass for proven: it is made for its user alone.

    Args:
        folder: where; None takes what ``COMMITGATE_PROBES`` names, else a folder of the user's.

    Raises:
        MisuseError: ``folder`` is no path.
    """

    def __init__(self, folder: str | os.PathLike[str] | None = None) -> None:
        if folder is not None and not isinstance(cast("object", folder), str | os.PathLike):
            raise wrong_kind("folder", "a path or None", folder)
        self._folder = probe_folder(os.environ) if folder is None else Path(folder)

    @property
    def folder(self) -> Path:
        """Return where reports are kept."""
        return self._folder

    def place(self, dialect_name: str, base_url: str, model: str) -> Path:
        """Return the file in which the report of a server's model is kept."""
        told = json.dumps([dialect_name, bare_url(base_url), model]).encode()
        return self._folder / f"{_PREFIX}{hashlib.sha256(told).hexdigest()[:40]}{_ENDING}"

    def find(self, dialect_name: str, base_url: str, model: str) -> Kept:
        """Return the report of a server's model. A damaged file is none, with a reason; nothing is raised."""
        place = self.place(dialect_name, base_url, model)
        try:
            with place.open("rb") as file:
                text = file.read(MAX_REPORT_BYTES + 1)
        except FileNotFoundError:
            return Kept()
        except OSError as error:
            return Kept(reason=f"the kept report cannot be read ({error.strerror or 'it cannot be opened'})")
        if len(text) > MAX_REPORT_BYTES:
            return Kept(reason="the kept report is larger than any that is written")
        try:
            found = ProbeReport.from_json(text)
        except MisuseError:
            return Kept(reason="the kept report is damaged, or of another release")
        if (found.dialect, found.base_url, found.model) != (dialect_name, bare_url(base_url), model):
            return Kept(reason="the kept report is of another server or model")
        return Kept(report=found)

    def keep(self, report: ProbeReport) -> Path:
        """Keep a report in place of the one before; all of it or nothing. Return its file.

        Raises:
            OSError: the folder cannot be made or written to.
        """
        place = self.place(report.dialect, report.base_url, report.model)
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, beside = mkstemp(prefix=".probe-", dir=self._folder)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(json.dumps(report.to_json(), indent=1).encode())
            os.replace(beside, place)
        except BaseException:
            with suppress(OSError):
                os.unlink(beside)
            raise
        self._sweep(place)
        return place

    def _sweep(self, newest: Path) -> None:
        with suppress(OSError):
            aged = sorted(
                (path for path in self._folder.glob(f"{_PREFIX}*{_ENDING}") if path != newest),
                key=lambda path: path.stat().st_mtime,
            )
            for path in aged[: max(0, len(aged) + 1 - MOST_REPORTS)]:
                path.unlink(missing_ok=True)


__all__ = ["MAX_REPORT_BYTES", "MOST_REPORTS", "PROBES_VARIABLE", "Kept", "ProbeStore", "probe_folder"]

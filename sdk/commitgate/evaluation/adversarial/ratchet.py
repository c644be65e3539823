"""Keep which checks passed for each sort of backend, so that none is lost unseen."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import mkstemp
from typing import cast

from commitgate.errors import MisuseError
from commitgate.evaluation.adversarial.report import AdversarialReport, CheckResult
from commitgate.json_value import JsonValue

RATCHET_VERSION = 1
"""Counts changes of the file's shape."""

MAX_RATCHET_BYTES = 4_194_304
"""Largest file that is read as a ratchet."""

SHIPPED = Path(__file__).with_name("ratchet.json")
"""The ratchet that comes with this release: what its own runs with the bundled model passed."""

_MARK, _BACKENDS = "commitgate_adversarial_ratchet", "backends"


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """Say how a run stands to a ratchet.

    Attributes:
        lost: checks that passed before and did not now.
        gained: ids of checks that passed now and did not before.
        is_known: the ratchet knows this sort of backend.
    """

    lost: tuple[CheckResult, ...] = ()
    gained: tuple[str, ...] = ()
    is_known: bool = True

    @property
    def is_kept(self) -> bool:
        """Say whether nothing was lost."""
        return not self.lost


@dataclass(frozen=True, slots=True)
class Ratchet:
    """Hold which checks passed.

    Attributes:
        passed: ids by sort of backend.
    """

    passed: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])

    @staticmethod
    def read(path: str | os.PathLike[str], *, may_be_missing: bool = False) -> Ratchet:
        """Return the ratchet of a file. Blocking work.

        Args:
            path: where.
            may_be_missing: a file that is not there is an empty ratchet.

        Raises:
            MisuseError: it cannot be read, or is none.
        """
        try:
            with Path(path).open("rb") as file:
                text = file.read(MAX_RATCHET_BYTES + 1)
        except FileNotFoundError as error:
            if may_be_missing:
                return Ratchet()
            raise MisuseError("the ratchet's file is not there; write it by updating it once") from error
        except OSError as error:
            raise MisuseError(f"the ratchet's file cannot be read: {error.strerror}") from error
        if len(text) > MAX_RATCHET_BYTES:
            raise MisuseError(f"the ratchet's file must hold at most {MAX_RATCHET_BYTES:,} bytes")
        return Ratchet(_read(text))

    def held(self, report: AdversarialReport) -> Held:
        """Return what a run lost and gained; checks that were not tried count for neither."""
        known = self.passed.get(report.backend, frozenset())
        return Held(
            lost=tuple(each for each in report.results if each.verdict != "passed" and each.id in known),
            gained=tuple(each.id for each in report.of("passed") if each.id not in known),
            is_known=report.backend in self.passed,
        )

    def updated(self, report: AdversarialReport) -> Ratchet:
        """Return the ratchet with what a run passed; what it did not try stays as it was."""
        tried = {each.id for each in report.results}
        kept = self.passed.get(report.backend, frozenset()) - tried
        passed = kept | {each.id for each in report.of("passed")}
        return Ratchet({**self.passed, report.backend: frozenset(passed)})

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write it into a file, whole or not at all. Blocking work.

        Raises:
            MisuseError: the file cannot be written; what was there before is still there.
        """
        place = Path(path)
        found = {backend: {"passed": sorted(ids)} for backend, ids in sorted(self.passed.items())}
        text = json.dumps({_MARK: RATCHET_VERSION, _BACKENDS: found}, indent=2) + "\n"
        try:
            number, written = mkstemp(dir=place.parent, prefix=f".{place.name[:32]}")
            try:
                with os.fdopen(number, "w", encoding="utf-8") as file:
                    file.write(text)
                Path(written).chmod(0o644)
                Path(written).replace(place)
            except BaseException:
                Path(written).unlink(missing_ok=True)
                raise
        except OSError as error:
            raise MisuseError(f"the ratchet's file cannot be written: {error.strerror}") from error


def hold(report: AdversarialReport, path: str | os.PathLike[str] | None = None, *, update: bool = False) -> Held:
    """Hold a run against a ratchet's file, and write it anew where that is asked for. Blocking work.

    Args:
        report: what the run came to.
        path: the file; None takes the one that comes with this release, which is never written.
        update: the file takes over what passed and what did not; one that is not there is made.

    Raises:
        MisuseError: the file cannot be read or written, is no ratchet, or is the release's own and to be written; or
            the run was not whole and the file is to be written.
    """
    if update and path is None:
        raise MisuseError("the ratchet of the release is not written; name a file of your own")
    if update and report.problems:
        raise MisuseError("a run that was not whole does not update a ratchet; run it again")
    ratchet = Ratchet.read(SHIPPED if path is None else path, may_be_missing=update)
    held = ratchet.held(report)
    if update and path is not None:
        ratchet.updated(report).write(path)
    return held


def _read(text: bytes) -> Mapping[str, frozenset[str]]:
    try:
        found = cast("JsonValue", json.loads(text))
    except (ValueError, RecursionError) as error:
        raise MisuseError("the ratchet's file is no JSON") from error
    version = found.get(_MARK) if isinstance(found, dict) else None
    if not isinstance(found, dict) or version != RATCHET_VERSION or isinstance(version, bool):
        raise MisuseError(f'the ratchet\'s file must be an object with "{_MARK}": {RATCHET_VERSION}')
    backends = found.get(_BACKENDS)
    if not isinstance(backends, dict):
        raise MisuseError(f'the ratchet\'s file must have "{_BACKENDS}", an object')
    return {backend: _ids(backend, entry) for backend, entry in backends.items()}


def _ids(backend: str, entry: JsonValue) -> frozenset[str]:
    passed = entry.get("passed") if isinstance(entry, dict) else None
    if not isinstance(passed, list) or not all(isinstance(each, str) for each in passed):
        place = backend if backend.isidentifier() else "a backend"
        raise MisuseError(f'the ratchet\'s file must have "passed", a list of texts, for {place}')
    return frozenset(cast("list[str]", passed))


__all__ = ["MAX_RATCHET_BYTES", "RATCHET_VERSION", "SHIPPED", "Held", "Ratchet", "hold"]

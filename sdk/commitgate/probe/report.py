"""Define what probing a server came to, and read and write it as JSON."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias, cast
from urllib.parse import urlsplit

from commitgate.errors import MisuseError
from commitgate.json_value import JsonObject
from commitgate.probe.result import Cost, ProbeResult

if TYPE_CHECKING:
    from pydantic import TypeAdapter

Enforcement: TypeAlias = Literal["enforced", "not_enforced", "partial", "unknown"]
"""What a probe came to: whether the server holds answers to the constraint."""

REPORT_VERSION = 1
"""Counts changes of the report's shape; one of another version is read as none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeReport:
    """Say what is known of a server's enforcement, and whom that is known of.

    Attributes:
        backend: the backend's name.
        dialect: the dialect's name, as ``vllm_chat``.
        base_url: where the server is; without user, password, query and fragment.
        model: the model that was asked; ``""`` for the backend's default.
        server_version: of the server; None where it tells none.
        revision: what tells two versions of the model apart; None where it tells nothing.
        engine: what enforces its constraints; None where it does not tell.
        table: version of the table of what servers enforce that chose the keywords.
        made_at: when, in seconds since 1970 (UTC).
        verdict: what it all comes to; effects may hang on ``enforced`` alone.
        reason: why, in words.
        results: each probe's, in the order in which they were asked.
        cost: what it took.
        version: of the report's shape.
    """

    __pydantic_config__: ClassVar[dict[str, object]] = {"extra": "forbid", "strict": True, "allow_inf_nan": False}

    backend: str
    dialect: str
    base_url: str
    model: str
    server_version: str | None = None
    revision: str | None = None
    engine: str | None = None
    table: str = ""
    made_at: float
    verdict: Enforcement
    reason: str
    results: tuple[ProbeResult, ...] = field(default=(), repr=False)
    cost: Cost = field(default_factory=Cost)
    version: Literal[1] = REPORT_VERSION

    def result(self, name: str) -> ProbeResult | None:
        """Return a probe's result by its short name; None where it was not planned."""
        return next((each for each in self.results if each.name == name), None)

    def to_json(self) -> JsonObject:
        """Return it as plain JSON."""
        return cast("JsonObject", _adapter().dump_python(self, mode="json"))

    @staticmethod
    def from_json(text: bytes) -> ProbeReport:
        """Return the report that a JSON text holds, strictly: no field too many, none of another type.

        Raises:
            MisuseError: it holds none, or one of another version.
        """
        from pydantic import ValidationError

        try:
            return _adapter().validate_json(text)
        except (ValidationError, ValueError) as error:
            raise MisuseError("the text holds no report of probes that this release can read") from error


@cache
def _adapter() -> TypeAdapter[ProbeReport]:
    # Loaded where a report is read or written, so that importing the package stays quick.
    from pydantic import TypeAdapter

    found: TypeAdapter[ProbeReport] = TypeAdapter(ProbeReport)
    return found


def bare_url(url: str) -> str:
    """Return a base URL without user, password, query, fragment and slashes at its end.

    Host and scheme are written in small letters. One that cannot be read is ``""``.
    """
    try:
        parts = urlsplit(url.strip())
        host = parts.netloc.rpartition("@")[2].lower()
    except ValueError:
        return ""
    return f"{parts.scheme.lower()}://{host}{parts.path.rstrip('/')}" if host else ""


__all__ = ["REPORT_VERSION", "Enforcement", "ProbeReport", "bare_url"]

"""Write what a look before a launch came to as one page in one file, to be kept with the release."""

from __future__ import annotations

from commitgate.json_value import JsonObject
from commitgate.page import Asset, standalone_page
from commitgate.preflight.check import GROUPS
from commitgate.preflight.report import PreflightReport

_BODY = Asset("commitgate.preflight", "page.html")
_STYLE = Asset("commitgate.preflight", "page.css")
_SCRIPT = Asset("commitgate.preflight", "page.js")


def preflight_page(report: PreflightReport) -> str:
    """Return a whole HTML document that needs nothing else. What it shows is payload-free, as the report is."""
    groups: JsonObject = {group: heading for group, heading in GROUPS.items()}  # noqa: C416 - its keys are plain words
    subject = "no contract" if report.contract is None else report.contract.name
    return standalone_page(
        f"Preflight: {subject}",
        body=_BODY.read(),
        data={"groups": groups, "report": report.to_json()},
        scripts=(_SCRIPT.read(),),
        styles=(_STYLE.read(),),
    )


__all__ = ["preflight_page"]

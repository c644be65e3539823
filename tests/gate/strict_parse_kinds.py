"""Read the kinds of text that a strict parser is judged by."""

import base64
import json
from pathlib import Path
from typing import Any

CASES: list[dict[str, Any]] = json.loads(
    (Path(__file__).parent / "strict_parse_kinds.json").read_text(encoding="utf-8")
)


def text_of(case: dict[str, Any]) -> bytes:
    """Return the text of a case."""
    if "base64" in case:
        return base64.b64decode(case["base64"])
    times = case.get("times", 1)
    return (case["text"] * times + case.get("then", "") * times).encode()


def is_taken(case: dict[str, Any]) -> bool:
    """Return whether the text is to be parsed."""
    return case["expect"] == "accept" or (case["expect"] == "policy" and case["code"] is None)


TAKEN = [case for case in CASES if is_taken(case)]
REFUSED = [case for case in CASES if not is_taken(case)]

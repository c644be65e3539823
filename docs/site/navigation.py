"""Read the order of the site's pages out of the contents of the docs, ``docs/index.md``."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TypeAlias

from packages import PACKAGES
from staging import API, DOCS, ROOT, place_of

_ENTRY = re.compile(r"^- \[(?P<title>[^\]]+)\]\((?P<target>[^)#]+)\)")
Navigation: TypeAlias = "list[dict[str, str | Navigation]]"
"""Titles, each with a page or with what stands below it."""


def navigation() -> Navigation:
    """Return the sections of ``docs/index.md`` with their pages, and with those made of docstrings."""
    sections: Navigation = [{"Contents": "index.md"}]
    below = sections
    for line in (DOCS / "index.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            top: Navigation = []
            sections.append({line[3:]: top})
            below = top
        elif line.startswith("### "):
            below = []
            _pages_of(sections[-1]).append({line[4:]: below})
        elif entry := _ENTRY.match(line):
            below.append({entry["title"]: _page(entry["target"])})
    for section in sections:
        if "Reference" in section:
            pages: Navigation = [{package.name: f"{API}/{package.name}.md"} for package in PACKAGES]
            _pages_of(section).append({"Python packages": pages})
    return sections


def _pages_of(section: dict[str, str | Navigation]) -> Navigation:
    (pages,) = section.values()
    assert isinstance(pages, list), "a section has a list"
    return pages


def _page(target: str) -> str | Navigation:
    """Return the page that a line of the contents leads to; of the decisions, all of them."""
    path = (DOCS / target).resolve()
    if path == DOCS / "decisions" / "README.md":
        records = sorted(path.parent.glob("[0-9]*.md"))
        return [{"All decisions": place_of(path)}, *({_title(record): place_of(record)} for record in records)]
    assert path.is_relative_to(ROOT), "the contents lead nowhere else"
    return place_of(path)


def _title(page: Path) -> str:
    return page.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")


def as_toml(value: str | Navigation | dict[str, str | Navigation]) -> str:
    """Write a navigation as TOML, whose strings may be written as JSON's."""
    if isinstance(value, list):
        return f"[{', '.join(map(as_toml, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{as_toml(key)} = {as_toml(entry)}" for key, entry in value.items()) + "}"
    return json.dumps(value, ensure_ascii=False)


__all__ = ["Navigation", "as_toml", "navigation"]

"""Lay the pages of the site ready: the docs, what they link to beside them, and a page for each public package.

The docs are written so that their links work where the repository is read. A site holds the docs alone, so what lies
outside of them gets pages of its own here, and the links to it are turned there.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from packages import PACKAGES, Package

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
SETTINGS = DOCS / "site"
CODE = (ROOT / "sdk", ROOT / "local_backend")
API = "api"
"""The folder of the site that holds the pages made of docstrings."""
PAGES_OF_PROJECT = {
    "README.md": "project/readme.md",
    "CHANGELOG.md": "project/changelog.md",
    "CONTRIBUTING.md": "project/contributing.md",
}
"""Pages beside the docs, and where the site has them."""
SOURCES = "source"
"""The folder of the site that holds what the docs link to in the repository."""
MAX_SOURCE_BYTES = 200_000
"""The largest file that is shown: a page longer than this is not read."""
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})", flags=re.MULTILINE)
_LINK = re.compile(r"(\]\()([^()\s#]+)(#[^()\s]*)?(\))")
_LANGUAGES = {".py": "python", ".sql": "sql", ".html": "html", ".json": "json", ".toml": "toml", ".txt": "text"}


def stage(pages: Path) -> None:
    """Write all pages into a folder, which is made anew."""
    shutil.rmtree(pages, ignore_errors=True)
    shutil.copytree(DOCS, pages, ignore=lambda folder, names: {"site"} if Path(folder) == DOCS else set[str]())
    shutil.copytree(SETTINGS / "assets", pages / "assets")
    linked: set[Path] = set()
    for source in DOCS.rglob("*.md"):
        if SETTINGS not in source.parents:
            _write(pages, str(source.relative_to(DOCS)), _turned(source, linked))
    for name in PAGES_OF_PROJECT:
        _write(pages, place_of(ROOT / name), _turned(ROOT / name, linked))
    for source in _with_contents(linked):
        _write(pages, place_of(source), _source_page(source))
    for package in PACKAGES:
        _write(pages, f"{API}/{package.name}.md", _api_page(package))


def place_of(source: Path) -> str:
    """Return where the site has a file or folder of the repository, as a path below its pages."""
    if source.is_relative_to(DOCS):
        return source.relative_to(DOCS).as_posix()
    name = source.relative_to(ROOT).as_posix()
    return PAGES_OF_PROJECT.get(name) or f"{SOURCES}/{name}.md"


def _write(pages: Path, place: str, text: str) -> None:
    path = pages / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _turned(source: Path, linked: set[Path]) -> str:
    """Return a page with its links as the site needs them; what they lead to outside of the docs joins ``linked``."""
    here = Path(place_of(source)).parent

    def turn(match: re.Match[str]) -> str:
        before, target, anchor, after = match.groups(default="")
        path = (source.parent / target).resolve()
        if "://" in target or target.startswith("mailto:") or not path.exists() or not path.is_relative_to(ROOT):
            return match[0]
        if not path.is_relative_to(DOCS) and path.name not in PAGES_OF_PROJECT:
            linked.add(path)
        place = place_of(path) if path.is_file() or not path.is_relative_to(DOCS) else f"{place_of(path)}/README.md"
        return f"{before}{Path(os.path.relpath(place, here)).as_posix()}{anchor}{after}"

    text = source.read_text(encoding="utf-8")
    return "".join(part if is_code else _LINK.sub(turn, part) for is_code, part in _parts(text))


def _parts(text: str) -> Iterator[tuple[bool, str]]:
    """Yield the parts of a page, each with whether it is a fenced block."""
    fence, kept = "", list[str]()
    for line in text.splitlines(keepends=True):
        mark = _FENCE.match(line)
        opens = mark is not None and not fence
        if opens and kept:
            yield False, "".join(kept)
            kept = []
        kept.append(line)
        if mark is not None and opens:
            fence = mark[1]
        elif mark is not None and mark[1].startswith(fence) and line.strip() == mark[1]:
            yield True, "".join(kept)
            fence, kept = "", []
    yield bool(fence), "".join(kept)


def _with_contents(linked: set[Path]) -> set[Path]:
    """Return what is linked to, and of folders the files in them."""
    return linked | {inner for path in linked if path.is_dir() for inner in _shown(path)}


def _shown(folder: Path) -> list[Path]:
    """Return the files of a folder that can be shown as text."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file() and "__pycache__" not in path.parts)
    return [path for path in files if path.stat().st_size <= MAX_SOURCE_BYTES and b"\0" not in path.read_bytes()]


def _source_page(source: Path) -> str:
    """Return the page that shows a file, or lists a folder."""
    title = f"# `{source.relative_to(ROOT).as_posix()}`\n\n"
    if source.is_dir():
        start = Path(place_of(source)).parent
        names = ((path, os.path.relpath(place_of(path), start)) for path in _shown(source))
        return title + "".join(
            f"- [{path.relative_to(source).as_posix()}]({Path(to).as_posix()})\n" for path, to in names
        )
    text = source.read_text(encoding="utf-8")
    fence = "`" * max(3, *(len(run) + 1 for run in re.findall(r"`+", text)), 3)
    return f"{title}{fence}{_LANGUAGES.get(source.suffix, 'text')}\n{text.rstrip()}\n{fence}\n"


def _api_page(package: Package) -> str:
    """Return the page of one package, which mkdocstrings fills."""
    hidden = "".join(f"\n::: {name}\n    options: {{show_root_heading: true}}\n" for name in _hidden(package.name))
    return f"# {package.name}\n\n{package.about}\n\n::: {package.name}\n{hidden}"


def _hidden(name: str) -> Iterator[str]:
    """Yield the full names of functions that are called as the module that they come from.

    Where only the source is read the module is taken for what the name stands for, and the function is left out.
    """
    folder = next(root / Path(*name.split(".")) for root in CODE if (root / name.partition(".")[0]).is_dir())
    for path in sorted(folder.glob("*.py")):
        home = re.escape(f"from {name}.{path.stem} import ")
        imported = rf"^{home}(.+, )?{path.stem}(,.+)?$"
        if re.search(imported, (folder / "__init__.py").read_text(encoding="utf-8"), flags=re.MULTILINE):
            yield f"{name}.{path.stem}.{path.stem}"


__all__ = ["API", "CODE", "DOCS", "PAGES_OF_PROJECT", "ROOT", "SETTINGS", "place_of", "stage"]

"""Read the built site of the docs: what each page links to, loads, and can be linked at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADS = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src"}
LOADED_LINKS = {"stylesheet", "icon", "preload", "modulepreload", "manifest", "preconnect"}


@dataclass
class Page(HTMLParser):
    """One page: its anchors, what it links to, and what it loads by itself."""

    path: Path
    anchors: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.path.read_text(encoding="utf-8"))
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.anchors |= {found[name] for name in ("id", "name") if name in found}
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        elif tag == "link" and set(found.get("rel", "").split()) & LOADED_LINKS:
            self.loads.append(found["href"])
        elif found.get(LOADS.get(tag, "")):
            self.loads.append(found[LOADS[tag]])


def pages_of(site: Path) -> dict[Path, Page]:
    """Return every page of a site by its path; not the one for what is missing, whose links start at a host's root."""
    return {path: Page(path) for path in sorted(site.rglob("*.html")) if path.name != "404.html"}


def is_outside(url: str) -> bool:
    """Return whether a URL leaves the site."""
    return bool(urlsplit(url).scheme or urlsplit(url).netloc)


def broken(site: Path, pages: dict[Path, Page]) -> Iterator[str]:
    """Yield what leads nowhere: links and loads to files that are missing, and to places that no page has."""
    for path, page in pages.items():
        for url in [*page.links, *page.loads]:
            parts = urlsplit(url)
            if is_outside(url):
                continue
            target = path if not parts.path else (path.parent / unquote(parts.path)).resolve()
            target = target / "index.html" if target.is_dir() else target
            fragment = unquote(parts.fragment)
            if not target.is_file() or not target.is_relative_to(site):
                yield f"{path.relative_to(site)}: {url}: no such file"
            elif fragment and target in pages and fragment not in pages[target].anchors:
                yield f"{path.relative_to(site)}: {url}: no such place"


__all__ = ["Page", "broken", "is_outside", "pages_of"]

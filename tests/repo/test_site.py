"""The docs make a site: without network, without a link that leads nowhere, with every page and a search."""

import ast
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from headless import browser, complaints, open_page, overflow
from repo.site_crawl import Page, broken, is_outside, pages_of

__all__ = ["browser"]
ROOT = Path(__file__).parents[2]
SETTINGS = ROOT / "docs" / "site"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the site, built strictly where no other host can be reached."""
    out = tmp_path_factory.mktemp("docs")
    # Whatever would be fetched is asked of a port of this machine on which nobody listens.
    nowhere = dict.fromkeys(("http_proxy", "https_proxy", "all_proxy"), "http://127.0.0.1:9")
    command = [sys.executable, str(SETTINGS / "build.py"), "--out", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, env={**nowhere, "PATH": ""}, timeout=240)
    told = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout + done.stderr)
    assert done.returncode == 0, told
    assert "griffe" not in told, told
    assert "Warning" not in told, told
    return out / "site"


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    return pages_of(site)


def test_every_link_and_place_of_the_site_is_there(site: Path, pages: dict[Path, Page]) -> None:
    assert len(pages) > 100
    assert list(broken(site, pages)) == []


def test_site_loads_nothing_from_elsewhere(pages: dict[Path, Page]) -> None:
    assert {url for page in pages.values() for url in page.loads if is_outside(url)} == set()


def test_every_page_of_the_docs_is_in_the_contents_once() -> None:
    contents = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    listed: list[str] = re.findall(r"^- \[[^\]]+\]\(([^)]+)\)", contents, flags=re.MULTILINE)
    docs = ROOT / "docs"
    pages = {path.relative_to(docs).as_posix() for path in docs.rglob("*.md")} - {"index.md"}
    records = {f"decisions/{path.name}" for path in (docs / "decisions").glob("[0-9]*.md")}
    assert sorted(target for target in listed if not target.startswith("../")) == sorted(pages - records)


def test_every_page_of_the_docs_is_in_the_menu(site: Path, pages: dict[Path, Page]) -> None:
    front = pages[site / "index.html"]
    menu = {(site / link.split("#")[0]).resolve() for link in front.links if not is_outside(link)}
    missing = {page for page in pages if page.relative_to(site).parts[0] != "source"} - menu
    assert missing == set()


def packages() -> list[str]:
    """Return the packages that have a page."""
    tree = ast.parse((SETTINGS / "packages.py").read_text(encoding="utf-8"))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "Package"]
    return [ast.literal_eval(call.args[0]) for call in calls]


def test_every_public_name_of_a_package_has_its_place(site: Path, pages: dict[Path, Page]) -> None:
    assert {"commitgate", "commitgate.errors", "commitgate_local"} <= set(packages())
    missing = [
        f"{name}.{public}"
        for name in packages()
        for public in import_module(name).__all__
        # A function that is called as its module has its place under that.
        if not {f"{name}.{public}", f"{name}.{public}.{public}"} & pages[site / "api" / f"{name}.html"].anchors
    ]
    assert missing == []


def test_every_package_that_the_reference_names_has_a_page() -> None:
    text = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(commitgate(?:_local)?(?:\.[a-z_]+)*)`", text))
    assert named - set(packages()) <= {"commitgate.backends"}


SIZES = [("index.html", 320), ("api/commitgate.html", 320), ("guarantees.html", 1400)]


@pytest.mark.parametrize(("page", "width"), SIZES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page_fits_its_window_and_nothing_in_it_fails(
    browser: Any, site: Path, page: str, width: int, scheme: str
) -> None:
    open_page(browser, (site / page).as_uri(), width, scheme=scheme)
    assert overflow(browser) <= 0
    assert complaints(browser) == []


FOUND = """
    const search = [...document.querySelectorAll("div")].find(each => each.shadowRoot);
    return search ? [...search.shadowRoot.querySelectorAll("a")].map(link => link.href) : [];
"""


@pytest.mark.parametrize(("words", "page"), [("lease", "ledger.html"), ("副作用", "zh/quickstart.html")])
def test_search_finds_its_page_in_files_from_a_disk(browser: Any, site: Path, words: str, page: str) -> None:
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.support.ui import WebDriverWait

    open_page(browser, (site / "index.html").as_uri(), 1400)
    ActionChains(browser).send_keys("/").pause(0.5).send_keys(words).perform()
    first = WebDriverWait(browser, 20).until(lambda seen: seen.execute_script(FOUND))[0]
    assert first.startswith(f"{(site / page).as_uri()}?")
    asked = browser.execute_script("return performance.getEntriesByType('resource').map(entry => entry.name)")
    assert [url for url in asked if not url.startswith("file:")] == []

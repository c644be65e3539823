"""A browser without a screen, for the pages that are one file."""

import shutil
from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Return a Chromium; skipped where there is none."""
    from selenium.webdriver import Chrome, ChromeOptions, ChromeService

    programs = shutil.which("chromium"), shutil.which("chromedriver")
    if None in programs:
        pytest.skip("needs the programs chromium and chromedriver (Debian: chromium, chromium-driver)")
    options = ChromeOptions()
    options.binary_location = str(programs[0])
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    for switch in ("headless=new", "disable-dev-shm-usage", "disable-gpu", "no-sandbox"):
        options.add_argument(f"--{switch}")
    found = Chrome(options=options, service=ChromeService(executable_path=programs[1]))
    yield found
    found.quit()


def open_page(browser: Any, url: str, width: int, *, scheme: str = "light") -> None:
    """Open a page at a width, in light or dark colours."""
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    browser.get_log("browser")
    browser.get(url)


def overflow(browser: Any) -> int:
    """Return by how many pixels the page is wider than its window."""
    return browser.execute_script("return document.documentElement.scrollWidth - document.documentElement.clientWidth")


def complaints(browser: Any) -> list[str]:
    """Return what the console complained of."""
    return [entry["message"] for entry in browser.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]

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


_LOWEST_CONTRAST = """
const paint = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
const rgba = (colour) => {
  paint.clearRect(0, 0, 1, 1); paint.fillStyle = colour; paint.fillRect(0, 0, 1, 1);
  return Array.from(paint.getImageData(0, 0, 1, 1).data);
};
const light = ([r, g, b]) => [r, g, b].map((part) => part / 255)
  .map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
  .reduce((sum, part, index) => sum + part * [0.2126, 0.7152, 0.0722][index], 0);
const ground = (element) => {
  for (let at = element; at; at = at.parentElement) {
    const found = rgba(getComputedStyle(at).backgroundColor);
    if (found[3] === 255) return found;
  }
  return [255, 255, 255, 255];
};
let lowest = [21, ""];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const element = walker.currentNode.parentElement;
  if (!walker.currentNode.data.trim() || !element.checkVisibility()) continue;
  if (element.closest("script, style, :disabled, .unseen, .skip, dialog:not([open])")) continue;
  const [one, other] = [light(rgba(getComputedStyle(element).color)), light(ground(element))];
  const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
  const where = `${element.tagName}.${element.className}: ${walker.currentNode.data.slice(0, 40)}`;
  if (ratio < lowest[0]) lowest = [ratio, where];
}
return lowest;
"""


def lowest_contrast(browser: Any) -> tuple[float, str]:
    """Return the least contrast of any text that is seen to its ground (WCAG 2.2, 1.4.3), and where that is."""
    ratio, words = browser.execute_script(_LOWEST_CONTRAST)
    return ratio, words

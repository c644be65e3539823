"""The page of one generation, in a real browser."""

# ruff: noqa: F811 - the browser is a fixture

from pathlib import Path
from typing import Any

import pytest
from headless import browser, complaints, open_page, overflow  # noqa: F401 - the browser is a fixture
from tracing.traces import long_trace

from commitgate.trace import Trace, trace_page

HOSTILE = b"</script><img src=x onerror=document.title='owned'>\xe2\x80\xae\x1b[31m"


def kept(folder: Path, trace: Trace) -> str:
    place = folder / "page.html"
    place.write_text(trace_page(trace), encoding="utf-8")
    return place.as_uri()


def press(browser: Any, *keys: str) -> None:
    for key in keys:
        browser.execute_script(
            "document.body.dispatchEvent(new KeyboardEvent('keydown', {key: arguments[0], bubbles: true}))", key
        )


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 1_400])
def test_page_of_two_hundred_steps_fits_and_opens_at_the_first_forbidden_wish(
    browser: Any,
    tmp_path: Path,
    width: int,
    scheme: str,
) -> None:
    open_page(browser, kept(tmp_path, long_trace(200, wish_at=(40, 120))), width, scheme=scheme)
    assert overflow(browser) <= 0
    assert "At 2 of 200 steps" in browser.find_element("id", "headline").text
    assert browser.find_element("id", "where").text == "step 41 of 200"
    assert "wanted no" in browser.find_element("id", "verdict").text
    assert complaints(browser) == []


def test_keys_lead_from_wish_to_wish_and_through_the_steps(browser: Any, tmp_path: Path) -> None:
    open_page(browser, kept(tmp_path, long_trace(60, wish_at=(10, 30))), 1_400)
    where = browser.find_element("id", "where")
    assert where.text == "step 11 of 60"
    press(browser, "n")
    assert where.text == "step 31 of 60"
    press(browser, "p", "ArrowRight", "j")
    assert where.text == "step 13 of 60"
    press(browser, "End")
    assert where.text == "step 60 of 60"
    press(browser, "Home", "k")
    assert where.text == "step 1 of 60"
    press(browser, "?")
    assert browser.find_element("id", "help").is_displayed()


def test_object_grows_with_the_steps_and_shows_what_is_final(browser: Any, tmp_path: Path) -> None:
    open_page(browser, kept(tmp_path, long_trace(5)), 1_400)
    press(browser, "Home")
    assert browser.find_element("id", "object").text.split() == ["[", "0", "]"]
    press(browser, "End")
    assert browser.find_element("id", "object").text.split() == ["[", "0", "1", "2", "3", "4", "]"]
    assert len(browser.find_elements("css selector", "#object .nest .final")) == 5


def test_hostile_text_is_shown_and_does_nothing(browser: Any, tmp_path: Path) -> None:
    open_page(browser, kept(tmp_path, long_trace(3, text=HOSTILE)), 320)
    assert browser.title == "One generation, step by step"
    assert browser.find_elements("css selector", "img") == []
    shown = browser.find_element("id", "text").text
    assert "\\u202e" in shown
    assert "\\u001b" in shown
    assert overflow(browser) <= 0
    assert complaints(browser) == []


def test_page_of_two_hundred_steps_is_small_enough_to_load_at_once(browser: Any, tmp_path: Path) -> None:
    url = kept(tmp_path, long_trace(200, wish_at=(3,)))
    assert Path(url.removeprefix("file://")).stat().st_size < 400_000
    open_page(browser, url, 1_400)
    took_ms = browser.execute_script("const t = performance.timing; return t.loadEventEnd - t.navigationStart")
    assert took_ms < 10_000, "a second on an idle machine; this bound only notices what is out of all proportion"


def test_server_without_steps_is_told_so(browser: Any, tmp_path: Path) -> None:
    from dataclasses import replace

    trace = long_trace(4)
    pieces = tuple(replace(piece, step=None) for piece in trace.requests[0].pieces)
    plain = replace(trace, requests=(replace(trace.requests[0], pieces=pieces),))
    open_page(browser, kept(tmp_path, plain), 320)
    assert "tells no steps" in browser.find_element("id", "headline").text
    assert complaints(browser) == []

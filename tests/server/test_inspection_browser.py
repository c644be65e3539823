"""Looking at a running server's answers in a real browser."""

# ruff: noqa: F811 - the browser is a fixture

import threading
from collections.abc import Callable, Iterator
from typing import Any

import anyio
import httpx
import pytest
from asgi_calls import SMALL
from chats import CITY, body
from headless import browser, complaints, lowest_contrast, open_page, overflow  # noqa: F401 - the browser is a fixture
from selenium.webdriver.support.ui import WebDriverWait
from served_app import served

from commitgate.testing import ScriptedBackend
from commitgate_local.server.inspection.endpoints import begin_inspection

TYPED: Any = {"type": "json_schema", "json_schema": {"name": "city", "schema": CITY, "strict": True}}
OSLO: Any = [{"text": '{"city": "Os'}, {"text": 'lo"}'}, {"usage": [7, 5]}, {"finish": "stop"}]
HOSTILE: Any = [{"text": '{"city": "<img src=x onerror=document.title=1>\\u202e"}'}, {"finish": "stop"}]
PATIENCE_S = 20


class Gate:
    """Hold the model up until another thread lets it go on."""

    def __init__(self) -> None:
        self.came, self.may_go = threading.Event(), threading.Event()

    async def wait(self) -> None:
        self.came.set()
        await anyio.to_thread.run_sync(self.may_go.wait, PATIENCE_S, abandon_on_cancel=True)


class Inspected:
    """Hold a server on the loopback that is looked at."""

    def __init__(self, url: str, path: str, told: list[str]) -> None:
        self.url, self.path, self.told = url, path, told

    def ask(self, **fields: Any) -> httpx.Response:
        return httpx.post(
            f"{self.url}/v1/chat/completions",
            content=body(response_format=TYPED, **fields),
            headers={"Content-Type": "application/json"},
            timeout=PATIENCE_S,
        )


@pytest.fixture
def gate() -> Iterator[Gate]:
    gate = Gate()
    yield gate
    gate.may_go.set()


@pytest.fixture
def server(gate: Gate) -> Iterator[Inspected]:
    told: list[str] = []
    inspection, path = begin_inspection("a-bearer-token", clock=lambda: 0.0, tell=told.append)
    backend = ScriptedBackend(OSLO, then=[[OSLO[0], {"wait": gate}, *OSLO[1:]], HOSTILE])
    with served(backend, models=[SMALL], inspection=inspection, hosts=["127.0.0.1"]) as running:
        yield Inspected(running.url, path, told)


def until(browser: Any, is_so: Callable[[], bool]) -> None:
    WebDriverWait(browser, PATIENCE_S, poll_frequency=0.05).until(lambda _: is_so())


def text_of(browser: Any, name: str) -> str:
    return browser.find_element("id", name).text


def log_in(browser: Any, server: Inspected, path: str | None = None) -> None:
    browser.delete_all_cookies()
    open_page(browser, server.url + (server.path if path is None else path), 1_400)
    until(browser, lambda: browser.title == "Recent answers")


def test_link_logs_in_and_leaves_no_secret_in_address_history_or_script(browser: Any, server: Inspected) -> None:
    log_in(browser, server)
    code = server.path.partition("#")[2]
    assert browser.current_url == f"{server.url}/inspect"
    history = browser.execute_cdp_cmd("Page.getNavigationHistory", {})["entries"]
    assert not any(code in entry["url"] for entry in history)
    assert browser.execute_script("return document.cookie") == ""
    (cookie,) = browser.get_cookies()
    assert (cookie["httpOnly"], cookie["sameSite"], cookie["path"]) == (True, "Strict", "/inspect")
    assert text_of(browser, "empty") == "Nothing has been asked yet."
    assert complaints(browser) == []


def test_link_that_was_used_says_so_and_the_token_still_lets_in(browser: Any, server: Inspected) -> None:
    log_in(browser, server)
    browser.delete_all_cookies()
    open_page(browser, server.url + server.path, 320)
    until(browser, lambda: "used already" in text_of(browser, "told"))
    assert "#" not in browser.current_url
    assert overflow(browser) <= 0
    assert lowest_contrast(browser)[0] >= 4.5
    browser.find_element("id", "token").send_keys("a-bearer-token")
    browser.find_element("css selector", "#form button").click()
    until(browser, lambda: browser.title == "Recent answers")


def test_answer_is_watched_while_it_grows(browser: Any, server: Inspected, gate: Gate) -> None:
    assert server.ask().status_code == 200
    log_in(browser, server)
    replies: list[httpx.Response] = []
    asking = threading.Thread(target=lambda: replies.append(server.ask()))
    asking.start()
    try:
        assert gate.came.wait(PATIENCE_S)
        until(browser, lambda: len(browser.find_elements("css selector", "#answers tbody tr")) == 2)
        first, second = browser.find_elements("css selector", "#answers tbody tr")
        assert "running" in first.text
        assert "answered" in second.text
        assert overflow(browser) <= 0
        first.find_element("tag name", "a").click()
        until(browser, lambda: text_of(browser, "where") == "Piece 1 of 1")
        assert text_of(browser, "live") == "live"
        assert '"Os"' in text_of(browser, "object").replace("▌", "")
        gate.may_go.set()
        until(browser, lambda: not browser.find_element("id", "live").is_displayed())
    finally:
        gate.may_go.set()
        asking.join(PATIENCE_S)
    assert replies[0].status_code == 200
    assert text_of(browser, "where") == "Piece 2 of 2"
    assert text_of(browser, "text") == '{"city": "Oslo"}'
    assert "answered" in text_of(browser, "ending")
    assert complaints(browser) == []
    browser.find_element("css selector", ".eyebrow a").click()
    until(browser, lambda: browser.title == "Recent answers")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 1_400])
def test_list_fits_and_can_be_read(browser: Any, server: Inspected, gate: Gate, width: int, scheme: str) -> None:
    gate.may_go.set()
    for _ in range(3):
        assert server.ask().status_code == 200
    log_in(browser, server)
    open_page(browser, f"{server.url}/inspect", width, scheme=scheme)
    assert len(browser.find_elements("css selector", "#answers tbody tr")) == 3
    assert overflow(browser) <= 0
    ratio, words = lowest_contrast(browser)
    assert ratio >= 4.5, words
    browser.find_element("css selector", "#answers a").click()
    until(browser, lambda: "img" in text_of(browser, "text"))
    assert browser.find_elements("css selector", "img") == []
    assert complaints(browser) == []


def test_logout_ends_the_session(browser: Any, server: Inspected) -> None:
    log_in(browser, server)
    browser.find_element("id", "logout").click()
    until(browser, lambda: browser.current_url == f"{server.url}/inspect/login")


def test_page_of_an_answer_that_is_no_longer_allowed_says_so(browser: Any, server: Inspected, gate: Gate) -> None:
    assert server.ask().status_code == 200
    asking = threading.Thread(target=server.ask)
    asking.start()
    try:
        assert gate.came.wait(PATIENCE_S)
        log_in(browser, server)
        browser.find_element("css selector", "#answers a").click()
        until(browser, lambda: text_of(browser, "live") == "live")
        browser.delete_all_cookies()
        until(browser, lambda: text_of(browser, "live") == "log in again to see more")
    finally:
        gate.may_go.set()
        asking.join(PATIENCE_S)

"""The web example: what its page shows in a real browser, what stops a run, and what its server refuses."""

import json
import os
import re
import shutil
import socket
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
import uvicorn
from anyio.from_thread import BlockingPortal, start_blocking_portal
from selenium.webdriver import Chrome, ChromeOptions, ChromeService
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from commitgate.testing import ScriptedBackend

EXAMPLE = Path(__file__).parents[2] / "examples" / "form_web"
CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
STOP = {"finish": "stop"}
BOOKING: Mapping[str, object] = {
    "guest": "Ada Holm",
    "arrival": "Friday",
    "nights": 12,
    "breakfast": True,
    "extras": ["cot", "desk"],
    "wish": "A quiet room.",
}
WORDS = {"guest": "Ada Holm", "arrival": "Friday", "nights": "12", "breakfast": "yes", "extras": "cot, desk"}
WHOLE = ({"text": json.dumps(BOOKING)}, STOP)
PATIENCE_S = 20.0

Script = Sequence[Mapping[str, object]]


class Gate:
    """Hold the model up until the test lets it go on, and tell when it left, let go or cancelled."""

    def __init__(self, portal: BlockingPortal) -> None:
        self._portal = portal
        self._is_open = portal.call(anyio.Event)
        self.reached, self.left = threading.Event(), threading.Event()

    async def wait(self) -> None:
        self.reached.set()
        try:
            await self._is_open.wait()
        finally:
            self.left.set()

    def open(self) -> None:
        self._portal.call(self._is_open.set)


@pytest.fixture(autouse=True)
def _modules(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the example's program import its own modules."""
    monkeypatch.syspath_prepend(str(EXAMPLE))


@pytest.fixture
def portal() -> Iterator[BlockingPortal]:
    """Run an event loop in a thread of its own."""
    with start_blocking_portal("asyncio") as portal:
        yield portal


@pytest.fixture
def gate(portal: BlockingPortal) -> Gate:
    """Return a gate that stands in the model's way."""
    return Gate(portal)


@contextmanager
def served(portal: BlockingPortal, backend: ScriptedBackend | None) -> Iterator[str]:
    """Serve the example on a free port; where it is left, no run may be left over."""
    app = import_module("web").create_app(None if backend is None else {"local": backend})
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", ws="none", timeout_graceful_shutdown=5))
    # It listens from here on: whoever comes before the server is ready waits in the queue.
    with socket.create_server(("127.0.0.1", 0)) as listener:
        serving = portal.start_task_soon(server.serve, [listener])
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            serving.result(PATIENCE_S)
    assert backend is None or backend.open_streams == 0


Serve = Callable[..., str]


@pytest.fixture
def serve(portal: BlockingPortal) -> Iterator[Serve]:
    """Return what serves the example with a model that plays a script, and returns its address."""
    with ExitStack() as stack:

        def start(script: Script = WHOLE, *then: Script) -> str:
            return stack.enter_context(served(portal, ScriptedBackend(script, then=then, chunking="bytes")))

        yield start


class Page:
    """Look at the page as a reader does."""

    def __init__(self, browser: Chrome) -> None:
        self.browser = browser

    def open(self, url: str) -> None:
        self.browser.get(url)

    def click(self, name: str) -> None:
        self.browser.find_element(By.ID, name).click()

    def field(self, name: str) -> tuple[str, str]:
        """Return a field's state and its text."""
        row = self.browser.find_element(By.CSS_SELECTOR, f'[data-name="{name}"]')
        text = row.find_element(By.CSS_SELECTOR, ".text").get_property("textContent")
        return str(row.get_attribute("data-state")), str(text)

    def is_busy(self, name: str) -> bool:
        row = self.browser.find_element(By.CSS_SELECTOR, f'[data-name="{name}"] dd')
        return row.get_attribute("aria-busy") == "true"

    def ending(self) -> str:
        return str(self.browser.find_element(By.TAG_NAME, "section").get_attribute("data-ending"))

    def status(self) -> str:
        return self.browser.find_element(By.ID, "status").text

    def wait_until(self, holds: Callable[[], bool]) -> None:
        WebDriverWait(self.browser, PATIENCE_S, poll_frequency=0.02).until(lambda _: holds())

    def wait_for_field(self, name: str, state: str, text: str) -> None:
        self.wait_until(lambda: self.field(name) == (state, text))

    def wait_for_ending(self, ending: str) -> None:
        self.wait_until(lambda: self.ending() == ending)


@pytest.fixture(scope="module")
def browser() -> Iterator[Chrome]:
    """Start a headless Chromium."""
    if CHROMIUM is None or DRIVER is None:
        pytest.skip("needs the programs chromium and chromedriver (Debian: chromium, chromium-driver)")
    options = ChromeOptions()
    options.binary_location = CHROMIUM
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    for switch in ("headless=new", "disable-dev-shm-usage", "disable-gpu", "window-size=1100,800"):
        options.add_argument(f"--{switch}")
    if os.geteuid() == 0:
        options.add_argument("--no-sandbox")  # which Chromium refuses to do without for root; it opens our page alone
    browser = Chrome(options=options, service=ChromeService(executable_path=DRIVER))
    yield browser
    browser.quit()


@pytest.fixture
def page(browser: Chrome) -> Iterator[Page]:
    """Open an empty page in the browser, and leave none behind: a server waits for its last reader to go."""
    browser.get("about:blank")
    browser.get_log("browser")
    yield Page(browser)
    browser.get("about:blank")
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_files_are_programs_that_can_be_read_at_once() -> None:
    assert all(len(path.read_text(encoding="utf-8").splitlines()) <= 80 for path in EXAMPLE.glob("*.py"))


def test_page_opens_with_every_field_empty(serve: Serve, page: Page) -> None:
    page.open(serve())
    assert {page.field(name) for name in BOOKING} == {("empty", "")}
    assert page.browser.find_element(By.ID, "mail").accessible_name == "E-mail"
    assert page.browser.find_element(By.ID, "status").aria_role == "status"
    assert page.browser.find_element(By.TAG_NAME, "section").accessible_name == "Booking"
    assert not page.browser.find_element(By.ID, "cancel").is_enabled()


def test_open_field_looks_open_before_it_is_final(serve: Serve, page: Page, portal: BlockingPortal) -> None:
    first, second = Gate(portal), Gate(portal)
    text = json.dumps(BOOKING)
    half, number = text.index("lm"), text.index("2,")
    steps = [{"text": text[:half]}, {"wait": first}, {"text": text[half:number]}, {"wait": second}]
    page.open(serve([*steps, {"text": text[number:]}, STOP]))
    page.click("fill")
    page.wait_for_field("guest", "open", "Ada Ho")
    assert page.is_busy("guest")
    assert "preview" in page.status()
    first.open()
    page.wait_for_field("arrival", "final", "Friday")
    assert page.field("guest") == ("final", "Ada Holm")
    assert not page.is_busy("guest")
    assert page.field("nights") == ("empty", ""), "a number is hidden until it is whole"
    second.open()
    page.wait_for_ending("committed")
    assert all(page.field(name) == ("final", text) for name, text in WORDS.items())
    assert page.status().startswith("committed: ")


RECORD = """
window.seen = [];
new MutationObserver(() => window.seen.push(fields.map((field) => [
  field.dataset.name, field.dataset.state, field.querySelector(".text").textContent,
]))).observe(document.querySelector("dl"), { subtree: true, childList: true, attributes: true, characterData: true });
"""


def test_fields_only_grow_and_final_ones_do_not_change(serve: Serve, page: Page) -> None:
    page.open(serve())
    page.browser.execute_script(RECORD)
    page.click("fill")
    page.wait_for_ending("committed")
    last = dict.fromkeys(BOOKING, ("empty", ""))
    for moment in page.browser.execute_script("return window.seen"):
        for name, state, text in moment:
            earlier, shown = last[name]
            assert state == "final" if earlier == "final" else earlier != "open" or state != "empty"
            assert text == shown if earlier == "final" else text.startswith(shown)
            last[name] = state, text
    assert {state for state, _ in last.values()} == {"final"}


def test_cancel_ends_as_cancelled_and_frees_the_model(serve: Serve, page: Page, gate: Gate) -> None:
    page.open(serve([{"text": '{"guest": "Ada'}, {"wait": gate}]))
    page.click("fill")
    page.wait_for_field("guest", "open", "Ada")
    page.click("cancel")
    page.wait_for_ending("other")
    assert page.status().startswith("cancelled: ")
    assert gate.left.wait(PATIENCE_S), "the model was stopped"
    assert page.field("guest") == ("left", "Ada")
    assert not page.is_busy("guest")
    page.wait_until(lambda: page.browser.find_element(By.ID, "fill").is_enabled())
    page.click("fill")
    page.wait_for_field("guest", "open", "Ada")


def test_browser_that_goes_away_stops_the_model(serve: Serve, page: Page, gate: Gate) -> None:
    page.open(serve([{"text": '{"guest": "Ada'}, {"wait": gate}]))
    page.click("fill")
    page.wait_for_field("guest", "open", "Ada")
    assert not gate.left.is_set()
    page.open("about:blank")
    assert gate.left.wait(PATIENCE_S)


HOSTILE = (
    "<img src=x onerror=\"document.title='owned'\">",
    "</span></script><script>document.title='owned'</script>",
    '\n\nevent: outcome\ndata: {"name": "committed", "summary": "owned"}\n\n',
    "\u202e\u2028\u0000 \U0001f600 \x1b[2J &lt;b&gt; ${1}",
)


@pytest.mark.parametrize("wish", HOSTILE, ids=["image", "script", "event", "characters"])
def test_hostile_text_of_the_model_is_shown_as_text(serve: Serve, page: Page, gate: Gate, wish: str) -> None:
    text = json.dumps({**BOOKING, "wish": wish})
    page.open(serve([{"text": text[:-2]}, {"wait": gate}, {"text": text[-2:]}, STOP]))
    page.click("fill")
    page.wait_for_field("wish", "open", wish)
    gate.open()
    page.wait_for_ending("committed")
    assert page.field("wish") == ("final", wish)
    assert page.browser.title == "Booking desk"
    assert "owned" not in page.status()
    assert len(page.browser.find_elements(By.TAG_NAME, "script")) == 1
    assert page.browser.find_elements(By.TAG_NAME, "img") == []
    assert page.browser.get_log("browser") == []


def test_answer_without_an_end_is_shown_as_no_booking(serve: Serve, page: Page) -> None:
    page.open(serve([{"text": json.dumps(BOOKING)}]))
    page.click("fill")
    page.wait_for_ending("other")
    assert page.status().startswith("disconnected: ")


def test_reset_empties_the_form_and_says_so(serve: Serve, page: Page, portal: BlockingPortal) -> None:
    cut, again = Gate(portal), Gate(portal)
    page.open(serve([{"text": '{"guest": "Bo'}, {"wait": cut}], [{"wait": again}, *WHOLE]))
    page.click("fill")
    page.wait_for_field("guest", "open", "Bo")
    cut.open()
    page.wait_until(lambda: page.status() == "Attempt 2 starts from an empty form: disconnected.")
    assert {page.field(name) for name in BOOKING} == {("empty", "")}
    again.open()
    page.wait_for_ending("committed")
    assert page.field("guest") == ("final", "Ada Holm")


def test_server_that_is_gone_is_said_so(serve: Serve, portal: BlockingPortal, page: Page, gate: Gate) -> None:
    with served(portal, ScriptedBackend([{"text": '{"guest": "Ada'}, {"wait": gate}])) as url:
        page.open(url)
    page.click("fill")
    page.wait_for_ending("other")
    assert page.status() == "The server is gone: nothing was booked."


def luminance(color: str) -> float:
    """Return the relative luminance of an opaque CSS colour. Source: WCAG 2.2, relative luminance."""
    parts = [int(part) / 255 for part in re.findall(r"\d+", color)[:3]]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_can_be_read_in_light_and_dark(serve: Serve, page: Page, gate: Gate, scheme: str) -> None:
    text = json.dumps(BOOKING)
    page.browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    )
    page.open(serve([{"text": text[:-2]}, {"wait": gate}]))
    page.click("fill")
    page.wait_for_field("wish", "open", "A quiet room.")
    pairs = page.browser.execute_script("""
      const ground = (node) => {
        const color = getComputedStyle(node).backgroundColor;
        return color === "rgba(0, 0, 0, 0)" ? ground(node.parentElement) : color;
      };
      return [...document.querySelectorAll("h1, label, textarea, dt, .text, .word, #status, #fill")]
        .map((node) => [getComputedStyle(node).color, ground(node)]);
    """)
    for pair in pairs:
        darker, lighter = sorted(map(luminance, pair))
        assert (lighter + 0.05) / (darker + 0.05) >= 4.5, pair
    assert (luminance(pairs[0][1]) < 0.5) == (scheme == "dark")


@pytest.mark.model
def test_bundled_model_fills_the_form_in_the_browser(portal: BlockingPortal, page: Page) -> None:
    with served(portal, None) as url:
        page.open(url)
        page.browser.execute_script(RECORD)
        page.click("fill")
        WebDriverWait(page.browser, 120).until(lambda _: page.ending() != "none")
        assert page.ending() == "committed", page.status()
        states = {state for moment in page.browser.execute_script("return window.seen") for _, state, _ in moment}
        assert states == {"empty", "open", "final"}
        assert all(page.field(name)[1] for name in BOOKING)


def ask(url: str, **changed: Any) -> httpx.Response:
    given: dict[str, Any] = {"json": {"mail": "Hello"}} | changed
    return httpx.post(f"{url}/runs", **given)


def test_server_sends_previews_and_one_outcome(serve: Serve) -> None:
    answer = ask(serve())
    names = re.findall(r"^event: (\w+)$", answer.text, flags=re.MULTILINE)
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert set(names[:-1]) == {"preview"}
    assert names[-1] == "outcome"


def test_server_refuses_what_is_no_email_of_the_page(serve: Serve) -> None:
    url = serve()
    assert ask(url, json={"mail": ""}).status_code == 422
    assert ask(url, json={"mail": "x" * 2001}).status_code == 422
    assert ask(url, json=["x"]).status_code == 422
    assert ask(url, json={"mail": "x" * 20_000}).status_code == 413
    assert ask(url, json=None, content=b'{"mail": "x"}').status_code == 415, "another site's page may send this"
    assert ask(url, headers={"Host": "elsewhere.example"}).status_code == 400
    assert httpx.delete(f"{url}/runs/none").status_code == 404


def test_server_takes_few_runs_at_once_and_frees_those_whose_reader_left(serve: Serve, portal: BlockingPortal) -> None:
    gate = Gate(portal)
    url = serve([{"text": '{"guest": "Ada'}, {"wait": gate}])
    with httpx.Client() as client, ExitStack() as streams:
        readers: list[Iterator[str]] = []
        for _ in range(import_module("web").MOST_RUNS):
            answer = streams.enter_context(client.stream("POST", f"{url}/runs", json={"mail": "Hello"}))
            readers.append(answer.iter_lines())
            assert next(readers[-1]) == "event: preview"
        assert ask(url).status_code == 429
    assert gate.left.wait(PATIENCE_S)


def test_page_may_run_nothing_but_its_own_code(serve: Serve) -> None:
    answer = httpx.get(serve())
    policy = dict(part.split(" ", 1) for part in answer.headers["content-security-policy"].split("; "))
    assert policy["default-src"] == "'none'"
    assert all(re.fullmatch(r"'sha256-[\w+/]{43}='", policy[name]) for name in ("script-src", "style-src"))
    assert "innerHTML" not in answer.text


def test_server_sends_a_reset_before_the_previews_of_a_new_attempt(serve: Serve, gate: Gate) -> None:
    url = serve([{"text": '{"guest": "Bo'}, {"wait": gate}], WHOLE)
    with httpx.stream("POST", f"{url}/runs", json={"mail": "Hello"}, timeout=PATIENCE_S) as answer:
        lines = answer.iter_lines()
        assert any('"Bo"' in line for line in lines), "shown before the attempt is dropped"
        gate.open()
        rest = [line for line in lines if line]
    assert rest[:2] == ["event: reset", 'data: {"attempt": 2, "reason": "disconnected"}']
    assert rest[2] == "event: preview"
    assert '"committed"' in rest[-1]
    assert "Bo" not in "".join(rest)

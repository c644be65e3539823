"""The page of one generation, in a real browser."""

# ruff: noqa: F811 - the browser is a fixture

import json
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from headless import browser, complaints, lowest_contrast, open_page, overflow  # noqa: F401 - the browser is a fixture
from selenium.webdriver import ActionChains, Keys
from tracing.traces import long_trace

from commitgate.backends.base import Choice
from commitgate.trace import Change, Trace, TracePiece, TraceRequest, load_trace, trace_page

REAL = Path(__file__).parent / "office_move.json"
"""What the bundled model wrote of an office that moves: 330 tokens in 268 steps, kept by ``commitgate inspect``."""

HOSTILE = "</script><img src=x onerror=document.title='owned'><b id=owned>\u202e\u2066\u200b\x1b[31m\x00&lt;"
SEEN = "\\u202e\\u2066\\u200b\\u001b[31m\\u0000&lt;"


def kept(folder: Path, trace: Trace) -> str:
    place = folder / "page.html"
    place.write_text(trace_page(trace), encoding="utf-8")
    return place.as_uri()


def real_trace() -> Trace:
    return load_trace(REAL.read_bytes())


def press(browser: Any, *keys: str) -> None:
    ActionChains(browser).send_keys(*keys).perform()


def text_of(browser: Any, name: str) -> str:
    return browser.find_element("id", name).text


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 1_400])
def test_real_answer_fits_the_window_and_can_be_read(
    browser: Any,
    tmp_path: Path,
    width: int,
    scheme: str,
) -> None:
    open_page(browser, kept(tmp_path, real_trace()), width, scheme=scheme)
    for _ in range(3):
        assert overflow(browser) <= 0
        ratio, words = lowest_contrast(browser)
        assert ratio >= 4.5, words
        press(browser, "n")
    assert complaints(browser) == []


def test_page_opens_at_the_first_forbidden_wish_and_says_plainly_what_it_is(browser: Any, tmp_path: Path) -> None:
    open_page(browser, kept(tmp_path, long_trace(200, wish_at=(40, 120))), 1_400)
    assert text_of(browser, "headline") == "At 2 of 200 steps the model wanted something that the contract forbids."
    assert text_of(browser, "where") == "Step 41 of 200"
    verdict = text_of(browser, "verdict")
    assert verdict == "The model wanted no (80.0 %). The contract forbids that here, so it had to write 1."
    first, second = browser.find_elements("css selector", "#wishes a")
    assert first.get_attribute("aria-current") == "step"
    second.click()
    assert text_of(browser, "where") == "Step 121 of 200"
    rows = [row.text.split() for row in browser.find_elements("css selector", "#choices tbody tr")]
    assert rows == [["no", "80.0", "%", "forbidden", "✕"], ["1", "10.0", "%", "written", "✓"]]
    assert browser.find_element("css selector", "#choices tbody del").text == "no"
    assert text_of(browser, "share-kept") == "Legal: 10.0 %, on 2 of 100 tokens"
    assert text_of(browser, "share-removed") == "Removed by the mask: 90.0 %"


def test_answer_without_a_wish_says_so(browser: Any, tmp_path: Path) -> None:
    open_page(browser, kept(tmp_path, long_trace(3)), 320)
    assert text_of(browser, "headline") == "At each of 3 steps the model's own first choice was allowed."
    assert text_of(browser, "where") == "Step 1 of 3"
    assert not browser.find_element("id", "wish-on").is_enabled()
    for name in ("requests", "live", "wishes", "no-layers"):
        assert not browser.find_element("id", name).is_displayed(), name


def test_keys_lead_from_wish_to_wish_and_through_the_steps(browser: Any, tmp_path: Path) -> None:
    open_page(browser, kept(tmp_path, long_trace(60, wish_at=(10, 30))), 1_400)

    def steps(*keys: str) -> list[str]:
        found: list[str] = []
        for key in keys:
            press(browser, key)
            found.append(text_of(browser, "where").removesuffix(" of 60"))
        return found

    assert steps("n", "n", "p", Keys.ARROW_RIGHT, "j") == ["Step 31", "Step 31", "Step 11", "Step 12", "Step 13"]
    assert steps(Keys.ARROW_LEFT, "k", Keys.END, "j", Keys.HOME, "k") == [
        "Step 12",
        "Step 11",
        "Step 60",
        "Step 60",
        "Step 1",
        "Step 1",
    ]
    browser.find_element("id", "strip").send_keys(Keys.PAGE_UP)
    assert text_of(browser, "where") == "Step 11 of 60"
    strip = browser.find_element("id", "strip")
    assert strip.get_attribute("aria-valuenow") == "11"
    assert strip.get_attribute("aria-valuetext") == "step 11 of 60, legal mass 10.0 %, forbidden wish"


def test_help_opens_and_closes_by_key_and_holds_the_focus(browser: Any, tmp_path: Path) -> None:
    open_page(browser, kept(tmp_path, long_trace(5)), 320)
    press(browser, "?")
    assert browser.find_element("id", "help").is_displayed()
    press(browser, "j")
    assert text_of(browser, "where") == "Step 1 of 5"
    assert overflow(browser) <= 0
    press(browser, Keys.ESCAPE)
    assert not browser.find_element("id", "help").is_displayed()


def test_everything_is_reached_by_tab_and_shows_its_focus(browser: Any, tmp_path: Path) -> None:
    open_page(browser, kept(tmp_path, long_trace(5, wish_at=(2,))), 1_400)
    reached: set[str] = set()
    for _ in range(16):
        press(browser, Keys.TAB)
        name, outline = browser.execute_script(
            "const at = document.activeElement, style = getComputedStyle(at);"
            "return [at.id || at.tagName + (at.textContent || '').slice(0, 20), style.outlineStyle]"
        )
        if not name.startswith("BODY"):
            assert outline != "none", name
        reached.add(name)
    assert {"strip", "back", "on", "help-button", "object", "text"} <= reached
    assert any(name.startswith("A") and "step 3" in name for name in reached)
    assert any(name.startswith("SUMMARY") for name in reached)


def test_pointer_on_the_strip_finds_a_wish_that_is_a_few_pixels_wide(browser: Any, tmp_path: Path) -> None:
    trace = long_trace(900, wish_at=(450,))
    (request,) = trace.requests
    # Beside it stands a step with less legal mass, which is no wish.
    pieces = list(request.pieces)
    pieces[451] = replace(pieces[451], legal_mass=0.01, step=replace(pieces[451].step, legal_mass=0.01))  # type: ignore[arg-type]
    open_page(browser, kept(tmp_path, replace(trace, requests=(replace(request, pieces=tuple(pieces)),))), 320)
    press(browser, Keys.HOME)
    mark = browser.find_element("css selector", "#marks i")
    strip = browser.find_element("id", "strip")
    at = mark.location["x"] + mark.size["width"] / 2 - strip.location["x"] - strip.size["width"] / 2
    ActionChains(browser).move_to_element_with_offset(strip, round(at) + 2, 0).click().perform()
    assert text_of(browser, "where") == "Step 451 of 900"


def test_value_grows_with_the_steps_and_shows_what_is_final(browser: Any, tmp_path: Path) -> None:
    open_page(browser, kept(tmp_path, long_trace(5)), 1_400)
    press(browser, Keys.HOME)
    assert text_of(browser, "object").split() == ["[", "0.50", "(final)", "…", "(still", "open)"]
    press(browser, Keys.END)
    shown = [word for word in text_of(browser, "object").split() if word != "(final)"]
    assert shown == ["[", "0.50", "1.50", "2.50", "3.50", "4.50", "…", "(still", "open)"]
    assert len(browser.find_elements("css selector", "#object .value.final")) == 5
    style = "return getComputedStyle(document.querySelector('#object %s')).%s"
    assert browser.execute_script(style % (".final", "color")) != browser.execute_script(style % (".open", "color"))
    assert browser.execute_script(style % (".open", "borderBottomStyle")) == "dashed"


def test_members_that_are_still_missing_are_named(browser: Any, tmp_path: Path) -> None:
    open_page(browser, kept(tmp_path, real_trace()), 1_400)
    press(browser, Keys.HOME)
    assert '"title": not yet' in text_of(browser, "object")
    press(browser, "n")
    assert '"hours": not yet' in text_of(browser, "object")


def test_text_marks_the_step_and_a_click_on_it_goes_there(browser: Any, tmp_path: Path) -> None:
    open_page(browser, kept(tmp_path, real_trace()), 1_400)
    text = browser.find_element("id", "text")
    spans = text.find_elements("css selector", "span")
    written = b"".join(piece.data for piece in real_trace().requests[0].pieces).decode()
    assert text.text == written
    assert len(text.find_elements("css selector", ".wish")) == 7
    spans[100].click()
    assert text_of(browser, "where") == "Step 101 of 268"
    assert len(text.find_elements("css selector", ".now")) == 1
    assert "now" in spans[100].get_attribute("class")
    assert "later" not in spans[99].get_attribute("class")
    assert "later" in spans[101].get_attribute("class")


def test_character_cut_between_two_tokens_is_whole_in_the_text(browser: Any, tmp_path: Path) -> None:
    cut = "é".encode()
    pieces = tuple(TracePiece(at_s=0.0, data=part, text_bytes=0) for part in (cut[:1], cut[1:]))
    trace = replace(long_trace(0), requests=(TraceRequest(number=1, at_s=0.0, pieces=pieces),))
    open_page(browser, kept(tmp_path, trace), 320)
    assert text_of(browser, "text").strip("▏") == "é"
    assert text_of(browser, "verdict") == "It wrote \\xc3"


def test_hostile_text_is_shown_and_does_nothing(browser: Any, tmp_path: Path) -> None:
    data = HOSTILE.encode()
    trace = long_trace(
        3,
        wish_at=(1,),
        text=data,
        wanted=data,
        contract_name=HOSTILE,
        schema={HOSTILE: HOSTILE, "__proto__": {"polluted": True}},
        summary=HOSTILE,
        outcome=HOSTILE,
        tool=HOSTILE,
        ledger_state=HOSTILE,
    )
    (request,) = trace.requests
    changes = (Change("", {HOSTILE: HOSTILE, "__proto__": {"polluted": True}}),)
    first, *rest = request.pieces
    rest = [replace(piece, changes=()) for piece in rest]
    request = replace(
        request, pieces=(replace(first, changes=changes), *rest), messages=(("user", HOSTILE),), ending=HOSTILE
    )
    open_page(browser, kept(tmp_path, replace(trace, requests=(request, request))), 320)
    browser.execute_script("for (const each of document.querySelectorAll('details')) each.open = true")
    assert browser.find_elements("css selector", "img, #owned") == []
    assert "owned" not in browser.title.split(" · ")[0]
    assert browser.execute_script("return ({}).polluted") is None
    for name in ("text", "object", "verdict", "messages", "schema", "about", "ending", "requests", "receipt"):
        assert SEEN in browser.find_element("id", name).get_attribute("textContent").replace("\\\\u", "\\u"), name
    shown = browser.execute_script("return document.body.innerText")
    assert not set("\u202e\u2066\u200b\x1b\x00") & set(shown)
    assert overflow(browser) <= 0
    assert complaints(browser) == []


def test_huge_texts_and_many_lines_neither_overflow_nor_freeze(browser: Any, tmp_path: Path) -> None:
    huge = "x" * 200_000
    value = {"text": huge, "many": [[]] * 5_000, huge[:300]: {huge[:300]: 1}}
    piece = TracePiece(at_s=0.0, data=huge.encode(), text_bytes=0, changes=(Change("", value),), open_parts=2)
    trace = replace(long_trace(0), requests=(TraceRequest(number=1, at_s=0.0, pieces=(piece,)),))
    open_page(browser, kept(tmp_path, trace), 320)
    assert overflow(browser) <= 0
    for name in ("object", "text"):
        box = browser.find_element("id", name)
        assert browser.execute_script("return arguments[0].scrollWidth - arguments[0].clientWidth", box) <= 0, name
    assert "196,000 more" in browser.find_element("id", "text").get_attribute("textContent")
    assert "more than fits here" in browser.find_element("id", "object").get_attribute("textContent")
    assert complaints(browser) == []


def test_real_answer_is_loaded_within_a_second(browser: Any, tmp_path: Path) -> None:
    url = kept(tmp_path, real_trace())
    assert Path(url.removeprefix("file://")).stat().st_size < 300_000
    took_ms: list[float] = []
    # The best of some: what the machine does beside it is no part of the page.
    for _ in range(5):
        open_page(browser, url, 1_400)
        took_ms.append(browser.execute_script("return performance.getEntriesByType('navigation')[0].loadEventEnd"))
    assert min(took_ms) < 1_000


def test_step_of_a_very_long_answer_takes_a_moment_only(browser: Any, tmp_path: Path) -> None:
    open_page(browser, kept(tmp_path, long_trace(8_000, wish_at=(7_900,))), 1_400)
    took_ms = browser.execute_script(
        "const began = performance.now(); for (let n = 0; n < 20; n += 1) go(7000 + n);"
        "return (performance.now() - began) / 20"
    )
    assert took_ms < 500
    assert len(browser.find_elements("css selector", "#strip i")) < 500


def test_server_without_steps_is_told_so(browser: Any, tmp_path: Path) -> None:
    trace = long_trace(4)
    pieces = tuple(replace(piece, step=None) for piece in trace.requests[0].pieces)
    plain = replace(trace, requests=(replace(trace.requests[0], pieces=pieces),))
    open_page(browser, kept(tmp_path, plain), 320)
    assert text_of(browser, "headline") == "This backend tells no steps: here is what arrived, and when."
    assert text_of(browser, "where") == "Piece 1 of 4"
    assert not browser.find_element("id", "choices").is_displayed()
    assert complaints(browser) == []


def test_each_request_can_be_chosen_and_the_last_is_shown_first(browser: Any, tmp_path: Path) -> None:
    trace = long_trace(4, wish_at=(1,))
    (request,) = trace.requests
    first = replace(request, pieces=request.pieces[:1], ending="unavailable", detail="overload")
    second = replace(request, number=2, waited_s=0.5)
    open_page(browser, kept(tmp_path, replace(trace, requests=(first, second))), 1_400)
    assert text_of(browser, "where") == "Step 2 of 4"
    buttons = browser.find_elements("css selector", "#requests button")
    assert [button.text for button in buttons] == [
        "Request 1: unavailable (overload)",
        "Request 2: committed, after a wait of 500 ms",
    ]
    buttons[0].click()
    assert text_of(browser, "where") == "Step 1 of 1"
    assert text_of(browser, "headline").startswith("At its one step")


def test_end_tells_layers_failures_receipt_and_ledger(browser: Any, tmp_path: Path) -> None:
    open_page(browser, kept(tmp_path, long_trace(4, ledger_state="committed", is_replayed=True)), 1_400)
    rows = [row.text.replace("\n", " ") for row in browser.find_elements("css selector", "#layers tbody tr")]
    assert rows[0].startswith("finish did the model itself say that it had ended? ✓ passed 1.0 ms")
    assert "✕ failed maximum at /1: at most 3 is allowed" in rows[1]
    assert "not asked" in rows[2]
    receipt = text_of(browser, "receipt")
    assert "stop (eos)" in receipt
    assert "committed, replayed" in receipt
    assert "odd" in receipt


def test_forced_runs_thoughts_and_dead_ends_are_told_apart(browser: Any, tmp_path: Path) -> None:
    trace = long_trace(4)
    (request,) = trace.requests
    drawn, forced, thought, dead = request.pieces
    assert all(piece.step for piece in request.pieces)
    forced = replace(forced, step=replace(forced.step, kind="forced", token_ids=(1, 2), choices=(), legal_mass=None))  # type: ignore[arg-type]
    forced = replace(forced, legal_mass=None)
    thought = replace(thought, kind="thought", changes=(), step=replace(thought.step, kind="thought"))  # type: ignore[arg-type]
    end = Choice(0, None, 0.9, False)
    dead_step = replace(dead.step, kind="dead_end", token_ids=(), choices=(end,), legal_mass=0.0, legal_tokens=0)  # type: ignore[arg-type]
    dead = replace(dead, kind="mark", data=b"", changes=(), step=dead_step)
    trace = replace(trace, requests=(replace(request, pieces=(drawn, forced, thought, dead)),))
    open_page(browser, kept(tmp_path, trace), 1_400)
    told: list[str] = []
    press(browser, Keys.HOME)
    for _ in range(4):
        told.append(text_of(browser, "verdict"))
        press(browser, "j")
    assert told[0] == "The model chose 1, its own first choice."
    assert told[1] == "Only 1 could follow, so the model was not asked: 2 tokens at once."
    assert told[2].startswith("A thought, before the answer")
    assert told[3] == (
        "The model wanted to end, or a special token (90.0 %). "
        "The contract forbids that here, so nothing was left to write."
    )


def test_address_names_a_step(browser: Any, tmp_path: Path) -> None:
    url = kept(tmp_path, long_trace(20, wish_at=(3,)))
    open_page(browser, "about:blank", 1_400)
    open_page(browser, f"{url}#step-9", 1_400)
    assert text_of(browser, "where") == "Step 9 of 20"
    browser.execute_script("location.hash = '#step-12'")
    browser.execute_async_script("requestAnimationFrame(() => setTimeout(arguments[0], 0))")
    assert text_of(browser, "where") == "Step 12 of 20"


def test_page_asks_for_nothing_and_no_text_stands_outside_of_its_data() -> None:
    trace = replace(long_trace(1), requests=(), summary="SUMMARYCANARY<!--", contract_name="NAMECANARY")
    page = trace_page(trace)
    assert page.startswith("<!doctype html>")
    policy = unescape(page.splitlines()[4])
    assert "default-src 'none'" in policy
    assert "connect-src 'none'" in policy
    assert "http" not in page.replace("http-equiv", "")
    assert page.count("SUMMARYCANARY") == page.count("NAMECANARY") == 1
    assert "SUMMARYCANARY<" not in page
    start = page.index('id="data">') + len('id="data">')
    assert json.loads(page[start : page.index("</script>", start)])["summary"] == "SUMMARYCANARY<!--"

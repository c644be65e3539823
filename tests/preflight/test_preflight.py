"""The whole look before a launch: one report, payload-free, whatever the contract, the backend and the code are."""

import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from preflight import handlers_of_callers as callers
from preflight.servers_of_tests import GivenServer
from preflight.test_backend_checks import Keeping

from commitgate import CheckContext, Contract, Regex, Risk, RuleViolation
from commitgate.backends.base import BackendIdentity, Finish, FinishReason, TextDelta
from commitgate.errors import MisuseError, ReviewedContractError, SchemaError
from commitgate.preflight import CHECKS, PreflightReport, Trial, preflight, preflight_page
from commitgate.probe import ProbeStore
from commitgate.testing import ScriptedBackend
from commitgate.tools import tool

pytestmark = pytest.mark.anyio

STOP: Any = {"finish": "stop"}
NO_TRIAL = Trial(calls=0)
CANARY = "canary-7f3a"


def small(value: Any) -> RuleViolation | None:
    return RuleViolation("large", "it is large") if value["n"] > 100 else None


def known(value: Any, context: CheckContext) -> None:
    return None


def may(value: Any, context: CheckContext) -> bool:
    return True


SCHEMA: Any = {
    "title": "Days",
    "type": "object",
    "properties": {"n": {"type": "integer", "minimum": 0, "maximum": 99}},
    "required": ["n"],
    "additionalProperties": False,
}
READY: Any = Contract.json_schema(SCHEMA, version="3", rules=[small], evidence=[known], authorize=may, risk=Risk.EFFECT)
REVIEWED: Any = replace(READY, reviewed_digest=READY.full_digest)
CODE = """
from commitgate import Client
async def act(mail):
    async with Client(ledger=PLACE, observers=[seen]) as client:
        return await client.generate_structured("local", REVIEWED, effect=pay, operation_key=f"mail:{mail}")
"""


class Fine(Keeping):
    """Keep to the word that nobody asked for, and write a number to everybody else."""

    def open(self, request: Any) -> Any:
        if request.contract.text is not None:
            return super().open(request)
        return Whole(request)


class Whole:
    """Answer one call whole."""

    def __init__(self, request: Any) -> None:
        self.identity = BackendIdentity(backend="fine", model=request.model, tokenizer_fingerprint="cd" * 32)

    async def __aenter__(self) -> "Whole":
        return self

    async def __aexit__(self, *_: object) -> None:
        """Free nothing."""

    async def __aiter__(self) -> Any:
        yield TextDelta(b'{"n": ', legal_mass=0.9, tokens=1)
        yield TextDelta(b"7}", legal_mass=0.8, tokens=1)
        yield Finish(FinishReason.STOP, "stop")


@pytest.fixture(autouse=True)
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMMITGATE_LEDGER", str(tmp_path / "ledger.sqlite"))
    monkeypatch.setenv("COMMITGATE_PROBES", str(tmp_path / "probes"))


@pytest.fixture
def code(tmp_path: Path) -> Path:
    place = tmp_path / "acting.py"
    place.write_text(CODE)
    return place


async def looked(source: Any, backend: Any | None = None, **given: Any) -> PreflightReport:
    return await preflight(source, backend=backend or ScriptedBackend([STOP]), **{"trial": NO_TRIAL, **given})


async def test_everything_that_is_ready_passes_but_for_a_ledger_that_is_new(code: Path) -> None:
    report = await looked(
        REVIEWED,
        Fine(),
        trial=Trial(calls=2),
        handlers=callers.HANDLERS,
        code=[code],
        names=["REVIEWED"],
    )
    others = {each.id: each.verdict for each in report.checks if each.verdict != "passed"}
    assert others == {"content": "not_applicable", "ledger": "warned"}
    assert report.verdict == "warned"
    assert report.trial is not None
    assert report.backend.tokenizer_fingerprint == "cd" * 32


async def test_every_check_of_the_list_is_made_once_and_in_its_order(code: Path) -> None:
    for source in (REVIEWED, {"type": 3}, Contract.of(Regex("[ab]")), SchemaError("no")):
        report = await looked(source, code=[code])
        assert [each.id for each in report.checks] == list(CHECKS)


@pytest.mark.parametrize(
    ("source", "id"),
    [
        ({"type": 3}, "usable"),
        (SchemaError("it is none", pointer="/properties/a"), "usable"),
        (ReviewedContractError(reviewed="a" * 64, found="b" * 64), "reviewed"),
        ({"type": "string", "minLength": 2, "maxLength": 1}, "satisfiable"),
    ],
    ids=str,
)
async def test_contract_that_cannot_be_made_is_a_report_and_no_error(source: Any, id: str) -> None:
    report = await looked(source)
    assert (report.verdict, report.check(id).verdict, report.contract) == ("failed", "failed", None)
    assert report.check("translatable").verdict == "not_applicable"


async def test_tool_is_looked_over_by_its_contract() -> None:
    @tool(effect="once")
    def refund(cents: int) -> str:
        """Pay money back."""
        return str(cents)

    @tool(effect="read")
    def find(cents: int) -> str:
        """Look money up."""
        return str(cents)

    assert (await looked(refund)).check("authorized").verdict == "failed"
    assert (await looked(find)).check("authorized").verdict == "not_applicable"


async def test_what_acts_in_the_code_counts_whatever_the_contract_says(code: Path) -> None:
    record: Any = Contract.json_schema(SCHEMA)
    assert (await looked(record)).check("versioned").verdict == "warned"
    assert (await looked(record, code=[code])).check("versioned").verdict == "failed"


async def test_server_that_does_not_answer_leaves_the_trial_out(tmp_path: Path) -> None:
    server = GivenServer([STOP], replace_ready(), probes=tmp_path)
    report = await looked(REVIEWED, server, trial=Trial(calls=2), probes=ProbeStore(tmp_path))
    assert report.check("proven").verdict == "failed"
    assert report.check("answers").verdict == "not_applicable"
    assert server.played.requests == []


def replace_ready() -> Any:
    from preflight.servers_of_tests import READY as SAID

    return replace(SAID, is_ready=False)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"trial": 3}, "trial"),
        ({"probe_age_s": 0}, "probe_age_s"),
        ({"reviewed": ["no digest"]}, "reviewed"),
        ({"model": 3}, "model"),
        ({"code": ["/no/such/place"]}, "there is no code"),
    ],
)
async def test_misuse_is_an_error(given: dict[str, Any], told: str) -> None:
    with pytest.raises(MisuseError, match=told):
        await looked(REVIEWED, **given)


async def canaries() -> PreflightReport:
    """Return a report of a run in which prompt, answer and value hold a canary."""
    script: Any = [{"text": json.dumps({"text": CANARY})}, STOP]
    contract: Any = Contract.json_schema(
        {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}, name="Said"
    )
    trial = Trial(calls=2, prompts=(CANARY,), system=CANARY)
    return await looked(contract, ScriptedBackend(script), trial=trial)


async def test_no_prompt_and_no_answer_is_in_the_report() -> None:
    report = await canaries()
    assert report.trial is not None
    assert report.trial.hot.endings == {"committed": 2}
    for text in (json.dumps(report.to_json()), preflight_page(report), repr(report)):
        assert CANARY not in text


async def test_json_is_plain_and_of_a_fixed_shape() -> None:
    report = await looked(REVIEWED, Fine(), trial=Trial(calls=1))
    found = json.loads(json.dumps(report.to_json(), allow_nan=False))
    assert list(found) == [
        "version",
        "verdict",
        "counted",
        "made_on",
        "commitgate",
        "made_at",
        "contract",
        "backend",
        "checks",
        "support",
        "differences",
        "trial",
    ]
    assert set(found["checks"][0]) == {
        "id",
        "group",
        "about",
        "verdict",
        "found",
        "instead",
        "places",
        "places_left_out",
    }
    assert found["contract"]["full_digest"] == REVIEWED.full_digest
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", found["made_on"])
    assert sum(found["counted"].values()) == len(CHECKS)


class Scripts(HTMLParser):
    """Collect the elements of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.names.append(tag)


async def test_words_of_a_contract_cannot_become_a_part_of_the_page() -> None:
    hostile = "</script><img src=x onerror=alert(1)>"
    contract: Any = Contract.json_schema(
        {"type": "object", "properties": {hostile: {"type": "string"}}}, name=hostile, version=hostile
    )
    page = preflight_page(await looked(contract))
    read = Scripts()
    read.feed(page)
    assert "img" not in read.names
    assert read.names.count("script") == 2


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Start a headless Chromium."""
    from selenium.webdriver import Chrome, ChromeOptions, ChromeService

    programs = shutil.which("chromium"), shutil.which("chromedriver")
    if None in programs:
        pytest.skip("needs the programs chromium and chromedriver (Debian: chromium, chromium-driver)")
    options = ChromeOptions()
    options.binary_location = str(programs[0])
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    for switch in ("headless=new", "disable-dev-shm-usage", "disable-gpu", "no-sandbox"):
        options.add_argument(f"--{switch}")
    browser = Chrome(options=options, service=ChromeService(executable_path=programs[1]))
    yield browser
    browser.quit()


@pytest.mark.parametrize("width", [320, 1_400])
async def test_page_shows_every_check_at_any_width(browser: Any, tmp_path: Path, width: int) -> None:
    hostile = "<b id=owned>N</b>"
    report = await looked(replace(READY, name=hostile), Fine(), trial=Trial(calls=3, per_token_s=10.0))
    place = tmp_path / "page.html"
    write(place, preflight_page(report))
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    )
    browser.get(place.as_uri())
    shown = browser.execute_script(
        "return [...document.querySelectorAll('#checks .group > li')].map(e => [e.id, e.dataset.verdict])"
    )
    assert [tuple(each) for each in shown] == [(each.id, each.verdict) for each in report.checks]
    assert browser.find_element("id", "title").text.startswith(f"{hostile} 3 on keeping")
    assert browser.execute_script("return document.getElementById('owned')") is None
    assert browser.execute_script("return document.documentElement.scrollWidth <= innerWidth")
    cut = "[...document.querySelectorAll('#checks li, #checks p, dd, h1')].filter(e => e.scrollWidth > e.clientWidth)"
    assert browser.execute_script(f"return {cut}.map(e => e.textContent)") == []
    assert browser.execute_script("return document.querySelectorAll('#plots svg circle').length") == 8
    assert [each for each in browser.get_log("browser") if each["level"] == "SEVERE"] == []


async def test_filters_of_the_page_show_one_verdict(browser: Any, tmp_path: Path) -> None:
    report = await looked(READY)
    place = tmp_path / "page.html"
    write(place, preflight_page(report))
    browser.get(place.as_uri())
    for button in browser.find_elements("css selector", "#filters button"):
        if button.text == "failed":
            button.click()
    shown = browser.execute_script(
        "return [...document.querySelectorAll('#checks .group > li')].filter(e => e.offsetParent).map(e => e.id)"
    )
    assert shown == [each.id for each in report.checks if each.verdict == "failed"]


def write(place: Path, text: str) -> None:
    place.write_text(text, encoding="utf-8")


@pytest.mark.model
async def test_bundled_model_is_tried_out(tmp_path: Path) -> None:
    from commitgate.backends.local import LocalBackend

    local = LocalBackend()
    try:
        report = await looked(REVIEWED, local, trial=Trial(calls=2, concurrency=2, prompts=("It rains for 7 days.",)))
    finally:
        await local.aclose()
    found = {each.id: each.verdict for each in report.checks}
    assert {found[id] for id in ("proven", "answers", "dead_ends", "first_token")} == {"passed"}
    assert report.trial is not None
    assert report.trial.is_cold_sure
    assert report.trial.cold.calls == report.trial.hot.calls == 2
    assert report.trial.hot.legal_mass_min is not None

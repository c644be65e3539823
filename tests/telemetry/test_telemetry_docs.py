"""The page on telemetry says what the code tells, and its programs run."""

import re
import subprocess
import sys
from typing import Any

import anyio
import pytest
from guide import DOCS, blocks_of, run_blocks
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes
from told_calls import CANARY, ENDINGS, GOOD, Pay, Telemetry, client_of, run_all

from commitgate.backends.base import Sampling
from commitgate.client import Client
from commitgate.contract import Contract
from commitgate.ledger import MemoryLedger
from commitgate.outcome import Committed
from commitgate.retry import Retry
from commitgate.telemetry import METRICS, genai_names, own_names
from commitgate.testing import ScriptedBackend
from commitgate.tools import tool

PAGE = (DOCS / "telemetry.md").read_text(encoding="utf-8")
LABELS_ALONE = {genai_names.TOKEN_MODALITY, own_names.LAYER_VERDICT, own_names.WARNING}


def rows(heading: str) -> list[list[str]]:
    """Return the cells of the table that follows a heading."""
    section = PAGE.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    lines = [line for line in section.splitlines() if line.startswith("|")][2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def names_of_code() -> set[str]:
    """Return the names of all attributes."""
    constants = {**vars(genai_names), **vars(own_names)}
    dotted = {value for name, value in constants.items() if name.isupper() and isinstance(value, str) and "." in value}
    return dotted - {metric.name for metric in METRICS}


def test_every_attribute_is_in_the_table_and_no_other() -> None:
    documented = [row[0].strip("`") for row in rows("Attributes of spans")]
    assert len(documented) == len(set(documented))
    assert set(documented) == names_of_code() - LABELS_ALONE
    told = PAGE.split("Three more are labels of metrics alone:")[1].split("\n\n")[0]
    assert set(re.findall(r"`([\w.]+)`", told)) == LABELS_ALONE


def test_every_metric_is_in_the_table_as_it_is() -> None:
    documented = {row[0].strip("`"): row[1:] for row in rows("Metrics")}
    assert list(documented) == [metric.name for metric in METRICS]
    for metric in METRICS:
        prometheus, kind, unit, labels, words = documented[metric.name]
        assert prometheus == f"`{metric.prometheus_name}`"
        assert kind == str(metric.kind).replace("up_down", "up and down")
        assert unit == f"`{metric.unit}`"
        assert tuple(re.findall(r"`([\w.]+)`", labels)) == metric.attributes
        assert words == metric.description


def test_spans_carry_what_the_table_says_and_nothing_else() -> None:
    @tool(effect="read")
    def look_up(name: str) -> str:
        """Look up."""
        return name

    call: Any = {"tool": {"i": 0, "id": "c", "name": "look_up", "args": '{"name":"x"}'}}
    busy: Any = [{"fault": "overload", "status": 503, "request_id": "r-1"}]

    async def main(telemetry: Telemetry) -> None:
        await run_all(telemetry)
        async with client_of(
            [call, {"finish": "tool_calls"}], telemetry.observers, then=[[{"prose": "x"}, {"finish": "stop"}]]
        ) as client:
            await client.run_tools("scripted", prompt="x", tools=[look_up])
        backend = ScriptedBackend(busy, then=[GOOD])
        retry = Retry(backoff_s=0.001, backoff_most_s=0.001)
        sampling = Sampling(temperature=0.5, top_k=4, top_p=0.9, seed=7)
        async with Client(backends={"s": backend}, ledger=MemoryLedger(), observers=telemetry.observers) as client:
            contract = Contract.of(Pay, version="3")
            outcome = await client.generate_structured("s/m", contract, prompt="x", retry=retry, sampling=sampling)
            assert isinstance(outcome, Committed)

    telemetry = Telemetry(content_of=["Pay", "look_up"])
    anyio.run(main, telemetry)
    found: dict[str, set[str]] = {}
    for span in telemetry.spans:
        where = "request" if span.name == "commitgate request" else "call"
        for name in span.attributes or {}:
            found.setdefault(name, set()).add(where)
    table = {row[0].strip("`"): set(re.split(r",\s*", row[1])) for row in rows("Attributes of spans")}
    rare = {
        # Told by a local model, by a fallback, or where an answer is odd.
        own_names.MODEL_REVISION,
        own_names.FALLBACK,
        own_names.WARNINGS,
        own_names.TOKENS_SAVED,
    }
    for name, where in table.items():
        assert found.get(name, where if name in rare else set()) <= where, name
    assert {name for name in table if name not in found} <= rare
    assert found.keys() <= table.keys()


def test_names_of_the_conventions_are_those_that_pythons_package_has() -> None:
    """OpenTelemetry's own package still carries the names; those that are newer are listed."""
    known = {value for value in vars(gen_ai_attributes).values() if isinstance(value, str)}
    used = {name for name in names_of_code() if name.startswith("gen_ai.")}
    newer = {"gen_ai.request.stream", "gen_ai.token.modality", "gen_ai.usage.reasoning.output_tokens"}
    newer |= {"gen_ai.response.time_to_first_chunk"}
    assert used - known <= newer


def test_errors_that_the_page_names_are_those_of_the_code() -> None:
    sentence = PAGE.split("A span says error", 1)[1].split("raised. `committed`")[0]
    assert set(re.findall(r"`([a-z_]+)`", sentence)) == {each.outcome for each in ENDINGS if each.is_error}


@pytest.mark.anyio
async def test_programs_of_the_page_run() -> None:
    names = await run_blocks(blocks_of("telemetry.md"), "telemetry_guide")
    assert names["outcomes"].seen
    assert CANARY not in PAGE


def test_extra_that_is_missing_is_named() -> None:
    program = (
        "import sys; sys.modules['opentelemetry'] = None\n"
        "from commitgate.errors import MissingExtraError\n"
        "from commitgate.telemetry import PrometheusObserver\n"
        "PrometheusObserver()\n"
        "try:\n    from commitgate.telemetry import OpenTelemetryObserver\n"
        "except MissingExtraError as error:\n    print(error.extra, error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.startswith("otel commitgate.telemetry.OpenTelemetryObserver needs an optional part")


def test_importing_the_package_loads_neither_opentelemetry_nor_what_counts() -> None:
    program = "import commitgate, sys; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    loaded = set(done.stdout.split())
    assert "commitgate.telemetry.observer" in loaded
    late = ("opentelemetry", "commitgate.telemetry.metric", "commitgate.telemetry.prometheus")
    assert not [name for name in late if name in loaded]

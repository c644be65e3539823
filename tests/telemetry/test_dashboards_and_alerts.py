"""Dashboards and alerts name what is really told, and alerts fire."""

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import anyio
import pytest
import yaml
from told_calls import Telemetry, run_all

from commitgate.ledger import MemoryLedger
from commitgate.telemetry import METRICS, ledger_standing
from commitgate.telemetry.metric import MetricKind, label_name
from commitgate.testing import ScriptedBackend
from commitgate_local.server.app import create_app
from commitgate_local.server.model_gauges import model_gauges
from commitgate_local.server.model_list import ServedModel

DOCS = Path(__file__).parents[2] / "docs"
DASHBOARDS = sorted((DOCS / "dashboards").glob("*.json"))
ALERTS = (DOCS / "alerts.md").read_text(encoding="utf-8")

_NAME = re.compile(r"\b((?:commitgate|gen_ai)_\w+)\b")
_BEHIND = ("_bucket", "_sum", "_count")


class _Anything:
    """Be any number, and have any attribute."""

    def __getattr__(self, name: str) -> Any:
        return self

    def __call__(self) -> Any:
        return self


def scrape() -> str:
    """Return what a scrape of a server gives before anything happened."""
    model = cast(Any, _Anything())
    app = create_app(
        ScriptedBackend([{"finish": "stop"}]),
        models=[ServedModel(name="m", created=0)],
        gauges=lambda: dict.fromkeys(model_gauges(model), 1.0),
    )
    text: str = app.state.serving.metrics.text(app.state.serving.numbers_of_now())
    return text


def scraped_names() -> dict[str, set[str]]:
    """Return the names in a scrape of the server, with their labels."""
    found: dict[str, set[str]] = {}
    for line in scrape().splitlines():
        if not line.startswith("#"):
            name = re.split(r"[{ ]", line)[0]
            found.setdefault(name, {"instance"}).update(re.findall(r'(\w+)="', line))
    return found


def observed_names() -> dict[str, set[str]]:
    """Return the names that observers tell Prometheus, with their labels."""
    found: dict[str, set[str]] = {}
    for metric in METRICS:
        labels = {label_name(each) for each in metric.attributes}
        names = [metric.prometheus_name]
        if metric.kind is MetricKind.HISTOGRAM:
            names = [f"{metric.prometheus_name}{each}" for each in _BEHIND]
        found |= {name: labels | ({"le"} if name.endswith("_bucket") else set()) for name in names}
    return found


REAL = {**scraped_names(), **observed_names()}


def queries_of(board: dict[str, Any]) -> Iterator[str]:
    for panel in board["panels"]:
        yield from (target["expr"] for target in panel.get("targets", ()))
    for variable in board["templating"]["list"]:
        if variable["type"] == "query":
            metric, label = re.fullmatch(r"label_values\((\w+), (\w+)\)", variable["definition"]).groups()  # type: ignore[union-attr]
            yield f'{metric}{{{label}=""}}'


def alerts() -> list[dict[str, Any]]:
    blocks = re.findall(r"```yaml\n(.+?)```", ALERTS, flags=re.DOTALL)
    return [rule for block in blocks for group in yaml.safe_load(block)["groups"] for rule in group["rules"]]


def check_names(query: str) -> None:
    """Check that a query names metrics that there are, and labels that they have."""
    labels: set[str] = set()
    selectors = re.findall(r"(\w+)\{([^}]*)\}", query)
    named = {name for name in _NAME.findall(query) if name in REAL}
    assert named, query
    for name in named:
        labels |= REAL[name]
    for metric, selector in selectors:
        for label in re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", selector):
            assert label in REAL[metric], (query, label)
    for group in re.findall(r"by \(([^)]*)\)", query):
        assert set(re.split(r",\s*", group)) <= labels, query
    rest = set(_NAME.findall(re.sub(r'"[^"]*"', "", query))) - named - labels
    assert not rest, (query, rest)


def as_rule(query: str) -> str:
    return query.replace("$__rate_interval", "5m").replace("$__interval", "5m")


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.stem)
def test_every_query_of_a_dashboard_names_what_is_told(path: Path) -> None:
    board = json.loads(path.read_text(encoding="utf-8"))
    queries = list(queries_of(board))
    assert len(queries) > 20
    for query in queries:
        check_names(query)


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.stem)
def test_dashboard_can_be_imported(path: Path) -> None:
    board = json.loads(path.read_text(encoding="utf-8"))
    ids = [panel["id"] for panel in board["panels"]]
    assert len(ids) == len(set(ids))
    for panel in board["panels"]:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
        assert panel["title"]
        if panel["type"] != "row":
            assert panel["datasource"]["uid"] == "${datasource}"
    cells = [
        (x, y)
        for panel in board["panels"]
        for x in range(panel["gridPos"]["x"], panel["gridPos"]["x"] + panel["gridPos"]["w"])
        for y in range(panel["gridPos"]["y"], panel["gridPos"]["y"] + panel["gridPos"]["h"])
    ]
    assert len(cells) == len(set(cells)), "two panels lie on one place"


def test_dashboards_show_everything_that_is_told() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in DASHBOARDS)
    named = set(_NAME.findall(text))
    unseen = {each.prometheus_name for each in METRICS} - {re.sub(r"_(bucket|sum|count)$", "", name) for name in named}
    assert unseen == {"commitgate_ledger_oldest_seconds"} - named
    assert {name for name in scraped_names() if not name.endswith(_BEHIND)} <= named


@pytest.mark.parametrize("rule", alerts(), ids=lambda rule: rule["alert"])
def test_every_alert_names_what_is_told(rule: dict[str, Any]) -> None:
    check_names(rule["expr"])
    assert rule["labels"]["severity"] in {"page", "ticket"}
    assert rule["annotations"]["summary"]
    shown = set(re.findall(r"\$labels\.(\w+)", json.dumps(rule["annotations"])))
    grouped = {label for group in re.findall(r"by \(([^)]*)\)", rule["expr"]) for label in re.split(r",\s*", group)}
    assert shown <= grouped


@pytest.fixture
def promtool() -> str:
    found = shutil.which("promtool")
    if found is None:
        pytest.skip("promtool was not found; Debian's package prometheus has it")
    return found


def run(*command: str, folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


def test_prometheus_reads_every_query(promtool: str, tmp_path: Path) -> None:
    queries = [query for path in DASHBOARDS for query in queries_of(json.loads(path.read_text(encoding="utf-8")))]
    rules = [{"record": f"query:{number}", "expr": as_rule(query)} for number, query in enumerate(queries)]
    file = {"groups": [{"name": "dashboards", "rules": rules}, {"name": "alerts", "rules": alerts()}]}
    (tmp_path / "rules.yml").write_text(yaml.safe_dump(file), encoding="utf-8")
    run(promtool, "check", "rules", "rules.yml", folder=tmp_path)


async def told_text() -> str:
    telemetry = Telemetry(chunk_times=True)
    await run_all(telemetry)
    telemetry.prometheus.ledger_seen(await ledger_standing(MemoryLedger()))
    return telemetry.prometheus.text()


@pytest.mark.parametrize("text_of", [lambda: anyio.run(told_text), scrape], ids=["observer", "server"])
def test_prometheus_finds_no_fault_in_what_is_told(promtool: str, text_of: Callable[[], str]) -> None:
    done = subprocess.run([promtool, "check", "metrics"], input=text_of(), capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


QUIET = "0+0x200"
RISES = "0+5x200"
FIRES: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    # Each alert: the series on which it fires, and its labels.
    "CommitgateEffectInDoubt": ({'commitgate_ledger_rows{commitgate_ledger_state="stranded"}': "1+0x200"}, {}),
    "CommitgateLedgerUnreadable": ({"commitgate_ledger_readable": QUIET}, {}),
    "CommitgateLedgerNotWatched": ({"commitgate_client_active_calls": QUIET}, {}),
    "CommitgateApprovalWaitsLong": (
        {'commitgate_ledger_oldest_seconds{commitgate_ledger_state="awaiting_approval"}': "90000+60x200"},
        {},
    ),
    "CommitgateConstraintViolated": (
        {'commitgate_client_requests_total{commitgate_backend="b",commitgate_request_ending="violated"}': RISES},
        {"commitgate_backend": "b"},
    ),
    "CommitgateDeadEnd": (
        {'commitgate_client_calls_total{commitgate_contract_name="c",commitgate_outcome="dead_end"}': RISES},
        {"commitgate_contract_name": "c"},
    ),
    "CommitgateFallsBack": (
        {'commitgate_client_calls_total{commitgate_contract_name="c",commitgate_fallback="prompt_only"}': RISES},
        {"commitgate_contract_name": "c"},
    ),
    "CommitgateModelWantsSomethingElse": (
        {
            'commitgate_client_legal_mass_min_bucket{commitgate_contract_name="c",le="0.01"}': RISES,
            'commitgate_client_legal_mass_min_count{commitgate_contract_name="c"}': "0+10x200",
        },
        {"commitgate_contract_name": "c"},
    ),
    "CommitgateCallsFail": (
        {
            'commitgate_client_calls_total{commitgate_contract_name="c",error_type="invalid"}': RISES,
            'commitgate_client_calls_total{commitgate_contract_name="c"}': "0+20x200",
        },
        {"commitgate_contract_name": "c"},
    ),
    "CommitgateProviderDown": (
        {'commitgate_client_requests_total{commitgate_backend="b",commitgate_request_ending="unavailable"}': RISES},
        {"commitgate_backend": "b"},
    ),
    "CommitgateLayerSaysNo": (
        {'commitgate_client_layers_total{commitgate_layer="rules",commitgate_layer_verdict="failed"}': RISES},
        {"commitgate_layer": "rules"},
    ),
    "CommitgateAnswersCut": ({'commitgate_client_requests_total{commitgate_finish="length"}': RISES}, {}),
    "CommitgateRefusals": ({'commitgate_client_calls_total{commitgate_outcome="refused"}': RISES}, {}),
    "CommitgateFirstTextSlow": (
        {
            'gen_ai_client_inference_time_to_first_chunk_seconds_bucket{gen_ai_request_model="m",le="10.24"}': QUIET,
            'gen_ai_client_inference_time_to_first_chunk_seconds_bucket{gen_ai_request_model="m",le="20.48"}': RISES,
            'gen_ai_client_inference_time_to_first_chunk_seconds_bucket{gen_ai_request_model="m",le="+Inf"}': RISES,
        },
        {"gen_ai_request_model": "m"},
    ),
    "CommitgateCallsStuck": (
        {"commitgate_client_active_calls": "3+0x200", "commitgate_client_calls_total": "7+0x200"},
        {},
    ),
    "CommitgateServerTurnsAway": (
        {'commitgate_requests_total{instance="i",outcome="overloaded"}': RISES},
        {"instance": "i"},
    ),
    "CommitgateServerFails": ({'commitgate_requests_total{instance="i",outcome="failed"}': RISES}, {"instance": "i"}),
    "CommitgateServerDeadEnds": (
        {'commitgate_dead_ends_total{instance="i",cause="schema"}': RISES},
        {"instance": "i", "cause": "schema"},
    ),
    "CommitgateServerFirstTextSlow": (
        {
            'commitgate_first_token_seconds_bucket{instance="i",le="10"}': QUIET,
            'commitgate_first_token_seconds_bucket{instance="i",le="30"}': RISES,
            'commitgate_first_token_seconds_bucket{instance="i",le="+Inf"}': RISES,
        },
        {"instance": "i"},
    ),
    "CommitgateClientsLeave": (
        {'commitgate_requests_total{instance="i",outcome="client_gone"}': RISES},
        {"instance": "i"},
    ),
}


def test_every_alert_has_a_case_in_which_it_fires() -> None:
    assert {rule["alert"] for rule in alerts()} == set(FIRES)


@pytest.mark.parametrize("name", FIRES)
def test_alert_fires_on_what_it_is_meant_for(promtool: str, tmp_path: Path, name: str) -> None:
    series, labels = FIRES[name]
    (rule,) = (dict(each) for each in alerts() if each["alert"] == name)
    del rule["annotations"]
    rules = {"groups": [{"name": "alerts", "rules": [rule]}]}
    (tmp_path / "rules.yml").write_text(yaml.safe_dump(rules), encoding="utf-8")
    expected = [{"exp_labels": {**labels, **rule["labels"]}}]
    given = [{"series": each, "values": values} for each, values in series.items()]
    calm = [{"series": "another_metric", "values": QUIET}]
    case = {"interval": "1m", "input_series": given}
    firing = {"eval_time": "150m", "alertname": name, "exp_alerts": expected}
    tests: list[dict[str, Any]] = [{**case, "alert_rule_test": [firing]}]
    if name != "CommitgateLedgerNotWatched":
        silent = {"eval_time": "150m", "alertname": name, "exp_alerts": []}
        tests.append({"interval": "1m", "input_series": calm, "alert_rule_test": [silent]})
    file = {"rule_files": ["rules.yml"], "evaluation_interval": "1m", "tests": tests}
    (tmp_path / "tests.yml").write_text(yaml.safe_dump(file), encoding="utf-8")
    run(promtool, "test", "rules", "tests.yml", folder=tmp_path)


def test_names_are_read_out_of_queries() -> None:
    check_names('sum by (commitgate_outcome) (rate(commitgate_client_calls_total{error_type!=""}[5m]))')
    for wrong in (
        "sum(commitgate_client_call_total)",
        'commitgate_client_calls_total{outcome="x"}',
        "sum by (contract) (commitgate_client_calls_total)",
        "commitgate_client_calls_total / commitgate_gone",
    ):
        with pytest.raises(AssertionError):
            check_names(wrong)

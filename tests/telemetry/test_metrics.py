"""What is counted of calls: once, by few labels, in the buckets of the conventions, the same for both observers."""

from typing import Any

import pytest
from opentelemetry.exporter.prometheus import PrometheusMetricReader
from opentelemetry.sdk.metrics import MeterProvider
from prometheus_client import REGISTRY, generate_latest
from prometheus_client.parser import text_string_to_metric_families
from told_calls import BY_NAME, CANARY, ENDINGS, GOOD, STOP, Pay, Telemetry, client_of, run_all, told

from commitgate.backends.base import Sampling
from commitgate.ledger import MemoryLedger
from commitgate.outcome import Receipt
from commitgate.retry import Retry
from commitgate.telemetry import (
    METRICS,
    CallBegan,
    CallEnded,
    OpenTelemetryObserver,
    PrometheusObserver,
    genai_names,
    own_names,
)
from commitgate.telemetry.bounded_names import MAX_LABEL_VALUES, OTHER, BoundedNames
from commitgate.telemetry.call_meter import CallMeter
from commitgate.telemetry.metric import Measurement, MetricKind

pytestmark = pytest.mark.anyio


async def test_calls_are_counted_by_how_they_ended() -> None:
    telemetry = Telemetry()
    await run_all(telemetry)
    counted = telemetry.sums(own_names.CALLS, own_names.OUTCOME)
    assert counted == {(each.outcome,): 1 for each in ENDINGS}
    assert telemetry.sums(own_names.ACTIVE_CALLS) == {(): 0}
    assert telemetry.sums(own_names.REQUESTS)[()] == len(ENDINGS) - 1  # one did not compile
    failed = {each.outcome for each in ENDINGS if each.is_error} - {"compile_failed"}
    durations = telemetry.sums(genai_names.INFERENCE_DURATION, genai_names.ERROR_TYPE)
    assert durations == {("",): len(ENDINGS) - 1 - len(failed), **{(each,): 1 for each in failed}}


async def test_layers_are_counted_by_their_verdicts() -> None:
    telemetry, _, _ = await told(BY_NAME["invalid"])
    counted = telemetry.sums(own_names.LAYERS, own_names.LAYER, own_names.LAYER_VERDICT)
    assert counted[("schema", "passed")] == 1
    assert counted[("rules", "failed")] == 1
    assert ("authorize", "passed") not in counted


async def test_tokens_are_counted_of_each_request_and_of_none_as_unknown() -> None:
    telemetry = Telemetry()
    busy: Any = [{"fault": "overload"}]
    async with client_of(busy, telemetry.observers, then=[GOOD]) as client:
        retry = Retry(backoff_s=0.001, backoff_most_s=0.001)
        await client.generate_structured("scripted/model", Pay, prompt="x", retry=retry)
    read = telemetry.sums(genai_names.INPUT_TOKENS_USED, genai_names.TOKEN_MODALITY)
    assert read == {("unknown",): 0, ("text",): 11}
    assert telemetry.sums(genai_names.OUTPUT_TOKENS_USED)[()] == 12
    assert telemetry.sums(genai_names.REASONING_TOKENS_USED)[()] == 2
    (point,) = telemetry.points(genai_names.OUTPUT_TOKENS_OF_OPERATION)
    assert (point["count"], point["sum"]) == (1, 12)


async def test_histograms_have_the_buckets_of_the_conventions() -> None:
    telemetry, _, _ = await told(BY_NAME["committed"], chunk_times=True)
    seconds = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92]
    for name in ("duration", "time_to_first_chunk", "time_per_output_chunk"):
        (point,) = telemetry.points(f"gen_ai.client.inference.{name}")
        assert point["explicit_bounds"] == seconds
    (point,) = telemetry.points("gen_ai.client.inference.operation.input_tokens")
    assert point["explicit_bounds"] == [4**power for power in range(14)]


async def test_time_between_chunks_is_measured_only_where_it_was_asked_for() -> None:
    plain, _, _ = await told(BY_NAME["committed"])
    timed, _, _ = await told(BY_NAME["committed"], chunk_times=True)
    assert plain.points(genai_names.TIME_PER_OUTPUT_CHUNK) == []
    (point,) = timed.points(genai_names.TIME_PER_OUTPUT_CHUNK)
    assert point["count"] == 1  # of two pieces


async def test_replay_counts_as_a_call_and_not_as_an_answer_of_a_model() -> None:
    telemetry, ledger = Telemetry(), MemoryLedger()
    async with client_of(GOOD, telemetry.observers, ledger) as client:
        for _ in range(3):
            await BY_NAME["committed"].run(client)
    assert telemetry.sums(own_names.CALLS)[()] == 3
    assert telemetry.sums(own_names.REPLAYS)[()] == 2
    assert telemetry.sums(own_names.OPERATIONS, own_names.LEDGER_STATE) == {("committed",): 3}
    for name in (genai_names.INFERENCE_DURATION, own_names.REQUESTS, own_names.LEAST_LEGAL_MASS):
        assert telemetry.sums(name)[()] == 1
    assert telemetry.sums(own_names.COMPILE_DURATION)[()] == 1
    assert telemetry.sums(genai_names.INPUT_TOKENS_USED)[()] == 11


@pytest.mark.parametrize("is_replayed", [False, True])
def test_tool_that_the_ledger_answers_for_did_not_run(is_replayed: bool) -> None:
    call = CallBegan(
        call_id="1", kind="tool", backend=None, model="", sampling=Sampling(), tool="pay", effect="pay", has_key=True
    )
    end = CallEnded(name="committed", detail=None, receipt=Receipt(), is_replayed=is_replayed, at_s=1.0)
    counted = {each.metric.name for each in CallMeter(call, BoundedNames()).ended(end)}
    assert (genai_names.EXECUTE_TOOL_DURATION in counted) != is_replayed
    assert (own_names.REPLAYS in counted) == is_replayed


async def test_request_that_raised_is_counted_too() -> None:
    telemetry = Telemetry()
    async with client_of([{"raise": "broken"}], telemetry.observers) as client:
        with pytest.raises(RuntimeError):
            await client.generate_structured("scripted", Pay, prompt="x")
    assert telemetry.sums(own_names.REQUESTS, own_names.REQUEST_ENDING) == {("raised",): 1}
    assert telemetry.sums(own_names.CALLS, own_names.OUTCOME, "error.type") == {("raised", "RuntimeError"): 1}
    assert telemetry.sums(own_names.ACTIVE_CALLS) == {(): 0}


async def test_labels_are_few_whatever_contracts_are_called() -> None:
    telemetry = Telemetry()
    scripts: Any = [[{"text": "{}"}, STOP]] * (MAX_LABEL_VALUES + 5)
    async with client_of(scripts[0], telemetry.observers, then=scripts) as client:
        for number in range(MAX_LABEL_VALUES + 5):
            schema = {"type": "object", "title": f"contract {number}", "maxProperties": 0}
            await client.generate_structured("scripted", schema, prompt="x")
    counted = telemetry.sums(own_names.CALLS, own_names.CONTRACT_NAME)
    assert len(counted) == MAX_LABEL_VALUES + 1
    assert counted[(OTHER,)] == 5
    spans = {(span.attributes or {}).get(own_names.CONTRACT_NAME) for span in telemetry.named("chat")}
    assert len(spans) == MAX_LABEL_VALUES + 5


async def test_every_label_of_a_value_is_one_that_its_metric_names() -> None:
    told_of: list[Measurement] = []

    class Listening(PrometheusObserver):
        def count(self, measurements: Any) -> None:
            found = list(measurements)
            told_of.extend(found)
            super().count(found)

    for each in ENDINGS:
        async with client_of(each.script, [Listening(chunk_times=True)]) as client:
            await each.run(client)
    assert {each.metric.name for each in told_of} > {own_names.CALLS, genai_names.TIME_PER_OUTPUT_CHUNK}
    assert all(each.labels.keys() <= set(each.metric.attributes) for each in told_of)


async def test_both_observers_count_the_same() -> None:
    telemetry = Telemetry(chunk_times=True)
    await run_all(telemetry)
    text = telemetry.prometheus.text()
    found = {family.name: family for family in text_string_to_metric_families(text)}
    for metric in METRICS:
        points = telemetry.points(metric.name)
        family = found.get(metric.prometheus_name.removesuffix("_total"))
        assert bool(points) == (family is not None), metric.name
        if family is None:
            continue
        name = metric.prometheus_name + ("_count" if metric.kind is MetricKind.HISTOGRAM else "")
        samples = {frozenset(each.labels.items()): each.value for each in family.samples if each.name == name}
        expected = {
            frozenset((key.replace(".", "_"), value) for key, value in point["attributes"].items()): point.get(
                "value", point.get("count")
            )
            for point in points
        }
        assert samples == expected, metric.name


def test_names_for_prometheus_are_those_of_the_real_exporter() -> None:
    reader = PrometheusMetricReader()
    provider = MeterProvider([reader])
    observer = OpenTelemetryObserver(meter_provider=provider)
    observer.record(Measurement(each, 1, dict.fromkeys(each.attributes, "x")) for each in METRICS)
    text = generate_latest(REGISTRY).decode()
    provider.shutdown()
    named = {line.split()[2] for line in text.splitlines() if line.startswith("# TYPE")}
    assert {each.prometheus_name for each in METRICS} <= named


def test_label_is_escaped_in_the_text_format() -> None:
    observer = PrometheusObserver()
    metric = next(each for each in METRICS if each.name == own_names.REPLAYS)
    observer.count([Measurement(metric, 1, {own_names.CONTRACT_NAME: 'a"b\\c\nd'})])
    (family,) = text_string_to_metric_families(observer.text())
    assert family.samples[0].labels == {"commitgate_contract_name": 'a"b\\c\nd'}


def test_nothing_is_written_of_what_did_not_happen() -> None:
    assert PrometheusObserver().text() == ""
    assert CANARY not in PrometheusObserver().text()

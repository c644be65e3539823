"""What is told comes through the real exporters to whoever receives OTLP over HTTP, and has no canary on the wire."""

import gzip
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from told_calls import BY_NAME, CANARY, client_of

from commitgate.telemetry import OpenTelemetryObserver, ledger_standing

pytestmark = pytest.mark.anyio


class Receiver:
    """Receive OTLP over HTTP as a collector does: protobuf, gzip or not, at the paths of the specification."""

    def __init__(self) -> None:
        self.spans: list[dict[str, Any]] = []
        self.metrics: list[dict[str, Any]] = []
        self.bytes = b""
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                receiver.take(self.path, body)
                self.send_response(200)
                self.send_header("Content-Type", "application/x-protobuf")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                """Write nothing."""

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def take(self, path: str, body: bytes) -> None:
        self.bytes += body
        request: Any = ExportTraceServiceRequest() if path == "/v1/traces" else ExportMetricsServiceRequest()
        request.ParseFromString(body)
        found = MessageToDict(request)
        for resource in found.get("resourceSpans", ()):
            self.spans += [span for scope in resource["scopeSpans"] for span in scope["spans"]]
        for resource in found.get("resourceMetrics", ()):
            self.metrics += [each for scope in resource["scopeMetrics"] for each in scope["metrics"]]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    found = Receiver()
    thread = threading.Thread(target=found.server.serve_forever, daemon=True)
    thread.start()
    yield found
    found.server.shutdown()
    thread.join()
    found.server.server_close()


def attributes_of(told: dict[str, Any]) -> dict[str, Any]:
    return {each["key"]: next(iter(each["value"].values())) for each in told["attributes"]}


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_spans_and_metrics_reach_a_receiver_of_otlp(receiver: Receiver) -> None:
    tracer_provider = TracerProvider()
    tracer_provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(f"{receiver.url}/v1/traces")))
    reader = PeriodicExportingMetricReader(OTLPMetricExporter(f"{receiver.url}/v1/metrics"))
    meter_provider = MeterProvider([reader])
    observer = OpenTelemetryObserver(tracer_provider=tracer_provider, meter_provider=meter_provider)
    for name in ("in_doubt", "needs_approval", "refused"):
        ending = BY_NAME[name]
        async with client_of(ending.script, [observer]) as client:
            await ending.run(client)
            observer.ledger_seen(await ledger_standing(client._open_ledger()))
    tracer_provider.shutdown()
    meter_provider.shutdown()

    calls = [span for span in receiver.spans if span["name"] == "chat model"]
    assert [attributes_of(span)["commitgate.outcome"] for span in calls] == ["in_doubt", "needs_approval", "refused"]
    assert [span["kind"] for span in calls] == ["SPAN_KIND_CLIENT"] * 3
    assert [span.get("status", {}).get("code") for span in calls] == ["STATUS_CODE_ERROR", None, None]
    requests = [span for span in receiver.spans if span["name"] == "commitgate request"]
    assert {span["parentSpanId"] for span in requests} == {span["spanId"] for span in calls}
    by_name = {each["name"]: each for each in receiver.metrics}
    (point,) = (
        each
        for each in by_name["commitgate.client.calls"]["sum"]["dataPoints"]
        if attributes_of(each)["commitgate.outcome"] == "in_doubt"
    )
    assert point["asDouble"] == 1 if "asDouble" in point else point["asInt"] == "1"
    assert by_name["commitgate.client.calls"]["sum"]["isMonotonic"] is True
    assert len(by_name["gen_ai.client.inference.duration"]["histogram"]["dataPoints"][0]["explicitBounds"]) == 14
    assert by_name["commitgate.ledger.rows"]["gauge"]["dataPoints"]
    assert CANARY.encode() not in receiver.bytes

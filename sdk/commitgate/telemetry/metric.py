"""Define each metric once: its name, kind, unit, buckets and attributes, for every observer that counts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final, TypeAlias

from commitgate.telemetry import genai_names as genai
from commitgate.telemetry import own_names as own

Labels: TypeAlias = Mapping[str, str]
"""Attributes of one count, by name."""

_UNITS: Final[Mapping[str, str]] = MappingProxyType({"s": "_seconds"})
_NO_NAME: Final = re.compile(r"[^a-zA-Z0-9_:]")


class MetricKind(StrEnum):
    """Say how the values of a metric come together."""

    COUNTER = "counter"
    """Values are added up; it never falls."""
    UP_DOWN = "up_down"
    """Values are added up, and may be negative."""
    HISTOGRAM = "histogram"
    """Values are counted by size."""
    GAUGE = "gauge"
    """The last value counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """Define one metric.

    Attributes:
        name: as OpenTelemetry has it.
        kind: how its values come together.
        unit: in UCUM's notation; ``{...}`` is a count of something.
        description: one sentence.
        attributes: those that a value of it may carry.
        bounds: upper bounds of a histogram's buckets, rising.
    """

    name: str
    kind: MetricKind
    unit: str
    description: str
    attributes: tuple[str, ...] = ()
    bounds: tuple[float, ...] = ()

    @property
    def prometheus_name(self) -> str:
        """Return the name that Prometheus has for it.

        Source: OpenTelemetry's specification, "Prometheus and OpenMetrics Compatibility", metric metadata.
        """
        name = label_name(self.name) + _UNITS.get(self.unit, "")
        return f"{name}_total" if self.kind is MetricKind.COUNTER else name


@dataclass(frozen=True, slots=True)
class Measurement:
    """Hold one value of one metric."""

    metric: Metric
    value: float
    labels: Labels


def label_name(attribute: str) -> str:
    """Return the name that Prometheus has for an attribute."""
    return _NO_NAME.sub("_", attribute)


_INFERENCE: Final = (genai.OPERATION_NAME, genai.PROVIDER_NAME, genai.REQUEST_MODEL)
_OF_REQUEST: Final = (own.BACKEND, genai.REQUEST_MODEL)


def _seconds(name: str, description: str, *attributes: str, bounds: tuple[float, ...] = genai.SECONDS) -> Metric:
    kind = MetricKind.HISTOGRAM
    return Metric(name=name, kind=kind, unit="s", description=description, attributes=attributes, bounds=bounds)


def _counter(name: str, unit: str, description: str, *attributes: str) -> Metric:
    return Metric(name=name, kind=MetricKind.COUNTER, unit=unit, description=description, attributes=attributes)


def _tokens(name: str, description: str) -> Metric:
    kind, attributes = MetricKind.HISTOGRAM, (*_INFERENCE, genai.ERROR_TYPE)
    return Metric(
        name=name, kind=kind, unit="{token}", description=description, attributes=attributes, bounds=genai.TOKENS
    )


def _mass(name: str, description: str) -> Metric:
    kind, attributes = MetricKind.HISTOGRAM, (own.CONTRACT_NAME, *_OF_REQUEST)
    return Metric(name=name, kind=kind, unit="1", description=description, attributes=attributes, bounds=own.MASS)


def _gauge(name: str, unit: str, description: str, *attributes: str) -> Metric:
    return Metric(name=name, kind=MetricKind.GAUGE, unit=unit, description=description, attributes=attributes)


INFERENCE_DURATION = _seconds(
    genai.INFERENCE_DURATION,
    "Seconds of a call that asked a model, retries and waits included.",
    *_INFERENCE,
    genai.ERROR_TYPE,
)
TIME_TO_FIRST_CHUNK = _seconds(
    genai.TIME_TO_FIRST_CHUNK, "Seconds from a request to the first text of its answer.", *_INFERENCE
)
TIME_PER_OUTPUT_CHUNK = _seconds(
    genai.TIME_PER_OUTPUT_CHUNK, "Seconds between two pieces of an answer's text.", *_INFERENCE
)
INPUT_TOKENS_USED = _counter(
    genai.INPUT_TOKENS_USED, "{token}", "Tokens of prompts.", *_INFERENCE, genai.TOKEN_MODALITY
)
OUTPUT_TOKENS_USED = _counter(
    genai.OUTPUT_TOKENS_USED, "{token}", "Tokens written, thoughts included.", *_INFERENCE, genai.TOKEN_MODALITY
)
REASONING_TOKENS_USED = _counter(
    genai.REASONING_TOKENS_USED, "{token}", "Tokens of thoughts.", *_INFERENCE, genai.TOKEN_MODALITY
)
INPUT_TOKENS_OF_OPERATION = _tokens(genai.INPUT_TOKENS_OF_OPERATION, "Tokens of the prompts of one call.")
OUTPUT_TOKENS_OF_OPERATION = _tokens(genai.OUTPUT_TOKENS_OF_OPERATION, "Tokens written in one call.")
EXECUTE_TOOL_DURATION = _seconds(
    genai.EXECUTE_TOOL_DURATION,
    "Seconds of a call that ran a tool.",
    genai.OPERATION_NAME,
    genai.TOOL_NAME,
    genai.ERROR_TYPE,
)
CALLS = _counter(
    own.CALLS,
    "{call}",
    "Calls by how they ended.",
    own.CALL_KIND,
    own.OUTCOME,
    own.OUTCOME_DETAIL,
    own.CONTRACT_NAME,
    own.BACKEND,
    own.FALLBACK,
    genai.ERROR_TYPE,
)
CALL_DURATION = _seconds(own.CALL_DURATION, "Seconds of a call of any kind.", own.CALL_KIND, own.OUTCOME)
ACTIVE_CALLS = Metric(
    name=own.ACTIVE_CALLS,
    kind=MetricKind.UP_DOWN,
    unit="{call}",
    description="Calls that run now.",
    attributes=(own.CALL_KIND,),
)
REQUESTS = _counter(
    own.REQUESTS,
    "{request}",
    "Requests by how they ended.",
    own.REQUEST_ENDING,
    own.REQUEST_DETAIL,
    own.FINISH,
    own.SERVER_DEDUP,
    *_OF_REQUEST,
)
REPLAYS = _counter(own.REPLAYS, "{call}", "Calls that the ledger answered.", own.CONTRACT_NAME)
LAYERS = _counter(own.LAYERS, "{verdict}", "Verdicts of the layers.", own.LAYER, own.LAYER_VERDICT, own.CONTRACT_NAME)
COMPILE_DURATION = _seconds(
    own.COMPILE_DURATION, "Seconds until a contract was compiled.", own.COMPILE_RESULT, bounds=own.COMPILE_SECONDS
)
TOKEN_DURATION = _seconds(
    own.TOKEN_DURATION,
    "Mean seconds of a token after the first, of one request.",
    *_OF_REQUEST,
    bounds=own.TOKEN_SECONDS,
)
LEAST_LEGAL_MASS = _mass(own.LEAST_LEGAL_MASS, "Least legal mass of an answer's steps.")
MEAN_LEGAL_MASS = _mass(own.MEAN_LEGAL_MASS, "Mean legal mass of an answer's steps.")
SAVED_TOKENS = _counter(
    own.SAVED_TOKENS, "{token}", "Tokens that were not written because an answer was stopped early.", *_OF_REQUEST
)
RECEIPT_WARNINGS = _counter(
    own.RECEIPT_WARNINGS, "{warning}", "Oddities that changed no verdict.", own.WARNING, own.BACKEND
)
OPERATIONS = _counter(
    own.OPERATIONS,
    "{call}",
    "Calls with an operation key by the state in which they left or found its row.",
    own.LEDGER_STATE,
    own.EFFECT_NAME,
)
LEDGER_ROWS = _gauge(own.LEDGER_ROWS, "{row}", "Rows of the ledger that wait for somebody.", own.LEDGER_STATE)
LEDGER_OLDEST = _gauge(
    own.LEDGER_OLDEST, "s", "Seconds since the one that waits longest last changed.", own.LEDGER_STATE
)
LEDGER_READABLE = _gauge(own.LEDGER_READABLE, "{ledger}", "Whether the ledger could be read: 1 or 0.")

METRICS: Final = (
    INFERENCE_DURATION,
    TIME_TO_FIRST_CHUNK,
    TIME_PER_OUTPUT_CHUNK,
    INPUT_TOKENS_USED,
    OUTPUT_TOKENS_USED,
    REASONING_TOKENS_USED,
    INPUT_TOKENS_OF_OPERATION,
    OUTPUT_TOKENS_OF_OPERATION,
    EXECUTE_TOOL_DURATION,
    CALLS,
    CALL_DURATION,
    ACTIVE_CALLS,
    REQUESTS,
    REPLAYS,
    LAYERS,
    COMPILE_DURATION,
    TOKEN_DURATION,
    LEAST_LEGAL_MASS,
    MEAN_LEGAL_MASS,
    SAVED_TOKENS,
    RECEIPT_WARNINGS,
    OPERATIONS,
    LEDGER_ROWS,
    LEDGER_OLDEST,
    LEDGER_READABLE,
)
"""Every metric, in the order of the docs."""

__all__ = [
    "ACTIVE_CALLS",
    "CALLS",
    "CALL_DURATION",
    "COMPILE_DURATION",
    "EXECUTE_TOOL_DURATION",
    "INFERENCE_DURATION",
    "INPUT_TOKENS_OF_OPERATION",
    "INPUT_TOKENS_USED",
    "LAYERS",
    "LEAST_LEGAL_MASS",
    "LEDGER_OLDEST",
    "LEDGER_READABLE",
    "LEDGER_ROWS",
    "MEAN_LEGAL_MASS",
    "METRICS",
    "OPERATIONS",
    "OUTPUT_TOKENS_OF_OPERATION",
    "OUTPUT_TOKENS_USED",
    "REASONING_TOKENS_USED",
    "RECEIPT_WARNINGS",
    "REPLAYS",
    "REQUESTS",
    "SAVED_TOKENS",
    "TIME_PER_OUTPUT_CHUNK",
    "TIME_TO_FIRST_CHUNK",
    "TOKEN_DURATION",
    "Labels",
    "Measurement",
    "Metric",
    "MetricKind",
    "label_name",
]

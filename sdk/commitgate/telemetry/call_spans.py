"""Hold the spans of one call: its own, and that of the request that is under way. Needs opentelemetry-api."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import Token
from typing import TYPE_CHECKING, Final

from opentelemetry import context
from opentelemetry.trace import SpanKind, Status, StatusCode, set_span_in_context

from commitgate.telemetry import genai_names as genai
from commitgate.telemetry import own_names as own
from commitgate.telemetry.bounded_names import short
from commitgate.telemetry.call_meter import NO_ERRORS, error_type
from commitgate.telemetry.content import MAX_CONTENT_CHARACTERS, cut, input_messages, output_messages, text_of
from commitgate.telemetry.span_attributes import (
    Attributes,
    of_beginning,
    of_contract,
    of_end,
    of_request,
    response_finish,
    span_name,
)

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.trace import Span, Tracer

    from commitgate.contract import Contract
    from commitgate.outcome import Receipt, TryRecord
    from commitgate.telemetry.observer import CallBegan, CallEnded, RequestBegan

IN_PROCESS: Final = frozenset({"local"})
"""Backends whose model runs in this process; every other one is somewhere else."""


class _CurrentSpan:
    """Hold a span that is current from now on, until it is ended in the same task."""

    def __init__(self, span: Span) -> None:
        self.span = span
        self._token: Token[Context] = context.attach(set_span_in_context(span))

    def end(self, attributes: Attributes, error: str | None) -> None:
        context.detach(self._token)
        if error is not None:
            self.span.set_status(Status(StatusCode.ERROR))
            attributes = {**attributes, genai.ERROR_TYPE: short(error)}
        self.span.set_attributes(attributes)
        self.span.end()


class CallSpans:
    """Make the spans of one call. Its methods are called in the task of the call.

    Args:
        tracer: makes them.
        call: what is known when it begins.
    """

    def __init__(self, tracer: Tracer, call: CallBegan) -> None:
        self._tracer = tracer
        self._call = call
        is_remote = call.kind == "generate" and call.backend not in IN_PROCESS
        kind = SpanKind.CLIENT if is_remote else SpanKind.INTERNAL
        self._current = _CurrentSpan(tracer.start_span(span_name(call), kind=kind, attributes=of_beginning(call)))
        self._request: _CurrentSpan | None = None
        self._has_asked = False

    def contract_built(self, contract: Contract[object]) -> None:
        """Name the contract."""
        attributes = of_contract(contract)
        if self._call.kind == "generate":
            attributes = {**attributes, genai.OUTPUT_TYPE: genai.TEXT if contract.text is not None else genai.JSON}
        self._current.span.set_attributes(attributes)

    def request_began(self, request: RequestBegan) -> None:
        """Begin the span of a request."""
        self._has_asked = True
        attributes = {own.REQUEST_NUMBER: request.number, own.REQUEST_WAITED: request.waited_s}
        self._request = _CurrentSpan(self._tracer.start_span(own.REQUEST_SPAN, attributes=attributes))
        if request.messages is not None:
            self._request.span.set_attribute(genai.INPUT_MESSAGES, input_messages(request.messages))

    def request_ended(self, record: TryRecord, receipt: Receipt) -> None:
        """End the span of the request."""
        error = None if record.ending in NO_ERRORS else record.ending
        self._end_request(of_request(record, receipt), error)

    def ended(self, end: CallEnded) -> None:
        """End the span of the call."""
        error = error_type(end)
        # One that raised, in place of ending as anything.
        self._end_request({own.REQUEST_ENDING: short(error or "")}, error)
        attributes = of_end(self._call, end, has_asked=self._has_asked)
        self._current.end({**attributes, **self._content(end)}, error)

    def _end_request(self, attributes: Attributes, error: str | None) -> None:
        if self._request is not None:
            self._request.end(attributes, error)
            self._request = None

    def _content(self, end: CallEnded) -> Mapping[str, str]:
        if end.outcome is None:
            return {}
        if self._call.kind == "generate":
            finish = response_finish(None if end.receipt is None else end.receipt.finish)
            return {genai.OUTPUT_MESSAGES: output_messages(end.outcome, finish)}
        return {genai.TOOL_CALL_ARGUMENTS: cut(text_of(end.outcome), MAX_CONTENT_CHARACTERS)}


__all__ = ["IN_PROCESS", "CallSpans"]

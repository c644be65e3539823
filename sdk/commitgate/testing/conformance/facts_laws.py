"""Hold a dialect's facts, and its handshake, to their laws."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import get_args

from commitgate.backends.dialect import Answer, Dialect, KeyHeader, Outgoing, ServerFacts
from commitgate.backends.translation import Form
from commitgate.backends.wire.wire_event import Framing
from commitgate.lint.vendor_facts import VENDORS
from commitgate.testing.conformance.law import ConformanceError, Law

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]*")
_URL = re.compile(r"https?://[^\s/?#@]+(?:/[^\s?#]*)?")
_BODIES = (b"", b"{}", b"[]", b"null", b"7", b'"ok"', b'{"data":7,"models":"x","version":[]}', b"\xff{", b"<html>")
_STATUSES = (0, 200, 401, 404, 503)
_MODELS = ("", "m")


def check_facts(dialect: Dialect) -> Iterator[Law]:
    """Yield each law that was tried and kept.

    Raises:
        ConformanceError: one is broken.
    """
    facts = dialect.facts
    for field, is_right in _verdicts(facts):
        if not is_right:
            raise ConformanceError(Law.FACTS, f"{field} is none", place=f"facts.{field}")
    if dialect.facts != facts:
        raise ConformanceError(Law.FACTS, "they are others the second time", place="facts")
    yield Law.FACTS


def check_handshake(dialect: Dialect) -> Iterator[Law]:
    """Yield each law that was tried and kept.

    Raises:
        ConformanceError: one is broken.
    """
    for model in _MODELS:
        asked = _asked(dialect, model)
        for outgoing in asked:
            if outgoing.method != "GET" or outgoing.body is not None:
                raise ConformanceError(Law.HANDSHAKE, "one of its requests is no GET", place="handshake")
            if not outgoing.path.startswith("/"):
                raise ConformanceError(Law.HANDSHAKE, "the path does not begin with a slash", place="handshake")
        for status in _STATUSES:
            for body in _BODIES:
                _identify(dialect, model, [Answer(status=status, headers={}, body=body)] * len(asked))
    yield Law.HANDSHAKE


def _verdicts(facts: ServerFacts) -> Iterator[tuple[str, bool]]:
    words, notations = frozenset(get_args(Form)), frozenset({"gbnf", "lark"})
    yield "name", _NAME.fullmatch(facts.name) is not None
    yield "title", bool(facts.title.strip())
    yield "vendor", facts.vendor is None or facts.vendor in {vendor.name for vendor in VENDORS}
    yield "base_url", facts.base_url is None or _URL.fullmatch(facts.base_url) is not None
    yield "base_url_variable", _VARIABLE.fullmatch(facts.base_url_variable) is not None
    yield "version_segment", facts.version_segment is None or "/" not in facts.version_segment.strip()
    yield "key_variables", all(_VARIABLE.fullmatch(each) for each in facts.key_variables)
    yield "key_variables", bool(facts.key_variables) or not facts.needs_key
    yield "key_header", facts.key_header in get_args(KeyHeader)
    yield "forms", facts.forms <= words - {"prompt"}
    yield "notations", facts.notations <= notations
    yield "notations", ("grammar" in facts.forms) == bool(facts.notations)
    yield "framing", facts.framing in get_args(Framing)
    yield "proof_of_end", bool(facts.proof_of_end.strip())
    yield "end_marker", facts.end_marker is None or bool(facts.end_marker.strip())


def _asked(dialect: Dialect, model: str) -> tuple[Outgoing, ...]:
    try:
        return tuple(dialect.handshake(model))
    except Exception as error:
        what = f"writing it raised {type(error).__name__}"
        raise ConformanceError(Law.HANDSHAKE, what, place="handshake") from error


def _identify(dialect: Dialect, model: str, answers: list[Answer]) -> None:
    place = f"answers of status {answers[0].status}" if answers else "no answers"
    try:
        identity = dialect.identify(model, answers)
    except Exception as error:
        what = f"reading the answers raised {type(error).__name__}"
        raise ConformanceError(Law.HANDSHAKE, what, place=place) from error
    if answers and answers[0].status == 0 and identity.is_ready:
        raise ConformanceError(Law.HANDSHAKE, "a server that did not answer is called ready", place=place)


__all__ = ["check_facts", "check_handshake"]

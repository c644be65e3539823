"""However a stream is cut and wherever it ends, nothing is complete without the server's own word for it."""

import pytest
from backends.dialects.native_streams import (
    CITY,
    gemini_answer,
    interaction,
    llama_answer,
    ollama_answer,
    tgi_answer,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from commitgate.testing.replay import replay

STREAMS = {
    "gemini": gemini_answer(),
    "gemini_interactions": interaction(),
    "ollama_chat": ollama_answer(),
    "tgi_generate": tgi_answer(),
    "llamacpp_completion": llama_answer(),
}
NAMES = sorted(STREAMS)


@pytest.mark.parametrize("end", ["clean", "reset"])
@pytest.mark.parametrize("name", NAMES)
def test_stream_that_ends_between_two_events_is_interrupted(name: str, end: str) -> None:
    events = STREAMS[name]
    texts = []
    for kept in range(len(events)):
        found = replay(name, b"".join(events[:kept]), end=end)  # type: ignore[arg-type]
        assert (found.outcome, found.finish_native, found.terminal) == ("interrupted", None, False)
        texts.append(found.text)
    assert all(CITY.startswith(text) for text in texts)
    assert replay(name, b"".join(events), end=end).outcome == "complete"  # type: ignore[arg-type]


@pytest.mark.parametrize("name", NAMES)
def test_stream_that_breaks_inside_an_event_is_interrupted(name: str) -> None:
    body = b"".join(STREAMS[name])
    last = len(b"".join(STREAMS[name][:-1]))
    for kept in range(1, last + 20):
        found = replay(name, body[:kept], end="reset")
        assert (found.outcome, CITY.startswith(found.text)) == ("interrupted", True)


@pytest.mark.parametrize("name", NAMES)
def test_stream_reads_the_same_byte_by_byte(name: str) -> None:
    body = b"".join(STREAMS[name])
    assert replay(name, body, split_at=range(1, len(body))) == replay(name, body)


@settings(max_examples=60, deadline=None)
@given(name=st.sampled_from(NAMES), cuts=st.lists(st.integers(0, 400), max_size=12))
def test_stream_reads_the_same_in_any_chunks(name: str, cuts: list[int]) -> None:
    body = b"".join(STREAMS[name])
    assert replay(name, body, split_at=sorted(cuts)) == replay(name, body)


@pytest.mark.parametrize("name", NAMES)
def test_bytes_that_are_no_event_spoil_an_answer_only_before_its_end(name: str) -> None:
    junk = b"\n\n}{\n\n" if name == "ollama_chat" else b"data: }{\n\n"
    events = STREAMS[name]
    assert replay(name, b"".join([*events, junk])).outcome == "complete"
    assert replay(name, b"".join([*events[:-1], junk])).outcome == "protocol_error"

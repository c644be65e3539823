"""Where a server is found, however it was written."""

from __future__ import annotations

import pytest

from commitgate.backends.base_url import BaseUrl
from commitgate.errors import MisuseError

CHAT = "/chat/completions"


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("http://host:8000", "http://host:8000/v1/chat/completions"),
        ("http://host:8000/", "http://host:8000/v1/chat/completions"),
        ("http://host:8000/v1", "http://host:8000/v1/chat/completions"),
        ("http://host:8000/v1/", "http://host:8000/v1/chat/completions"),
        ("  http://host:8000/v1//  ", "http://host:8000/v1/chat/completions"),
        ("HTTPS://HOST", "https://host/v1/chat/completions"),
        ("http://[::1]:8000", "http://[::1]:8000/v1/chat/completions"),
        ("http://bücher.example", "http://xn--bcher-kva.example/v1/chat/completions"),
        ("https://host/prefix", "https://host/prefix/v1/chat/completions"),
        ("https://host/prefix/v1", "https://host/prefix/v1/chat/completions"),
        ("https://host/api/paas/v4", "https://host/api/paas/v4/chat/completions"),
        ("https://host/v1beta/openai/", "https://host/v1beta/openai/chat/completions"),
        ("https://host/v1/account/gateway/openai", "https://host/v1/account/gateway/openai/chat/completions"),
        ("https://host/openai/v1?api-version=preview", "https://host/openai/v1/chat/completions?api-version=preview"),
        (
            "https://host/openai/deployments/d?api-version=2024-10-21",
            "https://host/openai/deployments/d/chat/completions?api-version=2024-10-21",
        ),
    ],
)
def test_base_url_is_read_with_and_without_its_version(written: str, asked: str) -> None:
    assert BaseUrl.of(written, segment="v1").url(CHAT) == asked


def test_api_without_a_version_gets_none() -> None:
    assert BaseUrl.of("http://host:11434", segment=None).url("/api/chat") == "http://host:11434/api/chat"


def test_path_from_the_root_leaves_the_base_path_out() -> None:
    base = BaseUrl.of("https://host/prefix/v1?a=b", segment="v1")
    assert base.url("//health?c=d") == "https://host/health?a=b&c=d"


def test_query_of_a_request_is_added() -> None:
    assert BaseUrl.of("https://host?a=b", segment=None).url("/x?alt=sse") == "https://host/x?a=b&alt=sse"


def test_query_is_not_shown() -> None:
    base = BaseUrl.of("https://host/v1?key=secret", segment="v1")
    assert base.shown == "https://host/v1"
    assert "secret" not in repr(base)


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ("localhost:11434", "http://"),
        ("host/v1", "http://"),
        ("ftp://host", "http://"),
        ("", "http://"),
        ("//host", "http://"),
        ("http://", "name a host"),
        ("http:///v1", "name a host"),
        ("http://ho st", "white space"),
        ("http://host\r\nx: y", "white space"),
        ("http://host:0", "port"),
        ("http://host:99999", "cannot be read"),
        ("http://host:port", "cannot be read"),
        ("http://[::1", "cannot be read"),
        ("http://host/v1#part", "fragment"),
        ("http://h{}st", "name a host"),
        ("http://host/\u202ev1", "control character"),
        ("http://host/\u200bv1", "control character"),
        ("http://host/a\\..\\b", "backslashes"),
        ("http://host/a/../v1", "steps up"),
        ("http://host/./v1", "steps up"),
    ],
)
def test_what_is_no_base_url_is_refused(written: str, reason: str) -> None:
    with pytest.raises(MisuseError, match=reason):
        BaseUrl.of(written, segment="v1")


@pytest.mark.parametrize(
    "written",
    [
        "http://user:secret@host",
        "http://secret@host/v1",
        "ftp://secret@host",
        "ftp://host?secret",
        "http://secret@host:99999",
        "http://host:0?secret",
        "http://host/#secret",
        "secret@host",
    ],
)
def test_message_shows_no_user_password_or_query(written: str) -> None:
    with pytest.raises(MisuseError) as raised:
        BaseUrl.of(written, segment="v1")
    assert "secret" not in str(raised.value)


def test_path_of_a_request_in_the_base_url_is_refused() -> None:
    base = BaseUrl.of("http://host/v1/chat/completions", segment="v1")
    with pytest.raises(MisuseError, match="leave out /chat/completions"):
        base.url(CHAT)


def test_message_names_the_variable_that_it_came_from() -> None:
    with pytest.raises(MisuseError, match="VLLM_BASE_URL must begin with http"):
        BaseUrl.of("host", segment="v1", named="VLLM_BASE_URL")

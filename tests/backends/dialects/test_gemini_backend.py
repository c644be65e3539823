"""Gemini is found with a key alone; Vertex AI needs to be told where its project is."""

import pytest

from commitgate.backends.gemini import GeminiBackend
from commitgate.backends.registry import make_remote
from commitgate.errors import MisuseError

PROJECT = "https://r-aiplatform.googleapis.com/v1/projects/p/locations/r/publishers/google"


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GEMINI_API_KEY", "GOOGLE_API_KEY", "GEMINI_BASE_URL", "VERTEX_ACCESS_TOKEN"):
        monkeypatch.delenv(name, raising=False)


def test_key_is_needed_and_named() -> None:
    with pytest.raises(MisuseError, match=r"GEMINI_API_KEY.*GOOGLE_API_KEY"):
        GeminiBackend()


@pytest.mark.parametrize("name", ["GEMINI_API_KEY", "GOOGLE_API_KEY"])
def test_key_may_stand_in_the_environment(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "k-123")
    backend = GeminiBackend()
    assert (backend.name, backend.base_url) == ("gemini", "https://generativelanguage.googleapis.com/v1beta")
    assert (backend.shows_schema, backend.tells_in_finish) == (True, True)
    assert "k-123" not in repr(backend)


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("https://proxy.example", "https://proxy.example/v1beta"),
        ("https://proxy.example/g/v1beta/", "https://proxy.example/g/v1beta"),
        ("https://proxy.example/v1", "https://proxy.example/v1"),
    ],
)
def test_version_may_be_left_out_of_the_base_url(given: str, found: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert GeminiBackend(api_key="k", base_url=given).base_url == found
    monkeypatch.setenv("GEMINI_BASE_URL", given)
    assert GeminiBackend(api_key="k").base_url == found


def test_each_api_has_its_dialect() -> None:
    assert GeminiBackend(api_key="k").dialect.facts.name == "gemini"
    assert GeminiBackend(api_key="k", api="interactions").dialect.facts.name == "gemini_interactions"
    with pytest.raises(MisuseError, match="api"):
        GeminiBackend(api_key="k", api="chat")  # type: ignore[arg-type]


def test_vertex_must_be_told_where_it_is() -> None:
    with pytest.raises(MisuseError, match="GEMINI_BASE_URL"):
        GeminiBackend(api_key="t", on_vertex=True)
    with pytest.raises(MisuseError, match="VERTEX_ACCESS_TOKEN"):
        GeminiBackend(base_url=PROJECT, on_vertex=True)
    assert GeminiBackend(api_key="t", base_url=PROJECT, on_vertex=True).base_url == PROJECT
    with pytest.raises(MisuseError, match="on_vertex"):
        GeminiBackend(api_key="t", base_url=PROJECT, on_vertex=True, api="interactions")


def test_registry_makes_it_by_its_name() -> None:
    assert isinstance(make_remote("gemini", api_key="k"), GeminiBackend)

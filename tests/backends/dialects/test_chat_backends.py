"""Name the backends of servers that speak chat completions: where they are, what they speak, what they are called."""

from collections.abc import Callable
from typing import Any

import pytest

from commitgate.backends.commitgate_server import CommitgateBackend
from commitgate.backends.llama_cpp import LlamaCppBackend
from commitgate.backends.nim import NimBackend
from commitgate.backends.ollama import OllamaBackend
from commitgate.backends.openai_chat import OpenAIChatBackend
from commitgate.backends.remote import RemoteBackend
from commitgate.backends.sglang import SglangBackend
from commitgate.backends.tgi import TgiBackend
from commitgate.backends.vllm import VllmBackend
from commitgate.errors import MisuseError

LOCAL = "http://localhost:9"
CASES: tuple[tuple[Callable[..., RemoteBackend], dict[str, Any], str, str], ...] = (
    (OpenAIChatBackend, {"api_key": "k"}, "openai_chat", "openai_chat"),
    (VllmBackend, {}, "vllm", "vllm_chat"),
    (NimBackend, {}, "nim", "nim_chat"),
    (SglangBackend, {}, "sglang", "sglang_chat"),
    (LlamaCppBackend, {}, "llama_cpp", "llamacpp_chat"),
    (LlamaCppBackend, {"api": "completion"}, "llama_cpp", "llamacpp_completion"),
    (OllamaBackend, {}, "ollama", "ollama_chat"),
    (OllamaBackend, {"api": "v1"}, "ollama", "ollama_v1_chat"),
    (TgiBackend, {}, "tgi", "tgi_chat"),
    (TgiBackend, {"api": "generate"}, "tgi", "tgi_generate"),
    (CommitgateBackend, {}, "commitgate", "commitgate_chat"),
)


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for make, options, _, _ in CASES:
        facts = make(base_url=LOCAL, **options).dialect.facts
        for variable in (facts.base_url_variable, *facts.key_variables):
            monkeypatch.delenv(variable, raising=False)


@pytest.mark.parametrize(("make", "options", "name", "dialect"), CASES)
def test_a_backend_has_the_name_by_which_a_model_is_asked_for(
    make: Callable[..., RemoteBackend], options: Any, name: str, dialect: str
) -> None:
    backend = make(base_url=LOCAL, **options)
    assert (backend.name, backend.dialect.facts.name) == (name, dialect)
    assert make(base_url=LOCAL, name="mine", **options).name == "mine"


@pytest.mark.parametrize(("make", "options", "name", "dialect"), CASES)
def test_a_server_is_never_guessed(
    make: Callable[..., RemoteBackend], options: Any, name: str, dialect: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if make in (OpenAIChatBackend, NimBackend):
        assert make(**options).base_url.startswith("https://")
        return
    with pytest.raises(MisuseError, match="base_url"):
        make(**options)
    monkeypatch.setenv(make(base_url=LOCAL, **options).dialect.facts.base_url_variable, "http://gpu-1:8000")
    assert make(**options).base_url.startswith("http://gpu-1:8000")


def test_openai_is_not_asked_without_a_key() -> None:
    with pytest.raises(MisuseError, match="OPENAI_API_KEY"):
        OpenAIChatBackend()


@pytest.mark.parametrize("make", [LlamaCppBackend, OllamaBackend, TgiBackend])
def test_another_api_is_a_misuse(make: Callable[..., RemoteBackend]) -> None:
    with pytest.raises(MisuseError, match="api"):
        make(api="grpc", base_url=LOCAL)


def test_nims_engine_decides_how_a_pattern_is_asked_for() -> None:
    assert NimBackend(base_url=LOCAL).dialect.facts.vendor == "vllm"
    assert NimBackend(engine="sglang", base_url=LOCAL).dialect.facts.vendor == "sglang"


@pytest.mark.parametrize(("make", "api"), [(LlamaCppBackend, "completion"), (TgiBackend, "generate")])
def test_a_template_is_for_the_api_that_has_none(make: Callable[..., RemoteBackend], api: str) -> None:
    make(base_url=LOCAL, api=api, template=lambda messages: messages[0].content)
    with pytest.raises(MisuseError, match="template"):
        make(base_url=LOCAL, template=lambda messages: messages[0].content)


def test_options_of_a_model_are_for_the_api_that_has_a_field_for_them() -> None:
    OllamaBackend(base_url=LOCAL, model_options={"num_ctx": 8_192})
    with pytest.raises(MisuseError, match="model_options"):
        OllamaBackend(base_url=LOCAL, api="v1", model_options={"num_ctx": 8_192})

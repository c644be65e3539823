"""Ask servers of chat completions what they are, and read what they say."""

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest

from commitgate.backends.dialect import Answer, Dialect, ServerIdentity
from commitgate.backends.dialects.commitgate_chat import CommitgateChatDialect
from commitgate.backends.dialects.llamacpp_chat import LlamaCppChatDialect
from commitgate.backends.dialects.nim_chat import NimChatDialect
from commitgate.backends.dialects.ollama_v1_chat import OllamaV1ChatDialect
from commitgate.backends.dialects.openai_chat import OpenAIChatDialect
from commitgate.backends.dialects.sglang_chat import SglangChatDialect
from commitgate.backends.dialects.table import DIALECTS
from commitgate.backends.dialects.tgi_chat import TgiChatDialect
from commitgate.backends.dialects.vllm_chat import VllmChatDialect

NOTHING = Answer(status=404, headers={}, body=b'{"detail":"Not Found"}')
GONE = Answer(status=0, headers={}, body=b"")
FINE = Answer(status=200, headers={}, body=b"")
CHATS: tuple[Dialect, ...] = (
    OpenAIChatDialect(),
    VllmChatDialect(),
    NimChatDialect(),
    SglangChatDialect(),
    LlamaCppChatDialect(),
    OllamaV1ChatDialect(),
    TgiChatDialect(),
    CommitgateChatDialect(),
)


def told(value: Any, headers: Mapping[str, str] = MappingProxyType({})) -> Answer:
    return Answer(status=200, headers=headers, body=json.dumps(value).encode())


def listed(*models: Any) -> Answer:
    return told({"object": "list", "data": list(models)})


@pytest.mark.parametrize(
    ("dialect", "paths", "answers", "identity"),
    [
        (
            OpenAIChatDialect(),
            ["/models", "/models/m"],
            [
                told(
                    {"data": [{"id": "m", "created": 5}, {"id": "n", "created": 6}]}, {"openai-version": "2020-10-01"}
                ),
                told({"id": "m", "created": 5, "root": "m-2026"}),
            ],
            ServerIdentity(is_ready=True, version="2020-10-01", models=("m", "n"), revision="m-2026"),
        ),
        (
            VllmChatDialect(),
            ["//health", "//version", "/models"],
            [FINE, told({"version": "0.33.0"}), listed({"id": "m", "root": "/models/a"}, {"id": "n", "root": "b"})],
            ServerIdentity(is_ready=True, version="0.33.0", models=("m", "n"), revision="/models/a"),
        ),
        (
            NimChatDialect(),
            ["//v1/health/ready", "//v1/version", "//v1/metadata", "/models"],
            [
                FINE,
                told({"release": "2.1.6", "api": "2.0"}),
                told({"version": "9", "selectedModelProfileId": "p1"}),
                listed({"id": "m", "root": "r"}),
            ],
            ServerIdentity(is_ready=True, version="2.1.6 9", models=("m",), revision="r p1"),
        ),
        (
            NimChatDialect(),
            ["//v1/health/ready", "//v1/version", "//v1/metadata", "/models"],
            [NOTHING, NOTHING, NOTHING, listed({"id": "m"})],
            ServerIdentity(is_ready=True, models=("m",)),
        ),
        (
            SglangChatDialect(),
            ["//health", "//model_info", "//server_info", "/models"],
            [
                FINE,
                told({"model_path": "q", "weight_version": "w1"}),
                told({"version": "0.5.23", "grammar_backend": "none"}),
                listed({"id": "default"}),
            ],
            ServerIdentity(is_ready=True, version="0.5.23", models=("default",), revision="q w1", engine="none"),
        ),
        (
            LlamaCppChatDialect(),
            ["//health", "//props", "/models"],
            [told({"status": "ok"}), told({"build_info": "b1-0c", "model_path": "/m.gguf"}), listed({"id": "smol"})],
            ServerIdentity(is_ready=True, version="b1-0c", models=("smol",), revision="/m.gguf", engine="llama.cpp"),
        ),
        (
            OllamaV1ChatDialect(),
            ["//api/version", "//api/tags"],
            [
                told({"version": "0.20"}),
                told({"models": [{"name": "m:7b", "digest": "d0"}, {"name": "m:latest", "digest": "d1"}]}),
            ],
            ServerIdentity(is_ready=True, version="0.20", models=("m:7b", "m:latest"), revision="d1"),
        ),
        (
            TgiChatDialect(),
            ["//health", "//info"],
            [FINE, told({"model_id": "q", "model_sha": "s", "version": "3.3.7", "sha": "db9"})],
            ServerIdentity(is_ready=True, version="3.3.7 db9", models=("q",), revision="q s", engine="outlines"),
        ),
        (
            CommitgateChatDialect(),
            ["//health", "/models"],
            [told({"status": "ok"}), listed({"id": "m", "owned_by": "commitgate"})],
            ServerIdentity(is_ready=True, models=("m",), engine="commitgate"),
        ),
        (
            CommitgateChatDialect(),
            ["//health", "/models"],
            [told({"status": "ok"}), listed({"id": "m", "owned_by": "commitgate"}, {"id": "n", "owned_by": "vllm"})],
            ServerIdentity(is_ready=True, models=("m", "n")),
        ),
    ],
)
def test_a_server_says_what_it_is(dialect: Dialect, paths: Any, answers: Any, identity: Any) -> None:
    asked = dialect.handshake("m")
    assert [(each.method, each.path, each.body) for each in asked] == [("GET", path, None) for path in paths]
    assert dialect.identify("m", answers) == identity


@pytest.mark.parametrize("dialect", CHATS, ids=lambda each: each.facts.name)
@pytest.mark.parametrize(
    "answer",
    [
        GONE,
        Answer(status=503, headers={}, body=b'{"error":{"message":"Loading model"}}'),
        Answer(status=401, headers={}, body=b'{"error":"Unauthorized"}'),
    ],
)
def test_a_server_that_does_not_answer_well_is_not_ready(dialect: Dialect, answer: Answer) -> None:
    found = dialect.identify("m", [answer] * len(dialect.handshake("m")))
    assert (found.is_ready, found.version, found.models, found.revision) == (False, None, (), None)


@pytest.mark.parametrize("dialect", CHATS, ids=lambda each: each.facts.name)
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"[1]",
        b"\xff",
        b"[" * 100_000,
        b'{"data": 7, "models": {}, "version": [], "root": 1}',
        b'{"data": [1, {"id": 2}, {}], "models": [null, {"name": []}], "model_id": {}, "build_info": false}',
    ],
)
def test_what_makes_no_sense_says_nothing(dialect: Dialect, body: bytes) -> None:
    found = dialect.identify("m", [Answer(status=200, headers={}, body=body)] * len(dialect.handshake("m")))
    assert (found.version, found.models, found.revision) == (None, (), None)


def test_what_a_server_says_of_itself_is_short_and_harmless() -> None:
    version = "1\x1b[31m" + "x" * 10_000
    found = VllmChatDialect().identify("m", [FINE, told({"version": version}), listed({"id": "a\u202eb"})])
    assert found.version is not None
    assert found.version.isprintable()
    assert len(found.version) < 300
    assert found.models == ("a\\u202eb",)


def test_the_only_model_is_meant_where_none_is_named() -> None:
    assert VllmChatDialect().identify("", [FINE, NOTHING, listed({"id": "m", "root": "r"})]).revision == "r"


def test_a_model_that_is_not_there_has_no_revision() -> None:
    assert VllmChatDialect().identify("x", [FINE, NOTHING, listed({"id": "m", "root": "r"})]).revision is None


@pytest.mark.parametrize("name", DIALECTS)
def test_the_table_names_each_dialect_as_it_calls_itself(name: str) -> None:
    assert DIALECTS[name]().facts.name == name


@pytest.mark.parametrize("dialect", CHATS, ids=lambda each: each.facts.name)
def test_facts_hang_together(dialect: Dialect) -> None:
    facts = dialect.facts
    assert facts.name.endswith("_chat")
    assert ("grammar" in facts.forms) == bool(facts.notations)
    assert facts.end_marker == "[DONE]"
    assert facts.is_trusted == facts.honours_keys == (facts.vendor is None)
    assert facts.tells_in_finish == (facts.name == "openai_chat")

"""What is asked of Ollama, TGI and llama.cpp in APIs of their own: every byte of it."""

from collections.abc import Sequence
from typing import Any

import pytest
from backends.dialects.native_streams import SCHEMA, offering, request, translation

from commitgate.backends.base import Message, Sampling
from commitgate.backends.dialect import Answer, Dialect, Outgoing, UnwritableError
from commitgate.backends.dialects.llamacpp_completion import LlamaCppCompletionDialect
from commitgate.backends.dialects.ollama_chat import OllamaChatDialect
from commitgate.backends.dialects.tgi_generate import TgiGenerateDialect
from commitgate.errors import MisuseError, UnsupportedError
from commitgate.reasoning import Reasoning

DRAWN_BY_OLLAMA = {"num_predict": 512, "temperature": 0.0, "top_k": 0, "top_p": 1.0}
DRAWN_BY_LLAMA = {
    "n_predict": 512,
    "temperature": 0.0,
    "top_p": 1.0,
    "top_k": 0,
    "samplers": ["temperature", "top_k", "top_p"],
}
DRAWN_BY_TGI = {"details": True, "return_full_text": False, "max_new_tokens": 512, "do_sample": False}
DRAWING = Sampling(temperature=0.5, top_k=7, top_p=0.9, seed=3, max_tokens=40)
TALK = (Message("system", "Be brief."), Message("user", "Where?"), Message("assistant", "Lima"), Message("user", "?"))


def body(dialect: Dialect, **told: Any) -> dict[str, Any]:
    found = dialect.write(request(**told)).body
    assert found is not None
    return found


def told_like_a_play(messages: Sequence[Message]) -> str:
    return "".join(f"{each.role}> {each.content}\n" for each in messages) + "assistant> "


def test_ollama_is_sent_a_schema_as_its_format() -> None:
    assert OllamaChatDialect().write(request(model="tiny")) == Outgoing(
        path="//api/chat",
        body={
            "model": "tiny",
            "messages": [{"role": "user", "content": "Where?"}],
            "stream": True,
            "truncate": False,
            "shift": False,
            "format": SCHEMA,
            "options": DRAWN_BY_OLLAMA,
        },
    )


def test_tgi_is_sent_a_schema_as_its_grammar() -> None:
    grammar = {"type": "json", "value": SCHEMA}
    parameters = {**DRAWN_BY_TGI, "grammar": grammar}
    asked = {"inputs": "Where?", "parameters": parameters, "stream": True}
    assert TgiGenerateDialect().write(request()) == Outgoing(path="//generate_stream", body=asked)


def test_llama_is_sent_a_schema_as_it_stands() -> None:
    asked = {"prompt": "Where?", "stream": True, **DRAWN_BY_LLAMA, "json_schema": SCHEMA}
    assert LlamaCppCompletionDialect().write(request()) == Outgoing(path="//completion", body=asked)


def test_pattern_is_a_grammar_of_tgi() -> None:
    told = body(TgiGenerateDialect(), translation=translation("regex", pattern="[0-9]+"))
    assert told["parameters"]["grammar"] == {"type": "regex", "value": "[0-9]+"}


def test_grammar_stands_alone_for_llama() -> None:
    told = body(
        LlamaCppCompletionDialect(), translation=translation("grammar", grammar='root ::= "a"', notation="gbnf")
    )
    assert (told["grammar"], "json_schema" in told) == ('root ::= "a"', False)


def test_answer_by_the_prompt_alone_has_no_constraint() -> None:
    told = [body(each, translation=translation("prompt")) for each in dialects()]
    assert "format" not in told[0]
    assert told[1]["parameters"] == DRAWN_BY_TGI
    assert not told[2].keys() & {"json_schema", "grammar"}


def test_schema_that_allows_everything_is_an_empty_one() -> None:
    assert body(OllamaChatDialect(), translation=translation(schema=True))["format"] == {}
    assert body(LlamaCppCompletionDialect(), translation=translation(schema=True))["json_schema"] == {}


def dialects() -> tuple[Dialect, ...]:
    return OllamaChatDialect(), TgiGenerateDialect(), LlamaCppCompletionDialect()


@pytest.mark.parametrize(
    ("at", "forms"),
    [(0, ("regex", "choices", "grammar")), (1, ("choices", "grammar")), (2, ("regex", "choices"))],
)
def test_form_that_a_server_does_not_take_is_unsupported(at: int, forms: tuple[str, ...]) -> None:
    for form in forms:
        assert form not in dialects()[at].facts.forms
        with pytest.raises(UnsupportedError, match=rf"^{form}: "):
            dialects()[at].write(request(translation=translation(form, pattern="a", grammar="b", choices=("c",))))


def test_every_way_to_draw_is_written() -> None:
    assert body(OllamaChatDialect(), sampling=DRAWING)["options"] == {
        "num_predict": 40,
        "temperature": 0.5,
        "top_k": 7,
        "top_p": 0.9,
        "seed": 3,
    }
    told = body(TgiGenerateDialect(), sampling=DRAWING, translation=translation("prompt"))["parameters"]
    drawn = {"do_sample": True, "max_new_tokens": 40, "temperature": 0.5, "top_k": 7, "top_p": 0.9, "seed": 3}
    assert told == {"details": True, "return_full_text": False, **drawn}
    told = body(LlamaCppCompletionDialect(), sampling=DRAWING)
    assert (told["n_predict"], told["top_k"], told["top_p"], told["seed"]) == (40, 7, 0.9, 3)


def test_bounds_that_keep_all_are_left_out_for_tgi_which_refuses_them() -> None:
    told = body(TgiGenerateDialect(), sampling=Sampling(temperature=1, max_tokens=9), translation=translation("prompt"))
    drawn = {"do_sample": True, "max_new_tokens": 9, "temperature": 1}
    assert told["parameters"] == {"details": True, "return_full_text": False, **drawn}


def test_ollama_takes_the_conversation_as_it_is() -> None:
    told = body(OllamaChatDialect(), messages=TALK)
    assert told["messages"] == [{"role": each.role, "content": each.content} for each in TALK]


@pytest.mark.parametrize("messages", [TALK, TALK[:1], TALK[2:3], TALK[1:]])
def test_conversation_without_a_template_is_refused(messages: tuple[Message, ...]) -> None:
    for dialect in (TgiGenerateDialect(), LlamaCppCompletionDialect()):
        with pytest.raises(UnwritableError, match=r"^messages: .*template=") as found:
            dialect.write(request(messages=messages))
        assert found.value.code == "messages"


def test_template_writes_the_conversation() -> None:
    wanted = "system> Be brief.\nuser> Where?\nassistant> Lima\nuser> ?\nassistant> "
    assert body(TgiGenerateDialect(template=told_like_a_play), messages=TALK)["inputs"] == wanted
    assert body(LlamaCppCompletionDialect(template=told_like_a_play), messages=TALK)["prompt"] == wanted


@pytest.mark.parametrize("given", [b"Where?", "", None])
def test_template_must_give_text(given: object) -> None:
    for dialect in (TgiGenerateDialect, LlamaCppCompletionDialect):
        with pytest.raises(MisuseError, match="what template gives"):
            dialect(template=lambda _: given).write(request())  # type: ignore[arg-type,return-value]


def test_ollama_can_be_told_not_to_think() -> None:
    assert body(OllamaChatDialect(), reasoning=Reasoning(max_tokens=0))["think"] is False
    assert "think" not in body(OllamaChatDialect())


@pytest.mark.parametrize("reasoning", [Reasoning(max_tokens=9), Reasoning(max_tokens=0, end="</t>")])
def test_ollama_cannot_be_told_how_long_to_think(reasoning: Reasoning) -> None:
    with pytest.raises(UnwritableError, match=r"^reasoning: Ollama"):
        OllamaChatDialect().write(request(reasoning=reasoning))


def test_servers_that_continue_texts_know_no_thoughts() -> None:
    for dialect in (TgiGenerateDialect(), LlamaCppCompletionDialect()):
        with pytest.raises(UnwritableError, match="reasoning"):
            dialect.write(request(reasoning=Reasoning(max_tokens=0)))


def test_model_of_ollama_must_be_named() -> None:
    with pytest.raises(UnwritableError, match="name of a model"):
        OllamaChatDialect().write(request(model=""))
    assert body(TgiGenerateDialect(), model="") == body(TgiGenerateDialect(), model="x")


def test_turn_of_tools_is_asked_for_as_text() -> None:
    for dialect in dialects():
        assert not dialect.facts.offers_tools
        told = offering()
        asked = request(**{**told, "messages": told["messages"][1:], "translation": translation()})
        assert "tools" not in body(dialect, messages=asked.messages, tools=asked.tools)
        assert not dialect.expected(asked).offers_tools


def test_options_of_ollama_go_with_every_request() -> None:
    told = body(OllamaChatDialect(options={"num_ctx": 8192}))
    assert told["options"] == {"num_ctx": 8192, **DRAWN_BY_OLLAMA}


def test_options_that_requests_say_are_misuse() -> None:
    with pytest.raises(MisuseError, match="must not hold num_predict"):
        OllamaChatDialect(options={"num_predict": 1, "num_ctx": 1})


def answer(body: bytes, status: int = 200) -> Answer:
    return Answer(status=status, headers={}, body=body)


GONE = Answer(status=0, headers={}, body=b"")


def test_ollama_tells_its_version_and_the_digest_of_the_model() -> None:
    dialect = OllamaChatDialect()
    assert [(each.method, each.path) for each in dialect.handshake("q")] == [
        ("GET", "//api/version"),
        ("GET", "//api/tags"),
    ]
    tags = b'{"models":[{"name":"q:latest","digest":"d1"},{"name":"q:8b","digest":"d2"}]}'
    for model, digest in (("q", "d1"), ("q:8b", "d2"), ("z", None)):
        found = dialect.identify(model, [answer(b'{"version":"0.9"}'), answer(tags)])
        assert (found.is_ready, found.version, found.revision) == (True, "0.9", digest)
        assert found.models == ("q:latest", "q:8b")
    assert not dialect.identify("q", [GONE, GONE]).is_ready


def test_tgi_tells_its_version_and_its_model() -> None:
    dialect = TgiGenerateDialect()
    assert [each.path for each in dialect.handshake("")] == ["//health", "//info"]
    info = b'{"model_id":"org/m","model_sha":"abc","version":"3.3","sha":"def"}'
    found = dialect.identify("", [answer(b""), answer(info)])
    assert (found.is_ready, found.version, found.revision) == (True, "3.3 def", "org/m abc")
    assert not dialect.identify("", [answer(b"", 503), answer(info)]).is_ready


def test_llama_tells_its_build_and_its_file() -> None:
    dialect = LlamaCppCompletionDialect()
    assert [each.path for each in dialect.handshake("")] == ["//health", "//props", "//v1/models"]
    properties = b'{"build_info":"b1-0c1e570","model_path":"/m.gguf"}'
    found = dialect.identify("", [answer(b"{}"), answer(properties), answer(b'{"data":[{"id":"smol"}]}')])
    assert (found.is_ready, found.version, found.revision) == (True, "b1-0c1e570", "/m.gguf")
    assert found.models == ("smol",)
    assert not dialect.identify("", [answer(b"{}", 503), GONE, GONE]).is_ready

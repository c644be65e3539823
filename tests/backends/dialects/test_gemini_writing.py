"""What is asked of Gemini: every byte of it, in both of its APIs."""

from typing import Any

import pytest
from backends.dialects.native_streams import SCHEMA, offering, request, translation

from commitgate.backends.base import Message, Sampling
from commitgate.backends.dialect import Answer, Outgoing, UnwritableError
from commitgate.backends.dialects.gemini import GeminiDialect
from commitgate.backends.dialects.gemini_interactions import GeminiInteractionsDialect
from commitgate.errors import UnsupportedError
from commitgate.reasoning import Reasoning

DRAWN = {"maxOutputTokens": 512, "topP": 1.0}
DRAWN_IN_INTERACTIONS = {"max_output_tokens": 512, "top_p": 1.0}


def written(**told: Any) -> Outgoing:
    return GeminiDialect().write(request(**told))


def body(**told: Any) -> dict[str, Any]:
    found = written(**told).body
    assert found is not None
    return found


def interacted(**told: Any) -> dict[str, Any]:
    found = GeminiInteractionsDialect().write(request(**told)).body
    assert found is not None
    return found


def test_schema_goes_into_the_json_schema_of_the_answer() -> None:
    assert written(model="gemini-x-1") == Outgoing(
        path="/models/gemini-x-1:streamGenerateContent?alt=sse",
        body={
            "contents": [{"role": "user", "parts": [{"text": "Where?"}]}],
            "generationConfig": {**DRAWN, "responseMimeType": "application/json", "responseJsonSchema": SCHEMA},
        },
    )


def test_choices_are_an_enum_of_text() -> None:
    assert body(translation=translation("choices", choices=("yes", "no")))["generationConfig"] == {
        **DRAWN,
        "responseMimeType": "text/x.enum",
        "responseSchema": {"type": "STRING", "enum": ["yes", "no"]},
    }


def test_answer_by_the_prompt_alone_has_no_constraint() -> None:
    assert body(translation=translation("prompt"))["generationConfig"] == DRAWN


def test_schema_that_allows_everything_is_an_empty_one() -> None:
    told = body(translation=translation(schema=True))["generationConfig"]
    assert told["responseJsonSchema"] == {}


@pytest.mark.parametrize("form", ["regex", "grammar"])
def test_form_that_gemini_does_not_take_is_unsupported(form: str) -> None:
    for dialect in (GeminiDialect(), GeminiInteractionsDialect()):
        with pytest.raises(UnsupportedError, match=rf"^{form}: Gemini"):
            dialect.write(request(translation=translation(form, pattern="a", grammar="b")))


def test_choices_are_unsupported_in_interactions() -> None:
    with pytest.raises(UnsupportedError):
        interacted(translation=translation("choices", choices=("a",)))


TALK = (
    Message("system", "Be brief."),
    Message("system", "Be kind."),
    Message("user", "Where?"),
    Message("assistant", "Lima"),
    Message("user", "Sure?"),
)


def test_conversation_is_told_in_the_servers_roles() -> None:
    told = body(messages=TALK)
    assert told["systemInstruction"] == {"parts": [{"text": "Be brief."}, {"text": "Be kind."}]}
    assert [(each["role"], each["parts"]) for each in told["contents"]] == [
        ("user", [{"text": "Where?"}]),
        ("model", [{"text": "Lima"}]),
        ("user", [{"text": "Sure?"}]),
    ]


def test_conversation_of_interactions_is_told_in_steps() -> None:
    told = interacted(messages=TALK)
    assert told["system_instruction"] == "Be brief.\n\nBe kind."
    assert [(each["type"], each["content"][0]["text"]) for each in told["input"]] == [
        ("user_input", "Where?"),
        ("model_output", "Lima"),
        ("user_input", "Sure?"),
    ]


@pytest.mark.parametrize(
    "messages",
    [(Message("user", "Where?"), Message("system", "Be brief.")), (Message("system", "Be brief."),)],
)
def test_conversation_that_cannot_be_told_is_refused(messages: tuple[Message, ...]) -> None:
    for dialect in (GeminiDialect(), GeminiInteractionsDialect()):
        with pytest.raises(UnwritableError, match=r"^messages: Gemini") as found:
            dialect.write(request(messages=messages))
        assert found.value.code == "messages"


def test_every_way_to_draw_is_written() -> None:
    sampling = Sampling(temperature=0.5, top_k=7, top_p=0.9, seed=3, max_tokens=40)
    told = body(sampling=sampling, translation=translation("prompt"))["generationConfig"]
    assert told == {"maxOutputTokens": 40, "temperature": 0.5, "topP": 0.9, "topK": 7, "seed": 3}


def test_thoughts_have_their_limit_beside_the_answer() -> None:
    told = body(reasoning=Reasoning(max_tokens=100), translation=translation("prompt"))["generationConfig"]
    assert told["maxOutputTokens"] == 612
    assert told["thinkingConfig"] == {"thinkingBudget": 100, "includeThoughts": True}


def test_no_thoughts_are_a_limit_of_nought() -> None:
    told = body(reasoning=Reasoning(max_tokens=0))["generationConfig"]
    assert (told["maxOutputTokens"], told["thinkingConfig"]) == (512, {"thinkingBudget": 0, "includeThoughts": False})


@pytest.mark.parametrize("marks", [{"end": "</t>"}, {"begin": "<think>"}, {"gap": ""}])
def test_marks_of_thoughts_cannot_be_told(marks: dict[str, str]) -> None:
    with pytest.raises(UnwritableError, match=r"^reasoning: Gemini cannot be told marks"):
        written(reasoning=Reasoning(max_tokens=9, **marks))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "told", [{"reasoning": Reasoning(max_tokens=0)}, {"sampling": Sampling(top_k=3)}, {"model": ""}]
)
def test_what_interactions_cannot_be_told_is_refused(told: dict[str, Any]) -> None:
    with pytest.raises(UnwritableError):
        interacted(**told)


@pytest.mark.parametrize(
    ("model", "path"),
    [
        ("gemini-x", "/models/gemini-x"),
        ("models/gemini-x", "/models/gemini-x"),
        ("tunedModels/my-one", "/tunedModels/my-one"),
        ("a?b#c:d é", "/models/a%3Fb%23c%3Ad%20%C3%A9"),
    ],
)
def test_model_stands_in_the_path(model: str, path: str) -> None:
    assert written(model=model).path == f"{path}:streamGenerateContent?alt=sse"


@pytest.mark.parametrize("model", ["", "..", "a/../../b", "/a", "a/", "a//b", "."])
def test_model_that_cannot_stand_in_a_path_is_refused(model: str) -> None:
    with pytest.raises(UnwritableError):
        written(model=model)


def test_schema_of_interactions_goes_into_the_response_format() -> None:
    found = GeminiInteractionsDialect().write(request(sampling=Sampling(temperature=0, seed=4)))
    assert found == Outgoing(
        path="/interactions",
        headers={"api-revision": "2026-05-20"},
        body={
            "model": "m",
            "input": [{"type": "user_input", "content": [{"type": "text", "text": "Where?"}]}],
            "stream": True,
            "store": False,
            "response_format": {"type": "text", "mime_type": "application/json", "schema": SCHEMA},
            "generation_config": {**DRAWN_IN_INTERACTIONS, "temperature": 0, "seed": 4},
        },
    )


@pytest.mark.parametrize(
    ("answer", "strict", "choice"),
    [
        ("text", False, {"mode": "AUTO"}),
        ("json", True, {"mode": "VALIDATED"}),
        ("none", True, {"mode": "ANY", "allowedFunctionNames": ["search", "now"]}),
    ],
)
def test_tools_are_offered_as_functions(answer: str, strict: bool, choice: dict[str, Any]) -> None:
    told = body(**offering(answer, strict=strict))
    assert "systemInstruction" not in told
    assert told["tools"] == [
        {
            "functionDeclarations": [
                {
                    "name": "search",
                    "description": "Look it up.",
                    "parametersJsonSchema": {"type": "object", "x": 1},
                },
                {"name": "now", "parametersJsonSchema": {"type": "object"}},
            ]
        }
    ]
    assert told["toolConfig"] == {"functionCallingConfig": choice}
    assert GeminiDialect().expected(request(**offering(answer))).offers_tools


@pytest.mark.parametrize(
    ("answer", "strict", "choice"), [("text", False, "auto"), ("text", True, "validated"), ("none", True, "any")]
)
def test_tools_are_offered_in_interactions(answer: str, strict: bool, choice: str) -> None:
    told = interacted(**offering(answer, strict=strict))
    assert told["tools"] == [
        {
            "type": "function",
            "name": "search",
            "description": "Look it up.",
            "parameters": {"type": "object", "x": 1},
        },
        {"type": "function", "name": "now", "parameters": {"type": "object"}},
    ]
    assert told["generation_config"] == {**DRAWN_IN_INTERACTIONS, "tool_choice": choice}


def test_tools_that_are_asked_for_as_text_are_not_offered() -> None:
    told = offering()
    for dialect in (GeminiDialect(), GeminiInteractionsDialect()):
        asked = request(**{**told, "translation": translation()})
        found = dialect.write(asked).body or {}
        assert not found.keys() & {"tools", "toolConfig"}
        assert not dialect.expected(asked).offers_tools
        assert "Call like so." in str(found)


def test_description_of_the_model_tells_its_version() -> None:
    about = b'{"name":"models/gemini-x","version":"001","displayName":"X"}'
    for dialect in (GeminiDialect(), GeminiInteractionsDialect()):
        (asked,) = dialect.handshake("gemini-x")
        assert (asked.method, asked.path, asked.body) == ("GET", "/models/gemini-x", None)
        found = dialect.identify("gemini-x", [Answer(status=200, headers={}, body=about)])
        assert (found.is_ready, found.models, found.revision) == (True, ("gemini-x",), "001")


def test_descriptions_of_all_models_are_asked_where_none_is_named() -> None:
    dialect = GeminiDialect()
    (asked,) = dialect.handshake("")
    listed = b'{"models":[{"name":"models/a","version":"1"},{"name":"models/b"}]}'
    found = dialect.identify("", [Answer(status=200, headers={}, body=listed)])
    assert (asked.path, found.models, found.revision) == ("/models", ("a", "b"), None)


@pytest.mark.parametrize(("status", "answer"), [(0, b""), (403, b'{"error":{}}'), (404, b"<html>")])
def test_server_that_tells_nothing_is_not_ready(status: int, answer: bytes) -> None:
    found = GeminiDialect().identify("m", [Answer(status=status, headers={}, body=answer)])
    assert (found.is_ready, found.models) == (False, ())


def test_vertex_takes_a_token_and_is_asked_nothing_beforehand() -> None:
    dialect = GeminiDialect(on_vertex=True)
    assert (dialect.facts.key_header, dialect.facts.base_url) == ("bearer", None)
    assert (dialect.handshake("m"), dialect.identify("m", []).is_ready) == ((), True)
    assert dialect.write(request(model="g")).path == "/models/g:streamGenerateContent?alt=sse"

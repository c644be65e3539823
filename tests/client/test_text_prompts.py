"""What a model is told of a text that is no JSON, and within which bounds."""

import json

import pytest
from client.scripts import client_with

from commitgate import AnyJson, Choices, Contract, Edge, Grammar, Limits, Machine, Message, Regex
from commitgate.languages import JsonRoot, TextSource
from commitgate.run.conversation import HOW_TO_REFUSE, Conversation
from commitgate.run.text_outline import CHARACTERS, LINES, LITERAL_CHARACTERS, text_outline
from commitgate.testing import ScriptedBackend

WALK = Machine(
    start="idle",
    accepting=["done"],
    edges=[
        Edge("idle", "open ", "run"),
        Edge("run", Regex("[0-9]+"), "done"),
        Edge("run", Choices(["a", "b"]), "done"),
        Edge("run", Contract.of(Grammar('root ::= "x"')), "done"),
        Edge("done", {"type": "integer"}, "run"),
    ],
)
GRAMMAR = 'root ::= item+\nitem ::= "- " [a-z]+ "\\n"'
MOST = CHARACTERS + 1_000


def told(contract: Contract[str] | Contract[object], prompt: str | None = "go") -> tuple[Message, ...]:
    return Conversation.of(prompt, None, None).to_send(contract, "append")


def test_choices_are_listed_one_a_line() -> None:
    system, user = told(Contract.of(Choices(["yes", "no", "yes"])))
    heading, *lines = system.content.splitlines()
    assert "one of these texts" in heading
    assert lines == ["yes", "no"]
    assert (system.role, user.content) == ("system", "go")


@pytest.mark.parametrize("text", [" a", "a\nb", "", "\x1b[31m", "a\t"])
def test_choice_that_would_not_be_told_apart_stands_in_quotes(text: str) -> None:
    assert text_outline(Choices([text])).split("\n")[1:] == [json.dumps(text)]


def test_pattern_is_shown_as_it_stands_with_its_flags() -> None:
    outline = text_outline(Regex("[a-z]{2}\\d+"))
    assert outline.splitlines()[1:] == ["[a-z]{2}\\d+"]
    assert text_outline(Regex("a", "i")).splitlines()[1:] == ["a", "Its flags: i"]


def test_grammar_is_shown_as_it_stands() -> None:
    heading, *lines = text_outline(Grammar(GRAMMAR)).splitlines()
    assert "GBNF" in heading
    assert lines == GRAMMAR.splitlines()
    assert "Lark" in text_outline(Grammar('start: "a"', "lark"))


def test_rule_that_begins_a_grammar_is_named_where_it_was_chosen() -> None:
    assert "begins with item:" in text_outline(Grammar(GRAMMAR, start="item")).splitlines()[0]
    assert "begins" not in text_outline(Grammar(GRAMMAR)).splitlines()[0]


def test_choices_of_an_edge_are_cut_with_a_mark() -> None:
    few, many = (Choices(map(str, range(count))) for count in (20, 21))
    _, line, longer = text_outline(
        Machine(start="a", accepting=["a"], edges=[Edge("a", few, "a"), Edge("a", many, "a")])
    ).splitlines()
    assert line.endswith('"18", "19"')
    assert longer.endswith('"18", "19", …')


def test_machine_is_told_edge_by_edge() -> None:
    heading, *lines = text_outline(WALK).splitlines()
    assert "from idle" in heading
    assert "end at done" in heading
    assert lines == [
        '- idle -> run: "open "',
        "- run -> done: a text that matches [0-9]+",
        '- run -> done: one of "a", "b"',
        "- run -> done: a text of a grammar",
        "- done -> run: JSON",
    ]


@pytest.mark.parametrize("source", [Choices(["a"]), Regex("a"), Grammar('root ::= "a"'), WALK])
def test_no_schema_of_a_string_is_shown(source: TextSource) -> None:
    system, _ = told(Contract.of(source))
    assert "JSON schema" not in system.content
    assert '"type"' not in system.content


@pytest.mark.parametrize(
    "source",
    [
        Choices([f"choice {number}" for number in range(10_000)]),
        Choices(["x" * 100_000, "y"]),
        Regex("a" * 100_000),
        Grammar("# " + "x" * 100_000 + '\nroot ::= "a"'),
        Grammar("\n" * 100_000 + 'root ::= "a"'),
        Machine(
            start="s",
            accepting=["s" * 1_000, *map(str, range(1_000))],
            edges=[Edge("s", "x" * 1_000, str(number)) for number in range(1_000)],
        ),
    ],
    ids=["choices", "long choice", "pattern", "comment", "lines", "machine"],
)
def test_what_is_told_is_bounded(source: TextSource) -> None:
    outline = text_outline(source)
    assert len(outline) <= 2 * MOST
    assert len(outline.splitlines()) <= LINES + 3
    assert "…" in outline


def test_long_choice_is_cut_within_its_line() -> None:
    _, line, other = text_outline(Choices(["x" * 1_000, "y"])).splitlines()
    assert line == "x" * LITERAL_CHARACTERS + "…"
    assert other == "y"


def test_words_from_elsewhere_that_constrain_nothing_are_not_shown() -> None:
    for source in (
        Grammar('# obey me\nroot ::= "a"'),
        WALK,
        Regex("a(?#obey me)"),
        Regex("(?<obey_me>a)"),
        Regex("(?P<obey_me>a)"),
    ):
        system, _ = told(Contract.of(source, prose="strip"))
        assert "obey" not in system.content
        assert "idle" not in system.content
        assert system.content.startswith("You answer with one text")
    for shown in (Choices(["yes"]), Regex("yes"), Regex("yes(?<=s)"), Regex("yes(?<!no)")):
        system, _ = told(Contract.of(shown, prose="strip"))
        assert "yes" in system.content


def test_model_is_told_how_to_decline() -> None:
    system, _ = told(Contract.of(Choices(["yes"]), refusal=True))
    assert system.content.endswith(HOW_TO_REFUSE)


@pytest.mark.parametrize(
    ("source", "prompt"), [(Choices(["yes"]), "Choose one text."), (Regex("a"), "Write one text.")]
)
def test_caller_without_words_has_a_plain_prompt(source: TextSource, prompt: str) -> None:
    *_, user = told(Contract.of(source), None)
    assert user == Message("user", prompt)


@pytest.mark.parametrize("root", ["any", "object"])
def test_any_json_is_told_with_its_depth(root: JsonRoot) -> None:
    system, _ = told(Contract.of(AnyJson(root=root, nesting=3)))
    assert system.content.startswith("You answer with JSON.")
    assert system.content.endswith("at most 3 deep within one another.")
    assert ('"object"' in system.content) == (root == "object")


def test_depth_is_told_where_it_was_bounded_and_no_fields_are_shown() -> None:
    shallow = Limits(nesting=2)
    assert "deep" in told(Contract.of(True, limits=shallow))[0].content
    assert told(Contract.of(True)) == (Message("user", "go"),)
    fields = {"type": "object", "properties": {"a": {"type": "integer"}}}
    assert "deep" not in told(Contract.of(fields, limits=shallow))[0].content


@pytest.mark.anyio
async def test_caller_may_say_all_himself() -> None:
    backend = ScriptedBackend([{"text": "yes"}, {"finish": "stop"}])
    async with client_with(backend) as client:
        outcome = await client.generate_structured("scripted", Choices(["yes"]), prompt="say yes", prompt_schema="none")
    assert outcome.unwrap() == "yes"
    assert backend.requests[0].messages == (Message("user", "say yes"),)

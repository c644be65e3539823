"""The commands take a pattern, a grammar, choices or any JSON in place of a schema."""

import json
from pathlib import Path
from typing import Any

import pytest
from cli.command_shell import SCHEMA, Done
from cli.quick_shell import QuickShell

from commitgate.cli.app import run
from commitgate.testing import ScriptedBackend

GBNF = 'root ::= "a"+\n'
LARK = 'start: "a"+\n'
FAULTY = 'root ::= item\nitem ::= "a\n'
BUDGET = ["--model", "scripted", "--prompt", "go"]


def write(quick: QuickShell, name: str, text: str) -> str:
    (quick.folder / name).write_text(text, encoding="utf-8")
    return name


def generate(quick: QuickShell, capsys: pytest.CaptureFixture[str], text: str, *arguments: str) -> Done:
    """Run ``generate`` with a backend that writes a text."""
    del quick
    backend = ScriptedBackend([{"text": text[:1]}, {"text": text[1:]}, {"finish": "stop"}])
    capsys.readouterr()
    code = run(["generate", *BUDGET, *arguments], backends={"scripted": backend})
    out, err = capsys.readouterr()
    return Done(code, out, err)


def check(quick: QuickShell, text: str, *arguments: str) -> Done:
    return quick.commitgate("check", *arguments, "--json", write(quick, "text", text))


def layers(done: Done) -> dict[str, dict[str, Any]]:
    (found,) = done.report["texts"]
    return {layer["layer"]: layer for layer in found["layers"]}


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--regex", "[0-9]+-[a-z]"], "12-a"),
        (["--choice", "yes", "--choice", "not sure"], "not sure"),
        (["--grammar", "g.gbnf"], "aaa"),
        (["--grammar", "g.lark"], "aaa"),
        (["--grammar", "g.txt"], "aaa"),
        (["--grammar", "lark.txt", "--grammar-syntax", "lark"], "aaa"),
    ],
)
def test_text_is_generated_and_checked(
    quick: QuickShell, capsys: pytest.CaptureFixture[str], arguments: list[str], text: str
) -> None:
    for name, grammar in (("g.gbnf", GBNF), ("g.txt", GBNF), ("g.lark", LARK), ("lark.txt", LARK)):
        write(quick, name, grammar)
    done = generate(quick, capsys, text, *arguments)
    assert (done.code, done.report["outcome"], done.report["value"]) == (0, "committed", text)
    checked = check(quick, text, *arguments)
    assert (checked.code, checked.report["accepted"]) == (0, True)
    assert {name: layer["passed"] for name, layer in layers(checked).items()} == {
        "accept": True,
        "parse": None,
        "schema": None,
    }


def test_any_json_is_generated_and_checked(quick: QuickShell, capsys: pytest.CaptureFixture[str]) -> None:
    assert generate(quick, capsys, '{"a": [1]}', "--any-json").report["value"] == {"a": [1]}
    assert check(quick, "[1]", "--any-json").code == 0
    assert check(quick, "[1", "--any-json").code == 19


def test_text_outside_is_told_with_its_byte(quick: QuickShell, capsys: pytest.CaptureFixture[str]) -> None:
    done = generate(quick, capsys, "12-", "--regex", "[0-9]+")
    assert (done.code, done.report["outcome"], done.report["kind"]) == (18, "violated", "constraint")
    assert done.report["position"] == 2
    checked = check(quick, "12\n", "--regex", "[0-9]+")
    assert checked.code == 19
    (failure,) = layers(checked)["accept"]["failures"]
    assert (failure["code"], failure["data"]["position"]) == ("impossible_byte", 2)
    assert "schema" not in failure["message"]


@pytest.mark.parametrize(
    ("pattern", "text", "is_told"),
    [
        ("[0-9]+", "12\n", True),
        ("[0-9]+", "12\r\n", True),
        ("[0-9]+(\nx)?", "12\n", True),
        ("[0-9]+", "12\n\n", False),
        ("[0-9]+", "1a\n", False),
        ("[0-9]+", "12 ", False),
    ],
)
def test_line_end_that_alone_is_wrong_is_told(quick: QuickShell, pattern: str, text: str, is_told: bool) -> None:
    done = quick.commitgate("check", "--regex", pattern, "--json", write(quick, "text", text))
    assert done.code == 19
    (failure,) = layers(done)["accept"]["failures"]
    assert ("the line end at the file's end is text too" in failure["message"]) is is_told


def test_line_end_that_belongs_is_accepted(quick: QuickShell) -> None:
    assert check(quick, "12\n", "--regex", "[0-9]+\\n").code == 0


@pytest.mark.parametrize(
    ("name", "grammar", "option"), [("g.txt", LARK, "lark"), ("g.lark", GBNF, "gbnf"), ("g.gbnf", LARK, "lark")]
)
def test_grammar_in_the_other_notation_is_told_with_its_file_and_the_option(
    quick: QuickShell, capsys: pytest.CaptureFixture[str], name: str, grammar: str, option: str
) -> None:
    write(quick, name, grammar)
    told = quick.commitgate("check", "--grammar", name, "--support").err
    message = generate(quick, capsys, "a", "--grammar", name).report["message"]
    for words in (told, message):
        assert f"--grammar-syntax {option}" in words
        assert "syntax=" not in words
        assert f"the grammar {name})" in words


def test_check_in_words_and_the_support_of_a_text(quick: QuickShell) -> None:
    write(quick, "good", "yes")
    done = quick.commitgate("check", "--choice", "yes", "--support", "good")
    assert done.code == 0
    assert done.out.splitlines() == [
        "decoded     choices  the root",
        "good: accepted",
        "  accept  yes",
        "  parse   not asked",
        "  schema  not asked",
    ]


@pytest.mark.parametrize("command", ["generate", "check"])
@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--schema", "schema.json", "--regex", "a"],
        ["--regex", "a", "--choice", "b"],
        ["--any-json", "--grammar", "g"],
        ["--choice", "b", "--any-json"],
    ],
)
def test_exactly_one_form_is_asked_for(quick: QuickShell, command: str, arguments: list[str]) -> None:
    rest = ["--prompt", "go"] if command == "generate" else ["--support"]
    done = quick.commitgate(command, *arguments, *rest)
    assert (done.code, done.out) == (2, "")
    assert "exactly one of --schema, --regex, --grammar, --choice and --any-json" in done.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--regex", "a", "--grammar-syntax", "lark"], "--grammar-syntax goes with --grammar"),
        (["--regex", "a", "--formats", "annotate"], "--document and --formats go with --schema"),
        (["--regex", "a", "--formats", "assert"], "--document and --formats go with --schema"),
        (
            ["--choice", "a", "--document", "https://x.example=schema.json"],
            "--document and --formats go with --schema",
        ),
        (["--grammar", "gone.gbnf"], "cannot read the grammar gone.gbnf"),
        (["--grammar", "-", "-"], "standard input can be read once only"),
    ],
)
def test_options_that_do_not_go_together(quick: QuickShell, arguments: list[str], words: str) -> None:
    done = quick.commitgate("check", *arguments, *([] if "-" in arguments else ["--support"]))
    assert (done.code, done.out) == (2, "")
    assert words in done.err


def test_one_file_may_be_standard_input(quick: QuickShell) -> None:
    write(quick, "text", "aa")
    assert quick.commitgate("check", "--grammar", "-", "text", stdin=GBNF).code == 0
    assert quick.commitgate("check", "--regex", "a+", "-", stdin="aa").code == 0


def test_faulty_pattern_is_told_with_its_character(quick: QuickShell, capsys: pytest.CaptureFixture[str]) -> None:
    done = quick.commitgate("check", "--regex", "ab(", "--support")
    assert (done.code, done.out) == (16, "")
    assert "character 2" in done.err
    done = generate(quick, capsys, "x", "--regex", "ab(")
    assert (done.code, done.report["outcome"], done.report["position"]) == (16, "compile_failed", 2)
    assert "character 2" in done.report["message"]


def test_pattern_without_a_text_is_told_with_its_character(
    quick: QuickShell, capsys: pytest.CaptureFixture[str]
) -> None:
    done = generate(quick, capsys, "x", "--regex", "a^b")
    assert (done.code, done.report["outcome"]) == (16, "compile_failed")
    assert done.report["message"].endswith("(character 1)")
    done = quick.commitgate("check", "--regex", "a^b", "--support")
    assert done.code == 16
    assert done.err.endswith("(character 1)\n")
    done = quick.commitgate("lint", "--regex", "a^b")
    assert done.code == 27
    assert "unsatisfiable  character 1\n" in done.out


def test_pattern_that_is_not_regular_is_unsupported(quick: QuickShell, capsys: pytest.CaptureFixture[str]) -> None:
    assert quick.commitgate("check", "--regex", r"(a)\1", "--support").code == 15
    done = generate(quick, capsys, "aa", "--regex", r"(a)\1")
    assert (done.code, done.report["keyword"], done.report["position"]) == (15, "regex", 3)


@pytest.mark.parametrize(
    ("name", "grammar"),
    [
        ("g.gbnf", FAULTY),
        ("g.gbnf", 'root ::= "a"\nroot2 ::= [0'),
        ("g.lark", 'start: "a"\nx: "\n'),
        ("g.lark", 'start: "a"\n  | /(b)\\1/\n'),
    ],
)
def test_faulty_grammar_is_told_with_its_line_and_column(
    quick: QuickShell, capsys: pytest.CaptureFixture[str], name: str, grammar: str
) -> None:
    write(quick, name, grammar)
    done = quick.commitgate("check", "--grammar", name, "--support")
    assert done.code in (15, 16)
    assert "line 2, column " in done.err
    generated = generate(quick, capsys, "a", "--grammar", name)
    assert generated.code == done.code
    assert "line 2, column " in generated.report["message"]
    assert generated.report["position"] >= grammar.index("\n")


def test_schema_is_still_a_schema(quick: QuickShell, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert json.loads((tmp_path / "schema.json").read_text(encoding="utf-8")) == SCHEMA
    done = generate(quick, capsys, '{"priority": "low", "summary": "x"}', "--schema", "schema.json")
    assert done.report["value"] == {"priority": "low", "summary": "x"}


def test_second_call_with_the_key_replays_the_text(quick: QuickShell, capsys: pytest.CaptureFixture[str]) -> None:
    first = generate(quick, capsys, "12", "--regex", "[0-9]+", "--operation-key", "k")
    again = generate(quick, capsys, "34", "--regex", "[0-9]+", "--operation-key", "k")
    assert [each.report["value"] for each in (first, again)] == ["12", "12"]
    assert again.report["is_replayed"] is True
    assert generate(quick, capsys, "34", "--regex", "[0-9]*", "--operation-key", "k").code == 6

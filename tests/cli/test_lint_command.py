"""``commitgate lint``: what it tells people and programs, and its exit codes."""

import json
import sys
from typing import Any

import pytest
from cli.command_shell import Shell
from cli.quick_shell import QuickShell

from commitgate.lint import RULES

LOOSE = {"type": "object", "properties": {"note": {"type": "string"}}}
CHECKED = {"type": "array", "items": {"type": "string", "maxLength": 3}, "maxItems": 2, "uniqueItems": True}


def write(shell: QuickShell, schema: object) -> str:
    (shell.folder / "it.json").write_text(json.dumps(schema))
    return "it.json"


def test_command_runs_in_a_process_of_its_own(shell: Shell) -> None:
    shell.write("loose.json", json.dumps(LOOSE))
    done = shell.commitgate("lint", "loose.json", "--fail-on", "unbounded")
    assert done.code == 27
    assert "unbounded_string  /properties/note" in done.out
    assert "OpenAI, strict" in done.out
    assert done.err == ""


def test_json_is_one_object_of_the_documented_shape(quick: QuickShell) -> None:
    done = quick.commitgate("lint", write(quick, LOOSE), "--json")
    assert done.code == 0
    report: dict[str, Any] = done.report
    assert list(report) == [
        "exit_code",
        "failed_by",
        "version",
        "name",
        "kind",
        "is_usable",
        "is_complete",
        "support",
        "complexity",
        "walks",
        "masks",
        "findings",
        "omitted",
        "vendors",
    ]
    assert (report["exit_code"], report["version"], report["kind"], report["masks"]) == (0, 1, "schema", None)
    (found,) = [each for each in report["findings"] if each["code"] == "unbounded_string"]
    assert set(found) == {"code", "severity", "pointer", "keyword", "message", "instead", "position"}
    assert {each["code"] for each in report["findings"]} <= set(RULES)
    assert {"name", "title", "basis", "verdict", "is_sure", "notes"} == set(report["vendors"][0])


@pytest.mark.parametrize(
    ("schema", "fail_on", "code"),
    [
        (LOOSE, [], 0),
        (LOOSE, ["checked"], 0),
        (LOOSE, ["unbounded"], 27),
        (CHECKED, [], 0),
        (CHECKED, ["checked"], 27),
        (CHECKED, ["unbounded"], 0),
        (CHECKED, ["unbounded", "checked"], 27),
        ({"type": "boolean"}, ["unbounded", "checked"], 0),
    ],
)
def test_fail_on_decides_the_exit_code(quick: QuickShell, schema: object, fail_on: list[str], code: int) -> None:
    words = [word for each in fail_on for word in ("--fail-on", each)]
    assert quick.commitgate("lint", write(quick, schema), *words).code == code
    assert quick.commitgate("lint", write(quick, schema), *words, "--json").report["exit_code"] == code


@pytest.mark.parametrize(
    ("schema", "fail_on", "failed_by", "last"),
    [
        (LOOSE, [], [], None),
        (CHECKED, ["unbounded"], [], None),
        (
            LOOSE,
            ["unbounded"],
            ["unbounded_string"],
            "failed: findings that --fail-on names: 1 unbounded_string",
        ),
        (CHECKED, ["checked"], ["checked_keyword"], "failed: findings that --fail-on names: 1 checked_keyword"),
        (
            {"properties": {name: {"type": 3} for name in map(str, range(25))}},
            [],
            ["malformed"],
            "failed: no contract can be made of it: 25 malformed",
        ),
    ],
)
def test_what_failed_the_run_is_told_last(
    quick: QuickShell, schema: object, fail_on: list[str], failed_by: list[str], last: str | None
) -> None:
    words = [word for each in fail_on for word in ("--fail-on", each)]
    assert quick.commitgate("lint", write(quick, schema), *words, "--json").report["failed_by"] == failed_by
    out = quick.commitgate("lint", write(quick, schema), *words).out
    assert ("failed:" in out) is (last is not None)
    assert last is None or out.splitlines()[-1] == last


@pytest.mark.parametrize("sign", ["\u001b", "\u009b", "\u007f", "\u202e", "\u2028", "\U000e0001", "\ue000"])
def test_json_holds_no_character_that_is_not_meant_to_be_seen(quick: QuickShell, sign: str) -> None:
    name = f"{sign}31mé"
    done = quick.commitgate("lint", write(quick, {"type": "object", "properties": {name: {}}, name: 1}), "--json")
    assert sign not in done.out
    assert f"/properties/{name}" in {found["pointer"] for found in done.report["findings"]}


def test_faulty_schema_is_told_and_fails(quick: QuickShell) -> None:
    faulty = {"type": "object", "properties": {"a": {"pattern": r"(.)\1"}, "b": {"type": 3}}}
    done = quick.commitgate("lint", write(quick, faulty))
    assert done.code == 27
    assert "rejected  /properties/a" in done.out
    assert "malformed  /properties/b" in done.out
    assert done.err == ""


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["--regex", "[a-z]+"], 0, "unbounded_repeat"),
        (["--regex", "[a-z]+", "--fail-on", "unbounded"], 27, "unbounded_repeat"),
        (["--regex", "("], 27, "character 0"),
        (["--any-json"], 0, "any_value"),
        (["--schema", "it.json"], 0, "any_value"),
        (["--choice", "no", "--choice", "nothing"], 0, "prefix_choice"),
        (["--grammar", "it.gbnf"], 0, "unreachable_rule"),
    ],
)
def test_what_is_no_schema_can_be_linted(quick: QuickShell, words: list[str], code: int, told: str) -> None:
    write(quick, {})
    (quick.folder / "it.gbnf").write_text('root ::= "a"\nother ::= "b"\n')
    done = quick.commitgate("lint", *words)
    assert done.code == code
    assert told in done.out


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["schema.json", "--regex", "a"],
        ["schema.json", "--schema", "schema.json"],
        ["schema.json", "--any-json"],
        ["--any-json", "--formats", "assert"],
        ["gone.json"],
        ["-", "--document", "https://example.com/b=-"],
        ["schema.json", "--grammar-syntax", "lark"],
        ["--regex", "a", "--document", "https://example.com/b=schema.json"],
    ],
)
def test_misuse_is_a_usage_error(quick: QuickShell, words: list[str]) -> None:
    assert quick.commitgate("lint", *words).code == 2


def test_two_bounds_of_one_case_are_told_apart(quick: QuickShell) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer", "minimum": 1, "maximum": 2}}}
    lines = quick.commitgate("lint", write(quick, schema)).out.splitlines()
    notes = [line.strip() for line in lines[lines.index("vendors") :] if "a bound on an integer" in line]
    assert "refused: a bound on an integer (minimum) at /properties/a" in notes
    assert "refused: a bound on an integer (maximum) at /properties/a" in notes


def test_advice_that_an_error_already_gives_is_not_repeated(quick: QuickShell) -> None:
    out = quick.commitgate("lint", write(quick, {"type": "string", "pattern": r"(.)\1"})).out
    assert out.count("write the alternatives out") == 1
    assert "rejected   pattern  the root\n" in out


def test_documents_and_formats_reach_the_schema(quick: QuickShell) -> None:
    (quick.folder / "b.json").write_text('{"type": "string", "format": "date"}')
    name = write(quick, {"$ref": "https://example.com/b"})
    words = ("lint", name, "--document", "https://example.com/b=b.json", "--fail-on", "unbounded")
    assert quick.commitgate(*words).code == 0
    assert quick.commitgate(*words, "--formats", "annotate").code == 27


def test_what_a_schema_says_cannot_steer_the_terminal(quick: QuickShell) -> None:
    name = "\u001b[31m\u202e"
    done = quick.commitgate("lint", write(quick, {"type": "object", "properties": {name: {}}, name: 1}))
    assert "\u001b" not in done.out
    assert "\u202e" not in done.out
    assert "\\u001b" in done.out


def test_tokenizer_that_is_not_there_is_told(quick: QuickShell) -> None:
    done = quick.commitgate("lint", "schema.json", "--tokenizer", "nowhere")
    assert done.code == 4
    assert "nowhere" in done.err


def test_missing_extra_is_named(shell: Shell) -> None:
    program = "import sys; sys.modules['torch'] = None; from commitgate.cli import main; main()"
    done = shell.run([sys.executable, "-c", program, "lint", "schema.json", "--tokenizer", "x"])
    assert done.code == 3
    assert "commitgate[local]" in done.err


@pytest.mark.model
def test_masks_of_the_bundled_tokenizer_are_measured(shell: Shell) -> None:
    if shell.commitgate("models", "list", "--json").report["models"][0]["state"] != "ready":
        pytest.skip("the bundled model is not ready; run: commitgate models pull")
    done = shell.commitgate("lint", "schema.json", "--tokenizer", "local", "--json")
    assert done.code == 0
    masks: dict[str, Any] = done.report["masks"]
    assert masks["texts"] == masks["finished"] == 32
    assert masks["tokens"] > 49_000
    assert masks["steps"] > masks["masks"] > 0


@pytest.mark.parametrize(
    ("text", "found"), [("[1, 2]", "an array"), ('"x"', "a string"), ("null", "null"), ("1.5", "a number")]
)
@pytest.mark.parametrize(
    "words", [["lint"], ["check", "--support", "--schema"], ["generate", "--prompt", "x", "--schema"]]
)
def test_json_that_can_be_no_schema_ends_alike_in_every_command(
    quick: QuickShell, words: list[str], text: str, found: str
) -> None:
    (quick.folder / "it.json").write_text(text)
    done = quick.commitgate(*words, "it.json", "--json")
    assert (done.code, done.report["error"]["code"]) == (16, "compile_failed")
    told = f"the schema it.json is no JSON Schema: at the root it must be an object, true or false, found {found}"
    assert done.report["error"]["message"] == told


@pytest.mark.parametrize(
    ("schema", "words"), [({"type": 5}, "type at the root"), ({"items": {"type": "strin"}}, "type at /items")]
)
def test_a_fault_within_a_schema_is_a_finding_with_place_and_keyword(
    quick: QuickShell, schema: object, words: str
) -> None:
    name = write(quick, schema)
    done = quick.commitgate("lint", name, "--json")
    (found,) = [each for each in done.report["findings"] if each["severity"] == "error"]
    assert (done.code, found["code"], found["keyword"]) == (27, "malformed", "type")
    assert words in found["message"]
    done = quick.commitgate("check", "--support", "--schema", name)
    assert done.code == 16
    assert words in done.err

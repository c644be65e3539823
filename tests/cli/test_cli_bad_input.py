"""Bad input: one clear sentence, the right exit code and no traceback."""

import json
import subprocess
import sys

import pytest
from cli.command_shell import SCHEMA, WHOLE, Done, Shell

STOP = {"finish": "stop"}
NEVER = [{"raise": "never"}]


def assert_one_sentence(done: Done, code: int, *words: str) -> None:
    assert done.code == code, done.err
    assert done.out == ""
    (line,) = done.err.splitlines()
    assert line.startswith("commitgate: ")
    assert all(word in line for word in words), line


def generate(shell: Shell, *arguments: str, stdin: str | None = None) -> Done:
    return shell.commitgate("generate", "--schema", "schema.json", "--prompt", "go", *arguments, stdin=stdin)


def test_schema_that_is_not_there(shell: Shell) -> None:
    done = shell.commitgate("generate", "--schema", "gone.json", "--prompt", "go")
    assert_one_sentence(done, 2, "gone.json", "No such file")


def test_schema_that_is_a_folder(shell: Shell) -> None:
    done = shell.commitgate("generate", "--schema", ".", "--prompt", "go")
    assert_one_sentence(done, 2, "directory")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"type": "object",\n}', ("not JSON", "line 2")),
        ("", ("not JSON", "line 1")),
        ('{"type": "object", "type": "string"}', ("not JSON", '"type"', "line 1")),
        ('{"maximum": NaN}', ("not JSON", "line 1")),
        (b"\xff\xfe", ("not JSON",)),
        ("[" * 5_000, ("not JSON",)),
    ],
)
def test_schema_that_is_not_json(shell: Shell, text: str | bytes, words: tuple[str, ...]) -> None:
    shell.write("schema.json", text)
    assert_one_sentence(generate(shell), 2, *words)


@pytest.mark.parametrize("text", ["[]", "3", '"string"', "null"])
def test_json_that_is_no_schema(shell: Shell, text: str) -> None:
    shell.write("schema.json", text)
    assert_one_sentence(generate(shell), 16, "schema.json", "object, true or false")


def test_byte_order_mark_of_a_schema_is_passed_over(shell: Shell) -> None:
    shell.write("schema.json", b"\xef\xbb\xbf" + json.dumps(SCHEMA).encode())
    assert shell.scripted([{"text": WHOLE}, STOP]).code == 0


@pytest.mark.parametrize("model", ["nobody", "nobody/model", "", "/"])
def test_unknown_model(shell: Shell, model: str) -> None:
    assert_one_sentence(generate(shell, "--model", model), 2, "local")


def test_local_path_without_a_model(shell: Shell) -> None:
    assert_one_sentence(generate(shell, "--model", "local/gone"), 4, "gone")


def test_prompt_that_is_not_there(shell: Shell) -> None:
    done = shell.commitgate("generate", "--schema", "schema.json", "--prompt-file", "gone.txt")
    assert_one_sentence(done, 2, "gone.txt", "prompt")


def test_prompt_that_is_not_text(shell: Shell) -> None:
    shell.write("prompt.txt", b"caf\xe9")
    done = shell.commitgate("generate", "--schema", "schema.json", "--prompt-file", "prompt.txt")
    assert_one_sentence(done, 2, "UTF-8", "byte 3")


def test_prompt_given_twice(shell: Shell) -> None:
    shell.write("prompt.txt", "go")
    assert_one_sentence(generate(shell, "--prompt-file", "prompt.txt"), 2, "not both")


def test_standard_input_for_two_options(shell: Shell) -> None:
    done = shell.commitgate("generate", "--schema", "-", "--prompt-file", "-", stdin="{}")
    assert_one_sentence(done, 2, "standard input")


@pytest.mark.parametrize(
    ("option", "value"),
    [("--max-tokens", "0"), ("--temperature", "-1"), ("--top-p", "0"), ("--top-k", "0")],
)
def test_option_out_of_range(shell: Shell, option: str, value: str) -> None:
    assert_one_sentence(generate(shell, option, value), 2, option.strip("-").replace("-", "_"))


@pytest.mark.parametrize("value", ["0", "-1", "nan"])
def test_time_limit_out_of_range(shell: Shell, value: str) -> None:
    assert_one_sentence(generate(shell, "--timeout", value), 2, "total_s", "seconds")


def test_unknown_option_is_a_usage_error(shell: Shell) -> None:
    done = generate(shell, "--nonsense")
    assert done.code == 2
    assert "--nonsense" in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize("place", ["schema.json/ledger.sqlite", "."])
def test_ledger_that_cannot_be_written(shell: Shell, place: str) -> None:
    done = shell.scripted(NEVER, "--operation-key", "k", "--ledger", place)
    assert_one_sentence(done, 5, "ledger")


def test_ledger_that_is_another_file(shell: Shell) -> None:
    shell.write("ledger.sqlite", "this is a note to myself, and no database at all. " * 40)
    done = shell.scripted(NEVER, "--operation-key", "k", "--ledger", "ledger.sqlite")
    assert_one_sentence(done, 5, "ledger")


def test_json_output_tells_errors_in_json_alone(shell: Shell) -> None:
    done = generate(shell, "--model", "nobody", "--json")
    assert done.code == 2
    assert done.err == ""
    assert done.report["error"]["code"] == "usage"
    assert done.report["error"]["exit_code"] == 2
    assert "nobody" in done.report["error"]["message"]


def test_escape_sequences_of_a_schema_do_not_reach_the_terminal(shell: Shell) -> None:
    shell.write("schema.json", '{"properties": {"\\u001b[31m": {"pattern": "(.)\\\\1"}}}')
    done = shell.commitgate("check", "--schema", "schema.json", "schema.json")
    assert done.code == 15
    assert "\x1b" not in done.err


def without(shell: Shell, module: str, *arguments: str) -> Done:
    """Run the command as if a package were not installed."""
    program = f"import sys; sys.modules[{module!r}] = None; from commitgate.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], cwd=shell.folder, capture_output=True, text=True, timeout=60
    )
    return Done(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize("module", ["typer", "rich"])
def test_missing_command_line_extra_is_named(shell: Shell, module: str) -> None:
    assert_one_sentence(without(shell, module, "--help"), 3, module, "commitgate[cli]")


@pytest.mark.parametrize("module", ["torch", "transformers"])
def test_missing_local_extra_is_named(shell: Shell, module: str) -> None:
    done = without(shell, module, "generate", "--schema", "schema.json", "--prompt", "go")
    assert_one_sentence(done, 3, "commitgate[local]")
    assert_one_sentence(without(shell, module, "models", "list"), 3, "commitgate[local]")


def test_call_without_a_prompt_is_refused_and_invents_nothing(shell: Shell) -> None:
    done = shell.commitgate("generate", "--schema", "schema.json", stdin="a mail that nobody reads")
    assert_one_sentence(done, 2, "--prompt", "--prompt-file")

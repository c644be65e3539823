"""Files of cases: every fault with its line and place at once, and nothing of their values in a message."""

import json
from pathlib import Path
from typing import Any

import pytest
from evaluation.suites import PAYMENT, SCHEMA

from commitgate import Message
from commitgate.errors import SuiteError
from commitgate.evaluation import Case, Suite, load_suite, read_cases
from commitgate.evaluation.case_file import MAX_FILE_BYTES, MAX_LINE_BYTES, MAX_LINE_NESTING
from commitgate.evaluation.suite_check import MOST_FAULTS_TOLD

HEADER: dict[str, Any] = {"commitgate_cases": 1, "contract": SCHEMA}
CANARY = "canary-of-a-value"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cases.jsonl"


def write(path: Path, *lines: Any, feed: str = "\n") -> Path:
    path.write_bytes(feed.join(line if isinstance(line, str) else json.dumps(line) for line in lines).encode())
    return path


def faults(path: Path) -> tuple[str, ...]:
    with pytest.raises(SuiteError) as refused:
        read_cases(path)
    assert CANARY not in str(refused.value)
    return refused.value.faults


def test_header_stands_before_every_case(path: Path) -> None:
    header = {
        **HEADER,
        "name": "n",
        "version": "2",
        "system": "Be short.",
        "sampling": {"temperature": 0.5, "max_tokens": 9, "seed": 3},
        "shown": [["q", "{}"]],
        "prompt_schema": "none",
    }
    own = [{"role": "system", "content": "own"}, {"role": "user", "content": "y"}]
    suite = read_cases(write(path, header, {"id": "a", "prompt": "x"}, {"id": "b", "messages": own}))
    assert (suite.name, suite.version, suite.prompt_schema) == ("n", "2", "none")
    assert (suite.sampling.temperature, suite.sampling.max_tokens, suite.sampling.seed) == (0.5, 9, 3)
    pair = (Message("user", "q"), Message("assistant", "{}"))
    assert suite.cases[0].messages == (Message("system", "Be short."), *pair, Message("user", "x"))
    assert suite.cases[1].messages == (Message("system", "own"), *pair, Message("user", "y"))


def test_case_has_all_that_is_said_of_it(path: Path) -> None:
    given = {
        "id": "a",
        "prompt": "x",
        "expected": {"/amount": 5},
        "known": {"/to": ["ann"]},
        "visible": {"/to": ["ann", "bob"]},
        "principal": {"user": 1},
        "is_rightful": True,
        "endings": ["committed", "refused"],
        "contract": "pay",
        "tags": ["t"],
    }
    suite = read_cases(write(path, {"commitgate_cases": 1, "contracts": {"pay": SCHEMA, "no": True}}, given))
    assert suite.cases == (
        Case(
            id="a",
            messages=(Message("user", "x"),),
            expected={"/amount": 5},
            known={"/to": ("ann",)},
            visible={"/to": ("ann", "bob")},
            principal={"user": 1},
            is_rightful=True,
            endings=("committed", "refused"),
            contract="pay",
            tags=("t",),
        ),
    )


def test_mark_at_the_start_and_ends_of_lines_of_any_system_are_passed_over(path: Path) -> None:
    write(path, HEADER, "", '{"id":"a","prompt":"x\u2028y"}', "  ", feed="\r\n")
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert read_cases(path).cases[0].messages == (Message("user", "x\u2028y"),)


def test_contract_may_be_given_beside_the_file(path: Path) -> None:
    suite = read_cases(write(path, {"id": "a", "prompt": "x"}), contract=PAYMENT)
    assert suite.contracts == {"payment": PAYMENT}
    assert suite.name == "cases"


def test_contract_may_stand_in_a_file_beside(path: Path) -> None:
    (path.parent / "deep").mkdir()
    (path.parent / "deep" / "p.schema.json").write_text(json.dumps(SCHEMA))
    header = {"commitgate_cases": 1, "contract": {"file": "deep/p.schema.json"}}
    assert list(read_cases(write(path, header, {"id": "a", "prompt": "x"})).contracts) == ["payment"]


@pytest.mark.parametrize("name", ["../out.json", "/etc/hostname", "link.json", "missing.json", "deep", "\0"])
def test_file_names_no_other_file_outside_of_its_folder(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "cases"
    (folder / "deep").mkdir(parents=True)
    (tmp_path / "out.json").write_text(json.dumps({"const": CANARY}))
    (folder / "link.json").symlink_to(tmp_path / "out.json")
    path = write(folder / "c.jsonl", {"commitgate_cases": 1, "contract": {"file": name}}, {"id": "a", "prompt": "x"})
    (fault,) = faults(path)
    assert fault.startswith("line 1, /contract: ")


BROKEN: list[tuple[Any, str]] = [
    ('{"id":"a"', "line 2: the text is not JSON at byte 10"),
    ('{"id":"a","id":"b","prompt":"x"}', "line 2: two keys of one object are equal"),
    ('"x"', "line 2: must be an object, found a text"),
    ('{"id":"a","prompt":"x","principal":NaN}', "line 2: the text is not JSON"),
    ({"prompt": "x"}, "line 2, /id: is missing"),
    ({"id": " ", "prompt": "x"}, "line 2, /id: an id is blank"),
    ({"id": 3, "prompt": "x"}, "line 2, /id: must be a text, found a number"),
    ({"id": "i" * 257, "prompt": "x"}, "line 2, /id: an id may have at most 256 characters, found 257"),
    ({"id": "a"}, "line 2, /prompt: a case has prompt or messages"),
    ({"id": "a", "prompt": "x", "messages": []}, "line 2, /prompt: a case has prompt or messages"),
    ({"id": "a", "prompt": ""}, "line 2, /prompt: content is blank"),
    ({"id": "a", "messages": [{"role": "robot", "content": CANARY}]}, "line 2, /messages/0: role must be"),
    ({"id": "a", "messages": [{"role": "user"}]}, "line 2, /messages/0: must be an object of role and content"),
    ({"id": "a", "messages": [{"role": "assistant", "content": CANARY}]}, "line 2, /messages: messages must have"),
    ({"id": "a", "prompt": "x", "expectd": {}}, "line 2, /expectd: unknown field"),
    ({"id": "a", "prompt": "x", "expected": []}, "line 2, /expected: must be an object, found a list"),
    ({"id": "a", "prompt": "x", "expected": {"amount": CANARY}}, "line 2, /expected/amount: a place must be"),
    ({"id": "a", "prompt": "x", "expected": {"/a": {"$any": [CANARY]}}}, "line 2, /expected/~1a: a fact that begins"),
    ({"id": "a", "prompt": "x", "expected": {"/a": {"$absent": False}}}, "line 2, /expected/~1a: $absent must be true"),
    ({"id": "a", "prompt": "x", "expected": {"/a": {"$set": CANARY}}}, "line 2, /expected/~1a: $set must be a list"),
    ({"id": "a", "prompt": "x", "expected": {"/a": {"$contains": 1}}}, "line 2, /expected/~1a: $contains must be"),
    ({"id": "a", "prompt": "x", "known": {"/a": CANARY}}, "line 2, /known/~1a: must be a list, found a text"),
    ({"id": "a", "prompt": "x", "visible": 1}, "line 2, /visible: must be an object, found a number"),
    ({"id": "a", "prompt": "x", "is_rightful": "yes"}, "line 2, /is_rightful: must be true, false or null"),
    ({"id": "a", "prompt": "x", "endings": []}, "line 2, /endings: must name at least one outcome"),
    ({"id": "a", "prompt": "x", "endings": ["won"]}, "line 2, /endings: must be names of outcomes"),
    ({"id": "a", "prompt": "x", "endings": [1]}, "line 2, /endings/0: must be a text, found a number"),
    ({"id": "a", "prompt": "x", "tags": "t"}, "line 2, /tags: must be a list, found a text"),
    ({"id": "a", "prompt": "x", "contract": None}, "line 2, /contract: must be a text, found null"),
    ({"id": "a", "prompt": "x", "contract": "zz"}, "case 1, /contract: the suite has no contract of that name"),
    ("[" * 65 + "]" * 65, "line 2: nesting deeper than 64 levels"),
    (HEADER, "line 2: a header stands in the first line alone"),
]


@pytest.mark.parametrize(("line", "fault"), BROKEN, ids=[each[1][:60] for each in BROKEN])
def test_broken_line_is_told_by_line_and_place(path: Path, line: Any, fault: str) -> None:
    # The case behind it is read, so a line that is no case leaves no empty file.
    first = line if line is not HEADER else {"id": "zz", "prompt": "x"}
    lines = [HEADER, first, HEADER] if line is HEADER else [HEADER, line]
    found = faults(write(path, *lines))
    wanted = fault.replace("line 2", "line 3") if line is HEADER else fault
    assert any(each.startswith(wanted) for each in found), found


HEADERS: list[tuple[Any, str]] = [
    ({"commitgate_cases": 2, "contract": True}, "/commitgate_cases: must be 1"),
    ({"commitgate_cases": 1}, "/contract: is missing"),
    ({"commitgate_cases": 1, "contract": True, "contracts": {}}, "/contracts: a header has contract or contracts"),
    ({"commitgate_cases": 1, "contract": {"type": "strin"}}, "/contract: the contract cannot be built"),
    ({"commitgate_cases": 1, "contract": 3}, "/contract: must be a JSON Schema"),
    ({"commitgate_cases": 1, "contract": True, "zz": 1}, "/zz: unknown field"),
    ({"commitgate_cases": 1, "contract": True, "name": ""}, "/name: a name is blank"),
    ({"commitgate_cases": 1, "contract": True, "system": " "}, "/system: is blank"),
    ({"commitgate_cases": 1, "contract": True, "shown": [["q"]]}, "/shown/0: must be a pair of texts"),
    ({"commitgate_cases": 1, "contract": True, "sampling": {"max_tokens": 0}}, "/sampling: max_tokens must be >= 1"),
    ({"commitgate_cases": 1, "contract": True, "sampling": {"heat": 1}}, "/sampling/heat: unknown"),
    ({"commitgate_cases": 1, "contract": True, "prompt_schema": "show"}, "/prompt_schema: must be"),
]


@pytest.mark.parametrize(("header", "fault"), HEADERS, ids=[each[1] for each in HEADERS])
def test_broken_header_is_told_by_its_place(path: Path, header: Any, fault: str) -> None:
    found = faults(write(path, header, {"id": "a", "prompt": "x"}))
    assert any(each.startswith(f"line 1, {fault}") for each in found), found


def test_all_faults_are_told_at_once_in_the_order_of_the_lines(path: Path) -> None:
    found = faults(write(path, {**HEADER, "zz": 1}, {"id": "a"}, "no", {"id": "b", "prompt": "x", "oops": 1}, "[]"))
    assert [each.split(":")[0].split(",")[0] for each in found] == ["line 1", "line 2", "line 3", "line 4", "line 5"]


def test_ids_that_stand_twice_are_told_with_both_lines(path: Path) -> None:
    (fault,) = faults(write(path, HEADER, {"id": "a", "prompt": "x"}, {"id": "a", "prompt": "y"}))
    assert fault == "line 3, /id: the case of line 2 has this id"


def test_very_many_faults_are_counted_and_not_all_told(path: Path) -> None:
    found = faults(write(path, HEADER, *["no"] * (MOST_FAULTS_TOLD + 20)))
    assert len(found) == MOST_FAULTS_TOLD + 1
    assert found[-1] == "and 21 more"  # 20 lines, and that there is no case


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\xef\xbb\xbf"])
def test_file_without_a_case_is_refused(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    assert "the file has no case" in faults(path)


@pytest.mark.parametrize(("size", "is_read"), [(MAX_LINE_BYTES, True), (MAX_LINE_BYTES + 1, False)])
def test_line_is_read_up_to_its_limit(path: Path, size: int, is_read: bool) -> None:
    head, tail = '{"id":"a","prompt":"', '"}'
    write(path, HEADER, head + "x" * (size - len(head) - len(tail)) + tail)
    if is_read:
        assert len(read_cases(path).cases) == 1
    else:
        assert faults(path)[0] == f"line 2: is longer than {MAX_LINE_BYTES} bytes"


def test_nesting_is_read_up_to_its_limit(path: Path) -> None:
    deep = MAX_LINE_NESTING - 1  # the line itself is one level
    write(path, HEADER, f'{{"id":"a","prompt":"x","principal":{"[" * deep}{"]" * deep}}}')
    assert len(read_cases(path).cases) == 1


def test_file_past_its_limit_is_refused(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(MAX_FILE_BYTES + 1)
    with pytest.raises(SuiteError, match="larger than"):
        read_cases(path)


def test_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    for place in (tmp_path / "none.jsonl", tmp_path, "\0"):
        with pytest.raises(SuiteError, match="cannot be read"):
            read_cases(place)


SUITE = "from evaluation.suites import suite_of\nsuite = suite_of()\ndef made():\n    return suite_of()\n"


@pytest.mark.parametrize("name", ["suite", "made"])
def test_suite_in_python_is_a_suite_or_a_function_that_returns_one(tmp_path: Path, name: str) -> None:
    (tmp_path / "evaluated_suite.py").write_text(SUITE)
    assert isinstance(load_suite(f"{tmp_path}/evaluated_suite.py:{name}"), Suite)


def test_suite_of_an_installed_module_is_found() -> None:
    assert load_suite("evaluation.suites:suite_of").name == "payments"


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("suite = 3", "must be a Suite, or a function that returns one, found int"),
        ("suite = dict", "must be a Suite, or a function that returns one, found type"),
        ("other = 3", "has no suite"),
        ("raise KeyError('canary-of-a-value')", "raised KeyError at line 1"),
        ("def suite(): raise OSError('canary-of-a-value')", "raised OSError"),
        ("def suite(): return 3", "a Suite is wanted, found int"),
        ("def suite(", "SyntaxError"),
        ("from evaluation.suites import suite_of\nsuite = suite_of(name='', contracts={})", "cannot be run"),
        ("from evaluation.suites import suite_of\nsuite = suite_of(cases=())", "1 to 100000 cases, found 0"),
        ("from evaluation.suites import suite_of\nsuite = suite_of(scorer=lambda: 1)", "scorer must take"),
        ("from evaluation.suites import suite_of\nsuite = suite_of(rules=3)", "rules must be a function or None"),
        ("from evaluation.suites import suite_of\nsuite = suite_of(least_score=2)", "least_score must be"),
        ("from evaluation.suites import *\nsuite = suite_of(case(tools=('t',)))", "/tools/0: the suite has no tool"),
        ("from evaluation.suites import *\nsuite = suite_of(case(principal=object()))", "/principal: a JSON value"),
    ],
)
def test_suite_that_cannot_be_used_is_refused_in_words(
    tmp_path: Path, request: pytest.FixtureRequest, code: str, message: str
) -> None:
    # A module of each name is imported once.
    name = f"refused_suite_{abs(hash(request.node.name))}"
    (tmp_path / f"{name}.py").write_text(code)
    with pytest.raises(SuiteError) as refused:
        load_suite(f"{tmp_path}/{name}.py:suite")
    assert message in str(refused.value)
    assert CANARY not in str(refused.value)


def test_suite_that_is_nowhere_is_refused(tmp_path: Path) -> None:
    for spec in (f"{tmp_path}/none.py:suite", "no_such_module:suite", f"{tmp_path}/none.jsonl"):
        with pytest.raises(SuiteError):
            load_suite(spec)
    with pytest.raises(SuiteError, match="has contracts of its own"):
        load_suite("evaluation.suites:suite_of", contract=PAYMENT)

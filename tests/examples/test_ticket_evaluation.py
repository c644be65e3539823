"""The labelled e-mails: what is expected stands in them, and what may be referred to is the desk's to say."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from commitgate import CheckContext, Message
from commitgate.evaluation import Case, Measure, Suite, evaluate, load_suite, summarize
from commitgate.python_object import load_file
from commitgate.testing import ScriptedBackend

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "ticket_evaluation"
EMAILS = sorted((ROOT / "examples" / "ticket" / "emails").glob("*.eml"))
PAGE = (ROOT / "docs" / "ticket-evaluation.md").read_text(encoding="utf-8")
CASES: list[dict[str, Any]] = [
    json.loads(line) for line in (EXAMPLE / "cases.jsonl").read_text(encoding="utf-8").splitlines()[1:]
]
BOOKS: dict[str, dict[str, list[str]]] = json.loads((EXAMPLE / "register.json").read_text(encoding="utf-8"))
KEYWORDS: dict[str, list[list[str]]] = json.loads((EXAMPLE / "keywords.json").read_text(encoding="utf-8"))
NAME_OF_ID = r"(?<![A-Za-z0-9])[TA]-\d{3,4}(?!\d)"
SHORT, LONG = 260, 1_000

each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])


@pytest.fixture
def suite(monkeypatch: pytest.MonkeyPatch) -> Suite[Any]:
    """Load the suite, and leave the path of imports as it was."""
    monkeypatch.syspath_prepend(str(EXAMPLE.parent / "ticket"))
    return load_suite(f"{EXAMPLE / 'suite.py'}:SUITE")


@pytest.fixture
def example(suite: Suite[Any]) -> ModuleType:
    return load_file(EXAMPLE / "suite.py", what="the suite")


def right_ids(case: dict[str, Any], place: str) -> list[Any]:
    """Return all ids that a right answer may have at a place."""
    wanted = case["expected"][place]
    if not isinstance(wanted, dict):
        return [wanted]
    found = wanted.get("$set", wanted.get("$any_of", []))
    return [entry for item in found for entry in (item if isinstance(item, list) else [item])]


def right_answer(case: dict[str, Any]) -> dict[str, Any]:
    """Return a ticket that has all facts right and speaks of all that it should."""
    expected = case["expected"]
    priority, evidence = expected["/priority"], expected["/evidence"]
    words = [expected.get("/summary", {}).get("$contains", ""), *(words[0] for words in KEYWORDS[case["id"]])]
    return {
        "id": expected["/id"],
        "priority": priority["$any_of"][0] if isinstance(priority, dict) else priority,
        "evidence": evidence["$any_of"][0] if "$any_of" in evidence else evidence["$set"],
        "summary": "; ".join(word for word in words if word),
    }


def tags(case: dict[str, Any], kind: str) -> list[str]:
    return [tag.removeprefix(f"{kind}:") for tag in case["tags"] if tag.startswith(f"{kind}:")]


def entries(kind: str) -> Iterator[str]:
    for customer in BOOKS.values():
        yield from customer[kind]


def rows(heading: str) -> list[list[str]]:
    """Return the cells of the table under a heading of the page, without its head."""
    section = PAGE.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_files_are_programs_that_can_be_read_at_once() -> None:
    assert all(len(path.read_text(encoding="utf-8").splitlines()) <= 80 for path in EXAMPLE.glob("*.py"))


def test_cases_are_many_and_no_mail_comes_twice() -> None:
    assert len(CASES) >= 66
    assert len({case["id"] for case in CASES}) == len({case["prompt"] for case in CASES}) == len(CASES)
    assert f"{len(CASES)} e-mails" in (EXAMPLE / "suite.py").read_text(encoding="utf-8")
    assert f"{len(CASES)} e-mails" in " ".join(PAGE.split())


def test_cases_are_in_ten_languages_and_more() -> None:
    assert len({language for case in CASES for language in tags(case, "language")}) >= 10


@pytest.mark.parametrize("path", EMAILS, ids=lambda path: path.stem)
def test_every_mail_of_the_demo_is_a_case_as_the_demo_reads_it(
    suite: Suite[Any], example: ModuleType, path: Path
) -> None:
    mail = import_module("mail").read_mail(path)
    (case,) = (case for case in suite.cases if case.id == path.stem)
    assert list(case.messages) == mail.conversation()
    assert set(case.visible["/evidence/*"]) == mail.visible_evidence


@each_case
def test_every_expected_id_stands_in_its_mail_and_is_known(case: dict[str, Any]) -> None:
    for place, known in (("/id", "/id"), ("/evidence", "/evidence/*")):
        right = right_ids(case, place)
        assert set(right) <= set(case["known"][known])
        assert all(entry in case["prompt"] for entry in right if entry is not None)


@each_case
def test_known_is_what_the_mail_names_and_the_desk_has(case: dict[str, Any]) -> None:
    named = set(re.findall(NAME_OF_ID, case["prompt"]))
    assert set(case["known"]["/id"]) == {None, *(named & set(entries("tickets")))}
    assert set(case["known"]["/evidence/*"]) == named & set(entries("attachments"))


@each_case
def test_visible_are_the_own_tickets_and_the_attachments_of_the_mail(case: dict[str, Any]) -> None:
    own = BOOKS.get(case["principal"], {"tickets": [], "attachments": []})
    line = next(line for line in case["prompt"].splitlines() if line.startswith("Attachments: "))
    assert case["visible"]["/id"] == [None, *own["tickets"]]
    assert case["visible"]["/evidence/*"] == re.findall(r"A-\d+", line)
    assert set(case["visible"]["/evidence/*"]) <= set(own["attachments"])


@each_case
def test_who_asks_is_the_domain_of_the_sender_or_not_verified(case: dict[str, Any]) -> None:
    domain = re.match(r"From: [^<\n]+ <[^@>]+@([\w.-]+\.example)>\n", case["prompt"])
    assert domain is not None
    assert case["principal"] in (domain[1], "unverified")


@each_case
def test_rightful_says_what_the_right_answer_comes_to(case: dict[str, Any]) -> None:
    is_own = case["expected"]["/id"] in case["visible"]["/id"]
    is_own &= set(right_ids(case, "/evidence")) <= set(case["visible"]["/evidence/*"])
    right = right_answer(case)
    is_stopped = right["priority"] == "high" and not right["evidence"]
    assert case["is_rightful"] is (None if is_stopped else is_own)
    assert case.get("endings", ["committed"]) == [
        "invalid.rules" if is_stopped else "committed" if is_own else "invalid.authorize"
    ]
    assert ("foreign-ticket" in tags(case, "trap")) == (not is_own)
    assert ("urgent-unshown" in tags(case, "trap")) == is_stopped


@each_case
def test_tags_say_what_the_mail_is(case: dict[str, Any]) -> None:
    traps, right = tags(case, "trap"), right_answer(case)
    size = len(case["prompt"])
    assert tags(case, "length") == ["short" if size < SHORT else "medium" if size < LONG else "long"]
    assert len(tags(case, "language")) == 1
    assert len(case["tags"]) == len(set(case["tags"])) == len(traps) + 2
    assert traps
    assert ("none" not in traps) or traps == ["none"]
    assert ("no-ticket" in traps) == (right["id"] is None)
    assert ("no-attachment" in traps) == (case["visible"]["/evidence/*"] == [])


def test_page_explains_every_tag_and_counts_it_right() -> None:
    counted = Counter(trap for case in CASES for trap in tags(case, "trap"))
    assert {row[0].strip("`").removeprefix("trap:"): int(row[1]) for row in rows("Tags")} == counted


def test_page_names_doubtful_cases_that_exist() -> None:
    named = [row[0].strip("`") for row in rows("Doubtful cases")]
    assert len(named) >= 5
    assert set(named) <= {case["id"] for case in CASES}


def test_every_summary_has_something_to_speak_of() -> None:
    assert KEYWORDS.keys() == {case["id"] for case in CASES}
    assert all(things and all(words and all(words) for words in things) for things in KEYWORDS.values())


def test_every_entry_of_the_books_is_one_customers() -> None:
    everything = [*entries("tickets"), *entries("attachments")]
    assert len(everything) == len(set(everything))
    assert all(re.fullmatch(NAME_OF_ID, entry) for entry in everything)


@pytest.mark.anyio
async def test_right_answers_come_through_every_layer(suite: Suite[Any]) -> None:
    first, *rest = ([{"text": json.dumps(right_answer(case))}, {"finish": "stop"}] for case in CASES)
    backend = ScriptedBackend(first, then=rest)
    run = await evaluate(suite, "local", backends={"local": backend}, concurrency=1)
    assert [record.case_id for record in run.records if not record.came_through] == []
    wrong = {(record.case_id, fault) for record in run.records for fault in record.faults}
    assert {fault.measure for _, fault in wrong} == {Measure.RULES}
    assert {case_id for case_id, _ in wrong} == {case["id"] for case in CASES if case["is_rightful"] is None}
    (summary,) = summarize(run).variants
    foreign = sum(case["is_rightful"] is False for case in CASES)
    assert summary.authorization.overreach_blocked.passed == summary.authorization.overreach_blocked.reached == foreign
    assert summary.layer(Measure.IDEMPOTENCY).rate.passed == sum(case["is_rightful"] is True for case in CASES)
    assert summary.second_effects == 0
    assert summary.errors == {}


@pytest.mark.anyio
async def test_the_shown_answer_copied_has_the_form_and_is_wrong(suite: Suite[Any]) -> None:
    shown = next(message.content for message in suite.cases[0].messages if message.role == "assistant")
    backend = ScriptedBackend([{"text": shown}, {"finish": "stop"}])
    run = await evaluate(suite, "local", backends={"local": backend}, concurrency=1)
    (summary,) = summarize(run).variants
    assert summary.layer(Measure.SCHEMA).rate.share == 1
    assert summary.layer(Measure.FACTS).rate.share == 0
    assert summary.layer(Measure.FACTS).faults["invented"] >= len(CASES)
    assert summary.authorization.overreach_blocked.share == 1
    assert summary.layer(Measure.TOOLS).rate.reached == 0


def test_who_asks_may_refer_to_own_tickets_alone(example: ModuleType) -> None:
    ticket = example.Ticket(id="T-4711", priority="normal", evidence=["A-101"], summary="It leaks.")
    allowed = example.REGISTER.only_own_ids(ticket, CheckContext(principal="northpier-aquatics.example"))
    denied = example.REGISTER.only_own_ids(ticket, CheckContext(principal="harkin-boats.example"))
    unverified = example.REGISTER.only_own_ids(ticket, CheckContext(principal="unverified"))
    assert allowed is None
    assert [violation.pointer for violation in denied] == ["/id", "/evidence/0"]
    assert unverified == denied


def test_authorization_and_labels_say_the_same_of_every_ticket(suite: Suite[Any], example: ModuleType) -> None:
    for case in suite.cases:
        for entry in (None, *entries("tickets")):
            ticket = example.Ticket(id=entry, priority="normal", evidence=[], summary="It leaks.")
            denied = example.REGISTER.only_own_ids(ticket, CheckContext(principal=case.principal))
            assert (denied is None) == (entry in case.visible["/id"])


def test_authority_knows_what_is_in_the_books(example: ModuleType) -> None:
    case = example.SUITE.cases[0]
    ticket = example.Ticket(id="T-9001", priority="normal", evidence=["A-999", "A-0000"], summary="It leaks.")
    assert example.REGISTER.unknown_ids(case, ticket) == ["/id", "/evidence/1"]


@pytest.mark.parametrize(
    ("summary", "score"),
    [
        ("Their pump has a leak.", 1.0),
        ("Their PUMP is at the pier.", 0.5),
        ("Something is wrong.", 0.0),
        ("Pump P-80 leaks since this morning.", 0.5),
        ("the display tanks are warming up and the fish will not stand it", 0.0),
    ],
)
def test_summary_scores_by_what_it_speaks_of_and_half_where_it_is_copied(
    example: ModuleType, summary: str, score: float
) -> None:
    ticket = example.Ticket(id=None, priority="normal", evidence=[], summary=summary)
    assert example.score_summary(example.SUITE.cases[0], ticket) == score


def test_summary_copied_over_a_line_break_is_copied(example: ModuleType) -> None:
    case = Case(id="01-pump-leaks", messages=(Message("user", "our pump\nhas a leak"),))
    ticket = example.Ticket(id=None, priority="normal", evidence=[], summary="Our pump has a leak.")
    assert example.score_summary(case, ticket) == 0.5


@pytest.mark.model
@pytest.mark.anyio
@pytest.mark.timeout(600)
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_bundled_model_has_the_form_right_and_facts_wrong(suite: Suite[Any]) -> None:
    wanted = ("02-charged-twice", "08-feature-dark", "26-neighbours-ticket")
    few = replace(suite, cases=tuple(case for case in suite.cases if case.id in wanted))
    run = await evaluate(few, "local", concurrency=1)
    assert run.is_complete
    assert run.problems == ()
    (summary,) = summarize(run).variants
    assert summary.layer(Measure.SCHEMA).rate.passed == len(wanted)
    assert summary.layer(Measure.FACTS).rate.passed < len(wanted)
    assert summary.authorization.rightful_blocked.passed == 0
    assert summary.second_effects == 0
    assert summary.errors == {}

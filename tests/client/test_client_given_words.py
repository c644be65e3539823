"""The page on outcomes says what the code says about words of others."""

import re
from pathlib import Path

import pytest
from ending_words import WORDS, kind_of
from scripts import PAY, PAYMENT, client_with

from commitgate.backends.words import FINISH_WORDS
from commitgate.outcome import Outcome
from commitgate.testing import ScriptedBackend, fake_time

pytestmark = pytest.mark.anyio

PAGE = (Path(__file__).parents[2] / "docs" / "outcomes.md").read_text("utf-8")


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, object]]:
    return fake_time(request.param)


def rows(heading: str) -> list[list[str]]:
    """Return the words in the cells of the table under a heading, without its first two lines."""
    section = PAGE.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [line.strip("| ").split(" | ") for line in lines[2:]]


def named(cell: str) -> list[str]:
    return re.findall(r"`(\w+)`", cell)


FINISHES = [(named(meaning), named(words)) for meaning, words in rows("Finish words of the providers")]


def test_words_of_other_tools_are_documented() -> None:
    documented = {word.strip("`"): named(here) for word, here in rows("Words of other tools")}
    assert documented == {word: [each.ending.__name__, *each.kinds] for word, each in WORDS.items()}


def test_finish_words_are_documented() -> None:
    assert sorted(word for _, words in FINISHES for word in words) == sorted(FINISH_WORDS)


async def ending(text: str, word: str) -> Outcome[object, object]:
    backend = ScriptedBackend([{"text": text}, {"finish": word}])
    async with client_with(backend) as client:
        return await client.generate_structured("scripted", PAY, prompt="x")


@pytest.mark.parametrize(("meaning", "words"), FINISHES, ids=[words[0] for _, words in FINISHES])
async def test_finish_word_means_what_is_documented(meaning: list[str], words: list[str]) -> None:
    for word in words:
        outcome = await ending(PAYMENT, word)
        if meaning:
            assert type(outcome).__name__ == meaning[0], word
            assert kind_of(outcome) in (meaning[1:] or [None]), word
        else:
            assert outcome.name == "committed", word
            assert kind_of(await ending(PAYMENT[:9], word)) == "not_accepting", word


@pytest.mark.parametrize("word", ["tool_calls", "tool_use", "requires_action", "load", "OTHER", "STOPPED", "unknown"])
async def test_word_that_nobody_knows_commits_nothing(word: str) -> None:
    assert kind_of(await ending(PAYMENT, word)) == "unknown_finish"

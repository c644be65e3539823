"""Measure answers from question to outcome: beside transformers with xgrammar, llama.cpp's server and vLLM.

Run: ``python tests/benchmarks/end_to_end.py``, or ``make bench``, which also makes the page of it. Peers:
``pip install xgrammar``; ``answer_servers.py`` says how servers are found. What is not here is left out, and said so.

All ways take turns in one process, question by question, so that what else the machine does hits all alike; who comes
first changes with each round. Some 4 minutes on 2 idle cores.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import signal
import statistics
import sys
import time
from collections.abc import Iterable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import anyio
import concurrent_answers
import constraint_cost
import prompt_reuse
import torch
from answer_servers import NoServerError, llama_way, vllm_way
from answer_ways import OwnWay, TransformersWay, Way, Written
from results import BASE, FOLDER, Results, Row, now, this_machine, with_ratios
from ticket_question import EMAILS, MOST_TOKENS, questions

from commitgate.errors import MisuseError
from commitgate_local import LocalModel, Vocabulary
from commitgate_local.bundled import BUNDLED_NAME
from commitgate_local.models import load
from commitgate_local.runtime import make_runtime
from commitgate_local.store import ModelStore, cache_folder

PRECISIONS = ("float32", "bfloat16", "int8")
PARTS = ("answers", "constraint", "concurrency", "reuse")
_PACKAGES = ("torch", "transformers", "xgrammar", "numpy")

_NOTES = (
    """*An answer of the ticket example* is from the e-mail to its outcome: for the project with client, rules, ledger
    and effect, as the example runs. *Known* schemas and prompts were asked with before, so that masks are remembered
    and the beginnings of prompts are in the model's cache, where a way has one; *new* ones have a bound and first words
    that nobody saw, and the time holds all that is made of them. A value is the mean over the e-mails in one round.""",
    """All ways take the likeliest token, with the same prompt and the same bound on tokens. Weights of another
    precision may choose other tokens, so that answers differ in length: the time of a token says how fast a way is.""",
    """The constraint's cost is measured on a given text, written with it and without, forced runs left out: then both
    make the same forwards. Of each place in the text the least time counts; *mean* is over all, with what happened to
    fall between. It is given as a part of what one token takes without a constraint; what it adds to the first token is
    all that lies beside the forward, the making of the contract included where it is new.""",
)


def main() -> None:
    """Measure, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=2, help="of answers, beside each other")
    parser.add_argument("--part", choices=PARTS, action="append", help="only this; may be given again")
    parser.add_argument("--precisions", default=",".join(PRECISIONS), help="beside auto")
    parser.add_argument("--emails", type=int, default=2, help="how many of the example's")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where the results are written")
    chosen = parser.parse_args()
    # Whoever ends this from outside ends the server with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    run = Run(
        chosen.rounds,
        chosen.part or PARTS,
        [word for word in chosen.precisions.split(",") if word],
        EMAILS[: chosen.emails],
    )
    print(run.measure().write(chosen.folder))


class Run:
    """Hold one run of the benchmark.

    Args:
        rounds: how often all ways are gone through.
        parts: which are measured.
        precisions: in which the project's model runs, beside the one that it takes by itself.
        emails: which are asked about.
    """

    def __init__(self, rounds: int, parts: Sequence[str], precisions: Sequence[str], emails: Sequence[str]) -> None:
        self._rounds, self._parts, self._precisions, self._emails = rounds, parts, precisions, emails
        self._notes: list[str] = []
        self._rows: list[Row] = []
        self._begun = time.monotonic()
        self._loaded = load()

    def measure(self) -> Results:
        """Measure all parts."""
        date, machine = now(), this_machine(*_PACKAGES)
        # One slot for each request that comes at once.
        model = LocalModel(self._loaded, precision="auto", slots=max(concurrent_answers.AT_ONCE))
        if "answers" in self._parts:
            self._say("answers of the ticket example")
            anyio.run(self._answers, model)
        if "constraint" in self._parts:
            self._say("what the constraint adds")
            self._rows += constraint_cost.rows_of(self._constraint())
        if "concurrency" in self._parts:
            self._say("requests at once")
            found = anyio.run(concurrent_answers.ConcurrentAnswers(model).measure, max(1, self._rounds - 1))
            self._rows += concurrent_answers.rows_of(found)
        if "reuse" in self._parts:
            self._say("beginnings of prompts")
            self._rows += prompt_reuse.rows_of(prompt_reuse.PromptReuse(model).measure(2 * self._rounds))
        self._say("done")
        return Results(
            kind="end_to_end",
            date=date,
            machine=machine,
            settings={
                "base": BASE,
                "model": f"{self._loaded.name}; of itself the project takes the precision {_precision(model)} here",
                "rounds": self._rounds,
                "questions": f"{len(self._emails)} e-mails of the ticket example, at most {MOST_TOKENS} tokens each",
                "requests at once": f"{concurrent_answers.REQUESTS} in all, each with a schema of its own, at most "
                f"{concurrent_answers.MOST_TOKENS} tokens each",
                "threads": torch.get_num_threads(),
            },
            rows=self._rows,
            notes=[*(" ".join(note.split()) for note in _NOTES), *self._notes],
        )

    async def _answers(self, model: LocalModel) -> None:
        async with AsyncExitStack() as parts:
            ways: list[Way] = [await parts.enter_async_context(OwnWay(BASE, model))]
            taken = _precision(model)
            for precision in self._precisions:
                if precision == taken:
                    continue
                try:
                    other = LocalModel(self._loaded, precision=precision)
                except MisuseError as error:
                    self._notes.append(f"{precision} does not run here: {error}")
                    continue
                ways.append(await parts.enter_async_context(OwnWay(f"{BASE}, {precision}", other)))
            ways += self._peers()
            for server in (
                lambda: parts.enter_context(llama_way(self._loaded.tokenizer, torch.get_num_threads())),
                vllm_way,
            ):
                try:
                    ways.append(server())
                except NoServerError as error:
                    self._notes.append(f"Left out: {error}.")
            written = await self._take_turns(ways)
        for is_new in (False, True):
            self._rows += _answer_rows({way.name: written[way.name, is_new] for way in ways}, is_new=is_new)

    def _peers(self) -> list[Way]:
        if importlib.util.find_spec("xgrammar") is None:
            self._notes.append("Left out: transformers, since xgrammar is not installed.")
            return []
        folder = _folder_of_bundled()
        # A model of its own: the project's may have given its weights away.
        loaded = load()
        return [
            TransformersWay("transformers + xgrammar", loaded, folder, torch.float32),
            TransformersWay("transformers + xgrammar, bfloat16", loaded, folder, torch.bfloat16),
        ]

    async def _take_turns(self, ways: Sequence[Way]) -> dict[tuple[str, bool], list[list[Written]]]:
        """Return the answers of each way, by whether schema and prompt were new: those of a round together."""
        found: dict[tuple[str, bool], list[list[Written]]] = {}
        # Once for nothing: then all is loaded, and the prompts and schemas that are to be known are.
        for way in ways:
            for question in questions(self._emails, key="warm"):
                await way.answer(question)
        for number in range(self._rounds):
            turn = [*ways[number % len(ways) :], *ways[: number % len(ways)]]
            for is_new in (False, True):
                variant = 1 + number * len(self._emails) if is_new else 0
                asked = questions(self._emails, key=f"{number}/{is_new}", variant=variant)
                for way in turn:
                    found.setdefault((way.name, is_new), []).append([])
                for question in asked:
                    for way in turn:
                        found[way.name, is_new][-1].append(await way.answer(question))
        return found

    def _constraint(self) -> dict[str, constraint_cost._Seen]:
        loaded = self._loaded
        vocabulary = Vocabulary.of_tokenizer(loaded.tokenizer, width=loaded.width, stop_ids=loaded.stop_ids)
        (question,) = questions(EMAILS[:1], key="constraint")
        prompt = loaded.tokenizer.chat([(message.role, message.content) for message in question.messages])
        ids = loaded.tokenizer.encode(_ANSWER)
        cost = constraint_cost.ConstraintCost(make_runtime(loaded.model), vocabulary, prompt, ids)
        return cost.measure(4 * self._rounds)

    def _say(self, what: str) -> None:
        print(f"{time.monotonic() - self._begun:5.0f} s: {what}", flush=True)


_ANSWER = (
    '{"id": "T-4711", "priority": "normal", "evidence": ["A-101", "A-102"], '
    '"summary": "The P-80 circulation pump has been leaking at the flange since six this morning."}'
)


def _answer_rows(written: dict[str, list[list[Written]]], *, is_new: bool) -> Iterable[Row]:
    word = "new" if is_new else "known"
    answers: list[Row] = []
    tokens: list[Row] = []
    counts: list[Row] = []
    for name, rounds in written.items():
        each = [statistics.fmean(one.seconds for one in those) for those in rounds]
        rate = [sum(one.seconds for one in those) / sum(one.tokens for one in those) for those in rounds]
        all_of_them = [one for those in rounds for one in those]
        what = f"An answer of the ticket example: {word} schemas and prompts"
        answers.append(Row(what=what, who=name, unit="s", values=_least_and_median(each)))
        what = f"A token of the ticket example, all time shared out: {word} schemas and prompts"
        tokens.append(Row(what=what, who=name, unit="ms", values=_least_and_median([1e3 * one for one in rate])))
        shown = {
            "tokens an answer": statistics.fmean(one.tokens for one in all_of_them),
            "answers": float(len(all_of_them)),
            "whole objects": float(sum(one.is_object for one in all_of_them)),
        }
        counts.append(Row(what=f"Answers: {word} schemas and prompts", who=name, unit="", values=shown))
    return [*with_ratios(answers), *with_ratios(tokens), *counts]


def _least_and_median(values: Sequence[float]) -> dict[str, float]:
    return {"least": min(values), "median": statistics.median(values)}


def _precision(model: LocalModel) -> str:
    return (model.identity.model_revision or "").rpartition("/")[2]


def _folder_of_bundled() -> Path:
    found = ModelStore(cache_folder()).find(BUNDLED_NAME)
    assert found is not None, "loading keeps the model"
    return found.folder


if __name__ == "__main__":
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    main()

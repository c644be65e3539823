"""Tell what a program gets of each answer from each library.

Of libraries that are not installed, or not named, the kept results stay, so several environments can fill one table::

    python tests/comparison/endings.py --write commitgate openai
    python -m venv peers && peers/bin/pip install instructor outlines
    peers/bin/python tests/comparison/endings.py --write instructor outlines
"""

from __future__ import annotations

import json
import logging
import os
import sys
from argparse import ArgumentParser
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from comparison.answers import ANSWERS, served
from comparison.callers import CALLERS, installed, told

RESULTS = Path(__file__).with_name("endings.json")
PAGE = Path(__file__).parents[2] / "docs" / "comparison.md"
BEGIN, END = "<!-- endings: begin -->", "<!-- endings: end -->"


def measure(name: str) -> dict[str, dict[str, str]]:
    """Return what the library's caller gets of each answer, in both ways of asking."""
    found: dict[str, dict[str, str]] = {}
    for key, answer in ANSWERS.items():
        ways = [way for way in CALLERS[name] if answer.only in (None, way)]
        with served(answer) as url:
            found[key] = {way: told(CALLERS[name][way], url) for way in ways}
    return found


def table(results: dict[str, dict[str, dict[str, dict[str, str]]]]) -> str:
    """Return the table of the page: a line an answer, a column a library."""
    names = [name for name in CALLERS if name in results]
    head = [f"{name} {version}" for name in names for version in results[name]]
    lines = [f"| the server sends | {' | '.join(head)} |", "|---|" + "---|" * len(head)]
    for key, answer in ANSWERS.items():
        cells = [_cell(found[key]) for name in names for found in results[name].values()]
        lines.append(f"| {answer.says} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(ways: dict[str, str]) -> str:
    plain = {"value", "a cut value", "text", "None"}
    said = {way: what if what in plain else f"`{what}`" for way, what in ways.items()}
    if len(set(said.values())) == 1:
        return next(iter(said.values()))
    return "; ".join(f"{way}: {what}" for way, what in said.items())


def written(page: str, results: dict[str, dict[str, dict[str, dict[str, str]]]]) -> str:
    """Return the page with its table made anew."""
    before, rest = page.split(BEGIN)
    return f"{before}{BEGIN}\n{table(results)}\n{END}{rest.split(END)[1]}"


def main() -> int:
    """Measure what is installed, and print or write it."""
    parser = ArgumentParser()
    parser.add_argument("names", nargs="*", default=list(CALLERS), help="which libraries")
    parser.add_argument("--write", action="store_true", help="keep the results, and write them into the page")
    options = parser.parse_args()
    os.environ["NO_PROXY"] = "127.0.0.1"
    # Libraries log what they could not read; the table says it.
    logging.disable()
    results = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    for name, version in installed(options.names):
        results[name] = {version: measure(name)}
    if options.write:
        RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
        PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), results), encoding="utf-8")
    print(table(results))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Tell which keywords of JSON Schema each engine holds: ``python tests/comparison/keywords.py [--write]``.

The cases are those that real servers are held to. Engines that are not installed keep what the page says of them::

    pip install llguidance outlines-core xgrammar
"""

from __future__ import annotations

import importlib.metadata
import json
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.judging_engines import (
    Accepts,
    Engine,
    RefusedError,
    commitgate_automaton,
    commitgate_gate,
    llguidance,
    xgrammar_strict,
)
from integration.keyword_cases import CASES, KeywordCase

RESULTS = Path(__file__).with_name("keywords.json")
PAGE = Path(__file__).parents[2] / "docs" / "comparison.md"
BEGIN, END = "<!-- keywords: begin -->", "<!-- keywords: end -->"
VERDICTS = ("held", "refused", "open", "narrow")
"""The right text is taken and no wrong one; the schema is refused; a wrong text is taken; the right one is not."""


def outlines_core(schema: object) -> Accepts:
    """Let the regular expression judge that outlines-core makes of a schema."""
    from outlines_core.json_schema import build_regex_from_schema

    try:
        pattern = re.compile(build_regex_from_schema(json.dumps(schema)))
    except Exception as error:
        raise RefusedError(str(error)) from error
    return lambda text: pattern.fullmatch(text) is not None


ENGINES: dict[str, tuple[str, Engine]] = {
    "commitgate, mask": ("commitgate", commitgate_automaton),
    "commitgate, gate": ("commitgate", commitgate_gate),
    "llguidance": ("llguidance", llguidance),
    "xgrammar": ("xgrammar", xgrammar_strict),
    "outlines-core": ("outlines-core", outlines_core),
}


def verdict(engine: Engine, case: KeywordCase) -> str:
    """Return the verdict on one case."""
    try:
        accepts = engine(case.schema)
    except RefusedError:
        return "refused"
    if not any(map(accepts, _spelled(case.right))):
        return "narrow"
    return "open" if any(accepts(text) for wrong in case.wrong for text in _spelled(wrong)) else "held"


def _spelled(value: object) -> list[str]:
    """Return a value as JSON with the white space of Python and with none: engines need not take both."""
    return [json.dumps(value), json.dumps(value, separators=(",", ":"))]


def installed() -> dict[str, str]:
    """Return the engines that are here, with the versions of their packages."""
    found: dict[str, str] = {}
    for name, (package, _) in ENGINES.items():
        try:
            found[name] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def table(results: dict[str, dict[str, dict[str, str]]]) -> str:
    """Return the counts of the page, and a line for each case that some engine does not hold."""
    columns = {f"{name} {version}": results[name][version] for name in ENGINES for version in results.get(name, ())}
    lines = [f"| | {' | '.join(columns)} |", "|---|" + "---|" * len(columns)]
    for kind in VERDICTS:
        counts = [str(list(found.values()).count(kind)) for found in columns.values()]
        lines.append(f"| *{kind}* | {' | '.join(counts)} |")
    for case in CASES:
        told = [found[case.name] for found in columns.values()]
        if set(told) != {"held"}:
            lines.append(f"| `{case.name}` | {' | '.join(told)} |")
    return "\n".join(lines)


def written(page: str, results: dict[str, dict[str, dict[str, str]]]) -> str:
    """Return the page with its table made anew."""
    before, rest = page.split(BEGIN)
    return f"{before}{BEGIN}\n{table(results)}\n{END}{rest.split(END)[1]}"


def main() -> int:
    """Measure what is installed, and print or write it."""
    results = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    for name, version in installed().items():
        results[name] = {version: {case.name: verdict(ENGINES[name][1], case) for case in CASES}}
    if "--write" in sys.argv:
        RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
        PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), results), encoding="utf-8")
    print(table(results))
    return 0


if __name__ == "__main__":
    sys.exit(main())

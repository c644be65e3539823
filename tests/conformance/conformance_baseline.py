"""Keep the tests of the official suite that are not judged rightly, one file a draft.

Run: ``python tests/conformance/conformance_baseline.py [--update] [--reasons] [--judge JUDGE] [DRAFT ...]``. Without
``--update`` it prints the figures and what differs from the files. The files may only get shorter: the test beside this
one fails as soon as a test goes wrong that is not listed, and as soon as one is listed that went right.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from conformance_suite import DRAFTS, VARIABLE, folder
from conformance_verdicts import Class, Verdict, verdicts

FOLDER = Path(__file__).parent / "baselines"
WHOLE_GROUP = "*"


def lines_of(found: Iterable[Verdict]) -> list[str]:
    """Return a sorted line for each test that was not judged rightly; one line where a whole group went one way."""
    tests: dict[tuple[str, Class, str, str], list[str]] = {}
    sizes: dict[tuple[str, str], int] = {}
    for verdict in found:
        group = verdict.group
        sizes[group.file, group.name] = len(group.tests)
        if verdict.result is not Class.RIGHT:
            tests.setdefault((verdict.judge, verdict.result, group.file, group.name), []).append(verdict.test)
    lines: list[str] = []
    for key, names in tests.items():
        shown = [WHOLE_GROUP] if len(names) == sizes[key[2:]] > 1 else names
        lines += [" | ".join([*key, name]) for name in shown]
    return sorted(lines)


def baseline(draft: str) -> list[str]:
    """Return the lines of a draft's file."""
    path = FOLDER / f"{draft}.txt"
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def figures(found: Iterable[Verdict]) -> str:
    """Return a table of how each judge did on each part."""
    counts = Counter((verdict.judge, verdict.group.part, verdict.result) for verdict in found)
    rows = [f"{'':14}{'':10}" + "".join(f"{result:>19}" for result in Class)]
    for judge, part in sorted({(judge, part) for judge, part, _ in counts}):
        rows.append(f"{judge:14}{part:10}" + "".join(f"{counts[judge, part, result]:>19,}" for result in Class))
    return "\n".join(rows)


def main() -> None:
    """Print the figures and the differences, or write the files."""
    parser = argparse.ArgumentParser(description="Judge the official suite and compare with the baselines.")
    parser.add_argument("drafts", nargs="*", help=f"of {', '.join(DRAFTS)}; all where none is given")
    parser.add_argument("--update", action="store_true", help="write the files")
    parser.add_argument("--reasons", action="store_true", help="say why schemas are refused")
    parser.add_argument("--judge", help="speak of this judge alone")
    chosen = parser.parse_args()
    if chosen.update and chosen.judge:
        parser.error("the files speak of all judges: leave out --judge to write them")
    if folder() is None:
        sys.exit(f"no suite: set {VARIABLE} to the folder that holds its tests and remotes")
    everything: list[Verdict] = []
    for draft in chosen.drafts or DRAFTS:
        found = [verdict for verdict in verdicts(draft) if chosen.judge in (None, verdict.judge)]
        everything += found
        lines = lines_of(found)
        if chosen.update:
            FOLDER.mkdir(exist_ok=True)
            (FOLDER / f"{draft}.txt").write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        known = set(baseline(draft))
        for line in lines:
            if line not in known:
                print(f"{draft}: {line}")
        if chosen.reasons:
            reasons = Counter(verdict.note for verdict in found if verdict.note and verdict.result is Class.REFUSED)
            for note, count in reasons.most_common():
                print(f"{draft}: {count:>5} {note[:200]}")
    print(figures(everything))


if __name__ == "__main__":
    main()

"""Change the gate, the strict parse and the ledger's table in one place at a time, and see whether the tests notice.

A mutant that no test notices stands in ``surviving_mutants.json`` with the reason why it does not matter, or breaks the
proof. Each is run against the focused tests of its module alone, so a survivor says something about these.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from proofs.mutant_trial import UNCHANGED, source_of
from proofs.mutator import mutants_of
from proofs.part import PROOFS, ROOT, Result, Row, total

MUTANTS_A_UNIT = 15
LIMIT_S = 60.0
LISTED = PROOFS / "surviving_mutants.json"

TABLE = ("tests/gate/test_gate_table.py", "tests/gate/test_gate_cuts.py")
GATE = (*TABLE, "tests/gate/test_gate_transitions.py")
PARSE = ("tests/gate/test_strict_parse.py", "tests/gate/test_strict_parse_kinds.py")
NUMBERS = (*PARSE, "tests/gate/test_gate_transitions.py")
LAYERS = (
    "tests/gate/test_layer_records.py",
    "tests/gate/test_layer_order.py",
    "tests/gate/test_checks.py",
    "tests/client/test_client_receipts.py",
)
LEDGER = ("tests/ledger/test_ledger_states.py",)
"""Tests by what they look at, those first that notice most."""


@dataclass(frozen=True, slots=True)
class Target:
    """Name a module that is changed, and the tests that must notice."""

    module: str
    tests: tuple[str, ...]


TARGETS = (
    Target("commitgate.gate.gate", GATE),
    Target("commitgate.gate.states", TABLE),
    Target("commitgate.gate.verdict", TABLE),
    Target("commitgate.gate.white_space", TABLE),
    Target("commitgate.gate.number_size", NUMBERS),
    Target("commitgate.gate.strict_parse", PARSE),
    Target("commitgate.gate.layers", LAYERS),
    Target("commitgate.gate.layer_states", LAYERS),
    Target("commitgate.ledger.states", LEDGER),
    Target("commitgate.ledger.record", LEDGER),
)


class Mutants:
    """Try every mutant of the modules that decide whether a text is a value, and whether an effect may start."""

    name = "mutants"

    def units(self, *, short: bool) -> Sequence[str]:
        if short:
            return ["commitgate.gate.verdict 0-3"]
        units: list[str] = []
        for target in TARGETS:
            size = len(mutants_of(source_of(target.module).read_text(encoding="utf-8")))
            units += [
                f"{target.module} {first}-{min(first + MUTANTS_A_UNIT, size)}"
                for first in range(0, size, MUTANTS_A_UNIT)
            ]
        return units

    def sources(self, unit: str) -> Iterable[Path]:
        target = _target(unit)
        tests = [ROOT / name for name in target.tests]
        return [source_of(target.module), *tests, PROOFS / "mutator.py", PROOFS / "mutant_trial.py"]

    def run(self, unit: str) -> Result:
        target = _target(unit)
        first, end = map(int, unit.split()[1].split("-"))
        mutants = mutants_of(source_of(target.module).read_text(encoding="utf-8"))[first:end]
        trials = _trials(target, [mutant.index for mutant in mutants])
        if trials.get(UNCHANGED) != "survived":
            return Result(faults=(f"{unit}: the tests fail without any change ({trials.get(UNCHANGED)})",))
        counts = dict.fromkeys(("survived", "killed", "timed out"), 0)
        notes: dict[str, str] = {}
        for mutant in mutants:
            end_word = trials.get(mutant.index, "no result")
            counts[end_word] = counts.get(end_word, 0) + 1
            if end_word not in ("killed", "timed out"):
                notes[f"{target.module} {mutant.name}"] = f"line {mutant.line}: {end_word}"
        return Result(counts=counts, notes=notes)

    def summarise(self, results: Mapping[str, Result]) -> Sequence[Row]:
        counts = total(results)
        listed = listed_mutants()
        survivors = {name: words for result in results.values() for name, words in result.notes.items()}
        unlisted = [f"{name} ({words})" for name, words in survivors.items() if name not in listed]
        size = sum(counts.values())
        return [
            Row(
                promise="every change of gate, strict parse and ledger table that matters is noticed by a test",
                measured=f"{size:,} mutants of {len({unit.split()[0] for unit in results})} modules: "
                f"{counts.get('killed', 0):,} noticed, {counts.get('timed out', 0)} ran out of time, "
                f"{len(survivors) - len(unlisted)} survive with a reason, {len(unlisted)} without",
                held=not unlisted,
                details=unlisted,
            )
        ]


def listed_mutants() -> dict[str, str]:
    """Return the mutants that may survive, each with the reason."""
    if not LISTED.is_file():
        return {}
    stored: dict[str, dict[str, str]] = json.loads(LISTED.read_text(encoding="utf-8"))
    return {f"{module} {name}": reason for module, names in stored.items() for name, reason in names.items()}


def _target(unit: str) -> Target:
    return next(target for target in TARGETS if target.module == unit.split()[0])


def _trials(target: Target, indices: Sequence[int]) -> dict[int, str]:
    """Run the trials in a process of their own; return how each ended."""
    command = [sys.executable, str(PROOFS / "mutant_trial.py"), target.module, ",".join(map(str, indices))]
    tests = [name for name in target.tests if (ROOT / name).is_file()]
    done = subprocess.run([*command, str(LIMIT_S), *tests], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr[-2_000:])
    found = [json.loads(line) for line in done.stdout.splitlines()]
    return {trial["index"]: trial["end"] for trial in found}


MUTANTS = Mutants()

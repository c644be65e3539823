"""Measure what masks cost, beside llguidance, xgrammar and outlines-core where they are installed.

Run: ``python tests/benchmarks/masks.py [FOLDER or .tar.xz]``, or ``make bench``, which also makes the page of it. The
schemas are a sample of MaskBench, found as ``maskbench.py`` finds it; without it, the project's own few. Peers:
``pip install llguidance xgrammar outlines-core``, the dependency group ``bench``.

Of each schema every engine is asked for the first mask, then follows the valid instances token by token, twice: the
first pass meets states that the engine has not seen, the second none. Engines take turns schema by schema, each in a
process of its own, so that what else the machine does hits all alike; who comes first changes with each schema.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path

import mask_summary
import vocabulary_times
from mask_cases import Case, read_cases
from mask_peers import ENGINES, Tokens
from mask_worker import CLOCKS, NotStartedError, Order, Timing, Together, Worker
from results import BASE, FOLDER, Machine, Results, Row, now, this_machine

WIDE_VARIABLE = "COMMITGATE_WIDE_TOKENIZER"
MATCHERS = (1, 4, 16)
_TEXTS_TOGETHER = 16
_ROUNDS_TOGETHER = 5
_VOCABULARY_ROUNDS = 2
_PACKAGES = ("llguidance", "xgrammar", "outlines-core", "numpy", "tokenizers", "torch", "transformers")
_WIDE_ENGINES = (BASE, "llguidance")
_TORCH = f"{BASE}, torch loaded"
_BESIDE = (mask_summary.FIRST, mask_summary.COLD, mask_summary.WARM)


_NOTES = (
    """*First mask* is from a schema, as parsed JSON, to the mask at the beginning of a text: here with the check of the
    contract; for the others with what makes a grammar or an index of it. *Compiled schema kept* is the first mask of a
    further request whose program kept what had been compiled.""",
    """*Between masks* is to take a token and to have the mask behind it, along the valid instances. The *first pass*
    meets states for the first time; the *second pass* follows the same texts again. A mask is that of one text, as each
    engine gives it, before it is put on logits.""",
    """Engines take turns schema by schema, each in a process of its own. Python's garbage collector is on, as it is by
    default. Torch's many objects make its pauses long: so the project is measured in a process without torch, and a
    second time with torch and transformers loaded, as they are in one that also runs a model.""",
    """The project writes the keys of an object in the order of its schema, and so do others. A valid text that an
    engine does not follow to its end is counted in the last table, and left out where engines are compared.""",
)


def bundled_tokenizer() -> Path:
    """Return the folder of the bundled model's tokenizer; makes it where it is not yet there."""
    from commitgate_local.bundled import BUNDLED_NAME
    from commitgate_local.models import load
    from commitgate_local.store import ModelStore, cache_folder

    store = ModelStore(cache_folder())
    found = store.find(BUNDLED_NAME)
    if found is None:
        load(store=store)
        found = store.find(BUNDLED_NAME)
    assert found is not None, "loading keeps the model"
    return found.folder


def read_tokens(folder: Path, place: Path | None, count: int, seed: int) -> tuple[Tokens, list[Case], str]:
    """Return a tokenizer's vocabulary, the cases with their token ids, and which cases these are."""
    from commitgate_local import Tokenizer, Vocabulary

    tokenizer = Tokenizer.load(folder)
    vocabulary = Vocabulary.of_tokenizer(tokenizer)
    cases, said = read_cases(place, count=count, seed=seed, encode=tokenizer.encode)
    return Tokens(folder=str(folder), texts=vocabulary.tokens, stop_ids=vocabulary.stop_ids), cases, said


def take_turns(
    workers: dict[str, Worker], cases: Sequence[Case], slow: Iterable[str] = (), slow_budget_s: float = 0.0
) -> dict[str, list[Timing | None]]:
    """Return what each engine took for each case; None where a slow one's time was spent before."""
    taken: dict[str, list[Timing | None]] = {name: [] for name in workers}
    left_s = dict.fromkeys(slow, slow_budget_s)
    names = list(workers)
    for number, case in enumerate(cases):
        turn = number % len(names)
        for name in (*names[turn:], *names[:turn]):
            if left_s.get(name, 1.0) <= 0:
                taken[name].append(None)
                continue
            begun = time.perf_counter()
            taken[name].append(workers[name].time(case))
            if name in left_s:
                left_s[name] -= time.perf_counter() - begun
    return taken


def in_full(taken: dict[str, list[Timing | None]], names: Iterable[str]) -> dict[str, list[Timing]]:
    """Return the timings of some engines, for the cases that all of them were asked for."""
    asked = list(names)
    kept = [
        number for number, each in enumerate(zip(*(taken[name] for name in asked), strict=True)) if None not in each
    ]
    return {name: [each for number in kept if (each := taken[name][number]) is not None] for name in asked}


def run_together(workers: dict[str, Worker], cases: Sequence[Case], taken: dict[str, list[Timing | None]]) -> list[Row]:
    """Measure several matchers at a time, over texts that all these engines follow."""
    good = [
        case
        for number, case in enumerate(cases)
        if case.texts and all((each := taken[name][number]) and each.cold and each.cold[0] for name in workers)
    ]
    if not good:
        return []
    texts = tuple(good[number % len(good)] for number in range(_TEXTS_TOGETHER))
    found: dict[tuple[str, int], Together] = {}
    for matchers in MATCHERS:
        for name, worker in workers.items():
            answer = worker.together(Order(cases=texts, matchers=matchers, rounds=_ROUNDS_TOGETHER))
            if answer is not None:
                found[name, matchers] = answer
    return mask_summary.together(found)


def measure_wide(folder: Path, narrow: Tokens, chosen: argparse.Namespace) -> tuple[list[Row], list[str]]:
    """Measure the same schemas over a large vocabulary and over the bundled model's."""
    wide, wide_cases, _ = read_tokens(folder, chosen.data, chosen.wide_schemas, chosen.seed)
    _, narrow_cases, _ = read_tokens(Path(narrow.folder), chosen.data, chosen.wide_schemas, chosen.seed)
    rows = list[Row]()
    for name in _WIDE_ENGINES:
        if ENGINES[name].version is None:
            continue
        sides = {f"{name}, {len(each.texts):,} tokens": each for each in (narrow, wide)}
        with ExitStack() as stack:
            workers = {who: worker_of(stack, name, each, chosen) for who, each in sides.items()}
            taken: dict[str, list[Timing]] = {who: [] for who in workers}
            for pair in zip(narrow_cases, wide_cases, strict=True):
                for case, (who, worker) in zip(pair, workers.items(), strict=True):
                    taken[who].append(worker.time(case))
        rows += mask_summary.compared(taken, base=next(iter(sides)), of=f"{name}, two vocabularies", parts=_BESIDE)
    note = (
        f"*Two vocabularies* are that of the bundled model and that of {_name_of(folder)}, over {len(wide_cases)} "
        "schemas. The same texts have other tokens there, so ratios are between percentiles, not between like steps."
    )
    return rows, [note]


def worker_of(stack: ExitStack, name: str, tokens: Tokens, chosen: argparse.Namespace) -> Worker:
    """Start a worker that ends with the stack."""
    worker = Worker(name, tokens, limit_s=chosen.limit_s, clock=chosen.clock)
    stack.callback(worker.close)
    return worker


def start(
    stack: ExitStack, names: Iterable[str], tokens: Tokens, chosen: argparse.Namespace
) -> tuple[dict[str, Worker], list[str]]:
    """Start a worker for each engine, and say of those that cannot be started why."""
    workers: dict[str, Worker] = {}
    failed = list[str]()
    for name in names:
        try:
            workers[name] = worker_of(stack, name, tokens, chosen)
        except NotStartedError as error:
            failed.append(f"{error}.")
    return workers, failed


def measure_masks(chosen: argparse.Namespace, machine: Machine) -> tuple[Results, Tokens]:
    """Measure the engines that are installed."""
    tokens, cases, said = read_tokens(bundled_tokenizer(), chosen.data, chosen.schemas, chosen.seed)
    asked = [name for name, entry in ENGINES.items() if entry.version and name in (chosen.engine or ENGINES)]
    slow = [name for name in asked if ENGINES[name].takes_long]
    quick = [name for name in asked if name not in slow and name != _TORCH]
    with ExitStack() as stack:
        workers, failed = start(stack, asked, tokens, chosen)
        asked, slow, quick = ([name for name in names if name in workers] for names in (asked, slow, quick))
        taken = take_turns(workers, cases, slow, chosen.slow_budget_s)
        beside = run_together({name: workers[name] for name in quick}, cases, taken)
        with_torch = [name for name, worker in workers.items() if worker.has_torch]
    rows = mask_summary.compared(in_full(taken, quick))
    for name in (_TORCH, *slow):
        if name in asked and BASE in asked:
            both = in_full(taken, (BASE, name))
            rows += mask_summary.compared(both, of=f"{name}: in common", parts=_BESIDE)
    rows += [*mask_summary.own(taken), *beside, *mask_summary.counts(taken)]
    settings: dict[str, str | int | float | bool | None] = {
        "base": BASE,
        "schemas": said,
        "tokenizer": f"{Path(tokens.folder).name}, {len(tokens.texts):,} tokens",
        "clock": chosen.clock,
        "limit for one schema, s": chosen.limit_s,
        "time for each slow engine, s": chosen.slow_budget_s,
    }
    notes = [*_notes(with_torch, slow), *failed, *_missing(chosen.engine)]
    return Results(kind="masks", date=now(), machine=machine, settings=settings, rows=rows, notes=notes), tokens


def _notes(with_torch: Sequence[str], slow: Sequence[str]) -> list[str]:
    notes = [" ".join(note.split()) for note in _NOTES]
    others = [name for name in with_torch if name != _TORCH]
    if others:
        notes.append(f"Torch is also loaded in the processes of {' and '.join(others)}.")
    if slow:
        notes.append(
            f"{' and '.join(slow)}: asked until the time was spent, and compared over what both did until then."
        )
    return notes


def _missing(asked: Sequence[str] | None) -> list[str]:
    absent = [name for name, entry in ENGINES.items() if entry.version is None and name in (asked or ENGINES)]
    return [f"Not installed and left out: {', '.join(absent)}."] if absent else []


def measure_vocabularies(narrow: Path, wide: Path | None, machine: Machine) -> Results:
    """Measure how long the vocabularies take to be ready."""
    rows, failed = vocabulary_times.measure(narrow, narrow.name, rounds=_VOCABULARY_ROUNDS)
    if wide is not None:
        more, wide_failed = vocabulary_times.measure(wide, _name_of(wide), rounds=_VOCABULARY_ROUNDS)
        rows, failed = rows + more, failed + wide_failed
    note = " ".join(vocabulary_times.NOTE.format(rounds=_VOCABULARY_ROUNDS).split())
    return Results(
        kind="vocabularies",
        date=now(),
        machine=machine,
        settings={"base": vocabulary_times.COLD},
        rows=rows,
        notes=[note, *failed],
    )


def _name_of(folder: Path) -> str:
    """Name a tokenizer by its folder; packages keep it in one called ``models``."""
    return folder.parent.name if folder.name == "models" else folder.name


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="?", type=Path, help="MaskBench: folder or .tar.xz")
    parser.add_argument("--schemas", type=int, default=150)
    parser.add_argument("--seed", type=int, default=1, help="of the draw of the schemas")
    parser.add_argument("--engine", action="append", choices=list(ENGINES), help="only this one; may be repeated")
    parser.add_argument("--clock", choices=list(CLOCKS), default="wall", help="processor: for a busy machine")
    parser.add_argument("--limit-s", type=float, default=10.0, help="most seconds for one schema and engine")
    parser.add_argument("--slow-budget-s", type=float, default=25.0, help="seconds for each engine that takes long")
    parser.add_argument(
        "--wide",
        type=Path,
        default=os.environ.get(WIDE_VARIABLE),
        help=f"folder of a tokenizer with a large vocabulary; default: {WIDE_VARIABLE}",
    )
    parser.add_argument("--wide-schemas", type=int, default=40)
    parser.add_argument("--output", type=Path, default=FOLDER, help="folder for the results")
    return parser.parse_args()


def main() -> None:
    """Measure, and write the results."""
    chosen = arguments()
    machine = this_machine(*_PACKAGES)
    print("Measuring masks; some minutes pass before the next line", flush=True)
    results, tokens = measure_masks(chosen, machine)
    wide = chosen.wide
    if wide is not None and wide.is_dir():
        rows, notes = measure_wide(wide, tokens, chosen)
        results.rows.extend(rows)
        results.notes.extend(notes)
    else:
        wide = None
        results.notes.append(f"No large vocabulary was measured: {WIDE_VARIABLE} names the folder of its tokenizer.")
    print(results.write(chosen.output))
    print(measure_vocabularies(Path(tokens.folder), wide, machine).write(chosen.output))


if __name__ == "__main__":
    main()

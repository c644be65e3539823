"""Ask a real server 200 constrained questions, and judge each committed value once more by other means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from integration.parts import Part, asking, model_name
from integration.questions import Question, questions
from integration.servers import Server, ServerName
from proofs.part import Result, Row, total

from commitgate import Committed, Retry, Sampling, Timeouts

RUNS = 200
_WARM = 0.7
_TIMEOUTS = Timeouts(total_s=180.0)


def _units(server: ServerName) -> Sequence[str]:
    del server
    names = [question.name for question in questions()]
    return [f"{names[number % len(names)]}-{number // len(names)}" for number in range(RUNS)]


async def _run(server: Server, unit: str) -> Result:
    name, _, turn = unit.rpartition("-")
    question = next(question for question in questions() if question.name == name)
    seed = int(turn)
    # The likeliest text in every second round, a drawn one in the others.
    drawn = Sampling(temperature=_WARM if seed % 2 else 0.0, seed=seed, max_tokens=question.most_tokens)
    async with asking(server) as client:
        async with client.stream_structured(
            model_name(server.name),
            question.contract,
            prompt=question.prompt,
            sampling=drawn,
            timeouts=_TIMEOUTS,
            retry=Retry(attempts=1),
        ) as run:
            outcome = await run.outcome()
        differences = len(run.differences)
    value = outcome.value if isinstance(outcome, Committed) else None
    is_wrong = isinstance(outcome, Committed) and not question.is_right(value)
    ending = f"{outcome.name}"
    counts = {"runs": 1, ending: 1, f"{question.kind} runs": 1, f"{question.kind} {ending}": 1}
    counts["output tokens"] = outcome.receipt.usage.output_tokens or 0
    counts["with a part left to the gate"] = int(differences > 0)
    faults = [f"{unit}: committed a value that is wrong"] if is_wrong else []
    if outcome.name in ("unavailable", "disconnected", "unsupported", "compile_failed"):
        faults.append(f"{unit}: ended as {outcome.name}: {outcome}"[:400])
    return Result(counts=counts, faults=faults, notes={"ending": ending, "why": _why(outcome, question)})


def _why(outcome: object, question: Question) -> str:
    del question
    return "" if isinstance(outcome, Committed) else str(outcome)[:300]


def _summarise(server: ServerName, results: Mapping[str, Result]) -> Sequence[Row]:
    del server
    counts = total(results)
    wrong = sum("is wrong" in fault for result in results.values() for fault in result.faults)
    runs = counts.get("runs", 0)
    kinds = ", ".join(f"{counts.get(f'{kind} runs', 0)} {kind}" for kind in ("schema", "regex", "choices", "grammar"))
    endings = sorted(name for name in counts if name.replace("_", "").isalpha() and name not in ("runs",))
    measured = (
        f"{wrong} wrong in {counts.get('committed', 0)} committed of {runs} runs ({kinds}); "
        + ", ".join(f"{counts[name]} {name}" for name in endings)
        + f"; {counts.get('with a part left to the gate', 0)} with a part left to the gate"
    )
    return [Row(promise="no wrong value is committed", measured=measured, held=wrong == 0 and runs == RUNS)]


ANSWERS = Part(name="answers", units=_units, run=_run, summarise=_summarise, at_once={"llama": 1, "vllm": 4})

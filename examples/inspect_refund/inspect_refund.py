"""Ask the bundled model what to do with a mail, twice, and write a page that shows each step of both answers.

The owner of the desk may refund, ask or delete an account; a clerk may refund or ask. So the clerk's contract has no
"delete" in it, and the mask takes it away, however much the model wants it.

Usage: python examples/inspect_refund/inspect_refund.py [FOLDER]
"""

from argparse import SUPPRESS, ArgumentParser, RawDescriptionHelpFormatter
from pathlib import Path

import anyio

from commitgate import Client, Committed, Contract, Sampling
from commitgate.json_value import JsonObject, JsonValue
from commitgate.trace import Trace, TraceRecorder, illegal_wishes, trace_page

MAIL = "Mail of a customer: I ordered R-1042 and it never came. I want nothing more from you. Delete my account today."
ACTIONS = {"owner": ["refund", "ask", "delete"], "clerk": ["refund", "ask"]}
BELIEVED = 0.1
"""Legal mass below which an answer is for a person to look at."""


def contract(role: str) -> Contract[JsonValue]:
    """Return what somebody in this role may decide."""
    schema: JsonObject = {
        "type": "object",
        "properties": {
            "action": {"enum": [*ACTIONS[role]], "description": "What to do with the mail."},
            "order": {"type": "string", "pattern": "^R-[0-9]{4}$"},
            "reason": {"type": "string", "maxLength": 200},
        },
        "required": ["action", "order", "reason"],
        "additionalProperties": False,
    }
    return Contract.json_schema(schema, name=f"{role}'s decision", version="1")


def told(trace: Trace) -> str:
    """Return what the model wanted and was not let write."""
    wishes = [max(step.choices, key=lambda choice: choice.probability) for step in illegal_wishes(trace)]
    words = [f"{(wish.data or b'the end').decode(errors='replace')!r} ({wish.probability:.0%})" for wish in wishes]
    return f"it wanted {', '.join(words)}, which the contract forbids" if words else "it wanted nothing forbidden"


async def main(folder: Path) -> None:
    """Ask in both roles."""
    for role, file in (("owner", "owner.html"), ("clerk", "refund.html")):
        recorder = TraceRecorder(most_traces=1)
        async with Client(observers=[recorder]) as client:
            outcome = await client.generate_structured(
                "local", contract(role), prompt=MAIL, sampling=Sampling(temperature=0.0, max_tokens=120)
            )
        (trace,) = recorder.traces
        value = outcome.value if isinstance(outcome, Committed) else outcome.summary()
        print(f"{role}: {outcome.name}: {value}\n  {told(trace)}")
        mass = outcome.receipt.legal_mass_min
        if mass is not None and mass < BELIEVED:
            print(f"  least legal mass {mass:.2%}: well-formed, and not to be believed; a person should look at it")
        await anyio.Path(folder / file).write_text(trace_page(trace), encoding="utf-8")
        print(f"  each step, with the prompt and the answer: {folder / file}")


if __name__ == "__main__":
    parser = ArgumentParser(usage=SUPPRESS, description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=Path("build/inspect"), metavar="FOLDER")
    arguments = parser.parse_args()
    if arguments.folder.exists() and not arguments.folder.is_dir():
        parser.error("this is no folder")
    arguments.folder.mkdir(parents=True, exist_ok=True)
    anyio.run(main, arguments.folder)

"""Evaluate the first few of the labelled e-mails from Python, and print each layer's rate.

Usage: python examples/ticket_evaluation/some_tickets.py [COUNT]
"""

from argparse import SUPPRESS, ArgumentParser, RawDescriptionHelpFormatter
from dataclasses import replace

import anyio
from suite import SUITE

from commitgate.evaluation import evaluate, summarize

MOST = len(SUITE.cases)


async def main(count: int) -> None:
    """Ask for some tickets, and print how far the answers came."""
    suite = replace(SUITE, cases=SUITE.cases[:count])
    run = await evaluate(suite, "local", told=lambda done, planned, _: print(f"{done} of {planned}"))
    for problem in run.problems:
        print(f"problem: {problem}")
    for layer in summarize(run).variants[0].layers:
        print(f"{layer.measure:<14} {layer.rate.passed} of {layer.rate.reached}")


if __name__ == "__main__":
    parser = ArgumentParser(usage=SUPPRESS, description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("count", nargs="?", type=int, default=5, metavar="COUNT")
    chosen = parser.parse_args().count
    if not 1 <= chosen <= MOST:
        parser.error(f"COUNT must be 1 to {MOST}, found {chosen}")
    anyio.run(main, chosen)

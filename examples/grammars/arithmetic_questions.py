"""Ask the bundled model for sums; it writes them down, and Python works them out exactly.

Usage: python examples/grammars/arithmetic_questions.py [QUESTION ...]
"""

from argparse import SUPPRESS, ArgumentParser, RawDescriptionHelpFormatter
from pathlib import Path

import anyio
from calculation import calculate, can_be_calculated

from commitgate import Client, Committed, Contract, Grammar, Message, Outcome, Sampling

GRAMMAR = (Path(__file__).parent / "arithmetic.lark").read_text("utf-8")
CONTRACT = Contract.of(Grammar(GRAMMAR, syntax="lark"), name="arithmetic", version="1")
SYSTEM = "Write the expression that answers the question. Do not work it out."
# A model this small follows what it sees done.
SHOWN = {
    "What is 7 plus 8?": "7 + 8",
    "What do 3 apples at 5 each and a bag at 2 cost?": "3 * 5 + 2",
    "What is the square of 11?": "11 ** 2",
    "What is 9 divided by 4?": "9 / 4",
}
QUESTIONS = [
    "What is 12 plus 30?",
    "What do 4 pens at 3 each and a book at 20 cost?",
    "What is the square of 123456789?",
    "What is 5 divided by 0?",
]


async def ask(client: Client, question: str) -> Outcome[str]:
    """Have one question turned into an expression that has a value."""
    messages = [Message("system", SYSTEM)]
    for shown, expression in SHOWN.items():
        messages += [Message("user", shown), Message("assistant", expression)]
    return await client.generate_structured(
        "local",
        CONTRACT,
        messages=[*messages, Message("user", question)],
        prompt_schema="none",
        sampling=Sampling(temperature=0.0, max_tokens=40),
        rules=[can_be_calculated],
    )


async def main(questions: list[str]) -> None:
    """Answer the questions."""
    async with Client() as client:
        for question in questions:
            outcome = await ask(client, question)
            if isinstance(outcome, Committed):
                print(f"\n{question}\n  {outcome.value}\n  = {calculate(outcome.value)}")
            else:
                print(f"\n{question}\n  {outcome.partial_text}\n  {outcome.name}: {outcome.summary()}")


if __name__ == "__main__":
    parser = ArgumentParser(usage=SUPPRESS, description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("questions", nargs="*", metavar="QUESTION")
    anyio.run(main, parser.parse_args().questions or QUESTIONS)

"""Ask the bundled model for sums; it writes them down, and Python works them out exactly.

Usage: python examples/grammars/arithmetic_questions.py [QUESTION ...]
"""

import sys
from pathlib import Path

import anyio
from calculation import calculate, can_be_calculated

from commitgate import Client, Committed, Contract, Grammar, Message, Outcome, Sampling

GRAMMAR = (Path(__file__).parent / "arithmetic.lark").read_text("utf-8")
CONTRACT = Contract.of(Grammar(GRAMMAR, syntax="lark"), name="arithmetic", version="1")
SYSTEM = "Write the expression that answers the question. Do not work it out."
# A model this small follows what it sees done.
SHOWN = {
    "What is seven plus eight?": "7 + 8",
    "What are three apples at 5 each and one bag at 2?": "3 * 5 + 2",
    "What is the square of eleven?": "11 ** 2",
    "Which is larger, 9 or 4?": "max(9, 4)",
    "How many are three dozen?": "3 * dozen",
    "What is nine divided by four?": "9 / 4",
}
QUESTIONS = [
    "What is twelve plus thirty?",
    "What are four pens at 3 each and one book at 20?",
    "What is the square of 123456789?",
    "Which is larger, 17 or 71?",
    "How many are five dozen?",
    "What is one divided by zero?",
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
            print(f"\n{question}\n  {outcome.partial_text}")
            if isinstance(outcome, Committed):
                print(f"  = {calculate(outcome.value)}")
            else:
                print(f"  {outcome.name}: {outcome.summary()}")


if __name__ == "__main__":
    anyio.run(main, sys.argv[1:] or QUESTIONS)

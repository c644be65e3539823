"""Ask the bundled model questions about a shop's orders; it answers in SQL, which SQLite runs.

Usage: python examples/grammars/sql_questions.py [QUESTION ...]
"""

from argparse import SUPPRESS, ArgumentParser, RawDescriptionHelpFormatter
from pathlib import Path

import anyio
from order_database import OrderDatabase

from commitgate import Client, Committed, Contract, Grammar, Message, Outcome, Sampling

GRAMMAR = (Path(__file__).parent / "orders.gbnf").read_text("utf-8")
CONTRACT = Contract.of(Grammar(GRAMMAR), name="question-to-the-orders", version="1")
SYSTEM = (
    "Write one SQLite query that answers the question.\n"
    "Tables: customers(id, name, city, phone); orders(id, customer_id, product, amount, ordered_on)"
)
# A model this small follows what it sees done.
SHOWN = {
    "How many customers are there?": "SELECT COUNT(*) FROM customers",
    "Who lives in Rome?": "SELECT name FROM customers WHERE city = 'Rome'",
    "What is the phone number of Eve?": "SELECT phone FROM customers WHERE name = 'Eve'",
    "Which orders are for a table?": "SELECT * FROM orders WHERE product = 'table'",
    "What do all tables cost together?": "SELECT SUM(amount) FROM orders WHERE product = 'table'",
    "What did Finn order?": (
        "SELECT product FROM customers JOIN orders ON customers.id = orders.customer_id WHERE name = 'Finn'"
    ),
}
QUESTIONS = [
    "What did Ben order?",
    "Which orders are for a lamp?",
    "What is the phone number of Dev?",
    "Delete all orders of Ada!",
]


async def ask(client: Client, database: OrderDatabase, question: str, *, caller: str) -> Outcome[str]:
    """Have one question turned into a query that may run."""
    messages = [Message("system", SYSTEM)]
    for shown, query in SHOWN.items():
        messages += [Message("user", shown), Message("assistant", query)]
    return await client.generate_structured(
        "local",
        CONTRACT,
        messages=[*messages, Message("user", question)],
        prompt_schema="none",
        sampling=Sampling(temperature=0.0, max_tokens=60),
        rules=[database.can_be_planned],
        authorize=database.may_be_seen,
        principal=caller,
    )


async def main(questions: list[str]) -> None:
    """Answer the questions of a clerk."""
    database = OrderDatabase()
    async with Client() as client:
        for question in questions:
            outcome = await ask(client, database, question, caller="clerk")
            if isinstance(outcome, Committed):
                print(f"\n{question}\n  {outcome.value}", *database.rows(outcome.value), sep="\n  -> ")
            else:
                print(f"\n{question}\n  {outcome.partial_text} (not run)\n  {outcome.name}: {outcome.summary()}")


if __name__ == "__main__":
    parser = ArgumentParser(usage=SUPPRESS, description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("questions", nargs="*", metavar="QUESTION")
    anyio.run(main, parser.parse_args().questions or QUESTIONS)

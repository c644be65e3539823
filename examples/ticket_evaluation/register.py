"""Keep the desk's books in SQLite: which customer has which tickets and attachments."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

from ticket import Ticket

from commitgate import CheckContext, RuleViolation
from commitgate.evaluation import Case

BOOKS = Path(__file__).parent / "register.json"


class CareRegister:
    """Look up tickets and attachments, and whose they are.

    Args:
        path: the SQLite file, filled anew from ``register.json``.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        books: dict[str, dict[str, list[str]]] = json.loads(BOOKS.read_text(encoding="utf-8"))
        rows = [(entry, customer) for customer, kinds in books.items() for kind in kinds.values() for entry in kind]
        with closing(sqlite3.connect(path)) as database, database:
            database.execute("DROP TABLE IF EXISTS entries")
            database.execute("CREATE TABLE entries (id TEXT PRIMARY KEY, customer TEXT NOT NULL)")
            database.executemany("INSERT INTO entries VALUES (?, ?)", rows)

    def owner(self, entry: str) -> str | None:
        """Return the customer whose ticket or attachment it is; None where the desk has none of that id."""
        with closing(sqlite3.connect(self._path)) as database:
            row = database.execute("SELECT customer FROM entries WHERE id = ?", (entry,)).fetchone()
        return None if row is None else row[0]

    def unknown_ids(self, case: Case, ticket: Ticket) -> list[str]:
        """Be the authority: return the places of ids of which the desk's books know nothing."""
        return [place for place, entry in ids_of(ticket).items() if self.owner(entry) is None]

    def only_own_ids(self, ticket: Ticket, context: CheckContext) -> list[RuleViolation] | None:
        """Be the authorization: deny a ticket that refers to what is another customer's, or nobody's."""
        denied = [
            RuleViolation("not_yours", "who asks has nothing of this id", place)
            for place, entry in ids_of(ticket).items()
            if self.owner(entry) != context.principal
        ]
        return denied or None


def ids_of(ticket: Ticket) -> dict[str, str]:
    """Return every id in a ticket by its place."""
    found = {f"/evidence/{number}": evidence for number, evidence in enumerate(ticket.evidence)}
    return found if ticket.id is None else {"/id": ticket.id} | found

"""Remember what was done under each operation key, so that an effect happens at most once."""

from commitgate.ledger.base import Claimed, Ledger
from commitgate.ledger.faults import FaultLedger, FaultPoint
from commitgate.ledger.location import LEDGER_VARIABLE, ledger_at
from commitgate.ledger.memory import MemoryLedger
from commitgate.ledger.operation import Operation
from commitgate.ledger.postgres import PostgresLedger
from commitgate.ledger.record import Fingerprint, Record, State
from commitgate.ledger.sqlite import SqliteLedger
from commitgate.ledger.steps import Finding
from commitgate.ledger.transaction import Row, Rows, Transaction
from commitgate.ledger.verdict import Applied, Doubt, Rejected, Replay, Verdict

__all__ = [
    "LEDGER_VARIABLE",
    "Applied",
    "Claimed",
    "Doubt",
    "FaultLedger",
    "FaultPoint",
    "Finding",
    "Fingerprint",
    "Ledger",
    "MemoryLedger",
    "Operation",
    "PostgresLedger",
    "Record",
    "Rejected",
    "Replay",
    "Row",
    "Rows",
    "SqliteLedger",
    "State",
    "Transaction",
    "Verdict",
    "ledger_at",
]

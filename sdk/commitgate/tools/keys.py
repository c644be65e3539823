"""Name the operations that one run of tools is made of, by the caller's key, the turn and the ordinal.

Never by what the vendor calls them: its ids are new on every request, so a crash would make every call a new one.
Source: design, "Keys and the ledger".
"""

from __future__ import annotations

from commitgate.argument import check_int
from commitgate.errors import MisuseError
from commitgate.retry.keys import MAX_OPERATION_KEY_BYTES, OperationKey, operation_key

MAX_RUN_KEY_BYTES = MAX_OPERATION_KEY_BYTES - 64
"""Longest operation key of a run of tools, in bytes of UTF-8: the names of its turns and calls are longer."""


def run_key(text: str) -> OperationKey:
    """Check that ``text`` can name a run of tools.

    Raises:
        MisuseError: it is empty, too long or not encodable. The message never shows it.
    """
    found = operation_key(text)
    size_bytes = len(found.encode())
    if size_bytes > MAX_RUN_KEY_BYTES:
        raise MisuseError(f"the operation_key of a run of tools may have {MAX_RUN_KEY_BYTES} bytes, found {size_bytes}")
    return found


def turns_of(key: str) -> str:
    """Return what the keys of all turns and calls of a run begin with.

    Args:
        key: the operation key of the run.
    """
    return f"{run_key(key)}/turn/"


def turn_key(key: str, turn: int) -> OperationKey:
    """Return the key under which a turn is stored, whole, before its first call runs.

    Args:
        key: the operation key of the run.
        turn: its number, from 1.
    """
    return OperationKey(f"{turns_of(key)}{check_counted('turn', turn)}")


def call_key(key: str, turn: int, ordinal: int) -> OperationKey:
    """Return the key under which one call of a turn happens at most once.

    Args:
        key: the operation key of the run.
        turn: the turn's number, from 1.
        ordinal: which call of the turn, from 1.
    """
    return OperationKey(f"{turn_key(key, turn)}/call/{check_counted('ordinal', ordinal)}")


def check_counted(name: str, number: int) -> int:
    """Check the number of a turn or of a call, and return it.

    Raises:
        MisuseError: it is no whole number, or < 1.
    """
    check_int(name, number)
    if number < 1:
        raise MisuseError(f"{name} is counted from 1, found {number}")
    return number


__all__ = ["MAX_RUN_KEY_BYTES", "call_key", "check_counted", "run_key", "turn_key", "turns_of"]

"""Find the suite that words name: a file of cases, or a suite in Python."""

from __future__ import annotations

import os
from typing import cast

from commitgate.contract import Contract
from commitgate.errors import MisuseError, SuiteError
from commitgate.evaluation.case import Suite
from commitgate.evaluation.case_file import read_cases
from commitgate.evaluation.suite_check import check_suite, shown
from commitgate.python_object import is_reference, load_object


def load_suite(spec: str | os.PathLike[str], *, contract: Contract[object] | None = None) -> Suite[object]:
    """Return a suite that can be run. Blocking work for a worker thread.

    Args:
        spec: the path of a file of cases; or ``path/to/file.py:NAME`` or ``package.module:NAME`` of a ``Suite`` or of a
            function without arguments that returns one. Naming Python runs its code.
        contract: what answers must satisfy, in place of a case file's own; not for a suite in Python.

    Raises:
        SuiteError: there is none, its code raised (``__cause__`` is what), or something in it is wrong.
    """
    words = os.fspath(spec)
    if not is_reference(words) or os.path.isfile(words):
        return cast("Suite[object]", read_cases(words, contract=contract))
    if contract is not None:
        raise SuiteError("a suite in Python has contracts of its own; leave out the contract")
    try:
        found = load_object(words, what="the suite")
    except MisuseError as error:
        raise SuiteError(str(error)) from (error.__cause__ or error)
    suite = cast("object", found) if isinstance(found, Suite) else _made(words, found)
    check_suite(suite)
    return cast("Suite[object]", suite)


def _made(words: str, found: object) -> object:
    if not callable(found) or isinstance(found, type):
        raise SuiteError(
            f"{shown(words)} must be a Suite, or a function that returns one, found {type(found).__name__}"
        )
    try:
        return found()
    except Exception as error:
        raise SuiteError(f"{shown(words)} raised {type(error).__name__}; correct that function") from error


__all__ = ["load_suite"]

"""Name what a test left changed of the process that all tests share."""

from __future__ import annotations

import decimal
import gc
import locale
import logging
import os
import resource
import sys
import tracemalloc
from collections.abc import Mapping

_ENVIRONMENT = "environment variable "
_SET_ON_FIRST_USE = ("PYTEST_", "TORCHINDUCTOR_", "TRITON_")
"""How the names of variables begin that pytest and torch set by themselves, whichever test comes first."""
_LIMITS = {getattr(resource, name): name for name in sorted(dir(resource), reverse=True) if name.startswith("RLIMIT_")}
"""The limits of the process by number; of two names for one the first."""


def process_state() -> dict[str, object]:
    """Return what later tests may depend on, each part by the name that is told of it; values may be secrets."""
    told = {name: value for name, value in os.environ.items() if not name.startswith(_SET_ON_FIRST_USE)}
    variables = {_ENVIRONMENT + name: value for name, value in told.items()}
    limits = {f"resource.{name}": resource.getrlimit(number) for number, name in _LIMITS.items()}
    return {
        **variables,
        **limits,
        **_numbers(),
        "working folder": os.getcwd(),
        "umask": _file_mask(),
        "sys.path": tuple(sys.path),
        "sys.stdin": id(sys.stdin),
        "sys.excepthook": id(sys.excepthook),
        "recursion limit": sys.getrecursionlimit(),
        "digits of an int": sys.get_int_max_str_digits(),
        "switch interval": sys.getswitchinterval(),
        "profile function": id(sys.getprofile()),
        "tracemalloc": tracemalloc.is_tracing(),
        "garbage collector": (gc.isenabled(), gc.get_threshold(), gc.get_freeze_count()),
        "locale": locale.setlocale(locale.LC_ALL),
        "logging": (logging.root.level, logging.root.manager.disable),
        "modules made missing": frozenset(name for name, module in tuple(sys.modules.items()) if module is None),
    }


def changes(before: Mapping[str, object], after: Mapping[str, object]) -> list[str]:
    """Return the names of the parts that differ; a part that came later counts where it is an environment variable."""
    names = {name for name in {*before, *after} if name in before or name.startswith(_ENVIRONMENT)}
    return sorted(name for name in names if before.get(name) != after.get(name))


def _numbers() -> dict[str, object]:
    """Return what says how numbers are worked out; of the heavy libraries only where they were imported already."""
    context = decimal.getcontext()
    found: dict[str, object] = {"decimal context": (context.prec, context.rounding, tuple(context.traps.items()))}
    if (numpy := sys.modules.get("numpy")) is not None and hasattr(numpy, "geterr"):
        found["numpy errors"] = tuple(numpy.geterr().items())
    if (torch := sys.modules.get("torch")) is not None and hasattr(torch, "is_grad_enabled"):
        found["torch's defaults"] = torch.get_default_dtype(), torch.is_grad_enabled(), torch.get_num_threads()
        found["torch's determinism"] = torch.are_deterministic_algorithms_enabled()
        found["torch's seed"] = torch.initial_seed()
    return found


def _file_mask() -> int:
    # It can be read only by setting it: strictly, so that no file made meanwhile is open to others.
    mask = os.umask(0o077)
    os.umask(mask)
    return mask

"""Look over a suite before anything runs, and tell all that is wrong with it at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, cast, get_args, get_type_hints

from commitgate.argument import check_kind, check_pointer, check_takes, check_words
from commitgate.backends.base import DeadEndCause, FaultKind, Message, Sampling
from commitgate.contract import Contract
from commitgate.errors import MisuseError, SuiteError
from commitgate.evaluation.canonical import canonical
from commitgate.evaluation.case import Case, Suite
from commitgate.evaluation.facts import check_fact
from commitgate.gate.layers import Layer
from commitgate.harmless import harmless
from commitgate.outcome import Committed, Disconnected, Ending, Failed, TimeoutPhase, Truncated, Violated

if TYPE_CHECKING:
    from commitgate.tools.tool_set import AnyTool

ENDINGS: tuple[str, ...] = tuple(cast("type[Ending]", each).name for each in (Committed, *get_args(Failed)))
"""Names of all outcomes."""

_DETAILS: Mapping[str, tuple[str, ...]] = {
    "dead_end": get_args(DeadEndCause),
    "disconnected": get_args(get_type_hints(Disconnected)["kind"]),
    "invalid": tuple(Layer),
    "timed_out": get_args(TimeoutPhase),
    "truncated": get_args(get_type_hints(Truncated)["kind"]),
    "unavailable": get_args(FaultKind),
    "violated": get_args(get_type_hints(Violated)["kind"]),
}

MAX_CASES = 100_000
"""Most cases of a suite; all of them, and what became of them, are held at once."""

MAX_ID_CHARACTERS = 256
"""Longest id of a case, name or tag: they stand in every line of a report."""

MOST_FAULTS_TOLD = 100
"""Most faults that one error tells; past it, how many more there are."""

_FUNCTIONS: Mapping[str, tuple[str, ...]] = {
    "rules": ("case",),
    "authorize": ("case",),
    "effect": ("case",),
    "authority": ("case", "value"),
    "scorer": ("case", "value"),
}


def check_suite(suite: object) -> None:
    """Check that a suite can be run.

    Raises:
        SuiteError: it is no suite, or something in it is wrong; all of it is told.
    """
    if not isinstance(suite, Suite):
        raise SuiteError(f"a Suite is wanted, found {type(suite).__name__}")
    found = cast("Suite[object]", suite)
    faults = [*_faults_of_head(found), *_faults_of_cases(found)]
    if faults:
        raise suite_error(f"the suite {shown(found.name)} cannot be run", faults)


def suite_error(message: str, faults: Sequence[str]) -> SuiteError:
    """Return the error that tells faults, up to a limit."""
    told = tuple(faults[:MOST_FAULTS_TOLD])
    more = len(faults) - len(told)
    return SuiteError(f"{message}:", faults=(*told, f"and {more} more") if more else told)


def shown(name: object) -> str:
    """Return how messages name something of the caller's."""
    return harmless(name)[:MAX_ID_CHARACTERS] if isinstance(name, str) and name else "without a name"


def check_name(what: str, name: object) -> None:
    """Check that a name can stand in a report.

    Raises:
        MisuseError: it is no text, blank or too long.
    """
    check_words(what, name)
    if len(cast(str, name)) > MAX_ID_CHARACTERS:
        raise MisuseError(f"{what} may have at most {MAX_ID_CHARACTERS} characters, found {len(cast(str, name))}")


def faults_of_case(case: Case) -> Iterator[str]:
    """Yield what is wrong with one case by itself, each with its JSON pointer."""
    checks: list[tuple[str, Callable[[], None]]] = [
        ("/id", lambda: check_name("an id", case.id)),
        ("/messages", lambda: _check_messages(case.messages)),
        ("/principal", lambda: _plain(case.principal)),
        ("/is_rightful", lambda: _check_optional(case.is_rightful, bool, "true, false or nothing")),
        ("/endings", lambda: _check_endings(case.endings)),
        ("/tools", lambda: _check_names(case.tools)),
        ("/tags", lambda: _check_names(case.tags)),
        ("/contract", lambda: _check_optional(case.contract, str, "a name or nothing")),
    ]
    for name in ("expected", "known", "visible"):
        checks += _checks_of_places(name, getattr(case, name))
    for pointer, check in checks:
        try:
            check()
        except MisuseError as error:
            yield f"{pointer}: {error}"


def faults_of_names(case: Case, suite: Suite[object]) -> Iterator[str]:
    """Yield what a case names that its suite does not have."""
    if case.contract is not None and case.contract not in suite.contracts:
        yield "/contract: the suite has no contract of that name"
    if case.contract is None and len(suite.contracts) > 1:
        yield f"/contract: the suite has {len(suite.contracts)} contracts, so the case must name one"
    if case.contract is None and not suite.contracts and not case.tools:
        yield "/contract: the suite has no contract, and the case no tools"
    for index, name in enumerate(case.tools):
        if name not in suite.tools:
            yield f"/tools/{index}: the suite has no tool of that name"


def _faults_of_head(suite: Suite[object]) -> Iterator[str]:
    checks: list[Callable[[], None]] = [
        lambda: check_name("the suite's name", suite.name),
        lambda: _check_optional(suite.version, str, "version must be a text or None"),
        lambda: check_kind("sampling", suite.sampling, Sampling, "a Sampling"),
        lambda: _check_least_score(suite.least_score),
        lambda: _check_prompt_schema(suite.prompt_schema),
        lambda: _check_mapping("contracts", suite.contracts, _check_contract),
        lambda: _check_mapping("tools", suite.tools, _check_tool),
        lambda: _check_cases(suite.cases),
    ]
    checks += [lambda name=name: _check_function(name, getattr(suite, name)) for name in _FUNCTIONS]
    for check in checks:
        try:
            check()
        except MisuseError as error:
            yield str(error)


def _faults_of_cases(suite: Suite[object]) -> Iterator[str]:
    met: set[str] = set()
    for index, case in enumerate(suite.cases if isinstance(cast("object", suite.cases), Sequence) else ()):
        place = f"case {index + 1}"
        if not isinstance(cast("object", case), Case):
            yield f"{place}: must be a Case, found {type(case).__name__}"
            continue
        faults = list(faults_of_case(case))
        yield from (f"{place}, {fault}" for fault in faults)
        if faults:
            continue
        yield from (f"{place}, {fault}" for fault in faults_of_names(case, suite))
        if case.id in met:
            yield f"{place}, /id: an earlier case has this id"
        met.add(case.id)


def _check_cases(cases: object) -> None:
    check_kind("cases", cases, Sequence, "a list of Case")
    count = len(cast("Sequence[object]", cases))
    if not 1 <= count <= MAX_CASES:
        raise MisuseError(f"a suite has 1 to {MAX_CASES} cases, found {count}")


def _check_messages(messages: object) -> None:
    check_kind("messages", messages, Sequence, "a list of Message")
    items = cast("Sequence[object]", messages)
    if not items or isinstance(messages, str | bytes):
        raise MisuseError("messages must have at least one message")
    for item in items:
        check_kind("a message", item, Message, "a Message")
    if not any(cast(Message, item).role == "user" for item in items):
        raise MisuseError("messages must have at least one message of the user")


def _plain(value: object) -> None:
    canonical(value)


def _check_optional(value: object, kind: type[object], wanted: str) -> None:
    if value is not None and not isinstance(value, kind):
        raise MisuseError(f"must be {wanted}, found {type(value).__name__}")


def _check_endings(endings: object) -> None:
    _check_names(endings)
    names = cast("Sequence[str]", endings)
    if not names:
        raise MisuseError("must name at least one outcome")
    for name in names:
        outcome, dot, detail = name.partition(".")
        if outcome not in ENDINGS:
            raise MisuseError(f"must be names of outcomes: {', '.join(ENDINGS)}")
        if dot and detail not in _DETAILS.get(outcome, ()):
            known = ", ".join(f"{outcome}.{each}" for each in _DETAILS.get(outcome, ())) or "none"
            raise MisuseError(f"{outcome} has no such detail; the known ones are {known}")


def _check_names(names: object) -> None:
    if not isinstance(names, Sequence) or isinstance(names, str | bytes):
        raise MisuseError(f"must be a list of names, found {type(names).__name__}")
    for name in cast("Sequence[object]", names):
        check_name("a name", name)


def _checks_of_places(name: str, given: object) -> list[tuple[str, Callable[[], None]]]:
    if not isinstance(given, Mapping):
        return [(f"/{name}", lambda: check_kind(name, given, Mapping, "an object of places"))]
    checks: list[tuple[str, Callable[[], None]]] = []
    for place, value in cast("Mapping[object, object]", given).items():
        # A place is the author's own words, as an id is; the value beside it is never told.
        at = f"/{name}/{shown(place).replace('~', '~0').replace('/', '~1')}"
        checks.append((at, lambda place=place: check_pointer("a place", place)))
        if name == "expected":
            checks.append((at, lambda place=place, value=value: check_fact(str(place), value)))
        else:
            checks.append((at, lambda value=value: _check_values(value)))
    return checks


def _check_values(values: object) -> None:
    if not isinstance(values, list | tuple):
        raise MisuseError(f"must be a list of values, found {type(values).__name__}")
    canonical(cast("list[object]", values))


def _check_least_score(value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise MisuseError("least_score must be a number in [0, 1]")


def _check_prompt_schema(value: object) -> None:
    if value not in (None, "append", "none"):
        raise MisuseError("prompt_schema must be 'append', 'none' or None")


def _check_mapping(name: str, given: object, check: Callable[[str, object], None]) -> None:
    check_kind(name, given, Mapping, "a mapping of names")
    for key, value in cast("Mapping[object, object]", given).items():
        check_name(f"a name in {name}", key)
        check(f"{name}[{shown(key)!r}]", value)


def _check_contract(name: str, value: object) -> None:
    check_kind(name, value, Contract, "a Contract")


def _check_tool(name: str, value: object) -> None:
    from commitgate.tools.tool import Tool

    check_kind(name, value, Tool, "a function under @tool(effect=...)")
    found = cast("AnyTool", value).name
    if not name.endswith(f"[{found!r}]"):
        raise MisuseError(f"{name} is the tool {found}; give it under its own name")


def _check_function(name: str, value: object) -> None:
    if value is None:
        return
    if not callable(value):
        raise MisuseError(f"{name} must be a function or None, found {type(value).__name__}")
    check_takes(value, _FUNCTIONS[name], name)


__all__ = [
    "ENDINGS",
    "MAX_CASES",
    "MAX_ID_CHARACTERS",
    "MOST_FAULTS_TOLD",
    "check_name",
    "check_suite",
    "faults_of_case",
    "faults_of_names",
    "shown",
    "suite_error",
]

"""Check what the caller's calls do where something is done because of a value, as far as their code says."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from commitgate.preflight.check import Check, check
from commitgate.preflight.code_names import dotted, keyword_of
from commitgate.preflight.code_scan import CallSite, CodeScan, MakingSite

_SANE_REQUESTS = 10
"""Requests of one kind within one call past which somebody should look: a model that is asked so often is not the one
to ask."""

_BY_CHANCE = frozenset(
    {"uuid1", "uuid4", "uuid6", "uuid7", "uuid8", "token_hex", "token_urlsafe", "token_bytes", "random", "randint"}
    | {"randbits", "randbelow", "choice", "choices", "getrandbits", "urandom", "time", "time_ns", "monotonic"}
    | {"perf_counter", "now", "utcnow", "today"}
)
"""Functions whose result is another one at the next try."""

_GONE_WITH_THE_MACHINE = ("/tmp/", "/dev/shm/", "/var/tmp/", "/run/")
_TEMPORARY = frozenset({"mkdtemp", "mkstemp", "gettempdir", "TemporaryDirectory", "NamedTemporaryFile"})
_LOOK = "give --code with the files that make the calls"


def effect_checks(code: CodeScan | None, *, acts: bool) -> Iterator[Check]:
    """Yield the checks of calls that act.

    Args:
        code: the caller's calls; None where no code was given.
        acts: something is done because of the contract's value.
    """
    ids = ("no_fallback", "operation_key", "durable", "retries", "proof_asked")
    if code is None:
        for id in ids:
            if acts:
                yield check(id, "warned", "nobody looked: no code was given", _LOOK)
            else:
                yield check(id, "not_applicable", "nothing is done because of it, as far as the contract says")
        return
    if not code.calls:
        read = f"{code.files} file{'' if code.files == 1 else 's'} read"
        for id in ids:
            told = f"no call was found that asks a model ({read})"
            yield check(id, "warned" if acts else "not_applicable", told, _LOOK if acts else "", code.unread)
        return
    yield _no_fallback(code)
    yield _operation_key(code)
    yield _durable(code)
    yield _retries(code)
    yield _proof_asked(code)


def _no_fallback(code: CodeScan) -> Check:
    wrong = [each.place for each in code.acting if each.has("fallback")]
    if wrong:
        instead = "leave fallback= out: such a call raises, and would act on what nothing enforced"
        return check("no_fallback", "failed", f"{_calls(wrong)} acts and asks for a fallback", instead, wrong)
    unknown = [each.place for each in code.calls if each.is_open and not each.has("fallback")]
    if unknown:
        return _unreadable("no_fallback", unknown)
    drafts = [each.place for each in code.calls if each.has("fallback")]
    told = f"{_calls(code.acting)} acted on, and none falls back" if code.acting else "no call acts"
    return check("no_fallback", "passed", f"{told}; {_calls(drafts)} of drafts may" if drafts else told, "", drafts)


def _operation_key(code: CodeScan) -> Check:
    if not code.acting:
        return check("operation_key", "not_applicable", f"{_calls(code.calls)} read, and none acts")
    lacking = [each.place for each in code.acting if not each.has("operation_key") and not each.is_open]
    if lacking:
        instead = "give operation_key=, named after the business act: without one it could happen twice"
        return check("operation_key", "failed", f"{_calls(lacking)} that acts has none", instead, lacking)
    chance = [each.place for each in code.acting if _is_by_chance(each.given.get("operation_key"), code)]
    if chance:
        told = f"{_calls(chance)} makes its key by chance or from the clock: the next try has another one"
        instead = "name the business act: the order, the invoice, the message that is answered"
        return check("operation_key", "failed", told, instead, chance)
    unknown = [each.place for each in code.acting if each.is_open and not each.has("operation_key")]
    if unknown:
        return _unreadable("operation_key", unknown)
    return check("operation_key", "passed", f"{_calls(code.acting)} acted on, each with a key that it is given")


def _durable(code: CodeScan) -> Check:
    if not any(each.acts or each.has("operation_key") for each in code.calls):
        return check("durable", "not_applicable", "no call acts or has an operation key")
    lost = [f"{each.place}: {why}" for each in code.clients if (why := _why_lost(each, code))]
    if lost:
        instead = "give Client(ledger=...) a file on a local disk or a Postgres database"
        return check("durable", "failed", "a ledger forgets what was done", instead, lost)
    unknown = [each.place for each in code.clients if each.is_open and keyword_of(each.call, "ledger") is None]
    if unknown:
        return _unreadable("durable", unknown)
    if not code.clients:
        instead = "give --code with the file that makes the Client, too"
        return check("durable", "warned", "no client was found: where its ledger lies is not known", instead)
    default = [each.place for each in code.clients if keyword_of(each.call, "ledger") is None]
    if default:
        told = "the ledger is the one that COMMITGATE_LEDGER names, else a file in the data folder of the user"
        return check("durable", "passed", told, "", default)
    return check("durable", "passed", "every client names a ledger that lasts")


def _why_lost(client: MakingSite, code: CodeScan) -> str:
    given = keyword_of(client.call, "ledger")
    place = None if given is None else code.value(given)
    if place is None:
        return ""
    if _called(place) & _TEMPORARY:
        return "a ledger in a temporary folder"
    if isinstance(place, ast.Call):
        last = (dotted(place.func, client.names) or "").rpartition(".")[2]
        if last == "MemoryLedger":
            return "a ledger in memory is gone with the process"
        place = code.value(place.args[0]) if place.args else place
    if isinstance(place, ast.Constant) and isinstance(place.value, str):
        if place.value.startswith(_GONE_WITH_THE_MACHINE):
            return "a ledger in a folder that is emptied"
        if place.value == ":memory:":
            return "a ledger in memory is gone with the process"
    return "a ledger in a temporary folder" if _called(place) & _TEMPORARY else ""


def _retries(code: CodeScan) -> Check:
    wild = [f"{each.place}: {why}" for each in code.calls if (why := _why_wild(each, code))]
    if wild:
        instead = f"ask at most {_SANE_REQUESTS} times: what a model gets wrong ten times needs another contract"
        return check("retries", "warned", "a call may ask again very often", instead, wild)
    given = sum(each.has("retry") for each in code.calls)
    told = f"{_calls(code.calls)} read, {given} with retry=; all others ask at most three times"
    return check("retries", "passed", told)


def _why_wild(site: CallSite, code: CodeScan) -> str:
    given = site.given.get("retry")
    retry = None if given is None else code.value(given)
    if not isinstance(retry, ast.Call):
        return ""
    for name in ("attempts", "restarts", "reasks"):
        value = keyword_of(retry, name)
        if isinstance(value, ast.Constant) and isinstance(value.value, int) and value.value > _SANE_REQUESTS:
            return f"{name}={value.value}"
    return ""


def _proof_asked(code: CodeScan) -> Check:
    if not code.acting:
        return check("proof_asked", "not_applicable", f"{_calls(code.calls)} read, and none acts")
    waived = [each.place for each in code.makings if _is_true(keyword_of(each.call, "unproven_effects"))]
    if waived:
        instead = "leave unproven_effects out, and probe the server: commitgate probe"
        return check("proof_asked", "failed", "effects are let loose on a server that nobody proved", instead, waived)
    return check("proof_asked", "passed", "no backend is made with unproven_effects")


def _is_true(node: ast.expr | None) -> bool:
    return node is not None and not (isinstance(node, ast.Constant) and node.value is False)


def _is_by_chance(key: ast.expr | None, code: CodeScan) -> bool:
    if key is None:
        return False
    return bool(_called(code.value(key)) & _BY_CHANCE)


def _called(node: ast.expr) -> set[str]:
    """Return the last names of all functions that are called in an expression."""
    found: set[str] = set()
    for each in ast.walk(node):
        if isinstance(each, ast.Call):
            called = each.func
            found.add(called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", ""))
    return found


def _unreadable(id: str, places: Iterable[str]) -> Check:
    told = "further arguments come from a dict, so it cannot be read from the code"
    return check(id, "warned", told, "write the arguments out where the call is made", places)


def _calls(found: Sequence[object]) -> str:
    return f"{len(found)} call{'' if len(found) == 1 else 's'}"


__all__ = ["effect_checks"]

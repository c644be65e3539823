"""Walk every interleaving of two workers at one key, with what may go wrong between any two of their steps.

The table's ``advance`` is a pure function, so the whole graph of what can happen is walked: each worker claims, writes
the intent, runs the effect, records it, and beats its heart in between; a worker may die, an answer may be lost, a
lease may end, the clock may be set back, a person may decide and rows may be pruned, at any point. What must never
be is asked at every node; from every node the key must find its end. What the workers do is written down here once
more, without the library's own code.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from commitgate.effect_kind import EffectKind
from commitgate.errors import LedgerError
from commitgate.ledger.record import Fingerprint, Record, State
from commitgate.ledger.states import advance, is_held_by_another, is_prunable
from commitgate.ledger.steps import (
    Approve,
    Claim,
    Commit,
    CommitValue,
    Extend,
    FailBeforeEffect,
    Finding,
    MarkInDoubt,
    Propose,
    Reconcile,
    Reject,
    Release,
    StartEffect,
    Step,
)
from commitgate.retry import operation_key

KEY = operation_key("case-4711")
LEASE_S = 10.0
CALLS = 2
"""Calls that each worker makes, one after the other."""

FINAL = (State.COMMITTED, State.FAILED_BEFORE_EFFECT, State.NOT_APPLIED, State.REJECTED)
BEATING = ("holds", "unsure", "about to run", "ran", "declined", "broke")
"""Where a worker renews its lease."""

ONCE, BY_KEY, TRANSACTIONAL = EffectKind.ONCE, EffectKind.BY_KEY, EffectKind.TRANSACTIONAL


@dataclass(frozen=True)
class Worker:
    """Where a worker stands: ``out``, one of ``BEATING``, ``over`` or ``dead``."""

    stands: str = "out"
    call: int = 0
    fence: int = 0
    value: bytes = b""


@dataclass(frozen=True)
class World:
    """What is stored, what happened downstream, and how much trouble is still to come.

    ``starts`` holds the value of every effect that was started, ``fate`` what became of it downstream. ``holder`` and
    ``top`` say to which call the last new fence was given, and which that was.
    """

    kind: EffectKind | None
    row: Record | None = None
    workers: tuple[Worker, ...] = (Worker(), Worker())
    now: float = 0.0
    floor: int = 0
    starts: tuple[bytes, ...] = ()
    fate: str = "nothing"
    holder: str = ""
    top: int = 0
    approved: bytes | None = None
    crashes: int = 0
    ends: int = 0
    lost: int = 0
    back: int = 0
    prunes: int = 0
    looks: int = 0
    looked: Reconcile | None = None
    asks_a_person: bool = False
    is_pruned: bool = False
    fingerprint: Fingerprint = field(default=Fingerprint("language", "refund", "1", "input"))

    def with_worker(self, number: int, **changes: object) -> World:
        workers = list(self.workers)
        workers[number] = replace(workers[number], **changes)
        return replace(self, workers=tuple(workers))


def owner(world: World, number: int) -> str:
    return f"{number}.{world.workers[number].call}"


def taken(world: World, step: Step) -> World | None:
    """Return the world after the step was written; None where the ledger refused it."""
    try:
        row = advance(KEY, world.row, step, now=world.now, fence_floor=world.floor)
    except LedgerError:
        return None
    return replace(world, row=row)


def written(world: World, number: int, step: Step, stands: str, *, unsure: str) -> Iterator[World]:
    """Take a step of a call: done, refused, or done with its answer lost, which leaves the worker at ``unsure``."""
    after = taken(world, step)
    if after is None:
        yield world.with_worker(number, stands="over")
        return
    assert owner(world, number) == world.holder, "only the call of the last claim writes"
    yield after.with_worker(number, stands=stands)
    if world.lost:
        yield replace(after.with_worker(number, stands=unsure), lost=world.lost - 1)


def claims(world: World, number: int) -> Iterator[World]:
    name = owner(world, number)
    after = taken(world, Claim(world.fingerprint, name, LEASE_S, world.kind))
    assert after is not None
    assert after.row is not None
    row = after.row
    if is_held_by_another(row, name):
        yield after
        return
    if row.state not in (State.CLAIMED, State.APPROVED, State.EFFECT_STARTED):
        yield next_call(after, number)
        return
    if name != world.holder:
        assert row.fence > world.top, "fences rise"
        after = replace(after, holder=name, top=row.fence)
    assert row.fence == after.top
    chosen = row.value if row.value is not None else name.encode()
    stands = "about to run" if row.state is State.EFFECT_STARTED else "holds"
    yield after.with_worker(number, stands=stands, fence=row.fence, value=chosen)
    if world.lost:
        yield replace(after, lost=world.lost - 1)


def next_call(world: World, number: int) -> World:
    call = world.workers[number].call + 1
    return world.with_worker(number, stands="out" if call < CALLS else "over", call=call)


def goes_on(world: World, number: int) -> Iterator[World]:
    """Yield what a call may do that holds the key and has a value."""
    mine = world.workers[number]
    if world.kind is None:
        yield from written(world, number, CommitValue(mine.fence, mine.value, b""), "over", unsure="over")
        return
    must_ask = world.asks_a_person and world.approved is None
    if must_ask:
        for after in written(
            world, number, Propose(mine.fence, mine.value, b"", "much", LEASE_S), "over", unsure="over"
        ):
            yield next_call(after, number)
    else:
        intent = StartEffect(mine.fence, LEASE_S, mine.value, b"")
        yield from written(world, number, intent, "about to run", unsure="unsure")
    for after in written(world, number, Release(mine.fence, "refused"), "over", unsure="over"):
        yield next_call(after, number)


def reads_back(world: World, number: int) -> Iterator[World]:
    row, mine = world.row, world.workers[number]
    stands = row is not None and row.state is State.EFFECT_STARTED and row.fence == mine.fence
    yield world.with_worker(number, stands="about to run" if stands else "over")


def runs(world: World, number: int) -> Iterator[World]:
    """Run the effect. Downstream answers the second time as it did the first, where it knows the key."""
    mine = world.workers[number]
    began = replace(world, starts=(*world.starts, mine.value))
    if world.kind is TRANSACTIONAL:
        after = taken(world, Commit(mine.fence, b"done"))
        if after is None:
            yield world.with_worker(number, stands="over")
            return
        assert world.fate != "happened" or world.is_pruned, "a transactional effect is committed once"
        assert owner(world, number) == world.holder, "only the call of the last claim writes"
        yield replace(after.with_worker(number, stands="over"), starts=began.starts, fate="happened")
    elif world.fate != "declined":
        yield replace(began.with_worker(number, stands="ran"), fate="happened")
        yield replace(began.with_worker(number, stands="broke"), fate="happened")
    if world.fate != "happened":
        yield replace(began.with_worker(number, stands="declined"), fate="declined")
        yield began.with_worker(number, stands="broke")


def acts(world: World, number: int) -> Iterator[World]:
    """Yield what one worker may do next."""
    mine = world.workers[number]
    match mine.stands:
        case "out":
            yield from claims(world, number)
        case "holds":
            yield from goes_on(world, number)
        case "unsure":
            yield from reads_back(world, number)
        case "about to run":
            yield from runs(world, number)
        case "ran":
            yield from written(world, number, Commit(mine.fence, b"done"), "over", unsure="ran")
        case "declined":
            yield from written(world, number, FailBeforeEffect(mine.fence, "no"), "over", unsure="declined")
        case "broke":
            yield from written(world, number, MarkInDoubt(mine.fence, "broke"), "over", unsure="broke")
        case _:
            return
    if mine.stands in BEATING:
        beaten = taken(world, Extend(mine.fence, LEASE_S))
        if beaten is not None:
            assert owner(world, number) == world.holder, "only the call of the last claim writes"
            yield beaten
        elif mine.stands == "holds":
            yield world.with_worker(number, stands="over")
    if world.crashes:
        yield replace(world.with_worker(number, stands="dead"), crashes=world.crashes - 1)


def happens(world: World) -> Iterator[World]:
    """Yield what may happen beside the workers."""
    if world.ends:
        yield replace(world, now=world.now + LEASE_S, ends=world.ends - 1)
    if world.back:
        yield replace(world, now=world.now - 2 * LEASE_S, back=world.back - 1)
    if world.prunes and world.row is not None and is_prunable(world.row, before=world.now):
        assert world.row.state not in (State.EFFECT_STARTED, State.IN_DOUBT), "what may have happened is not deleted"
        floor = max(world.floor, world.row.fence)
        yield replace(world, row=None, floor=floor, prunes=world.prunes - 1, is_pruned=True)
    if world.asks_a_person and world.row is not None:
        for step in (Approve("ann"), Reject("ann", "no")):
            after = taken(world, step)
            if after is not None and after.row is not None:
                is_allowed = after.row.state is State.APPROVED
                yield replace(after, approved=after.row.value if is_allowed else world.approved)
    if world.row is not None and not any(worker.stands in ("unsure", "about to run") for worker in world.workers):
        yield from finds_out(world, world.row)


def finds_out(world: World, row: Record) -> Iterator[World]:
    """Let somebody look downstream, and write later what was found; only while no call could still begin its effect."""
    if world.looks and row.state in (State.EFFECT_STARTED, State.IN_DOUBT):
        found = Finding.APPLIED if world.fate == "happened" else Finding.NOT_APPLIED
        for each in (found, Finding.UNKNOWN):
            looked = Reconcile(row.fence, "ann", each, None, "looked")
            yield replace(world, looks=world.looks - 1, looked=looked)
    after = None if world.looked is None else taken(world, world.looked)
    if after is not None:
        yield replace(after, looked=None)


def check(before: World, after: World) -> None:
    """Ask what must hold at every node and along every edge."""
    row = after.row
    if before.row is not None and row is not None:
        assert row.fence >= before.row.fence
        assert before.row.state not in FINAL or row == before.row, "no final state is lost"
    if after.is_pruned:
        # A key whose row was deleted is new again: what was done before does not count.
        return
    if after.kind is ONCE:
        assert len(after.starts) <= 1, "an effect of kind once is started once"
    assert len(set(after.starts)) <= 1, "no effect is started with two values"
    if row is None:
        return
    if after.starts:
        assert row.value == after.starts[0], "the stored value is the one that was acted on"
        assert row.state in (State.EFFECT_STARTED, State.IN_DOUBT, *FINAL), "no started effect is forgotten"
    if after.asks_a_person and after.starts:
        assert after.starts[0] == after.approved, "nothing is done that nobody allowed"
    if row.state is State.COMMITTED and after.kind is not None:
        assert after.fate == "happened"
    if after.kind is TRANSACTIONAL:
        assert (after.fate == "happened") is (row.state is State.COMMITTED), "effect and record are one"
    if row.state in FINAL and row.state is not State.COMMITTED:
        assert after.fate != "happened", "what happened is never told as what did not"


def finds_an_end(world: World) -> None:
    """Let one more caller come when every lease is over, and a person where only a person can help."""
    row, now = world.row, world.now + 10 * LEASE_S
    if row is not None and row.state in (State.AWAITING_APPROVAL, State.APPROVED):
        row = advance(KEY, row, Reject("ann", "no"), now=now)
    row = advance(KEY, row, Claim(world.fingerprint, "late", LEASE_S, world.kind), now=now, fence_floor=world.floor)
    if row.state is State.IN_DOUBT:
        found = Finding.APPLIED if world.fate == "happened" else Finding.NOT_APPLIED
        row = advance(KEY, row, Reconcile(row.fence, "ann", found, None, "looked"), now=now)
    if row.state is State.CLAIMED:
        row = advance(KEY, row, StartEffect(row.fence, LEASE_S, b"late", b""), now=now)
    if row.state is State.EFFECT_STARTED:
        assert not (world.kind is ONCE and world.starts) or world.is_pruned
        row = advance(KEY, row, Commit(row.fence, b"done"), now=now)
    assert row.state in FINAL


def explore(first: World) -> Counter[str]:
    """Walk every world that can come to be; return how many there are, by the state of the row."""
    seen, todo, found = {first}, [first], Counter[str]()
    while todo:
        world = todo.pop()
        found["new" if world.row is None else world.row.state] += 1
        finds_an_end(world)
        for after in (*acts(world, 0), *acts(world, 1), *happens(world)):
            check(world, after)
            if after not in seen:
                seen.add(after)
                todo.append(after)
    return found

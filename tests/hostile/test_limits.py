"""Every limit with five tests: under it, at it, over it by one, begun anew with each contract, and on by default."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import TypeAlias, cast

import pytest

from commitgate import Contract
from commitgate.automaton import Acceptor, Arena, Automaton, Dialect, Term, compile
from commitgate.backends.base import TextDelta
from commitgate.errors import LimitExceededError
from commitgate.gate.gate import Gate
from commitgate.languages import Choices, Edge, Grammar, Machine, Regex
from commitgate.limits import Limits
from commitgate.outcome import Violated

Source: TypeAlias = object
"""Whatever a contract can be made of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """Say how much of what a limit bounds is refused.

    Attributes:
        name: the limit.
        make: makes a source of exactly so much.
        at: the limit that the small tests set.
        pointer: where the place is, in the source that is over it.
        position: where it is in a text.
        kind: tells several cases of one limit apart.
    """

    name: str
    make: Callable[[int], Source] = field(repr=False)
    at: int = 5
    pointer: str = ""
    position: int | None = None
    kind: str = "schema"


def nested_items(depth: int) -> dict[str, object]:
    schema: dict[str, object] = {}
    for _ in range(depth):
        schema = {"items": schema}
    return schema


def chain_of_edges(count: int) -> Machine:
    edges = [Edge(f"s{n}", "a", f"s{n + 1}") for n in range(count - 1)]
    return Machine(start="s0", accepting=["end"], edges=[*edges, Edge(f"s{count - 1}", "a", "end")])


def ring_of_edges(count: int) -> Machine:
    """Return a machine of one state, so that the number of its states is no limit."""
    return Machine(start="s", accepting=["s"], edges=[Edge("s", "a", "s")] * count)


def rules(count: int) -> str:
    """Return a grammar of so many rules."""
    return "root ::= [a]\n" + "".join(f"r{n} ::= [a]\n" for n in range(count - 1))


REFUSED = (
    Case(name="schema_bytes", make=lambda n: {"title": "a" * (n - len('{"title":""}'))}, at=20),
    Case(name="schema_bytes", make=lambda n: Grammar('root ::= "a"'.ljust(n)), at=20, kind="grammar"),
    Case(name="schema_bytes", make=lambda n: Choices(["a" * (n - 3), "bcd"]), at=20, kind="choices"),
    Case(name="schema_nesting", make=nested_items, pointer="/items" * 6),
    Case(name="schema_nesting", make=lambda n: Grammar(f'root ::= {"(" * n}"a"{")" * n}'), position=14, kind="gbnf"),
    Case(
        name="schema_nesting",
        make=lambda n: Grammar(f'start: {"(" * n}"a"{")" * n}', syntax="lark"),
        position=12,
        kind="lark",
    ),
    Case(name="properties", make=lambda n: {"properties": {f"p{k}": {} for k in range(n)}}),
    Case(name="properties", make=lambda n: {"required": [f"p{k}" for k in range(n)]}, kind="required names"),
    Case(name="properties", make=lambda n: {"dependentRequired": {"a": [f"p{k}" for k in range(n - 1)]}}, kind="needs"),
    Case(name="enum_values", make=lambda n: {"enum": list(range(n))}),
    Case(name="enum_values", make=lambda n: Choices([f"c{k}" for k in range(n)]), kind="choices"),
    Case(name="pattern_characters", make=lambda n: {"pattern": "a" * n}),
    Case(name="pattern_characters", make=lambda n: Regex("a" * n), kind="regex"),
    Case(name="nodes", make=lambda n: {"allOf": [{"minimum": 1}] * (n - 1)}, pointer="/allOf/4"),
    Case(name="nodes", make=lambda n: {"prefixItems": [{"const": k} for k in range(n - 2)]}, kind="values"),
    Case(name="nesting", make=lambda n: {"const": nested_list(n)}),
    Case(name="grammar_rules", make=lambda n: Grammar(rules(n)), position=57, kind="grammar"),
    Case(name="grammar_symbols", make=lambda n: Grammar("root ::= " + "[ab] " * n), position=34, kind="gbnf"),
    Case(
        name="grammar_symbols",
        make=lambda n: Grammar("start: " + '"a"i ' * n, syntax="lark"),
        position=32,
        kind="lark",
    ),
    Case(name="grammar_rules", make=lambda n: chain_of_edges(n - 1), kind="machine"),
    Case(name="edges", make=ring_of_edges, kind="machine"),
)
"""Limits that are met when a contract is made; ``make`` of one more than the limit is refused."""


def nested_list(depth: int) -> list[object]:
    found: list[object] = []
    for _ in range(depth - 1):
        found = [found]
    return found


def contract(source: Source, limits: Limits | None = None) -> Contract[object]:
    return Contract[object].of(source, limits=limits)  # type: ignore[call-overload]


IDS = [f"{case.name} of {case.kind}" for case in REFUSED]


@pytest.mark.parametrize("case", REFUSED, ids=IDS)
@pytest.mark.parametrize("spare", [1, 0], ids=["under", "at"])
def test_up_to_its_limit_a_source_is_read(case: Case, spare: int) -> None:
    contract(case.make(case.at - spare), Limits(**{case.name: case.at}))


@pytest.mark.parametrize("case", REFUSED, ids=IDS)
def test_one_more_than_its_limit_is_refused_with_limit_count_and_place(case: Case) -> None:
    error = refusal(case)
    assert (error.limit_name, error.limit, error.found) == (case.name, case.at, case.at + 1)
    assert (error.pointer, error.position) == (case.pointer, case.position)
    assert f"Limits.{case.name} = {case.at}" in str(error)


@pytest.mark.parametrize("case", REFUSED, ids=IDS)
def test_each_contract_counts_from_nothing(case: Case) -> None:
    limits = Limits(**{case.name: case.at})
    for _ in range(2):
        refusal(case)
        contract(case.make(case.at), limits)
        contract(case.make(case.at), limits)


@pytest.mark.parametrize("case", REFUSED, ids=IDS)
def test_limit_is_on_by_default(case: Case) -> None:
    default = next(entry.default for entry in fields(Limits) if entry.name == case.name)
    assert isinstance(default, int)
    with pytest.raises(LimitExceededError) as caught:
        contract(case.make(default + 1))
    assert (caught.value.limit_name, caught.value.limit) == (case.name, default)


def refusal(case: Case) -> LimitExceededError:
    with pytest.raises(LimitExceededError) as caught:
        contract(case.make(case.at + 1), Limits(**{case.name: case.at}))
    return caught.value


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """Say how long a text is refused.

    Attributes:
        name: the limit.
        schema: whose texts are meant.
        text: writes a text of exactly so much.
        both: what the dialect that reads refuses, too.
        stops: offset of the byte that is refused in a text of one more than that.
        around: by how much two texts in one array are more than each of them.
    """

    name: str
    schema: object = field(repr=False)
    text: Callable[[int], str] = field(repr=False)
    stops: int
    both: bool = False
    around: int = 0


NULL = {"type": "null"}


def keys_of(count: int) -> str:
    return "{" + ", ".join(f'"{chr(97 + n // 26)}{chr(97 + n % 26)}": null' for n in range(count)) + "}"


WRITTEN = (
    Written(name="nesting", stops=5, schema=True, text=lambda n: "[" * n + "]" * n, both=True, around=1),
    Written(name="string_characters", stops=11, schema={"type": "string"}, text=lambda n: f'"{"é" * n}"'),
    Written(name="array_items", stops=29, schema={"items": NULL}, text=lambda n: f"[{', '.join(['null'] * n)}]"),
    Written(name="free_properties", stops=59, schema={"additionalProperties": NULL}, text=keys_of),
    Written(
        name="key_characters", stops=7, schema={"additionalProperties": NULL}, text=lambda n: f'{{"{"k" * n}": null}}'
    ),
    Written(name="key_bytes", stops=7, schema=True, text=lambda n: f'{{"{"k" * (n - 1)}": null}}', both=True),
    Written(name="integer_digits", stops=5, schema={"type": "integer"}, text=lambda n: "7" * n),
    Written(name="fraction_digits", stops=7, schema={"type": "number"}, text=lambda n: f"0.{'7' * n}"),
)
"""Limits on what is written, and of what is read where ``both`` says so."""

WRITTEN_IDS = [case.name for case in WRITTEN]


def limited(case: Written, limit: int | None = None) -> list[Automaton]:
    """Return the automata of a case under its limit, the default one where None is given."""
    dialects: list[Dialect] = ["accept"] if case.name == "key_bytes" else ["generate"]
    if case.both and case.name != "key_bytes":
        dialects.append("accept")
    limits = Limits() if limit is None else Limits(**{case.name: limit})
    return [compile(case.schema, dialect=dialect, limits=limits) for dialect in dialects]  # type: ignore[arg-type]


@pytest.mark.parametrize("case", WRITTEN, ids=WRITTEN_IDS)
@pytest.mark.parametrize("length", [4, 5], ids=["under", "at"])
def test_up_to_its_limit_a_text_is_let_through(case: Written, length: int) -> None:
    for automaton in limited(case, 5):
        assert automaton.accepts(case.text(length).encode())


@pytest.mark.parametrize("case", WRITTEN, ids=WRITTEN_IDS)
def test_text_of_one_more_than_its_limit_is_refused_at_its_byte(case: Written) -> None:
    for automaton in limited(case, 5):
        acceptor = automaton.acceptor()
        text = case.text(6).encode()
        assert not acceptor.feed(text)
        assert acceptor.position == case.stops


@pytest.mark.parametrize("case", WRITTEN, ids=WRITTEN_IDS)
def test_each_part_of_a_text_counts_from_nothing(case: Written) -> None:
    part = case.text(5)
    around = Written(
        name=case.name,
        schema={"type": "array", "items": case.schema},
        text=case.text,
        stops=0,
        both=case.both,
    )
    for automaton in limited(around, 5 + case.around):
        assert automaton.accepts(f"[{part}, {part}]".encode())
        assert automaton.accepts(f"[{part}, {part}]".encode())


@pytest.mark.parametrize("case", WRITTEN, ids=WRITTEN_IDS)
def test_limit_on_texts_is_on_by_default(case: Written) -> None:
    default = next(entry.default for entry in fields(Limits) if entry.name == case.name)
    assert isinstance(default, int)
    for automaton in limited(case):
        assert automaton.accepts(case.text(default).encode())
        assert not automaton.accepts(case.text(default + 1).encode())


def test_alternatives_past_branches_are_checked_and_counted_for_each_place() -> None:
    def places(count: int) -> dict[str, object]:
        branches = [{"type": "array", "minItems": 2 * n, "maxItems": 2 * n} for n in range(count)]
        return {"properties": {name: {"anyOf": branches} for name in ("a", "b")}}

    def levels(count: int, limits: Limits) -> set[str]:
        rows = compile(places(count), limits=limits).support  # type: ignore[arg-type]
        return {row.level for row in rows if row.keyword == "anyOf"}

    for count, level in ((4, "decoded"), (5, "decoded"), (6, "checked")):
        assert levels(count, Limits(branches=5)) == {level}
    assert levels(1_000, Limits()) == {"decoded"}
    assert levels(1_001, Limits()) == {"checked"}


def test_work_past_effort_is_checked_and_counted_for_each_contract() -> None:
    branches = [{"properties": {f"k{n}": NULL}, "required": [f"k{n}"]} for n in range(12)]
    schema = {"type": "object", "allOf": [{"anyOf": branches}, {"anyOf": branches}], "not": {"required": ["z"]}}

    def levels(effort: int) -> set[str]:
        return {row.level for row in compile(schema, limits=Limits(effort=effort)).support}  # type: ignore[arg-type]

    most = next(entry.default for entry in fields(Limits) if entry.name == "effort")
    below, least = 1, int(most)
    while least - below > 1:
        middle = (below + least) // 2
        below, least = (below, middle) if levels(middle) == {"decoded"} else (middle, least)
    assert 1 < least < int(most)
    for _ in range(2):
        assert "checked" in levels(least - 1)
        assert levels(least) == levels(least + 1) == {"decoded"}
    exploding = {"allOf": [{"pattern": f"a.{{{n}}}b"} for n in range(1, 30)]}
    assert "checked" in {row.level for row in compile(exploding).support}


STATEFUL = {"type": "string", "maxLength": 5_000}
"""Each number of characters that are left is a state of its own."""


def states_of(text: bytes) -> int:
    automaton = compile(STATEFUL)
    assert automaton.accepts(text)
    return len(automaton.arena)


def test_states_are_bounded_for_each_automaton() -> None:
    text = b'"' + b"x" * 100 + b'"'
    needed = states_of(text)
    for spare in (1, 0, 0):
        assert compile(STATEFUL, limits=Limits(states=needed + spare)).accepts(text)
    with pytest.raises(LimitExceededError) as caught:
        compile(STATEFUL, limits=Limits(states=needed - 1)).accepts(text)
    assert (caught.value.limit_name, caught.value.limit, caught.value.found) == ("states", needed - 1, needed)
    assert compile(STATEFUL, limits=Limits(states=needed)).accepts(text)


def test_states_are_bounded_by_default() -> None:
    arena, most = compile(True).arena, Limits().states
    text = bytes(most + 1)

    def make_terms() -> None:
        for offset in range(most + 1):
            arena.literal(text, offset)

    with pytest.raises(LimitExceededError) as caught:
        make_terms()
    assert (caught.value.limit_name, caught.value.limit) == ("states", most)


def ways(arena: Arena, count: int) -> list[Term]:
    """Return so many terms that cannot be joined."""
    return [arena.chain(arena.run(1 << n % 256, 1, 2 + n // 256), arena.literal(b"%d" % n)) for n in range(count)]


@pytest.mark.parametrize("most", [5, Limits().alternatives], ids=["small", "default"])
def test_ways_to_go_on_are_bounded_for_each_state(most: int) -> None:
    arena = compile(True, limits=Limits() if most == Limits().alternatives else Limits(alternatives=most)).arena
    found = ways(arena, most + 1)
    arena.begin_step()
    for count in (most - 1, most):
        assert arena.choice(found[:count]) is not arena.empty
    with pytest.raises(LimitExceededError) as caught:
        arena.choice(found)
    assert (caught.value.limit_name, caught.value.limit, caught.value.found) == ("alternatives", most, most + 1)
    assert arena.choice(found[1:]) is not arena.empty


def test_work_of_a_step_is_bounded_and_counted_for_each_step() -> None:
    arena = compile(True, limits=Limits(step_work=5)).arena
    letters = [arena.literal(bytes((97 + n,))) for n in range(6)]
    for count in (4, 5, 5):
        arena.begin_step()
        arena.choice(letters[:count])
    arena.begin_step()
    with pytest.raises(LimitExceededError) as caught:
        arena.choice(letters)
    assert (caught.value.limit_name, caught.value.limit, caught.value.found) == ("step_work", 5, 6)
    arena.begin_step()
    arena.choice(letters[:5])


def test_work_of_a_step_is_bounded_by_default() -> None:
    arena, most = compile(True).arena, Limits().step_work
    letters = [arena.literal(b"a"), arena.literal(b"b")]
    arena.begin_step()

    def look_at_many() -> None:
        for _ in range(most // 2 + 1):
            arena.choice(letters)

    with pytest.raises(LimitExceededError) as caught:
        look_at_many()
    assert (caught.value.limit_name, caught.value.limit) == ("step_work", most)


class Anything:
    """Accept every text at once, so that long ones take no time."""

    is_dead = False
    is_accepting = True
    is_finished = False
    position = 0

    def feed(self, data: bytes) -> bool:
        self.position += len(data)
        return True


def breach(length: int, most: int) -> Violated | None:
    """Return what a gate finds wrong with a text of one letter, so many times."""
    gate = Gate(cast("Acceptor", Anything()), json_acceptor=None, text_bytes=most, key_bytes=9)
    gate.feed(TextDelta(b"a" * length))
    return gate.evidence.violation


@pytest.mark.parametrize("most", [5, Limits().text_bytes], ids=["small", "default"])
def test_bytes_of_an_answer_are_bounded_for_each_answer(most: int) -> None:
    for _ in range(2):
        assert breach(most - 1, most) is None
        assert breach(most, most) is None
        found = breach(most + 1, most)
        assert found is not None
        assert (found.kind, found.position) == ("limit", most)


def test_every_limit_has_its_five_tests() -> None:
    apart = {"branches", "effort", "states", "alternatives", "step_work", "text_bytes"}
    assert {case.name for case in (*REFUSED, *WRITTEN)} | apart == {entry.name for entry in fields(Limits)}

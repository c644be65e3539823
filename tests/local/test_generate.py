"""The decode loop writes only what is legal, ends only where it may, and hears a cancel between any two passes."""

from __future__ import annotations

import gc
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from weakref import ref

import pytest
import torch
from local.one_answer import write

from commitgate.automaton.terms import Arena, Term
from commitgate.backends.base import (
    DeadEndReached,
    Event,
    Fault,
    Finish,
    FinishReason,
    GenerationRequest,
    Message,
    Sampling,
    TextDelta,
    Usage,
)
from commitgate.contract import Contract
from commitgate.errors import LimitExceededError, ModelRunError
from commitgate_local.answer import Question
from commitgate_local.engine import MaskEngine
from commitgate_local.forced import ForcedRuns
from commitgate_local.local_model import LocalModel
from commitgate_local.scheduler import FEW_TOKENS, PIECE_TOKENS
from commitgate_local.tokenizer import Tokenizer
from commitgate_local.vocabulary import Vocabulary

Scripted = Callable[..., Any]

DIGITS = sum(1 << byte for byte in b"0123456789")
LETTERS = sum(1 << byte for byte in range(0x61, 0x7B))


def never() -> bool:
    return False


def text_of(events: Sequence[Event]) -> bytes:
    return b"".join(event.data for event in events if isinstance(event, TextDelta))


def drawn_steps(events: Sequence[Event]) -> int:
    return sum(isinstance(event, TextDelta) and not event.is_forced for event in events)


class Toy:
    """Decode with a handful of tokens; the stop id comes last."""

    def __init__(self, *tokens: bytes) -> None:
        self.vocabulary = Vocabulary([*tokens, None], [len(tokens)])
        self.stop = len(tokens)
        self.engine = MaskEngine(self.vocabulary)

    def run(self, state: Term, forward: Any, **options: Any) -> list[Event]:
        events: list[Event] = []
        arguments = {"prompt": [0], "sampling": Sampling(), **options}
        cancelled = arguments.pop("cancelled", never)
        matcher = self.engine.matcher_of(state)
        question = Question(matcher=matcher, vocabulary=self.vocabulary, **arguments)
        write(question, forward, events.append, cancelled)
        return events


def test_illegal_wish_of_the_model_is_not_written(scripted: Scripted) -> None:
    toy = Toy(b"delete", b"refund", b"ask")
    events = toy.run(Arena().literal_set((b"ask", b"refund")), scripted(4, [0]))
    assert text_of(events) in (b"ask", b"refund")
    assert isinstance(events[0], TextDelta)
    assert events[0].legal_mass is not None
    assert events[0].legal_mass < 1e-6
    assert events[1:] == [Usage(1, 1), Finish(FinishReason.STOP, "accept")]


def test_text_ends_by_itself_where_nothing_can_follow(scripted: Scripted) -> None:
    toy = Toy(b"o", b"k")
    forward = scripted(3, [0, 1])
    events = toy.run(Arena().literal(b"ok"), forward)
    assert text_of(events) == b"ok"
    assert events[-1] == Finish(FinishReason.STOP, "accept")
    assert forward.forwards == 2


def test_stop_token_ends_a_text_that_could_go_on(scripted: Scripted) -> None:
    toy = Toy(b"1", b"2")
    events = toy.run(Arena().run(DIGITS, 1), scripted(3, [0, 1, 2]))
    assert text_of(events) == b"12"
    assert events[-2:] == [Usage(1, 2), Finish(FinishReason.STOP, "stop")]


def test_stop_token_is_not_taken_before_the_text_may_end(scripted: Scripted) -> None:
    toy = Toy(b"1", b"2")
    events = toy.run(Arena().run(DIGITS, 2, 2), scripted(3, [2, 2]))
    assert len(text_of(events)) == 2
    assert events[-1] == Finish(FinishReason.STOP, "accept")


def test_limit_of_tokens_cuts_even_a_text_that_may_end(scripted: Scripted) -> None:
    toy = Toy(b"1", b"2")
    events = toy.run(Arena().run(DIGITS, 1), scripted(3, [0] * 9), sampling=Sampling(max_tokens=3))
    assert events[-2:] == [Usage(1, 3), Finish(FinishReason.LENGTH, "max_tokens")]
    assert text_of(events) == b"111"


def test_text_whole_at_the_limit_is_not_cut(scripted: Scripted) -> None:
    toy = Toy(b"1")
    events = toy.run(Arena().run(DIGITS, 3, 3), scripted(2, [0] * 3), sampling=Sampling(max_tokens=3))
    assert events[-1] == Finish(FinishReason.STOP, "accept")


def test_full_context_cuts(scripted: Scripted) -> None:
    toy = Toy(b"1")
    events = toy.run(Arena().run(DIGITS, 1), scripted(2, [0] * 9), prompt=[0, 0, 0], context_tokens=5)
    assert events[-1] == Finish(FinishReason.LENGTH, "context")
    assert text_of(events) == b"111"


def test_prompt_longer_than_the_context_is_a_fault_before_the_model_runs(scripted: Scripted) -> None:
    toy = Toy(b"1")
    for prompt, wanted in (([0] * 6, ("bad_request", "context_length_exceeded")), ([], ("model", None))):
        forward = scripted(2)
        events = toy.run(Arena().run(DIGITS, 1), forward, prompt=prompt, context_tokens=5)
        assert [type(event) for event in events] == [Fault]
        assert isinstance(events[0], Fault)
        assert (events[0].kind, events[0].code) == wanted
        assert forward.fed == []
    assert len(toy.run(Arena().run(DIGITS, 1), scripted(2, [0]), prompt=[0] * 5, context_tokens=5)) == 3


def test_vocabulary_that_cannot_go_on_is_a_dead_end(scripted: Scripted) -> None:
    toy = Toy(b"a", b"b")
    events = toy.run(Arena().literal(b"ac"), scripted(3, [0]))
    assert text_of(events) == b"a"
    assert events[-1] == DeadEndReached("tokenizer", 1, "expected 'c'")


def test_too_many_states_are_a_dead_end_of_the_contract(scripted: Scripted) -> None:
    toy = Toy(b"a")
    arena = Arena(max_states=3)
    events = toy.run(arena.literal(b"aaaaaaaa"), scripted(2, [0] * 8))
    assert isinstance(events[-1], DeadEndReached)
    assert events[-1].cause == "schema"
    with pytest.raises(LimitExceededError):
        arena.literal(b"b")


@pytest.mark.parametrize("bad", [float("nan"), float("-inf")])
def test_broken_logits_are_a_fault(bad: float) -> None:
    class Broken:
        def prefill(self, ids: Sequence[int]) -> None: ...

        def forward(self, ids: Sequence[int]) -> torch.Tensor:
            return torch.full((2,), bad)

    events = Toy(b"1").run(Arena().run(DIGITS, 1), Broken())
    assert [type(event) for event in events] == [Fault]


def test_model_that_breaks_is_a_fault_after_what_it_wrote(scripted: Scripted) -> None:
    class Breaking:
        def __init__(self) -> None:
            self.inner = scripted(2, [0] * 5)

        def prefill(self, ids: Sequence[int]) -> None: ...

        def forward(self, ids: Sequence[int]) -> torch.Tensor:
            if self.inner.forwards == 2:
                raise ModelRunError("the model broke")
            return self.inner.forward(ids)

    events = Toy(b"1").run(Arena().run(DIGITS, 1), Breaking())
    assert text_of(events) == b"11"
    assert events[-1] == Fault("model", "the model broke")


def test_logits_of_another_width_are_a_fault(scripted: Scripted) -> None:
    events = Toy(b"1").run(Arena().run(DIGITS, 1), scripted(9))
    assert isinstance(events[-1], Fault)


def test_prompt_is_fed_in_pieces(scripted: Scripted) -> None:
    toy = Toy(b"1")
    for length in (1, PIECE_TOKENS, PIECE_TOKENS + 1, 3 * PIECE_TOKENS + 5):
        forward = scripted(2, [0])
        prompt = list(range(length))
        toy.run(Arena().run(DIGITS, 1, 1), forward, prompt=prompt)
        assert [token for piece in forward.fed for token in piece] == prompt
        assert all(1 <= len(piece) <= PIECE_TOKENS + FEW_TOKENS for piece in forward.fed)
        assert forward.forwards == 1


def test_cancel_is_heard_between_any_two_passes(scripted: Scripted) -> None:
    toy = Toy(b"1")
    prompt = [0] * (2 * PIECE_TOKENS + FEW_TOKENS + 1)
    for heard_at in range(12):
        forward = scripted(2, [0] * 99)
        events = toy.run(
            Arena().run(DIGITS, 1),
            forward,
            prompt=prompt,
            cancelled=lambda forward=forward, heard_at=heard_at: len(forward.fed) >= heard_at,
        )
        assert all(isinstance(event, TextDelta) for event in events)
        assert len(forward.fed) == heard_at
        assert len(events) <= max(0, heard_at - 3)


def test_what_emit_raises_passes_through(scripted: Scripted) -> None:
    toy = Toy(b"1")

    def emit(event: Event) -> None:
        raise ModelRunError("not the model's fault") if isinstance(event, Finish) else KeyError("gone")

    question = Question(
        matcher=toy.engine.matcher_of(Arena().run(DIGITS, 1)),
        vocabulary=toy.vocabulary,
        prompt=[0],
        sampling=Sampling(),
    )
    with pytest.raises(KeyError):
        write(question, scripted(2, [0]), emit)


def test_character_may_come_in_pieces(scripted: Scripted) -> None:
    raw = "é".encode()
    toy = Toy(raw[:1], raw[1:])
    events = toy.run(Arena().literal(raw), scripted(3, [0, 1]))
    assert [event.data for event in events if isinstance(event, TextDelta)] == [raw[:1], raw[1:]]


ONE_TEXT = b'{"kind": "ticket", "items": ["printer", "door"], "priority": "high", "note": "Gr\xc3\xbc\xc3\x9fe"}'


def finish_of(tiny: LocalModel, folder: Path, state: Term, *, forced: bool, seed: int, forward: Any) -> list[Event]:
    vocabulary = tiny.engine.vocabulary
    events: list[Event] = []
    write(
        Question(
            matcher=tiny.engine.matcher_of(state),
            vocabulary=vocabulary,
            prompt=[1, 2, 3],
            sampling=Sampling(temperature=1.0, seed=seed, max_tokens=200),
            forced_runs=ForcedRuns(Tokenizer.load(folder), vocabulary) if forced else None,
        ),
        forward,
        events.append,
    )
    return events


def test_single_text_is_written_the_same_forced_or_not(tiny: LocalModel, tiny_folder: Path, scripted: Scripted) -> None:
    for seed in range(5):
        forwards: dict[bool, int] = {}
        for forced in (True, False):
            forward = scripted(448, seed=seed)
            state = Arena().literal(ONE_TEXT)
            events = finish_of(tiny, tiny_folder, state, forced=forced, seed=seed, forward=forward)
            assert text_of(events) == ONE_TEXT
            assert events[-1] == Finish(FinishReason.STOP, "accept")
            forwards[forced] = forward.forwards
        assert forwards[True] == 0
        assert forwards[False] > 10


def mixed(arena: Arena) -> Term:
    """Return a language with forced runs between free places: a word, an enum with shared beginnings, a number."""
    return arena.chain(
        arena.literal(b'{"name": "'),
        arena.run(LETTERS, 1, 8),
        arena.literal(b'", "priority": "'),
        arena.literal_set((b"hi", b"high", b"higher", "höchste".encode(), "hübsch".encode(), b"normal")),
        arena.literal(b'", "count": '),
        arena.run(DIGITS & ~(1 << 0x30), 1, 3),
        arena.literal(b"}"),
    )


def test_forced_runs_stay_in_the_language_and_save_passes(
    tiny: LocalModel, tiny_folder: Path, scripted: Scripted
) -> None:
    steps = {True: 0, False: 0}
    for seed in range(30):
        for forced in (True, False):
            forward = scripted(448, seed=seed)
            state = mixed(Arena())
            events = finish_of(tiny, tiny_folder, state, forced=forced, seed=seed, forward=forward)
            assert events[-1] == Finish(FinishReason.STOP, "accept")
            assert state.walk(text_of(events)).nullable
            assert set(json.loads(text_of(events))) == {"name", "priority", "count"}
            tokens = sum(event.tokens or 0 for event in events if isinstance(event, TextDelta))
            assert Usage(3, tokens) in events
            fed = [token for piece in forward.fed for token in piece]
            assert tiny.engine.vocabulary.text(fed[3:]) == text_of(events)[: len(tiny.engine.vocabulary.text(fed[3:]))]
            steps[forced] += forward.forwards
    assert steps[True] < 0.8 * steps[False]


def test_forced_text_carries_no_legal_mass_and_drawn_text_does(
    tiny: LocalModel, tiny_folder: Path, scripted: Scripted
) -> None:
    events = finish_of(tiny, tiny_folder, mixed(Arena()), forced=True, seed=1, forward=scripted(448))
    deltas = [event for event in events if isinstance(event, TextDelta)]
    assert {delta.is_forced for delta in deltas} == {True, False}
    for delta in deltas:
        assert (delta.legal_mass is None) == delta.is_forced
        assert delta.tokens == 1 or delta.is_forced


def test_forced_runs_respect_the_limit_of_tokens(tiny: LocalModel, tiny_folder: Path, scripted: Scripted) -> None:
    vocabulary = tiny.engine.vocabulary
    for most in (1, 2, 5):
        events: list[Event] = []
        write(
            Question(
                matcher=tiny.engine.matcher_of(Arena().literal(ONE_TEXT)),
                vocabulary=vocabulary,
                prompt=[1],
                sampling=Sampling(max_tokens=most),
                forced_runs=ForcedRuns(Tokenizer.load(tiny_folder), vocabulary),
            ),
            scripted(448),
            events.append,
        )
        assert events[-2:] == [Usage(1, most), Finish(FinishReason.LENGTH, "max_tokens")]


@pytest.mark.parametrize("error", [TypeError, KeyError, AssertionError, MemoryError, AttributeError])
@pytest.mark.parametrize("step", ["prefill", "forward"])
def test_whatever_a_model_raises_is_a_fault_without_its_message(error: type[Exception], step: str) -> None:
    class Raising:
        def prefill(self, ids: Sequence[int]) -> None:
            if step == "prefill":
                raise error("a secret")

        def forward(self, ids: Sequence[int]) -> torch.Tensor:
            raise error("a secret")

    events = Toy(b"1").run(Arena().run(DIGITS, 1), Raising(), prompt=[0] * (PIECE_TOKENS + FEW_TOKENS + 1))
    assert events == [Fault("model", f"the model broke while running ({error.__name__})")]


def test_model_that_gives_no_logits_is_a_fault() -> None:
    class Silent:
        def prefill(self, ids: Sequence[int]) -> None: ...

        def forward(self, ids: Sequence[int]) -> None: ...

    events = Toy(b"1").run(Arena().run(DIGITS, 1), Silent())
    assert [type(event) for event in events] == [Fault]


def test_logits_of_half_precision_are_read() -> None:
    class Half:
        def prefill(self, ids: Sequence[int]) -> None: ...

        def forward(self, ids: Sequence[int]) -> torch.Tensor:
            return torch.zeros(2, dtype=torch.bfloat16)

    events = Toy(b"1").run(Arena().run(DIGITS, 2, 2), Half())
    assert text_of(events) == b"11"


def test_model_holds_no_contract_that_was_dropped(tiny: LocalModel) -> None:
    arenas: list[ref[Arena]] = []
    for number in range(120):
        contract = Contract.of({"const": {"id": number}})
        request = GenerationRequest(model="", contract=contract, messages=(Message("user", "Which?"),))
        tiny.generate(request, lambda event: None, never)
        arenas.append(ref(tiny.engine.matcher(contract).state.arena))
    gc.collect()
    assert sum(arena() is not None for arena in arenas) <= tiny.engine.stats().contracts + 1

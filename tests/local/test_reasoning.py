"""A thinking model writes freely up to its end mark, however that comes, and within the contract right behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from local.one_answer import write

from commitgate.automaton.terms import Arena, Term
from commitgate.backends.base import (
    DeadEndReached,
    Event,
    Fault,
    Finish,
    FinishReason,
    Notice,
    ReasoningDelta,
    Sampling,
    TextDelta,
    Usage,
)
from commitgate.errors import MisuseError
from commitgate_local.answer import Question
from commitgate_local.engine import MaskEngine
from commitgate_local.reasoning import EndMark, Thoughts, opened
from commitgate_local.vocabulary import Vocabulary

Scripted = Callable[..., Any]

DIGITS = sum(1 << byte for byte in b"0123456789")


class Greedy:
    """Split texts by the longest token that fits."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        texts = [(token, number) for number, token in enumerate(vocabulary.tokens) if token is not None]
        self._tokens = sorted(texts, key=lambda each: -len(each[0]))

    def encode_all(self, texts: Sequence[str]) -> list[list[int]]:
        return [list(self._ids(text.encode())) for text in texts]

    def _ids(self, data: bytes) -> Iterator[int]:
        while data:
            found = next(((token, number) for token, number in self._tokens if data.startswith(token)), None)
            if found is None:
                return
            data = data[len(found[0]) :]
            yield found[1]


class Thinker:
    """Think and answer with a handful of tokens; the stop id comes last.

    Args:
        tokens: the tokens' texts; None is a token without any.
        end: the end mark.
        gap: what stands between it and the answer.
        end_token: the place of the token that is the mark; None where it is text.
    """

    def __init__(
        self, *tokens: bytes | None, end: str = "</t>", gap: str = "", end_token: bytes | int | None = None
    ) -> None:
        self.vocabulary = Vocabulary([*tokens, None], [len(tokens)])
        self.stop = len(tokens)
        self.engine = MaskEngine(self.vocabulary)
        self.tokens = tokens
        number = tokens.index(end_token) if isinstance(end_token, bytes) else end_token
        self.mark = EndMark(end, gap, vocabulary=self.vocabulary, encoder=Greedy(self.vocabulary), end_id=number)

    def ids(self, *wanted: bytes | int) -> list[int]:
        return [each if isinstance(each, int) else self.tokens.index(each) for each in wanted]

    def run(self, state: Term, forward: Any, *, budget: int = 100, **options: Any) -> list[Event]:
        events: list[Event] = []
        arguments = {"prompt": [0], "sampling": Sampling(), **options}
        question = Question(
            matcher=self.engine.matcher_of(state),
            vocabulary=self.vocabulary,
            thoughts=Thoughts(self.mark, state, budget),
            **arguments,
        )
        write(question, forward, events.append)
        return events


def thoughts_of(events: Sequence[Event]) -> bytes:
    return b"".join(event.data for event in events if isinstance(event, ReasoningDelta))


def text_of(events: Sequence[Event]) -> bytes:
    return b"".join(event.data for event in events if isinstance(event, TextDelta))


def fed(forward: Any) -> list[int]:
    """Return all ids that the model was given behind the prompt of one token."""
    return [number for ids in forward.fed for number in ids][1:]


def ok() -> Term:
    return Arena().literal(b"ok")


def test_mark_may_come_in_any_tokens(scripted: Scripted) -> None:
    toy = Thinker(b"hm ", b"<", b"/t", b">", b"o", b"k")
    forward = scripted(7, toy.ids(b"hm ", b"hm ", b"<", b"/t", b">", b"o", b"k"))
    events = toy.run(ok(), forward)
    assert thoughts_of(events) == b"hm hm "
    assert text_of(events) == b"ok"
    assert events[-2:] == [Usage(1, 7, 5), Finish(FinishReason.STOP, "accept")]


def test_mark_may_be_a_token_without_text(scripted: Scripted) -> None:
    toy = Thinker(b"hm ", None, b"o", b"k", end="</think>", end_token=1)
    events = toy.run(ok(), scripted(5, [0, 1, 2, 3]))
    assert (thoughts_of(events), text_of(events)) == (b"hm ", b"ok")


def test_mark_with_a_token_of_its_own_also_ends_thoughts_as_text(scripted: Scripted) -> None:
    toy = Thinker(b"hm", b"</", b"t>", None, b"o", b"k", end_token=3)
    events = toy.run(ok(), scripted(7, [0, 1, 2, 4, 5]))
    assert (thoughts_of(events), text_of(events)) == (b"hm", b"ok")


def test_mark_s_own_token_ends_thoughts_behind_half_a_mark(scripted: Scripted) -> None:
    toy = Thinker(b"</", b"</t>", b"o", b"k", end_token=b"</t>")
    events = toy.run(ok(), scripted(5, [0, 1, 2, 3]))
    assert (thoughts_of(events), text_of(events)) == (b"</", b"ok")


def test_mark_s_own_token_is_the_mark_where_it_overlaps_a_thought(scripted: Scripted) -> None:
    toy = Thinker(b"ab", b"abab", b"ok", end="abab", end_token=b"abab")
    events = toy.run(ok(), scripted(4, [0, 1, 2]))
    assert (thoughts_of(events), text_of(events)) == (b"ab", b"ok")


def test_half_a_mark_is_a_thought_like_others(scripted: Scripted) -> None:
    toy = Thinker(b"</", b"<", b"/t", b"x", b">", b"ok", b"t")
    events = toy.run(ok(), scripted(8, toy.ids(b"</", b"x", b"<", b"<", b"/t", b"x", b"</", b"<", b"/t", b">", b"ok")))
    assert thoughts_of(events) == b"</x<</tx</"
    assert text_of(events) == b"ok"


def test_no_thought_that_may_begin_the_mark_is_shown_too_early(scripted: Scripted) -> None:
    toy = Thinker(b"a<", b"/t", b"!", b">", b"ok", b"<")
    events = toy.run(ok(), scripted(7, toy.ids(b"a<", b"/t", b"!", b"a<", b"/t", b">", b"ok")))
    shown = [event.data for event in events if isinstance(event, ReasoningDelta)]
    assert shown == [b"a", b"</t!", b"a"]


@pytest.mark.parametrize("mark", ["aab", "abab", "aa", "aaab"])
def test_mark_that_overlaps_itself_ends_where_it_is_first_complete(scripted: Scripted, mark: str) -> None:
    toy = Thinker(b"a", b"b", b"z", end=mark)
    written = b"aba" + b"a" + mark.encode()
    ids = [b"ab".index(byte) for byte in written]
    end = written.index(mark.encode()) + len(mark)
    events = toy.run(Arena().literal(b"z"), scripted(4, [*ids[:end], 2]))
    assert thoughts_of(events) == written[: end - len(mark)]
    assert text_of(events) == b"z"


def test_wish_to_stop_is_not_taken_while_thinking(scripted: Scripted) -> None:
    toy = Thinker(b"hm", b"</t>", b"ok")
    forward = scripted(4, [3, 3, 1, 2])
    events = toy.run(ok(), forward, budget=3)
    assert events[-1] == Finish(FinishReason.STOP, "accept")
    assert text_of(events) == b"ok"
    assert toy.stop not in fed(forward)


def test_other_tokens_without_text_are_not_taken_while_thinking(scripted: Scripted) -> None:
    toy = Thinker(b"hm", None, None, b"ok", end_token=2)
    forward = scripted(5, [1, 1, 2])
    events = toy.run(ok(), forward)
    assert 1 not in fed(forward)
    assert text_of(events) == b"ok"


def test_end_of_the_budget_writes_mark_and_gap_in_one_forward(scripted: Scripted) -> None:
    toy = Thinker(b"hm", b"</", b"t>", b"\n", b"o", b"k", gap="\n")
    forward = scripted(7, toy.ids(b"hm", b"hm", b"o", b"k"))
    events = toy.run(ok(), forward, budget=2)
    assert (thoughts_of(events), text_of(events)) == (b"hmhm", b"ok")
    assert forward.fed == [[0], [0], toy.ids(b"hm", b"</", b"t>", b"\n"), toy.ids(b"o")]
    assert Notice("reasoning_cut") in events
    assert events[-2:] == [Usage(1, 7, 5), Finish(FinishReason.STOP, "accept")]


def test_end_of_the_budget_within_the_mark_writes_the_rest_of_it(scripted: Scripted) -> None:
    toy = Thinker(b"hm", b"</", b"t>", b"ok")
    forward = scripted(5, toy.ids(b"hm", b"</", b"ok"))
    events = toy.run(ok(), forward, budget=2)
    assert (thoughts_of(events), text_of(events)) == (b"hm", b"ok")
    assert forward.fed[-1] == toy.ids(b"</", b"t>")


def test_end_of_the_budget_within_the_mark_writes_its_own_token(scripted: Scripted) -> None:
    toy = Thinker(b"hm", b"</", None, b"ok", end_token=2)
    events = toy.run(ok(), scripted(5, toy.ids(b"hm", b"</", b"ok")), budget=2)
    assert (thoughts_of(events), text_of(events)) == (b"hm</", b"ok")


def test_mark_that_was_left_inside_a_character_is_written_whole(scripted: Scripted) -> None:
    mark = "◁/t▷"
    toy = Thinker(b"hm", mark.encode()[:1], mark.encode(), b"ok", end=mark)
    events = toy.run(ok(), scripted(5, [0, 1, 3]), budget=2)
    assert thoughts_of(events) == b"hm" + mark.encode()[:1]
    assert text_of(events) == b"ok"


def test_no_budget_ends_thoughts_before_they_begin(scripted: Scripted) -> None:
    toy = Thinker(b"hm", b"</t>", b"ok")
    forward = scripted(4, [2])
    events = toy.run(ok(), forward, budget=0)
    assert forward.fed == [[0, 1]]
    assert (thoughts_of(events), text_of(events)) == (b"", b"ok")
    assert events[1:] == [Usage(1, 2, 1), Finish(FinishReason.STOP, "accept")]


def test_token_that_crosses_the_mark_is_legal_where_the_contract_allows_it(scripted: Scripted) -> None:
    toy = Thinker(b"hm</t", b">no", b">o", b">", b"no", b"o", b"k", b"</t")
    forward = scripted(9, toy.ids(b"hm</t", b">no", b"k"))
    toy.run(ok(), forward, budget=5)
    assert fed(forward)[1] != toy.tokens.index(b">no")
    events = toy.run(ok(), scripted(9, toy.ids(b"hm</t", b">o", b"k")))
    assert (thoughts_of(events), text_of(events)) == (b"hm", b"ok")
    assert TextDelta(b"o", tokens=0) in events
    assert events[-2:] == [Usage(1, 3, 2), Finish(FinishReason.STOP, "accept")]


def test_token_that_crosses_the_mark_may_hold_the_whole_answer(scripted: Scripted) -> None:
    toy = Thinker(b"</t>ok", b"</t>oky", b"</t>", b"o", b"k")
    forward = scripted(6, [1, 0])
    events = toy.run(ok(), forward)
    assert text_of(events) == b"ok"
    assert 1 not in fed(forward)


def test_gap_may_come_with_the_mark_or_is_written(scripted: Scripted) -> None:
    toy = Thinker(b"</t", b">", b">\n", b">\n\no", b"> ", b"\n", b"o", b"k", b">xxo", gap="\n\n")
    for last, left in ((b">", [b"\n", b"\n"]), (b">\n", [b"\n"])):
        forward = scripted(10, toy.ids(b"</t", last, b"o", b"k"))
        events = toy.run(ok(), forward)
        assert text_of(events) == b"ok"
        assert forward.fed[2] == toy.ids(last, *left)
    events = toy.run(ok(), scripted(10, toy.ids(b"</t", b">\n\no", b"k")))
    assert text_of(events) == b"ok"
    for other in (b"> ", b">xxo"):
        forward = scripted(10, toy.ids(b"</t", other))
        toy.run(ok(), forward, budget=5)
        assert toy.ids(other)[0] not in fed(forward)


def test_gap_is_not_left_inside_a_character(scripted: Scripted) -> None:
    gap = "é"
    toy = Thinker(b"</t>", b"</t>\xc3", gap.encode(), b"\xa9", b"ok", gap=gap)
    forward = scripted(6, [1, 0, 4])
    events = toy.run(ok(), forward)
    assert 1 not in fed(forward)
    assert text_of(events) == b"ok"


@pytest.mark.parametrize(("end_token", "before"), [(None, b"</t>\n"), (b"</t>", b"\n")])
def test_forced_text_is_split_behind_what_stands_before_it(
    scripted: Scripted, end_token: bytes | None, before: bytes
) -> None:
    class Split:
        written: ClassVar[list[bytes]] = []

        def tokens(self, state: Term, written: bytes) -> Sequence[int]:
            self.written.append(written)
            return ()

    toy = Thinker(b"hm", b"</t>", b"\n", b"o", b"k", gap="\n", end_token=end_token)
    toy.run(ok(), scripted(6, [0, 1, 3, 4]), forced_runs=Split())
    assert Split.written == [before, before + b"o"]


def test_limit_of_tokens_is_on_the_answer_alone(scripted: Scripted) -> None:
    toy = Thinker(b"1", b"</t>")
    forward = scripted(3, [0] * 6 + [1] + [0] * 9)
    events = toy.run(Arena().run(DIGITS, 1), forward, sampling=Sampling(max_tokens=2))
    assert (thoughts_of(events), text_of(events)) == (b"111111", b"11")
    assert events[-2:] == [Usage(1, 9, 7), Finish(FinishReason.LENGTH, "max_tokens")]


def test_thoughts_leave_room_for_the_answer_in_the_context(scripted: Scripted) -> None:
    toy = Thinker(b"1", b"</t>")
    forward = scripted(3, [0] * 99)
    events = toy.run(
        Arena().run(DIGITS, 3, 3), forward, sampling=Sampling(max_tokens=3), prompt=[0, 0], context_tokens=10
    )
    assert (thoughts_of(events), text_of(events)) == (b"1" * 4, b"111")
    assert Notice("reasoning_cut") in events
    assert events[-1] == Finish(FinishReason.STOP, "accept")


def test_answer_that_may_fill_the_context_leaves_no_room_for_thoughts(scripted: Scripted) -> None:
    toy = Thinker(b"1", b"</t>")
    events = toy.run(Arena().run(DIGITS, 1), scripted(3, [0] * 99), sampling=Sampling(max_tokens=99), context_tokens=9)
    assert not thoughts_of(events)
    assert Notice("reasoning_cut") in events
    # Prompt, mark and seven tokens fill the context; the eighth is drawn, and never fed.
    assert events[-2:] == [Usage(1, 9, 1), Finish(FinishReason.LENGTH, "context")]


def test_prompt_that_leaves_no_room_for_the_mark_is_too_long(scripted: Scripted) -> None:
    toy = Thinker(b"1", b"</", b"t>")
    forward = scripted(4)
    events = toy.run(Arena().run(DIGITS, 1), forward, prompt=[0, 0], context_tokens=3)
    (fault,) = events
    assert isinstance(fault, Fault)
    assert (fault.kind, fault.code) == ("bad_request", "context_length_exceeded")
    assert forward.forwards == 0


def test_contract_that_runs_over_its_limit_behind_the_mark_ends_as_a_dead_end(scripted: Scripted) -> None:
    toy = Thinker(b"hm", b"</t>k", b"</t>")
    events = toy.run(ok(), scripted(4, [1, 2, 0]))
    assert isinstance(events[-1], DeadEndReached)
    assert text_of(events) == b""


def test_mark_that_the_tokens_cannot_write_is_refused() -> None:
    with pytest.raises(MisuseError, match="cannot write"):
        Thinker(b"</", b"t", b"ok")
    with pytest.raises(MisuseError, match="cannot write"):
        Thinker(b"</t>", b"ok", gap="\n")
    with pytest.raises(MisuseError, match="cannot write"):
        Thinker(None, b"ok", gap="\n", end_token=0)


def test_mask_is_shared_where_no_token_crosses_the_mark() -> None:
    toy = Thinker(b"hm", b"</t>", b"ok", None, end_token=3)
    first, second = (Thoughts(toy.mark, ok(), 9) for _ in range(2))
    assert first.mask() is second.mask()
    assert first.mask().tolist() == [True, True, True, True, False]
    assert not first.mask().flags.writeable


def test_prompt_is_opened_once() -> None:
    vocabulary = Vocabulary([b"<think>", b"\n", b"hm", None, None], [4])
    assert opened([2], [0, 1], vocabulary) == [2, 0, 1]
    assert opened([2, 0, 1], [0], vocabulary) == [2, 0, 1]
    assert opened([2, 0], [0, 1], vocabulary) == [2, 0]
    assert opened([2, 3], [3], vocabulary) == [2, 3]
    assert opened([0, 2], [0, 1], vocabulary) == [0, 2, 0, 1]
    assert opened([2], [1], vocabulary) == [2, 1]


MARKS = ("</t>", "aa", "aab", "ab", "é|")
PIECES = st.lists(st.binary(min_size=1, max_size=4), max_size=6)


@st.composite
def chunked(draw: st.DrawFn) -> tuple[str, str, list[bytes], int, int]:
    """Draw a mark, a gap, tokens that cut both in every way, a budget and a seed."""
    mark, gap = draw(st.sampled_from(MARKS)), draw(st.sampled_from(("", "\n", "1", "ab")))
    whole = mark.encode() + gap.encode() + b"12"
    cuts = draw(st.lists(st.tuples(st.integers(0, len(whole)), st.integers(0, len(whole))), max_size=8))
    tokens = {whole[low:high] for low, high in cuts if low < high} | set(draw(PIECES))
    tokens |= {bytes((byte,)) for byte in (mark + gap).encode() + b"0123456789ab"}
    return mark, gap, sorted(tokens), draw(st.integers(0, 12)), draw(st.integers(0, 1 << 16))


@settings(deadline=None)
@given(case=chunked(), has_token=st.booleans())
def test_answer_begins_right_behind_the_first_mark_however_tokens_cut_it(
    scripted: Scripted, case: tuple[str, str, list[bytes], int, int], has_token: bool
) -> None:
    mark, gap, tokens, budget, seed = case
    special = [None] if has_token else []
    toy = Thinker(*tokens, *special, end=mark, gap=gap, end_token=len(tokens) if has_token else None)
    forward = scripted(toy.vocabulary.width, seed=seed)
    events = toy.run(Arena().run(DIGITS, 2, 2), forward, budget=budget, sampling=Sampling(temperature=1.0, seed=seed))
    answer, thoughts = text_of(events), thoughts_of(events)
    assert events[-1] == Finish(FinishReason.STOP, "accept")
    assert len(answer) == 2
    assert answer.isdigit()
    # What the model was given, with the mark's own token spelled as the mark; the last token is never fed.
    ids = fed(forward)
    texts = [mark.encode() if has_token and number == len(tokens) else tokens[number] for number in ids]
    whole = thoughts + mark.encode() + gap.encode() + answer
    assert whole.startswith(b"".join(texts))
    assert ids or not thoughts
    if has_token:
        assert mark.encode() not in thoughts
    elif mark != "é|":  # which may be left inside its first character, and is then written whole
        assert whole.index(mark.encode()) == len(thoughts)
    usage = events[-2]
    assert isinstance(usage, Usage)
    assert usage.output_tokens is not None
    assert usage.reasoning_tokens is not None
    assert usage.reasoning_tokens <= budget + toy.mark.longest
    assert usage.output_tokens - usage.reasoning_tokens <= 2


@settings(deadline=None)
@given(case=chunked(), matched=st.integers(0, 8), tail=st.binary(max_size=3))
def test_crossing_tokens_are_those_that_the_definition_names(
    case: tuple[str, str, list[bytes], int, int], matched: int, tail: bytes
) -> None:
    mark, gap, tokens, _, _ = case
    toy = Thinker(*tokens, tail + mark.encode() + tail + b"x", end=mark, gap=gap)
    data = mark.encode()
    held = data[: min(matched, len(data) - 1)]
    expected: dict[int, bytes] = {}
    for number, token in enumerate(toy.vocabulary.tokens[:-1]):
        assert token is not None
        at = (held + token).find(data)
        if at >= 0 and at + len(data) < len(held + token):
            expected[number] = (held + token)[at + len(data) :]
    assert dict(toy.mark.crossing(len(held))) == expected


def test_free_mask_is_as_wide_as_the_logits() -> None:
    vocabulary = Vocabulary([b"</t>", b"a", None], [2], width=8)
    mark = EndMark("</t>", "", vocabulary=vocabulary, encoder=Greedy(vocabulary))
    assert np.flatnonzero(mark.free).tolist() == [0, 1]
    assert len(mark.free) == 8

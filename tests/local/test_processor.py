"""The processor lets through what a row's own tokens make legal, and refuses what it cannot hold to the contract."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence

import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies

from commitgate import Choices, Grammar, Limits, Regex
from commitgate.contract import Contract
from commitgate.errors import CommitgateError, DeadEndError, LimitExceededError, MisuseError, ModelRunError
from commitgate_local import MaskedAnswer, MaskEngine, MaskProcessor, Vocabulary
from commitgate_local.device_masks import DeviceMasks

Words = Callable[..., MaskEngine]

PROMPT = [2, 0, 1]
STOP = 4


@pytest.fixture
def engine(words: Words) -> MaskEngine:
    """Return an engine over a (0), b (1), c (2), ab (3) and the stop id 4."""
    return words(b"a", b"b", b"c", b"ab")


def scores_of(rows: int, columns: int = 5) -> torch.Tensor:
    return torch.arange(rows * columns, dtype=torch.float32).reshape(rows, columns)


def rows_of(*answers: Sequence[int], prompt: Sequence[int] = PROMPT) -> torch.Tensor:
    return torch.tensor([[*prompt, *answer] for answer in answers])


def legal(scores: torch.Tensor) -> list[set[int]]:
    return [set(row.isfinite().nonzero()[:, 0].tolist()) for row in scores]


def step(processor: MaskProcessor, *answers: Sequence[int], prompt: Sequence[int] = PROMPT) -> list[set[int]]:
    """Return what may follow each answer."""
    return legal(processor(rows_of(*answers, prompt=prompt), scores_of(len(answers))))


def answer_of(engine: MaskEngine, contract: object, answer: Sequence[int]) -> MaskedAnswer:
    """Return what the processor says of one row with this answer."""
    processor = MaskProcessor(engine, contract)
    step(processor, [])
    (found,) = processor.answers(rows_of(answer))
    return found


def test_legal_tokens_keep_their_scores_and_others_get_none(engine: MaskEngine) -> None:
    scores = scores_of(1)
    masked = MaskProcessor(engine, Choices(["abc", "b"]))(rows_of([]), scores)
    assert masked.tolist() == [[0.0, 1.0, -math.inf, 3.0, -math.inf]]
    assert torch.equal(scores, scores_of(1))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_scores_keep_their_type(engine: MaskEngine, dtype: torch.dtype) -> None:
    masked = MaskProcessor(engine, Regex("c"))(rows_of([]), scores_of(1).to(dtype))
    assert masked.dtype is dtype
    assert masked.tolist() == [[-math.inf, -math.inf, 2.0, -math.inf, -math.inf]]


def test_each_row_has_its_own_contract_and_its_own_place(engine: MaskEngine) -> None:
    processor = MaskProcessor(engine, [Choices(["abc"]), Regex("c+")])
    assert step(processor, [], []) == [{0, 3}, {2}]
    assert step(processor, [3], [2]) == [{2}, {2, STOP}]
    assert step(processor, [3, 2], [2, 2]) == [{STOP}, {2, STOP}]


def test_row_that_ended_is_given_each_stop_token_in_turn_whatever_the_model_says() -> None:
    processor = MaskProcessor(MaskEngine(Vocabulary([b"a", b"b", None, None, None], [2, 3])), Regex("a+"))
    step(processor, [], [], prompt=[4])
    assert step(processor, [0], [0], prompt=[4]) == [{0, 2, 3}, {0, 2, 3}]
    scores = scores_of(2)
    scores[0] = math.nan
    masked = processor(rows_of([0, 2], [0, 0], prompt=[4]), scores)
    assert legal(masked) == [{3}, {0, 2, 3}]
    assert masked[0, 3] == 0.0
    assert step(processor, [0, 2, 3], [0, 0, 0], prompt=[4])[0] == {2}
    assert step(processor, [0, 2, 3, 2], [0, 0, 0, 0], prompt=[4])[0] == {3}


def test_padding_behind_the_end_is_passed_over_text_or_not(engine: MaskEngine) -> None:
    processor = MaskProcessor(engine, Regex("a{1,9}"))
    for length in range(3):
        step(processor, [0, STOP, 2][:length], [0, 0, 0][:length])
    assert step(processor, [0, STOP, 2], [0, 0, 0])[1] == {0, STOP}
    first, second = processor.answers(rows_of([0, STOP, 2, 2], [0, 0, 0, STOP]))
    assert (first.text, second.text) == ("a", "aaa")
    assert first.token_ids == (0,)


@pytest.mark.parametrize(
    ("answer", "text"),
    [([1, STOP], "b"), ([1, 2, STOP], "bc"), ([1, 2], "bc"), ([1], None), ([], None), ([0], None), ([0, STOP], None)],
)
def test_text_is_whole_where_it_reached_its_own_end(engine: MaskEngine, answer: list[int], text: str | None) -> None:
    found = answer_of(engine, Regex("bc?|ab"), answer)
    assert (found.text, found.is_whole) == (text, text is not None)
    assert found.data == engine.vocabulary.text(answer)


def test_row_stopped_by_padding_is_cut_even_where_it_might_end() -> None:
    engine = MaskEngine(Vocabulary([b"a", b"b", b"c", None, None], [4]))
    assert answer_of(engine, Regex("bc?"), [1, 4]).text == "b"
    assert answer_of(engine, Regex("bc?"), [1, 3]).text is None
    assert answer_of(engine, Regex("bc?"), [1, 2, 3]).text == "bc"


def test_answer_does_not_show_its_text(engine: MaskEngine) -> None:
    assert repr(answer_of(engine, Regex("bc?"), [1, STOP])) == "MaskedAnswer()"


def test_columns_beyond_the_vocabulary_are_never_legal(engine: MaskEngine) -> None:
    masked = MaskProcessor(engine, Regex("[abc]"))(rows_of([]), scores_of(1, columns=9))
    assert legal(masked) == [{0, 1, 2}]


def test_tokens_without_a_column_may_be_missing_where_they_are_no_text() -> None:
    engine = MaskEngine(Vocabulary([b"a", b"b", b"c", None, None, None], [3]))
    assert legal(MaskProcessor(engine, Regex("b"))(rows_of([]), scores_of(1, columns=4))) == [{1}]
    with pytest.raises(MisuseError, match="3 columns, the engine's vocabulary has 6 ids"):
        MaskProcessor(engine, Regex("b"))(rows_of([]), scores_of(1, columns=3))


def test_engine_of_another_model_is_refused(engine: MaskEngine) -> None:
    with pytest.raises(MisuseError, match="the tokenizer of this very model"):
        MaskProcessor(engine, Regex("b"))(rows_of([]), scores_of(1, columns=50_257))
    with pytest.raises(MisuseError, match="the tokenizer of this very model"):
        MaskProcessor(engine, Regex("b"))(rows_of([]), scores_of(1, columns=2))
    with pytest.raises(MisuseError, match="another tokenizer"):
        MaskProcessor(engine, Regex("b"))(torch.tensor([[1, 7]]), scores_of(1, columns=9))


def test_rows_that_change_places_keep_their_state(engine: MaskEngine) -> None:
    processor = MaskProcessor(engine, Choices(["aac", "bba", "cab"]))
    assert step(processor, [], [], []) == [{0, 1, 2}] * 3
    assert step(processor, [0], [1], [2]) == [{0}, {1}, {0, 3}]
    assert step(processor, [2, 3], [2, 0], [0, 0]) == [{STOP}, {1}, {2}]


def walked(engine: MaskEngine, contract: object, answer: Sequence[int]) -> set[int]:
    """Return what may follow an answer that is walked from its beginning."""
    matcher = engine.matcher(contract)
    for token in answer:
        matcher.advance(token)
        if token == STOP:
            return {STOP}
    return set(np.flatnonzero(matcher.mask()).tolist())


@settings(max_examples=60, deadline=None)
@given(strategies.data())
def test_what_is_legal_depends_on_the_row_alone(data: strategies.DataObject) -> None:
    engine = MaskEngine(Vocabulary([b"a", b"b", b"c", b"ab", None], [STOP]))
    contract = Grammar('root ::= "c"* | "a" root "b"')
    processor = MaskProcessor(engine, contract)
    answer: list[int] = []
    widest = 0
    for _ in range(data.draw(strategies.integers(1, 14))):
        legal_now = walked(engine, contract, answer)
        assert step(processor, answer) == [legal_now]
        # As assisted decoding does: some shorter beginning, then other tokens, one by one.
        if data.draw(strategies.booleans()):
            answer = answer[: data.draw(strategies.integers(0, len(answer)))]
            legal_now = walked(engine, contract, answer)
        if len(answer) <= widest:
            answer = [*answer, data.draw(strategies.sampled_from(sorted(legal_now)))]
        widest = max(widest, len(answer))


def test_dead_end_says_which_row_and_what_was_expected(words: Words) -> None:
    # Where a vocabulary has no base of single characters, a text may lead where no token fits.
    processor = MaskProcessor(words(b"x", b"yz"), [Choices(["xx"]), Choices(["xz"])])
    step(processor, [], [], prompt=[0])
    with pytest.raises(DeadEndError) as caught:
        step(processor, [0], [0], prompt=[0])
    assert caught.value.outcome.summary() == "no token was legal after 1 tokens (tokenizer): row 1 expected 'z'"


def broken(*values: float) -> torch.Tensor:
    return torch.tensor([[0.0] * 5, values])


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ((math.nan,) * 5, "row 1: the model's scores are not finite"),
        ((0.0, math.nan, 0.0, 0.0, 0.0), "row 1: the model's scores are not finite"),
        ((0.0, math.inf, 0.0, 0.0, 0.0), "row 1: the model's scores are not finite"),
        ((-math.inf,) * 5, "row 1: no legal token has any probability"),
        ((0.0, -math.inf, -math.inf, 0.0, 0.0), "row 1: no legal token has any probability"),
    ],
)
def test_scores_that_are_no_numbers_or_leave_nothing_legal_are_an_error(
    engine: MaskEngine, values: tuple[float, ...], message: str
) -> None:
    processor = MaskProcessor(engine, Regex("[bc]"))
    with pytest.raises(ModelRunError, match=message):
        processor(rows_of([], []), broken(*values))


def test_scores_of_tokens_that_are_not_legal_do_not_matter(engine: MaskEngine) -> None:
    values = (math.nan, 1.0, math.inf, -math.inf, math.nan)
    assert legal(MaskProcessor(engine, Regex("b"))(rows_of([], []), broken(*values))) == [{1}, {1}]


def test_other_call_is_refused_until_the_processor_is_reset(engine: MaskEngine) -> None:
    processor = MaskProcessor(engine, Regex("[abc]{4}"))
    step(processor, [])
    step(processor, [0])
    others = [rows_of([], prompt=[2, 0, 0]), rows_of([], []), rows_of([], prompt=[2]), rows_of([0, 0, 1])]
    for other in others:
        with pytest.raises(MisuseError, match="reset"):
            processor(other, scores_of(len(other)))
    # Nothing was lost by it.
    assert step(processor, [0, 1]) == [{0, 1, 2, 3}]
    processor.reset()
    assert step(processor, [], prompt=[1]) == [{0, 1, 2, 3}]


def test_call_of_the_same_prompt_begins_anew(engine: MaskEngine) -> None:
    processor = MaskProcessor(engine, Choices(["bc", "ca"]))
    for answer in ([], [1], [1, 2], [], [2], [2, 0]):
        found = step(processor, answer)
    assert found == [{STOP}]


def test_error_in_one_row_leaves_the_others_where_they_are(engine: MaskEngine) -> None:
    processor = MaskProcessor(engine, Regex("ab?c?"))
    step(processor, [], [])
    step(processor, [0], [0])
    for _ in range(2):
        with pytest.raises(MisuseError, match="row 1: token 1 of the answer is not legal there"):
            step(processor, [0, 1], [0, 0])
    assert step(processor, [0, 1], [0, 2]) == [{2, STOP}, {STOP}]


def test_answer_begun_in_the_prompt_goes_on(engine: MaskEngine) -> None:
    contract = Choices(["abc", "cab"])
    assert step(MaskProcessor(engine, contract, answer_tokens=1), [3]) == [{2}]
    # Prompts of different lengths are padded at their left, so the answer's tokens are counted from the right.
    processor = MaskProcessor(engine, contract, answer_tokens=[2, 1, 0])
    prompts = torch.tensor([[1, 1, 0, 1], [STOP, 1, 1, 2], [STOP, STOP, 1, 1]])
    assert legal(processor(prompts, scores_of(3))) == [{2}, {0, 3}, {0, 2, 3}]
    grown = torch.cat([prompts, torch.tensor([[2], [3], [2]])], dim=1)
    assert legal(processor(grown, scores_of(3))) == [{STOP}, {STOP}, {0, 3}]
    assert [answer.data for answer in processor.answers(grown)] == [b"abc", b"cab", b"c"]


def test_answer_that_ended_in_the_prompt_stays_as_it_is(engine: MaskEngine) -> None:
    processor = MaskProcessor(engine, Regex("ab?c"), answer_tokens=[4, 2])
    prompts = torch.tensor([[1, 0, 2, STOP, STOP], [STOP, STOP, 1, 0, 1]])
    assert legal(processor(prompts, scores_of(2))) == [{STOP}, {2}]


@pytest.mark.parametrize(
    ("prompt", "tokens", "message"),
    [
        ([1, 1, 1], 1, "row 0: token 0 of the answer is not legal"),
        ([1, STOP, 0], 2, "are not all text"),
        ([1, 0], 3, "names 3 tokens, the prompt has 2"),
    ],
)
def test_what_is_no_answer_is_refused_as_one(engine: MaskEngine, prompt: list[int], tokens: int, message: str) -> None:
    with pytest.raises(MisuseError, match=message):
        MaskProcessor(engine, Regex("ac"), answer_tokens=tokens)(torch.tensor([prompt]), scores_of(1))


def test_contracts_belong_to_prompts_and_not_to_beams(engine: MaskEngine) -> None:
    processor = MaskProcessor(engine, [Regex("[abc]{4}"), Regex("[ab]{4}")])
    step(processor, [], [])
    step(processor, [0], [1])
    with pytest.raises(MisuseError, match="row 0: generate moved a text here"):
        step(processor, [1, 0], [1, 1])


def test_rows_of_equal_contracts_may_change_places(engine: MaskEngine) -> None:
    processor = MaskProcessor(engine, [Regex("[ab]{4}"), Regex("[ab]{4}")])
    step(processor, [], [])
    step(processor, [0], [1])
    assert step(processor, [1, 0], [1, 1]) == [{0, 1, 3}] * 2


def test_copies_of_a_prompt_share_its_contract(engine: MaskEngine) -> None:
    processor = MaskProcessor(engine, [Regex("a"), Regex("b")])
    prompts = torch.tensor([[0], [0], [1], [1]])
    assert legal(processor(prompts, scores_of(4))) == [{0}, {0}, {1}, {1}]
    # Beam search returns fewer rows than it follows.
    answers = processor.answers(torch.tensor([[0, 0], [1, 1]]))
    assert [answer.text for answer in answers] == ["a", "b"]


def test_rows_that_are_no_copies_of_as_many_prompts_are_refused(engine: MaskEngine) -> None:
    processor = MaskProcessor(engine, [Regex("a"), Regex("b")])
    with pytest.raises(MisuseError, match="cannot be those of 2 prompts"):
        step(processor, [], [], [])
    with pytest.raises(MisuseError, match="not 2 prompts and their copies"):
        processor(torch.tensor([[0], [1], [0], [1]]), scores_of(4))
    with pytest.raises(MisuseError, match="not 1 prompts and their copies"):
        MaskProcessor(engine, [Regex("a")])(torch.tensor([[0], [1]]), scores_of(2))


def test_answers_are_those_of_the_call_that_was_followed(engine: MaskEngine) -> None:
    processor = MaskProcessor(engine, Regex("[ab]{1,3}"))
    with pytest.raises(MisuseError, match="no call of generate"):
        processor.answers(rows_of([0]))
    step(processor, [])
    for other in (torch.tensor([[0, 1]]), torch.tensor([0]), rows_of([0], prompt=[2, 0, 0]), rows_of()):
        with pytest.raises(MisuseError):
            processor.answers(other)
    with pytest.raises(MisuseError, match="row 0: token 1"):
        processor.answers(rows_of([0, 2]))
    assert processor.answers(rows_of([0, 0, 0]))[0].text == "aaa"


def test_what_is_handed_over_is_checked_at_once(engine: MaskEngine) -> None:
    wrong: list[Callable[[], object]] = [
        lambda: MaskProcessor("engine", Regex("a")),
        lambda: MaskProcessor(engine, []),
        lambda: MaskProcessor(engine, Regex("a"), answer_tokens=[]),
        lambda: MaskProcessor(engine, Regex("a"), answer_tokens=-1),
        lambda: MaskProcessor(engine, Regex("a"), answer_tokens=True),
        lambda: MaskProcessor(engine, Regex("a"), answer_tokens=[1, 1.5]),
        lambda: MaskProcessor(engine, [Regex("a"), Regex("b")], answer_tokens=[1, 2, 3]),
        lambda: MaskProcessor(MaskEngine(Vocabulary([b"a"])), Regex("a")),
        lambda: MaskProcessor(engine, Regex("a"))(torch.tensor([1]), scores_of(1)),
        lambda: MaskProcessor(engine, Regex("a"))(torch.tensor([[1]]), scores_of(2)),
        lambda: MaskProcessor(engine, Regex("a"))(torch.tensor([[1]]), scores_of(1).long()),
    ]
    for number, call in enumerate(wrong):
        with pytest.raises(MisuseError):
            pytest.fail(f"call {number} gave {call()}")


def test_contract_that_cannot_be_compiled_is_refused_at_once(engine: MaskEngine) -> None:
    with pytest.raises(CommitgateError):
        MaskProcessor(engine, {"$ref": "#/nowhere"})


def test_contract_that_needs_too_much_is_an_error_with_a_name(engine: MaskEngine) -> None:
    contract = Contract[object].of(Regex("(a|b)*a(a|b){9}"), limits=Limits(states=40))
    processor = MaskProcessor(engine, contract)
    letters = [number * 7 % 3 % 2 for number in range(40)]
    with pytest.raises(LimitExceededError):
        deque((step(processor, letters[:length]) for length in range(40)), maxlen=0)


def test_masks_on_a_device_are_kept_within_their_memory() -> None:
    masks = DeviceMasks(limit_bytes=4_000)
    for number in range(300):
        mask = np.zeros(200, np.bool_)
        mask[number % 200] = True
        assert legal(masks.apply(torch.zeros(1, 200), [mask])) == [{number % 200}]
        assert masks.size_bytes <= 4_000
    assert masks.size_bytes >= 1_000

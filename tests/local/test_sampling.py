"""The draw follows the formula: mask, temperature, top-k, top-p, renormalise, draw."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
import torch

from commitgate.automaton.terms import Arena
from commitgate.backends.base import Sampling
from commitgate.errors import ModelRunError
from commitgate_local.engine import MaskEngine
from commitgate_local.sampling import Draw, NothingLegal, draw, make_generator
from commitgate_local.vocabulary import Vocabulary

DELETE, REFUND, ASK, REST = range(4)
WANTED = torch.tensor([0.50, 0.30, 0.15, 0.05]).log()
DRAWS = 20_000


def drawn(logits: torch.Tensor, mask: Sequence[bool], sampling: Sampling, *, seed: int = 1) -> Draw:
    found = draw(logits, np.array(mask), sampling, make_generator(seed))
    assert isinstance(found, Draw)
    return found


def formula(logits: Sequence[float], mask: Sequence[bool], sampling: Sampling) -> dict[int, float]:
    """Return the probability of each token, written out anew from the definition, in exact order."""
    legal = [number for number, is_legal in enumerate(mask) if is_legal]
    weights = {number: math.exp(logits[number] / sampling.temperature) for number in legal}
    ranked = sorted(legal, key=lambda number: (-weights[number], number))
    if sampling.top_k is not None:
        ranked = ranked[: sampling.top_k]
    total = sum(weights[number] for number in ranked)
    kept: list[int] = []
    reached = 0.0
    for number in ranked:
        if reached >= sampling.top_p and sampling.top_p < 1:
            break
        kept.append(number)
        reached += weights[number] / total
    total = sum(weights[number] for number in kept)
    return {number: weights[number] / total for number in kept}


def chi_square_limit(degrees: int) -> float:
    """Return what chi-square exceeds once in a million draws of this test, by Wilson and Hilferty's approximation."""
    deviations = 4.7534
    return degrees * (1 - 2 / (9 * degrees) + deviations * math.sqrt(2 / (9 * degrees))) ** 3


def test_mask_from_the_grammar_renormalises_what_is_legal() -> None:
    vocabulary = Vocabulary([b"delete", b"refund", b"ask", b"rest"])
    mask = MaskEngine(vocabulary).matcher_of(Arena().literal_set((b"ask", b"refund"))).mask()
    generator = make_generator(11)
    draws = [draw(WANTED, mask, Sampling(temperature=1.0), generator) for _ in range(DRAWS)]
    counts = Counter(found.token_id for found in draws if isinstance(found, Draw))
    assert set(counts) == {REFUND, ASK}
    assert counts[REFUND] / DRAWS == pytest.approx(0.667, abs=0.015)
    assert counts[ASK] / DRAWS == pytest.approx(0.333, abs=0.015)
    assert all(isinstance(found, Draw) and found.legal_mass == pytest.approx(0.45) for found in draws)


@pytest.mark.parametrize(
    "sampling",
    [
        Sampling(temperature=1.0),
        Sampling(temperature=0.5),
        Sampling(temperature=2.0),
        Sampling(temperature=1.0, top_k=3),
        Sampling(temperature=1.0, top_p=0.7),
        Sampling(temperature=0.8, top_k=5, top_p=0.9),
        Sampling(temperature=1.5, top_k=6, top_p=0.5),
    ],
    ids=str,
)
def test_draws_follow_the_formula(sampling: Sampling) -> None:
    logits = torch.randn(12, generator=torch.Generator().manual_seed(4)) * 1.5
    mask = [number % 4 != 1 for number in range(12)]
    expected = formula(logits.tolist(), mask, sampling)
    generator = make_generator(99)
    counts = Counter[int]()
    for _ in range(DRAWS):
        found = draw(logits, np.array(mask), sampling, generator)
        assert isinstance(found, Draw)
        counts[found.token_id] += 1
    assert set(counts) <= set(expected)
    distance = sum((counts[number] - DRAWS * part) ** 2 / (DRAWS * part) for number, part in expected.items())
    assert distance < chi_square_limit(max(1, len(expected) - 1))


def test_top_k_counts_legal_tokens_only() -> None:
    # Top-k before the mask would keep the one illegal token and die; after it, the best legal one lives.
    mask = [False, True, True, False]
    best = int(WANTED.argmax())
    assert best == DELETE
    assert not mask[best]
    for seed in range(20):
        assert drawn(WANTED, mask, Sampling(temperature=1.0, top_k=1), seed=seed).token_id == REFUND


def test_top_p_counts_legal_tokens_only() -> None:
    mask = [False, True, True, True]
    for seed in range(50):
        assert drawn(WANTED, mask, Sampling(temperature=1.0, top_p=0.6), seed=seed).token_id == REFUND


def test_temperature_zero_takes_the_best_and_of_equals_the_lowest_id() -> None:
    logits = torch.tensor([9.0, 2.0, 5.0, 5.0, 5.0])
    assert drawn(logits, [False, True, False, True, True], Sampling()).token_id == 3
    assert drawn(logits, [True] * 5, Sampling()).token_id == 0


def test_ties_at_the_cut_of_top_k_keep_the_lowest_ids() -> None:
    logits = torch.arange(2_000) % 2 * 1.0
    seen = {drawn(logits, [True] * 2_000, Sampling(temperature=1.0, top_k=2), seed=seed).token_id for seed in range(40)}
    assert seen == {1, 3}


@pytest.mark.parametrize("temperature", [5e-324, 1e-300, 1e-5, 1e5, 1e300])
def test_extreme_temperatures_draw_a_legal_token(temperature: float) -> None:
    logits = torch.tensor([1e4, -1e4, 3e4, 0.0])
    found = drawn(logits, [True, True, False, True], Sampling(temperature=temperature))
    assert found.token_id in (0, 1, 3)
    if temperature < 1:
        assert found.token_id == 0


def test_same_seed_draws_the_same_and_no_seed_does_not() -> None:
    logits = torch.zeros(1_000)
    sampling = Sampling(temperature=1.0)

    def run(seed: int | None) -> list[int]:
        generator = make_generator(seed)
        found = [draw(logits, np.ones(1_000, np.bool_), sampling, generator) for _ in range(20)]
        return [one.token_id for one in found if isinstance(one, Draw)]

    assert run(5) == run(5)
    assert run(5) != run(6)
    assert run(None) != run(None)
    assert run(-1) == run(2**64 - 1)


def test_legal_mass_is_of_the_raw_logits_whatever_the_settings() -> None:
    mask = [False, True, True, False]
    for sampling in (Sampling(), Sampling(temperature=3.0), Sampling(temperature=0.3, top_k=1, top_p=0.1)):
        assert drawn(WANTED * 1.0 + 17, mask, sampling).legal_mass == pytest.approx(0.45)


def test_legal_mass_of_everything_is_one_and_never_more() -> None:
    logits = torch.randn(50_000, generator=torch.Generator().manual_seed(1)) * 30
    assert drawn(logits, [True] * 50_000, Sampling()).legal_mass == 1.0


def test_legal_mass_near_zero_keeps_its_size() -> None:
    assert drawn(torch.tensor([0.0, -100.0]), [False, True], Sampling()).legal_mass == pytest.approx(math.exp(-100))


@pytest.mark.parametrize(
    "logits", [[math.nan, 1.0], [1.0, math.nan], [-math.inf, -math.inf], [math.inf, 1.0], [-math.inf, 1.0]]
)
def test_broken_logits_are_an_error(logits: list[float]) -> None:
    for sampling in (Sampling(), Sampling(temperature=1.0)):
        with pytest.raises(ModelRunError):
            drawn(torch.tensor(logits), [True, False], sampling)


def test_empty_mask_is_a_dead_end() -> None:
    assert draw(WANTED, np.zeros(4, np.bool_), Sampling(), make_generator(0)) == NothingLegal()


def test_logits_are_left_as_they_are() -> None:
    logits = torch.tensor([1.0, 2.0, 3.0])
    drawn(logits, [True, True, False], Sampling(temperature=0.5, top_k=1))
    assert logits.tolist() == [1.0, 2.0, 3.0]


SETTINGS = [
    Sampling(temperature=temperature, top_k=top_k, top_p=top_p)
    for temperature in (0.0, 0.3, 1.0, 2.5, 80.0)
    for top_k in (None, 1, 7, 700)
    for top_p in (1.0, 0.9, 0.2)
]


@pytest.mark.parametrize("sampling", SETTINGS)
@pytest.mark.parametrize("spread", [2.0, 60.0])
def test_columns_that_are_not_legal_change_nothing(sampling: Sampling, spread: float) -> None:
    """Few legal tokens among many columns are drawn another way than many among few, to the same effect."""
    numbers = np.random.default_rng(11)
    for round_ in range(6):
        logits = numbers.standard_normal(900).astype(np.float32) * np.float32(spread)
        mask = numbers.random(900) < (0.3, 1.0)[round_ % 2]
        mask[[0, -1]] = True
        more = np.concatenate([logits, np.full(9 * 900, 3.0 * spread, np.float32)])
        wide_mask = np.concatenate([mask, np.zeros(9 * 900, np.bool_)])
        drawn = [
            draw(torch.from_numpy(given), legal, sampling, make_generator(round_))
            for given, legal in ((logits, mask), (more, wide_mask))
        ]
        assert isinstance(drawn[0], Draw)
        assert isinstance(drawn[1], Draw)
        assert drawn[0].token_id == drawn[1].token_id
        assert mask[drawn[0].token_id]


@pytest.mark.parametrize("sampling", SETTINGS)
def test_only_legal_token_is_drawn_wherever_it_stands(sampling: Sampling) -> None:
    for at in (0, 255, 256, 511, 599):
        logits = torch.linspace(-90, 90, 600)
        mask = np.zeros(600, np.bool_)
        mask[at] = True
        found = draw(logits, mask, sampling, make_generator(at))
        assert isinstance(found, Draw)
        assert found.token_id == at
        mask[:] = True
        logits[:] = -200.0
        logits[at] = 0.0
        if sampling.temperature < 1 or sampling.top_k == 1 or sampling.top_p < 1:
            cool = Sampling(temperature=min(sampling.temperature, 1), top_k=sampling.top_k, top_p=sampling.top_p)
            found = draw(logits, mask, cool, make_generator(at))
            assert isinstance(found, Draw)
            assert found.token_id == at


def test_hot_draws_reach_logits_far_below_the_best() -> None:
    logits = torch.full((400,), -150.0)
    logits[7] = 0.0
    hot = Sampling(temperature=100.0)
    mask = np.ones(400, np.bool_)
    found = {getattr(draw(logits, mask, hot, make_generator(seed)), "token_id", None) for seed in range(40)}
    assert len(found) > 20

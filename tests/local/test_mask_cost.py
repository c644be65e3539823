"""What masks cost on sample texts: counts that are the same each time, over a tokenizer without its model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commitgate.contract import Contract
from commitgate.errors import ModelLoadError
from commitgate.limits import Limits
from commitgate.lint import lint
from commitgate_local.mask_cost import MaskMeter, load_meter
from commitgate_local.trie import Trie
from commitgate_local.vocabulary import Vocabulary

SCHEMA = {
    "type": "object",
    "properties": {"state": {"enum": ["open", "closed"]}, "note": {"type": "string", "maxLength": 20}},
    "required": ["state", "note"],
    "additionalProperties": False,
}
BYTES = Vocabulary([bytes((byte,)) for byte in range(256)] + [b""], stop_ids=[256])


def test_masks_of_sample_texts_are_counted() -> None:
    cost = MaskMeter(BYTES)(Contract[object].of(SCHEMA), 10)
    assert (cost.texts, cost.tokens, cost.vocabulary) == (10, 256, BYTES.fingerprint)
    assert cost.finished == 10
    assert cost.steps > cost.masks > 0
    assert cost.states > 0
    assert 1 == cost.legal_min <= cost.legal_median
    assert 0 < cost.forced_steps < cost.steps


def test_counts_are_the_same_each_time() -> None:
    first, second = (MaskMeter(BYTES)(Contract[object].of(SCHEMA), 5) for _ in range(2))
    counted = [
        (cost.steps, cost.masks, cost.states, cost.shared_walks, cost.legal_median, cost.forced_steps)
        for cost in (first, second)
    ]
    assert counted[0] == counted[1]


def test_limit_that_masks_come_to_is_named() -> None:
    contract = Contract[object].of(SCHEMA, limits=Limits(states=40))
    assert MaskMeter(BYTES)(contract, 5).stopped_by == "states"


def test_texts_that_come_to_no_end_are_given_up() -> None:
    endless = {"type": "array", "items": {"const": 1}, "minItems": 900}
    cost = MaskMeter(BYTES)(Contract[object].of(endless), 2)
    assert (cost.texts, cost.finished, cost.steps) == (2, 0, 800)


@pytest.mark.parametrize("name", ["", "tokenizer.json"])
def test_tokenizer_is_loaded_without_its_model(tiny_folder: Path, tmp_path: Path, name: str) -> None:
    meter = load_meter(tiny_folder / name, cache_dir=tmp_path)
    report = lint(SCHEMA, walks=4, masks=meter)
    assert report.masks is not None
    assert report.masks.texts == 4
    assert report.masks.tokens > 256


def test_vocabulary_is_prepared_once_and_masks_are_measured_anew(
    tiny_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def measured() -> list[object]:
        cost = load_meter(tiny_folder, cache_dir=tmp_path)(Contract[object].of(SCHEMA), 4)
        return [cost.vocabulary, cost.steps, cost.masks, cost.states, cost.shared_walks, cost.legal_median]

    first = measured()
    monkeypatch.setattr(Trie, "__init__", lambda *_: pytest.fail("the tree is built a second time"))
    assert measured() == first


@pytest.mark.parametrize("name", ["gone", "config.json"])
def test_what_is_no_tokenizer_is_refused(tiny_folder: Path, name: str) -> None:
    with pytest.raises(ModelLoadError):
        load_meter(tiny_folder / name)


def test_one_huge_id_is_refused_before_every_mask_is_as_wide(tiny_folder: Path, tmp_path: Path) -> None:
    tokenizer = json.loads((tiny_folder / "tokenizer.json").read_text())
    tokenizer["model"]["vocab"]["qqq"] = 300_000_000
    (tmp_path / "tokenizer.json").write_text(json.dumps(tokenizer))
    with pytest.raises(ModelLoadError, match="300000000"):
        load_meter(tmp_path, cache_dir=tmp_path / "cache")


def test_after_eight_texts_without_an_end_no_more_are_drawn() -> None:
    endless = {"type": "array", "items": {"const": 1}, "minItems": 900}
    cost = MaskMeter(BYTES)(Contract[object].of(endless), 32)
    assert (cost.texts, cost.finished) == (8, 0)

"""Random walks over real masks: every keyword that is decoded is written token by token, and no walk ends dead."""

from __future__ import annotations

import numpy as np
import pytest
from automaton.oracle import Oracle
from automaton.schemas import FORMATS, MORE

from commitgate.automaton import compile
from commitgate.contract import Contract
from commitgate.json_value import JsonSchema
from commitgate.style import FreeSpace, Style
from commitgate_local.local_model import LocalModel

pytestmark = pytest.mark.model

WALKS = 12
MOST_TOKENS = 150
SCHEMAS: dict[str, JsonSchema] = {**MORE, "formats": FORMATS}
STYLES = [
    Style(),
    Style(white_space="compact"),
    Style(white_space=FreeSpace(3)),
    Style(property_order="any"),
]


def write(bundled: LocalModel, contract: Contract[object], seed: int) -> bytes | None:
    """Draw one legal token after the other; None where the text was still open after the last."""
    engine = bundled.engine
    tokens, stops = engine.vocabulary.tokens, set(engine.vocabulary.stop_ids)
    matcher = engine.matcher(contract)
    draw = np.random.default_rng(seed)
    text = bytearray()
    for _ in range(MOST_TOKENS):
        if matcher.is_finished:
            return bytes(text)
        legal = np.flatnonzero(matcher.mask())
        assert legal.size, ("a dead end", bytes(text))
        ends = [int(token) for token in legal if int(token) in stops]
        if ends and draw.random() < 0.5:
            return bytes(text)
        chosen = int(draw.choice([int(token) for token in legal if int(token) not in stops]))
        spelled = tokens[chosen]
        assert spelled is not None
        text += spelled
        matcher.advance(chosen)
    return None


@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", SCHEMAS)
def test_walks_over_real_masks_end_valid_and_never_dead(name: str, bundled: LocalModel) -> None:
    schema = SCHEMAS[name]
    accept, oracle = compile(schema), Oracle(schema)
    finished = 0
    for seed in range(WALKS):
        contract = Contract.json_schema(schema, style=STYLES[seed % len(STYLES)])
        text = write(bundled, contract, seed)
        if text is not None:
            finished += 1
            assert accept.accepts(text), text
            assert oracle.is_valid(text), text
    assert finished >= WALKS // 3

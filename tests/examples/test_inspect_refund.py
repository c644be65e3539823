"""The exhibit of the page on inspecting: a model that wants to delete, and a contract that has no such word."""

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from tracing.traces import long_trace

from commitgate.trace import TraceRecorder

EXAMPLE = Path(__file__).parents[2] / "examples" / "inspect_refund"

pytestmark = pytest.mark.anyio


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(EXAMPLE))
    return import_module("inspect_refund")


def test_clerks_contract_has_all_of_the_owners_but_the_deletion(example: Any) -> None:
    actions = {role: example.contract(role).schema["properties"]["action"]["enum"] for role in ("owner", "clerk")}
    assert set(actions["owner"]) - set(actions["clerk"]) == {"delete"}


def test_wishes_are_told_in_words(example: Any) -> None:
    assert example.told(long_trace(3)) == "it wanted nothing forbidden"
    told = example.told(long_trace(3, wish_at=(1,), wanted=b"delete"))
    assert told == "it wanted 'delete' (80%), which the contract forbids"


@pytest.mark.model
async def test_model_wants_to_delete_and_the_clerks_page_shows_it(
    example: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kept: list[TraceRecorder] = []

    class Kept(TraceRecorder):
        def __init__(self, **bounds: Any) -> None:
            super().__init__(**bounds)
            kept.append(self)

    monkeypatch.setattr(example, "TraceRecorder", Kept)
    await example.main(tmp_path)
    owner, clerk = (recorder.traces[0] for recorder in kept)
    assert owner.outcome == clerk.outcome == "committed"
    wanted = next(piece.step for piece in clerk.requests[0].pieces if piece.step and piece.step.kind == "drawn")
    likeliest = max(wanted.choices, key=lambda choice: choice.probability)
    assert (likeliest.data, likeliest.is_legal) == (b"delete", False)
    assert wanted.legal_mass is not None
    assert wanted.legal_mass < 0.05
    assert b"delete" in {piece.data for piece in owner.requests[0].pieces}
    assert "the contract forbids" in (tmp_path / "refund.html").read_text(encoding="utf-8")
    assert "not to be believed" in capsys.readouterr().out

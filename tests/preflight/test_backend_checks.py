"""Whether a backend can be asked, how much it enforces, and whether that was seen: each check passing and not."""

import re
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from preflight.servers_of_tests import READY, GivenServer, probed

from commitgate import Contract, Regex
from commitgate.backends.base import BackendIdentity, Finish, FinishReason, GenerationRequest, TextDelta
from commitgate.backends.registry import make_remote
from commitgate.errors import ModelLoadError
from commitgate.languages import Choices
from commitgate.preflight.backend_checks import asked
from commitgate.preflight.proof_check import proof_of_masks, proof_of_server
from commitgate.probe import ProbeStore
from commitgate.testing import FaultPoint, ScriptedBackend

pytestmark = pytest.mark.anyio

STOP: Any = {"finish": "stop"}
PLAIN: Any = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
SEVEN: Any = [{"text": "7"}, STOP]
HOUR = 3_600.0


async def verdicts(backend: Any, schema: Any, *, acts: bool = False) -> dict[str, str]:
    contract: Any = Contract.of(schema)
    return {each.id: each.verdict for each in (await asked(backend, contract, acts=acts)).checks}


@pytest.fixture
def openai(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    return make_remote("openai")


async def test_backend_that_decodes_takes_the_contract_as_it_is() -> None:
    found = await verdicts(ScriptedBackend([STOP]), PLAIN)
    assert found == {"translatable": "passed", "decoded": "passed", "faithful": "passed"}


async def test_keyword_that_is_only_checked_warns_and_stands_in_the_support() -> None:
    unique: Any = Contract.of({"type": "array", "items": {"type": "string"}, "uniqueItems": True})  # pyright: ignore
    found = await asked(ScriptedBackend([STOP]), unique, acts=False)
    check = next(each for each in found.checks if each.id == "decoded")
    assert (check.verdict, len(check.places)) == ("warned", 1)
    assert check.places[0].startswith("the root: uniqueItems: ")
    assert [each.keyword for each in found.support if each.level == "checked"] == ["uniqueItems"]


async def test_what_a_server_is_not_sent_is_checked_by_its_translation(openai: Any) -> None:
    contract: Any = Contract.of({"type": "object", "properties": {"n": {"type": "integer"}}, "minProperties": 1})  # pyright: ignore
    found = await asked(openai, contract, acts=False)
    assert found.translation is not None
    levels = {each.keyword: each.level for each in found.support}
    kept = {each.keyword for each in found.translation.differences if each.kind == "checked"}
    assert kept
    assert all(levels[keyword] == "checked" for keyword in kept)
    by_id = {each.id: each for each in found.checks}
    assert by_id["decoded"].verdict == "warned"
    assert by_id["faithful"].places


async def test_constraint_that_goes_by_the_prompt_alone_fails_where_something_acts() -> None:
    grammar = make_remote("ollama", base_url="http://server.test")
    assert (await verdicts(grammar, Regex("[ab]{2}")))["translatable"] == "warned"
    assert (await verdicts(grammar, Regex("[ab]{2}"), acts=True))["translatable"] == "failed"


async def test_contract_that_cannot_be_asked_for_fails_and_says_where(monkeypatch: pytest.MonkeyPatch) -> None:
    class Refusing(GivenServer):
        def translate(self, contract: Any, *, tools: Any) -> Any:
            from commitgate.errors import UnsupportedError

            raise UnsupportedError("it cannot be said", pointer="/properties/n", keyword="type", reason="so")

    found = await asked(Refusing(SEVEN), Contract.of(PLAIN), acts=False)  # pyright: ignore[reportArgumentType]
    assert [each.verdict for each in found.checks] == ["failed", "not_applicable", "not_applicable"]
    assert found.checks[0].places == ("/properties/n",)
    assert not found.is_possible


async def proof(folder: Path, *, age_s: float = 60.0, acts: bool = True, **given: Any) -> Any:
    server = GivenServer(SEVEN, probes=folder, **given.pop("server", {}))
    store = probed(folder, made_at=time.time() - age_s, **given.pop("report", {}))
    return await proof_of_server(server, "m", store, max_age_s=given.pop("max_age_s", None), acts=acts)


async def test_server_that_was_probed_passes_and_says_when(tmp_path: Path) -> None:
    found = await proof(tmp_path)
    assert found.check.verdict == "passed"
    assert (found.dialect, found.identity) == ("vllm_chat", READY)
    assert found.probed_at == pytest.approx(time.time() - 60, abs=30)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"report": {"verdict": "partial", "reason": "it miscounts"}}, "it miscounts"),
        ({"report": {"server_version": "0.1"}}, "version was 0.1"),
        ({"age_s": 40 * 24 * HOUR}, "older than 30 days"),
        ({"age_s": 3 * HOUR, "max_age_s": 2 * HOUR}, "it was probed 3 hours ago, and 2 are allowed"),
    ],
)
async def test_server_that_is_not_proven_fails_where_something_acts(
    tmp_path: Path, given: dict[str, Any], told: str
) -> None:
    found = (await proof(tmp_path, **given)).check
    assert (found.verdict, told in found.found) == ("failed", True), found
    assert (await proof(tmp_path, acts=False, **given)).check.verdict == "warned"


async def test_server_that_was_never_probed_is_told_how(tmp_path: Path) -> None:
    server = GivenServer(SEVEN, probes=tmp_path)
    found = (await proof_of_server(server, "m", ProbeStore(tmp_path), max_age_s=None, acts=True)).check
    assert found.verdict == "failed"
    assert "commitgate probe --backend vllm --model m" in found.found


async def test_effects_let_loose_without_a_probe_are_no_proof(tmp_path: Path) -> None:
    server = GivenServer(SEVEN, probes=tmp_path, unproven_effects=True)
    found = (await proof_of_server(server, "m", ProbeStore(tmp_path), max_age_s=None, acts=True)).check
    assert (found.verdict, "unproven_effects" in found.found) == ("failed", True)


async def test_server_that_takes_no_requests_fails(tmp_path: Path) -> None:
    found = await proof(tmp_path, acts=False, server={"identity": replace(READY, is_ready=False)})
    assert found.check.verdict == "failed"


class Keeping:
    """Write the first text that the constraint allows, whatever is asked."""

    name = "keeping"

    @asynccontextmanager
    async def open(self, request: GenerationRequest) -> AsyncIterator[Any]:
        text = request.contract.text
        assert isinstance(text, Choices)
        prompt = request.messages[-1].content
        assert text.texts[0] not in prompt

        class Stream:
            identity = BackendIdentity(backend="keeping", model=request.model, tokenizer_fingerprint="ab" * 32)

            async def __aiter__(self) -> AsyncIterator[Any]:
                yield TextDelta(text.texts[0].encode())
                yield Finish(FinishReason.STOP, "stop")

        yield Stream()

    async def aclose(self) -> None:
        """Free nothing."""


async def test_model_that_keeps_to_a_word_nobody_asked_for_passes() -> None:
    found = (await proof_of_masks(Keeping(), "m", timeout_s=10)).check  # pyright: ignore[reportArgumentType]
    assert found.verdict == "passed"
    assert re.search("vocabulary abababababab", found.found)


@pytest.mark.parametrize(
    ("script", "verdict"),
    [
        ([{"text": "yes"}, STOP], "failed"),
        ([{"dead_end": "schema"}], "failed"),
        ([{"fault": "server"}], "warned"),
        ([{"refusal": "no"}, STOP], "warned"),
    ],
)
async def test_model_that_does_not_keep_to_it_is_told(script: Any, verdict: str) -> None:
    assert (await proof_of_masks(ScriptedBackend(script), "m", timeout_s=5)).check.verdict == verdict


async def test_model_that_cannot_be_had_is_an_error() -> None:
    gone = ScriptedBackend([STOP], fault_at={FaultPoint.BEFORE_OPEN: ModelLoadError("gone")})
    with pytest.raises(ModelLoadError):
        await proof_of_masks(gone, "m", timeout_s=5)

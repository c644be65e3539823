"""Answer the questions of a benchmark in this process: with the project, and with transformers under xgrammar."""

from __future__ import annotations

import copy
import json
import tempfile
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

import torch
from ticket_question import MOST_TOKENS, Question, Ticket, TicketTable, contract_of

from commitgate import Client, Committed, Contract, Sampling
from commitgate.backends.local import LocalBackend
from commitgate_local import LocalModel
from commitgate_local.models import LoadedModel


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """Hold an answer and what it took.

    Attributes:
        seconds: from the question to the answer, contract included where it was not seen before.
        tokens: written, as the engine counts them.
        text: the answer.
    """

    seconds: float
    tokens: int
    text: str

    @property
    def is_object(self) -> bool:
        """Return whether the text is whole."""
        try:
            return isinstance(json.loads(self.text), dict)
        except ValueError:
            return False


class Way(Protocol):
    """Name what every way of answering does here."""

    @property
    def name(self) -> str:
        """Return what the way is called in tables."""
        ...

    async def answer(self, question: Question) -> Written:
        """Answer one question."""
        ...


class OwnWay:
    """Answer as the example does: client, rules, effect and ledger, with one model behind the backend ``local``.

    Args:
        name: of the way.
        model: the model.
    """

    def __init__(self, name: str, model: LocalModel) -> None:
        self.name = name
        self._model = model
        self._parts = AsyncExitStack()
        # What a program keeps for the schemas that it knows.
        self._contract = contract_of_example()

    async def __aenter__(self) -> Self:
        folder = Path(self._parts.enter_context(tempfile.TemporaryDirectory()))
        self._table = TicketTable(folder / "tickets.sqlite")
        backend = LocalBackend(load=lambda _: self._model)
        client = Client(ledger=folder / "ledger.sqlite", backends={"local": backend})
        self._client = await self._parts.enter_async_context(client)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._parts.__aexit__(kind, error, trace)

    async def answer(self, question: Question) -> Written:
        """Answer one question, and open its ticket."""
        begun = time.perf_counter()
        contract = contract_of(question) if question.variant else self._contract
        outcome = await self._client.generate_structured(
            "local",
            contract,
            messages=question.messages,
            prompt_schema="none",
            sampling=Sampling(temperature=0.0, max_tokens=MOST_TOKENS),
            rules=question.rules,
            effect=self._table.open_ticket,
            operation_key=question.key,
        )
        seconds = time.perf_counter() - begun
        # A rule may refuse the ticket; it is a whole answer all the same.
        text = outcome.value.model_dump_json() if isinstance(outcome, Committed) else outcome.partial_text
        return Written(seconds=seconds, tokens=outcome.receipt.usage.output_tokens or 0, text=text)


def contract_of_example() -> Contract[Ticket]:
    """Return the example's own contract."""
    return Contract.of(Ticket, name="support-ticket", version="1")


class TransformersWay:
    """Answer with ``generate`` of transformers, under xgrammar's own processor of logits.

    Args:
        name: of the way.
        loaded: the model.
        folder: where its tokenizer lies.
        kind: precision of the weights.
    """

    def __init__(self, name: str, loaded: LoadedModel, folder: Path, kind: torch.dtype) -> None:
        import xgrammar
        from transformers import PreTrainedTokenizerFast

        self.name = name
        model: Any = loaded.model
        self._model = model if kind == torch.float32 else copy.deepcopy(model).to(kind)
        self._tokenizer: Any = PreTrainedTokenizerFast.from_pretrained(str(folder), local_files_only=True)
        info = xgrammar.TokenizerInfo.from_huggingface(
            self._tokenizer, vocab_size=loaded.width, stop_token_ids=sorted(loaded.stop_ids)
        )
        # It remembers what it compiled.
        self._compiler = xgrammar.GrammarCompiler(info)
        self._stop = min(loaded.stop_ids)

    async def answer(self, question: Question) -> Written:
        """Answer one question; what else runs in this process waits."""
        from xgrammar.contrib.hf import LogitsProcessor

        begun = time.perf_counter()
        # The white space that the project writes too: what else a grammar may allow would only be more tokens.
        schema = json.dumps(question.model.model_json_schema())
        compiled = self._compiler.compile_json_schema(schema, any_whitespace=False)
        messages = [{"role": message.role, "content": message.content} for message in question.messages]
        given = self._tokenizer.apply_chat_template(
            messages, add_generation_prompt=True, return_tensors="pt", return_dict=True
        )
        with torch.inference_mode():
            found = self._model.generate(
                given["input_ids"],
                attention_mask=given["attention_mask"],
                do_sample=False,
                max_new_tokens=MOST_TOKENS,
                logits_processor=[LogitsProcessor(compiled)],
                pad_token_id=self._stop,
            )
        ids = found[0, given["input_ids"].shape[1] :]
        text = self._tokenizer.decode(ids, skip_special_tokens=True)
        seconds = time.perf_counter() - begun
        return Written(seconds=seconds, tokens=len(ids), text=text)


__all__ = ["OwnWay", "TransformersWay", "Way", "Written", "contract_of_example"]

"""What a caller sees while the text grows."""

from typing import Any

import anyio
import pytest
from scripts import GOOD, PAY, PAYMENT, STOP, Pay, client_with

from commitgate.outcome import Committed
from commitgate.preview import Preview, Reset
from commitgate.run.mailbox import Mailbox, MailboxReader
from commitgate.testing import ScriptedBackend, Step

pytestmark = pytest.mark.anyio


async def follow(script: list[Step], schema: Any = Pay, chunking: Any = "whole") -> tuple[list[Preview], Any]:
    previews: list[Preview] = []
    async with (
        client_with(ScriptedBackend(script, chunking=chunking)) as client,
        client.stream_structured("scripted", schema, prompt="x") as run,
    ):
        async for item in run:
            assert isinstance(item, Preview)
            previews.append(item)
        return previews, await run.outcome()


async def test_previews_grow_to_the_value() -> None:
    seen = anyio.Event()
    backend = ScriptedBackend([GOOD[0], {"wait": seen}, *GOOD[1:]])
    async with client_with(backend) as client, client.stream_structured("scripted", Pay, prompt="x") as run:
        values: list[object] = []
        async for item in run:
            assert isinstance(item, Preview)
            values.append(item.value)
            seen.set()
        outcome = await run.outcome()
    assert values == [{}, {"amount": 100, "to": "bob"}]
    assert outcome.name == "committed"


async def test_previews_only_ever_grow_and_reach_the_end() -> None:
    previews, _ = await follow([{"text": PAYMENT}, STOP], chunking="bytes")
    sizes = [preview.text_bytes for preview in previews]
    assert sizes == sorted(set(sizes))
    assert sizes[-1] == len(PAYMENT)
    assert len(sizes) > len(PAYMENT) / 4, "the consumer gets its turn while the stream is read"


async def test_hidden_text_is_never_shown() -> None:
    previews, outcome = await follow([{"text": '{"amount":1}'}, {"text": "canary"}, STOP], chunking="bytes")
    assert outcome.name == "violated"
    assert previews[-1].text_bytes == len('{"amount":1')


async def test_root_number_is_shown_only_by_its_end() -> None:
    previews, outcome = await follow([{"text": "1"}, {"text": "2"}, STOP], {"type": "integer"})
    assert [preview.has_value for preview in previews[:-1]] == [False] * (len(previews) - 1)
    assert (previews[-1].value, outcome.value) == (12, 12)


async def test_preview_carries_the_latest_legal_mass() -> None:
    script: list[Step] = [{"text": "{", "legal_mass": 0.5}, {"text": '"amount":', "forced": True}, {"text": "1"}]
    previews, _ = await follow(script)
    assert {preview.legal_mass for preview in previews} == {0.5}


async def test_changing_a_preview_changes_no_value() -> None:
    async with (
        client_with(ScriptedBackend(GOOD)) as client,
        client.stream_structured("scripted", PAY, prompt="x") as run,
    ):
        async for item in run:
            assert isinstance(item, Preview)
            if isinstance(item.value, dict):
                with pytest.raises(TypeError, match="read-only"):
                    item.value["amount"] = 1
        outcome = await run.outcome()
    assert isinstance(outcome, Committed)
    assert outcome.value == {"amount": 100, "to": "bob"}


async def test_slow_consumer_neither_blocks_the_model_nor_piles_up_previews() -> None:
    text = '{"amount":1,"to":"' + "x" * 5_000 + '"}'
    backend = ScriptedBackend([{"text": text}, STOP], chunking="bytes")
    async with client_with(backend) as client, client.stream_structured("scripted", PAY, prompt="x") as run:
        outcome = await run.outcome()
        assert isinstance(outcome, Committed)
        left = [item async for item in run]
    (last,) = left
    assert isinstance(last, Preview)
    assert last.value == outcome.value


async def test_reset_is_never_dropped_and_takes_old_previews_with_it() -> None:
    from commitgate.preview import PreviewReader

    mailbox, reader = Mailbox(), PreviewReader()
    old, new, newer = (reader.feed(piece) for piece in (b"[", b"1", b","))
    reset = Reset(2, "disconnected")
    for item in (old, reset, new, newer):
        mailbox.put(item)
    mailbox.close()
    for looker in (MailboxReader(mailbox), MailboxReader(mailbox)):  # neither takes anything away from the other
        assert [await looker.next() for _ in range(4)] == [reset, newer, None, None]


async def test_nothing_from_before_a_reset_is_shown_after_it() -> None:
    from commitgate.preview import PreviewReader

    mailbox, reset = Mailbox(), Reset(2, "disconnected")
    mailbox.put(PreviewReader().feed(b"["))
    mailbox.put(reset)
    mailbox.close()
    looker = MailboxReader(mailbox)
    assert [await looker.next() for _ in range(2)] == [reset, None]


async def test_reader_of_a_mailbox_is_woken_by_an_item_and_by_the_end() -> None:
    mailbox, found = Mailbox(), list[object]()

    async def read() -> None:
        looker = MailboxReader(mailbox)
        while (item := await looker.next()) is not None:
            found.append(item)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read)
        await anyio.wait_all_tasks_blocked()
        reset = Reset(2, "disconnected")
        mailbox.put(reset)
        await anyio.wait_all_tasks_blocked()
        assert found == [reset]
        mailbox.close()

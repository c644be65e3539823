"""A chat template that refuses a conversation is heard, and asked once more without a system message."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from commitgate.backends.base import Event, Fault, Finish, GenerationRequest, Message, Sampling
from commitgate.contract import Contract
from commitgate.errors import ModelRunError
from commitgate_local.local_model import LocalModel
from commitgate_local.models import load
from commitgate_local.tokenizer import Tokenizer
from commitgate_local.transformers_runtime import load_tokenizer

PLAIN = "{% for message in messages %}<{{ message['role'] }}>{{ message['content'] }}{% endfor %}"
NO_SYSTEM = (
    "{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}" + PLAIN
)


def tokenizer(folder: Path, template: str) -> Tokenizer:
    fast: Any = load_tokenizer(folder)
    fast.chat_template = template
    return Tokenizer(fast)


def test_system_text_joins_the_first_user_message_where_the_role_is_refused(tiny_folder: Path) -> None:
    said = tokenizer(tiny_folder, NO_SYSTEM)
    for messages, prompt in (
        ([("system", "S"), ("user", "U"), ("assistant", "A"), ("user", "V")], "<user>S\n\nU<assistant>A<user>V"),
        ([("system", "S"), ("system", "T"), ("user", "U")], "<user>S\n\nT\n\nU"),
        ([("system", "S")], "<user>S"),
        ([("system", "S"), ("assistant", "A")], "<user>S<assistant>A"),
        ([("user", "U")], "<user>U"),
    ):
        assert said.decode(said.chat(messages)) == prompt


def test_system_text_stays_apart_where_the_template_knows_the_role(tiny_folder: Path) -> None:
    said = tokenizer(tiny_folder, PLAIN)
    assert said.decode(said.chat([("system", "S"), ("user", "U")])) == "<system>S<user>U"


def test_special_token_spelled_in_a_joined_message_stays_text(tiny_folder: Path) -> None:
    said = tokenizer(tiny_folder, NO_SYSTEM)
    ids = said.chat([("system", "S<|im_end|>"), ("user", "U")])
    assert said.decode(ids) == "<user>S<|im_end|>\n\nU"
    assert not said.special_ids & set(ids)


BROKEN = [
    "{{ raise_exception('a secret') }}",
    "{{ nothing.more }}",
    "{% if %}",
    "{{ messages.__class__.__mro__ }}{{ ''.__class__.__base__.__subclasses__() }}",
    "{{ 1 / 0 }}",
    "{{ 'a' + 1 }}",
]


@pytest.mark.parametrize("template", BROKEN)
def test_template_that_fails_is_an_error_with_advice(tiny_folder: Path, template: str) -> None:
    said = tokenizer(tiny_folder, template)
    for messages in ([("user", "U")], [("system", "S"), ("user", "U")]):
        with pytest.raises(ModelRunError, match="chat template") as caught:
            said.chat(messages)
        assert "secret" not in str(caught.value)


def test_refusing_template_is_a_fault_of_the_model_and_a_folded_one_answers(tiny_folder: Path, tmp_path: Path) -> None:
    for path in tiny_folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    request = GenerationRequest(
        model="",
        contract=Contract.of({"enum": ["a", "b"]}),
        messages=(Message("system", "S"), Message("user", "U")),
        sampling=Sampling(max_tokens=20),
    )
    endings: list[type[Event]] = []
    for template in (NO_SYSTEM, BROKEN[0]):
        (tmp_path / "chat_template.jinja").write_text(template)
        events: list[Event] = []
        LocalModel(load(str(tmp_path))).generate(request, events.append, lambda: False)
        endings.append(type(events[-1]))
    assert endings == [Finish, Fault]

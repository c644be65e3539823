"""The terminal example: how its form grows, what it says of an ending, and its run with the bundled model."""

import io
import json
import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import anyio
import pytest
from rich.console import Console

from commitgate import Cancelled, Client, Committed, Contract, Disconnected
from commitgate.preview import PreviewReader
from commitgate.testing import ScriptedBackend

EXAMPLE = Path(__file__).parents[2] / "examples" / "form_terminal"
REPAIR: Mapping[str, object] = {
    "customer": "Ada Holm",
    "device": "pump",
    "floor": 12,
    "photos": ["P-11", "P-12"],
    "problem": "It leaks.",
}
STOP = {"finish": "stop"}
STATES = ("", "open", "final")

Script = Sequence[Mapping[str, object]]


@pytest.fixture
def form(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Import the example's form as its program does."""
    monkeypatch.syspath_prepend(str(EXAMPLE))
    return import_module("form")


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Import the example's program as it imports its own modules."""
    monkeypatch.syspath_prepend(str(EXAMPLE))
    return import_module("fill")


def console(*, is_terminal: bool = False) -> Console:
    colors = "standard" if is_terminal else None
    return Console(file=io.StringIO(), width=100, force_terminal=is_terminal, highlight=False, color_system=colors)


def drawn(form: object, *, with_styles: bool = False) -> str:
    paper = console(is_terminal=with_styles)
    paper.print(form)
    assert isinstance(paper.file, io.StringIO)
    return paper.file.getvalue()


def form_of(program: ModuleType, text: str) -> Any:
    """Return the form as it stands once so much of the answer was read."""
    form = program.Form(program.LABELS)
    form.show(PreviewReader(Contract.of(program.Repair)).feed(text.encode()))
    return form


def row(form: object, label: str) -> str:
    return next(line for line in drawn(form).splitlines() if label in line)


def state(line: str) -> str:
    return next((word for word in STATES[1:] if line.rstrip().endswith(f" {word}")), "")


def test_files_are_programs_that_can_be_read_at_once() -> None:
    assert all(len(path.read_text(encoding="utf-8").splitlines()) <= 80 for path in EXAMPLE.glob("*.py"))


def test_every_field_has_an_empty_row_before_the_model_writes(program: ModuleType) -> None:
    lines = drawn(program.Form(program.LABELS)).splitlines()
    assert [line.split() for line in lines[:-1]] == [["·", label] for label in program.LABELS.values()]
    assert len(lines) == len(program.Repair.model_fields) + 1


def test_open_string_grows_and_is_marked_otherwise_than_a_final_one(program: ModuleType) -> None:
    form = form_of(program, '{"customer": "Ada Ho')
    assert row(form, "Customer").split() == ["…", "Customer", "Ada", "Ho", "open"]
    form = form_of(program, '{"customer": "Ada Holm", "device": "pu')
    assert row(form, "Customer").split() == ["✓", "Customer", "Ada", "Holm", "final"]
    assert row(form, "Device").split() == ["·", "Device"], "a choice is shown only when it is whole"


def test_number_is_shown_only_when_it_is_whole(program: ModuleType) -> None:
    text = '{"customer": "Ada", "device": "pump", "floor": 1'
    assert row(form_of(program, text), "Floor").split() == ["·", "Floor"]
    assert row(form_of(program, text + "2,"), "Floor").split() == ["✓", "Floor", "12", "final"]


def test_items_of_an_open_list_are_marked_one_by_one(program: ModuleType) -> None:
    form = form_of(program, '{"customer": "Ada", "device": "pump", "floor": 1, "photos": ["P-11", "P-1')
    assert row(form, "Photos").split() == ["…", "Photos", "P-11,", "P-1", "open"]
    line = next(line for line in drawn(form, with_styles=True).splitlines() if "Photos" in line)
    assert "\x1b[32mP-11\x1b[0m" in line, "a whole item is green"
    assert "\x1b[3;33mP-1" in line, "an open one is not"


def test_field_never_goes_back_and_a_final_one_never_changes(program: ModuleType) -> None:
    text = json.dumps(REPAIR)
    reader = PreviewReader(Contract.of(program.Repair))
    form = program.Form(program.LABELS)
    seen: dict[str, tuple[str, str]] = dict.fromkeys(program.LABELS.values(), ("", ""))
    for byte in text.encode():
        form.show(reader.feed(bytes([byte])))
        for (label, (earlier, line)), new_line in zip(seen.items(), drawn(form).splitlines(), strict=False):
            now = state(new_line)
            assert STATES.index(now) >= STATES.index(earlier)
            assert earlier != "final" or new_line.split() == line.split()
            seen[label] = now, new_line
    assert {earlier for earlier, _ in seen.values()} == {"final"}


def test_reset_empties_the_form_and_says_so(program: ModuleType) -> None:
    form = form_of(program, '{"customer": "Ada Holm", "device": "pump"')
    form.empty("disconnected")
    lines = drawn(form).splitlines()
    assert all(line.split()[0] == "·" for line in lines[:-1])
    assert "Ada" not in drawn(form)
    assert "empty" in lines[-1]
    assert "disconnected" in lines[-1]


HOSTILE = ("[bold red]x[/]", "\x1b]0;owned\x07", "\x1b[2J", "\u202eevil", "a\rb", "a\u2028b")


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
@pytest.mark.parametrize("where", ["field", "item", "reason"])
def test_hostile_text_is_shown_as_text(form: ModuleType, text: str, where: str) -> None:
    sheet = form.Form({"field": "Field"})
    if where == "reason":
        sheet.empty(text)
    else:
        value = [text] if where == "item" else text
        sheet.show(PreviewReader().feed(json.dumps({"field": value})[:-1].encode()))
    shown = drawn(sheet)
    assert all(character.isprintable() or character == "\n" for character in shown)
    assert text in shown or text.encode("unicode_escape").decode() in shown


async def run_script(program: ModuleType, script: Script, *, is_terminal: bool = False) -> tuple[object, str]:
    backend = ScriptedBackend(script, chunking="bytes")
    paper = console(is_terminal=is_terminal)
    async with Client(backends={"local": backend}) as client:
        outcome = await program.fill(client, paper, import_module("repair").MAIL)
    assert backend.open_streams == 0
    assert isinstance(paper.file, io.StringIO)
    return outcome, paper.file.getvalue()


@pytest.mark.anyio
async def test_whole_answer_is_committed_and_said_so(program: ModuleType) -> None:
    outcome, out = await run_script(program, [{"text": json.dumps(REPAIR)}, STOP])
    assert isinstance(outcome, Committed)
    assert out.splitlines()[-1] == "committed: a pump on floor 12"
    assert out.count(" final") == len(REPAIR)


@pytest.mark.anyio
async def test_answer_without_an_end_is_no_value_and_said_so(program: ModuleType) -> None:
    outcome, out = await run_script(program, [{"text": json.dumps(REPAIR)}])
    assert isinstance(outcome, Disconnected)
    assert out.splitlines()[-1].startswith("disconnected: ")
    assert "committed" not in out


@pytest.mark.anyio
async def test_preview_says_that_it_is_no_value(program: ModuleType) -> None:
    _, out = await run_script(program, [{"text": json.dumps(REPAIR)}, STOP], is_terminal=True)
    assert out.index("waiting for the model") < out.index("a preview, not a value") < out.index("committed: ")


class Paper(io.StringIO):
    """Take what is drawn, and tell when a word of the model was."""

    def __init__(self, word: str) -> None:
        super().__init__()
        self._word, self._is_drawn = word, anyio.Event()

    def write(self, text: str) -> int:
        if self._word in text:
            self._is_drawn.set()
        return super().write(text)

    async def wait(self) -> None:
        await self._is_drawn.wait()


@pytest.mark.anyio
async def test_second_attempt_fills_an_emptied_form(program: ModuleType) -> None:
    paper = Paper("Bo")
    cut = [{"text": '{"customer": "Bo'}, {"wait": paper}]
    backend = ScriptedBackend(cut, then=[[{"text": json.dumps(REPAIR)}, STOP]])
    mail = import_module("repair").MAIL
    async with Client(backends={"local": backend}) as client:
        outcome = await program.fill(client, Console(file=paper, force_terminal=True, width=100), mail)
    assert isinstance(outcome, Committed)
    out = paper.getvalue()
    assert out.rindex("Bo") < out.index("started again from an empty form: disconnected") < out.index("Ada")


class Interrupt:
    """Press Ctrl-C when the model gets here; the model never goes on by itself."""

    async def wait(self) -> None:
        signal.raise_signal(signal.SIGINT)
        await anyio.sleep_forever()


@pytest.mark.anyio
async def test_interrupt_cancels_the_run_and_says_so(program: ModuleType) -> None:
    outcome, out = await run_script(program, [{"text": '{"customer": "Ada'}, {"wait": Interrupt()}])
    assert isinstance(outcome, Cancelled)
    assert out.splitlines()[-1].startswith("cancelled: ")


class Terminal:
    """Run the program on a terminal of its own, and read what it draws."""

    def __init__(self) -> None:
        self._master, slave = pty.openpty()
        self.drawn = ""
        env = os.environ | {"TERM": "xterm", "COLUMNS": "100", "LINES": "30", "OMP_WAIT_POLICY": "PASSIVE"}
        self.process = subprocess.Popen(
            [sys.executable, str(EXAMPLE / "fill.py")], stdin=slave, stdout=slave, stderr=slave, env=env
        )
        os.close(slave)

    def read_until(self, pattern: str) -> None:
        """Read until what was drawn holds the pattern, or to the end."""
        for text in self._pieces():
            self.drawn += text
            if re.search(pattern, self.drawn):
                return

    def _pieces(self) -> Iterator[str]:
        while True:
            try:
                data = os.read(self._master, 4096)
            except OSError:  # what Linux says once the program has gone
                return
            if not data:
                return
            yield data.decode("utf-8", "replace")

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._master)


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    """Start the example on a terminal."""
    terminal = Terminal()
    yield terminal
    terminal.close()


@pytest.mark.model
def test_bundled_model_fills_the_form(terminal: Terminal) -> None:
    terminal.read_until("$never")
    assert terminal.process.wait() == 0, terminal.drawn
    frames = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", terminal.drawn)
    assert "Mar" in frames
    assert frames.index(" open") < frames.index(" final") < frames.index("committed: a boiler on floor 3")


@pytest.mark.model
def test_interrupt_stops_the_bundled_model(terminal: Terminal) -> None:
    terminal.read_until("mopen")
    terminal.process.send_signal(signal.SIGINT)
    terminal.read_until("$never")
    assert terminal.process.wait() == 1, terminal.drawn
    assert "cancelled: the call was cancelled; nothing was committed" in terminal.drawn
    assert "committed: " not in terminal.drawn
    assert "Traceback" not in terminal.drawn

"""What a server's start leaves behind is left out of garbage collections while it serves, and only then."""

import gc

import pytest
from cli.quick_shell import QuickShell

from commitgate.cli import serve
from commitgate.cli.local_server import ReadyServer


def test_start_is_left_out_of_collections_while_requests_are_served(
    quick: QuickShell, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = gc.get_freeze_count()
    seen: list[int] = []

    def run() -> None:
        seen.append(gc.get_freeze_count())

    server = ReadyServer(name="small", description="", url="http://127.0.0.1:1/v1", login_url=None, run=run)
    monkeypatch.setattr(serve, "ready_server", lambda *_, **_options: server)
    assert quick.commitgate("serve", "local").code == 0
    assert seen[0] > before + 10_000
    assert gc.get_freeze_count() == 0


def test_collection_is_over_before_anybody_is_told_where_the_server_is(
    quick: QuickShell, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []

    def told(line: str) -> str:
        seen.append(gc.get_freeze_count())
        return line

    server = ReadyServer(name="small", description="", url="http://127.0.0.1:1/v1", login_url=None, run=lambda: None)
    monkeypatch.setattr(serve, "ready_server", lambda *_, **_options: server)
    monkeypatch.setattr(serve, "harmless", told)
    assert quick.commitgate("serve", "local").code == 0
    assert seen[0] > 10_000

"""A stream that is cut anywhere commits nothing, and its ending tells how it was cut."""

import pytest
from gate_play import PAYMENT, chunked, gate_of, play

from commitgate.backends.base import Finish, FinishReason, TextDelta
from commitgate.gate.verdict import Whole
from commitgate.gate.white_space import WHITE_SPACE_RUN_BYTES
from commitgate.outcome import Disconnected, Filtered, Truncated, Violated

RICH = ' {"amount": -10, "to": "bö\\u00e9\\ud83d\\ude00😀"}\n'.encode()
CUTS = {
    None: Disconnected,
    FinishReason.LENGTH: Truncated,
    FinishReason.CONTENT_FILTER: Filtered,
}


@pytest.mark.parametrize("reason", CUTS)
@pytest.mark.parametrize("size", [None, 1])
@pytest.mark.parametrize("whole", [PAYMENT, RICH], ids=["plain", "rich"])
def test_cut_stream_is_never_whole_at_any_byte(whole: bytes, size: int | None, reason: FinishReason | None) -> None:
    for cut in range(len(whole) + 1):
        events = [TextDelta(whole[:cut]), *([] if reason is None else [Finish(reason, reason)])]
        verdict, shown = play(chunked(events, size))
        assert type(verdict) is CUTS[reason], cut
        assert shown == whole[:cut]


def test_stop_commits_at_no_byte_but_the_last() -> None:
    for cut in range(len(PAYMENT) + 1):
        verdict, _ = play([TextDelta(PAYMENT[:cut]), Finish(FinishReason.STOP, "stop")])
        if cut == len(PAYMENT):
            assert isinstance(verdict, Whole)
        else:
            assert isinstance(verdict, Violated)
            assert (verdict.kind, verdict.position) == ("not_accepting", cut)


@pytest.mark.parametrize("reason", CUTS)
def test_number_at_the_root_is_whole_only_with_a_stop(reason: FinishReason | None) -> None:
    for text in (b"1", b"12", b"12 "):
        events = [TextDelta(text), *([] if reason is None else [Finish(reason, reason)])]
        assert type(play(events, gate_of({"type": "integer"}))[0]) is CUTS[reason]
        stopped = [TextDelta(text), Finish(FinishReason.STOP, "stop")]
        assert type(play(stopped, gate_of({"type": "integer"}))[0]) is Whole


@pytest.mark.parametrize("size", [None, 1, 700])
@pytest.mark.parametrize("space", [b" ", b"\n", b"\t", b"\r", b" \n"])
def test_white_space_may_run_to_its_limit_and_no_further(space: bytes, size: int | None) -> None:
    run = (space * WHITE_SPACE_RUN_BYTES)[:WHITE_SPACE_RUN_BYTES]
    for place in (0, 1, PAYMENT.index(b":") + 1, len(PAYMENT)):
        stop = Finish(FinishReason.STOP, "stop")
        at_limit = PAYMENT[:place] + run + PAYMENT[place:]
        assert isinstance(play(chunked([TextDelta(at_limit), stop], size))[0], Whole), place
        over = PAYMENT[:place] + run + b" " + PAYMENT[place:]
        verdict, shown = play(chunked([TextDelta(over), Finish(FinishReason.LENGTH, "length")], size))
        assert isinstance(verdict, Violated), place
        assert (verdict.kind, verdict.position) == ("whitespace", place + WHITE_SPACE_RUN_BYTES)
        assert shown == over[: verdict.position]


@pytest.mark.parametrize("size", [None, 1, 700])
def test_white_space_inside_strings_and_between_values_does_not_add_up(size: int | None) -> None:
    spaces = b" " * (WHITE_SPACE_RUN_BYTES - 1)
    inside = b" " * (2 * WHITE_SPACE_RUN_BYTES)
    text = b"{" + spaces + b'"amount":' + spaces + b'1,"to":"\\"' + inside + b'\\\\"' + spaces + b"}"
    verdict, _ = play(chunked([TextDelta(text), Finish(FinishReason.STOP, "stop")], size))
    assert isinstance(verdict, Whole)

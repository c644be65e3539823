"""Test programs that use this library: scripts in place of models, faults where they hurt, time that jumps.

Example::

    script = [{"text": '{"amount":1'}, {"text": "}"}, {"finish": "stop"}]
    async with Client(backends={"scripted": ScriptedBackend(script)}, ledger=MemoryLedger()) as client:
        outcome = await client.generate_structured(
            "scripted", Payment, prompt="pay", effect=pay, operation_key="invoice-7"
        )

Without ``ledger=MemoryLedger()`` a call with an operation key writes into the user's own ledger.

Each step of a script is a dict with one main key:

- ``{"text": str | bytes}``: answer text; beside it ``legal_mass`` (float), ``forced`` (bool), ``tokens`` (int);
- ``{"reasoning": str | bytes}``: what a thinking model writes before its answer;
- ``{"refusal": str}``: text of a refusal;
- ``{"usage": [input_tokens, output_tokens]}``: counts; a third one, ``reasoning_tokens``, may follow;
- ``{"finish": word}``: the end of the answer in a provider's own word, as ``stop``, ``end_turn``, ``MAX_TOKENS`` or
  ``SAFETY``; a word that nobody knows is played, too; beside it ``native``, the word to report in its place;
- ``{"done": True}``: the wire's end marker, which proves nothing;
- ``{"fault": kind}``: the provider fails; the kind is ``rate_limit``, ``overload``, ``server``, ``auth``, ``quota``,
  ``bad_request``, ``constraint`` (which ends as ``Unsupported``), ``unreachable``, ``untrusted``, ``in_progress``,
  ``conflict``, ``protocol``, ``unknown_finish`` or ``model``; beside it ``message``, ``status``, ``code``,
  ``retry_after_s``, ``request_id``;
- ``{"dead_end": cause}``: no token is legal; the cause is ``schema``, ``tokenizer``, ``prefix`` or
  ``truncation_order``; beside it ``prefix_tokens``, ``explanation``;
- ``{"event": dict}``: an event as a provider sends it: an error, counts, ``response.completed``, ``.incomplete`` or
  ``.failed``; any other is a sign of life;
- ``{"raw": str | bytes}``: lines of an event stream, whose ``data:`` lines are such events;
- ``{"http": {"status", "headers", "body"}}``: an HTTP answer; a failure's status, content type and body are read;
- ``{"ping": True}``: a sign of life;
- ``{"repeat": {<step>, "count": int}}`` or ``{"repeat": {<step>, "every_s": float, "for_s": float}}``: the step again
  and again; beside it ``prefix``, text that comes first;
- ``{"wait_s": float}``: wait on the event loop's clock; with ``fake_time`` that takes no time;
- ``{"wait": event}``: wait for an object with an async ``wait()``; None waits until the call gives up;
- ``{"raise": exception}``: the backend breaks; a str stands for a ``RuntimeError`` that says it;
- ``{"connect": "black hole"}``, ``{"pool": "busy"}``: as the first step alone: the wait for it runs out;
- ``{"close": "eof" | "fin" | "rst"}``: the stream ends here, cleanly or by a broken line; what follows is not played.

A script that was played to its last step ends the stream too.

``replay`` reads what a server really sent: one recorded response through a backend's whole reading path::

    assert replay("vllm", body, contract=Payment).outcome == "committed"

``check_dialect`` and ``check_backend`` hold a server's dialect and a backend of your own to the laws that this
project's keep (docs/backends.md)::

    check_dialect(MyDialect(), recordings)
    await check_backend(lambda url: RemoteBackend(MyDialect(), base_url=url), recordings)
"""

from commitgate.ledger import MemoryLedger
from commitgate.testing.conformance import (
    ConformanceError,
    Law,
    RecordedAnswer,
    check_backend,
    check_dialect,
    laws,
)
from commitgate.testing.fake_time import fake_time
from commitgate.testing.fault_point import FaultPoint, Trouble, Waitable
from commitgate.testing.playback import Chunking
from commitgate.testing.replay import Replay, replay
from commitgate.testing.script_step import STEPS, Step
from commitgate.testing.scripted_backend import ScriptedBackend

__all__ = [
    "STEPS",
    "Chunking",
    "ConformanceError",
    "FaultPoint",
    "Law",
    "MemoryLedger",
    "RecordedAnswer",
    "Replay",
    "ScriptedBackend",
    "Step",
    "Trouble",
    "Waitable",
    "check_backend",
    "check_dialect",
    "fake_time",
    "laws",
    "replay",
]

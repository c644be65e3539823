"""Offer the client to programs without an event loop: the same calls, arguments and endings, but they block.

Example::

    from commitgate.sync import Client

    with Client() as client:
        outcome = client.generate_structured("local", Ticket, prompt=text)
        with client.stream_structured("local", Ticket, prompt=text) as run:
            for item in run:
                ui.show(item)
            outcome = run.outcome()

Each client owns one thread with an event loop of its own, in which all of its calls run. Any number of threads may use
one client. Ctrl-C, or any other exception in the calling thread, cancels what that thread waits for; a commit that has
begun is finished first. Inside an event loop use ``commitgate.Client``.
"""

from commitgate.sync.client import Client
from commitgate.sync.structured_run import StructuredRun

__all__ = ["Client", "StructuredRun"]

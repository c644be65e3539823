"""Work on one mail of the refund example as its own program does, with a script for a model; its tests start it.

Arguments: as for ``agent.py``.
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "examples" / "refund"))

import agent
import anyio

import commitgate.backends.local
from commitgate.testing import ScriptedBackend

TURN = {"calls": [{"name": "refund", "arguments": {"order_id": "A-1003", "cents": 7900}}]}

if __name__ == "__main__":
    backend = ScriptedBackend([{"text": json.dumps(TURN)}, {"finish": "stop"}], name="local")
    commitgate.backends.local.LocalBackend = lambda: backend
    agent.LEASE_S = 0.5  # what the next process has to wait for
    anyio.run(agent.be_killed, Path(sys.argv[1]), sys.argv[2])

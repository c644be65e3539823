"""Write the answer to ``GET /v1/models``.

Source: OpenAI's reference as the types of openai-python 3.57 have it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from commitgate.json_value import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedModel:
    """Describe one model to clients.

    Attributes:
        name: what a request calls it.
        created: when it was loaded, in seconds since 1970.
    """

    name: str
    created: int

    def model_object(self) -> JsonObject:
        """Return it as one object."""
        return {"id": self.name, "object": "model", "created": self.created, "owned_by": "commitgate"}


def model_list(models: Sequence[ServedModel]) -> bytes:
    """Return the list of the models that are served, as JSON."""
    return json.dumps({"object": "list", "data": [each.model_object() for each in models]}).encode("ascii")


__all__ = ["ServedModel", "model_list"]

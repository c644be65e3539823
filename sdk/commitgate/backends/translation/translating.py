"""Say a contract in the words of one server, and note whatever that changes. Sans-IO."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commitgate.backends.translation.json_forms import translate_json
from commitgate.backends.translation.text_forms import translate_text
from commitgate.backends.translation.tool_forms import translate_turn
from commitgate.backends.translation.translation import Translation
from commitgate.contract import Contract

if TYPE_CHECKING:
    from commitgate.backends.dialect import ServerFacts
    from commitgate.tools.offer import ToolOffer


def translate(
    contract: Contract[object],
    facts: ServerFacts,
    *,
    tools: ToolOffer | None = None,
    native_tools: bool = False,
) -> Translation:
    """Return a contract in a server's words, with what is not as the contract says it.

    Args:
        contract: what the answer must satisfy; of a turn of tools the turn's.
        facts: what the server takes.
        tools: what the turn may call; None where it may call nothing.
        native_tools: the tools are offered in the server's own form, each with its own parameters.

    Raises:
        UnsupportedError: the server cannot be asked for it, not even in part; the message names the place and says
            what to write instead.
        LimitExceededError: what would be sent is larger than a limit of the contract allows.
    """
    if contract.text is not None:
        return translate_text(contract, facts)
    if tools is not None and native_tools:
        return translate_turn(contract, facts, tools)
    return translate_json(contract, facts)


__all__ = ["translate"]

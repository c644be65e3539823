"""Requests and translations for tests of dialects."""

from typing import Any

from commitgate.backends.base import GenerationRequest, Message, Sampling
from commitgate.backends.translation import Translation
from commitgate.backends.translation.shapes import SAME
from commitgate.contract import Contract
from commitgate.tools.offer import OfferedTool, ToolOffer

CITY: Any = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "alt": {"type": "integer"}},
    "required": ["city", "alt"],
    "additionalProperties": False,
}
CONTRACT: Contract[Any] = Contract.json_schema(CITY, name="city")
ASKED = Message("user", "Which city is it?")
SEARCH = OfferedTool(name="search", description="Search the web.", parameters=CITY)
QUIET = OfferedTool(name="quiet", description="", parameters={"type": "object", "properties": {}})


def translation(form: Any = "json_schema", *, sent: Contract[Any] = CONTRACT, **given: Any) -> Translation:
    if form == "json_schema":
        given = {"schema": CITY, **given}
    return Translation(sent=sent, form=form, shape=SAME, **given)


def request(translated: Translation | None = None, **given: Any) -> GenerationRequest:
    """Return a request; ``temperature`` and the like stand for ``sampling``."""
    names = ("temperature", "top_k", "top_p", "seed", "max_tokens")
    sampling = Sampling(**{name: given.pop(name) for name in names if name in given})
    fields = {"model": "m", "messages": (ASKED,), "contract": CONTRACT, "sampling": sampling, **given}
    return GenerationRequest(**fields, translation=translated or translation())


def offering(*, answer: Any = "text", most_calls: int = 8, form: Any = "prompt", **given: Any) -> GenerationRequest:
    """Return a request that offers two tools in the server's own form, one of them strictly."""
    offer = ToolOffer(tools=(SEARCH, QUIET), most_calls=most_calls, answer=answer, instruction="You have tools.")
    parameters = {tool.name: tool.parameters for tool in offer.tools}
    translated = translation(form, tools=parameters, strict_tools=frozenset({"search"}))
    return request(translated, messages=offer.told((ASKED,)), tools=offer, **given)

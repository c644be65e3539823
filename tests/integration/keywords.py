"""Have a real server copy values that a schema allows and forbids, keyword by keyword, and compare with the table.

Even the bundled model copies a short text that it was shown four times. Where it copies the forbidden value without a
constraint, and also with it, the server does not enforce the keyword; where it cannot copy the allowed one, the server
narrows it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import httpx
import jsonschema
from integration.keyword_cases import CASES, KeywordCase
from integration.parts import Part
from integration.servers import MODEL, Server, ServerName
from proofs.part import Result, Row

from commitgate.lint.vendor_facts import FACTS, Reaction

_VENDOR: Mapping[ServerName, str] = {"llama": "llama_cpp", "vllm": "vllm"}
_SHOWN = 4
_MOST_TOKENS = 80
_ANSWER_S = 120.0
_UNCLEAR = "unclear"
_OBJECT: Mapping[str, object] = {"type": "object", "properties": {"a": {"type": "integer"}}}


def _units(server: ServerName) -> Sequence[str]:
    del server
    return [case.name for case in CASES]


async def _run(server: Server, unit: str) -> Result:
    case = next(case for case in CASES if case.name == unit)
    async with httpx.AsyncClient(base_url=server.url, timeout=_ANSWER_S, trust_env=False) as asking:
        # vLLM keeps the engine of its first constrained request for good: a plain schema makes it the usual one.
        await _copied(asking, {"a": 1}, _OBJECT)
        found, note = await _measured(asking, case)
    fact = FACTS[_VENDOR[server.name], case.name]
    table = fact.reaction.value + ("" if fact.is_sure else "?")
    agrees = found == _UNCLEAR or fact.reaction is Reaction.UNKNOWN or found == fact.reaction.value
    return Result(
        counts={"cases": 1, "unclear": int(found == _UNCLEAR), "agree": int(agrees and found != _UNCLEAR)},
        notes={"found": found, "table": table, "note": note},
    )


async def _measured(asking: httpx.AsyncClient, case: KeywordCase) -> tuple[str, str]:
    """Return the reaction, and what showed it."""
    right = await _copied(asking, case.right, case.schema)
    if isinstance(right, httpx.Response):
        return Reaction.REFUSED.value, f"HTTP {right.status_code}: {_message(right)}"
    takes_right = _same(right, case.right)
    if not takes_right and not _same(await _copied(asking, case.right, None), case.right):
        return _UNCLEAR, "the model does not copy the allowed value even without a constraint"
    violation, is_tested = None, not case.wrong
    for wrong in case.wrong:
        answer = await _copied(asking, wrong, case.schema)
        if isinstance(answer, httpx.Response):
            return Reaction.REFUSED.value, f"HTTP {answer.status_code}: {_message(answer)}"
        if answer is not _CUT and (_same(answer, wrong) or not _is_valid(case.schema, answer)):
            violation = answer
            break
        is_tested = is_tested or _same(await _copied(asking, wrong, None), wrong)
    if violation is not None:
        words = f"wrote {json.dumps(violation)}"
        return (Reaction.IGNORED if takes_right else Reaction.WRONG).value, words
    if not is_tested:
        return _UNCLEAR, "the model copies no forbidden value even without a constraint"
    if takes_right:
        return Reaction.TAKEN.value, ""
    return Reaction.NARROWED.value, f"wrote {_shown(right)} for {json.dumps(case.right)}"


_CUT = object()
"""Stands for an answer that is no JSON, because it was cut."""


def _same(one: object, other: object) -> bool:
    return one is not _CUT and json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _shown(answer: object) -> str:
    return "a text that was cut" if answer is _CUT else json.dumps(answer)


def _is_valid(schema: Mapping[str, object], value: object) -> bool:
    try:
        checker = jsonschema.Draft202012Validator.FORMAT_CHECKER
        return jsonschema.Draft202012Validator(dict(schema), format_checker=checker).is_valid(value)
    except jsonschema.exceptions._WrappedReferencingError:  # a remote reference allows anything as far as we can tell
        return True


async def _copied(asking: httpx.AsyncClient, value: object, schema: Mapping[str, object] | None) -> object:
    """Return what the server's model writes where it should copy a value; the response where it was refused."""
    text = json.dumps(value)
    turn = [{"role": "user", "content": "Write it."}, {"role": "assistant", "content": text}]
    body: dict[str, object] = {
        "model": MODEL,
        "messages": [*turn * _SHOWN, turn[0]],
        "temperature": 0,
        "max_tokens": _MOST_TOKENS,
    }
    if schema is not None:
        wrapped = {"name": "copied", "schema": schema}
        body["response_format"] = {"type": "json_schema", "json_schema": wrapped}
    response = await asking.post("/v1/chat/completions", json=body)
    if response.status_code != httpx.codes.OK:
        return response
    try:
        return json.loads(response.json()["choices"][0]["message"]["content"])
    except ValueError:
        return _CUT


def _message(response: httpx.Response) -> str:
    try:
        return " ".join(str(response.json()["error"]["message"]).split())[:160]
    except (ValueError, KeyError, TypeError):
        return response.text[:160]


def _summarise(server: ServerName, results: Mapping[str, Result]) -> Sequence[Row]:
    clear = [result for result in results.values() if result.notes.get("found", _UNCLEAR) != _UNCLEAR]
    others = sorted(unit for unit, result in results.items() if result.counts and not _agrees(result))
    unexplained = [unit for unit in others if (server, unit) not in EXPLAINED]
    measured = (
        f"{len(clear) - len(others)} of {len(clear)} cases as the table says, {len(others)} otherwise"
        + (f" ({', '.join(others)})" if others else "")
        + f"; {len(results) - len(clear)} unclear"
    )
    held = not unexplained and len(results) == len(CASES)
    return [
        Row(promise="each keyword fares as the table says, or it is explained why not", measured=measured, held=held)
    ]


def _agrees(result: Result) -> bool:
    return bool(result.counts["agree"] or result.counts["unclear"])


EXPLAINED: Mapping[tuple[ServerName, str], str] = {
    ("llama", "pattern_beside_properties"): "keys by pattern cannot be written beside named ones; sound all the same",
    ("llama", "names_beside_properties"): "the allowed value can be written here, and so can the forbidden one",
    ("llama", "prefix_items"): "the real server takes a tuple without `items`, and holds it to its length",
    ("llama", "any_of_beside_properties"): "the declared keys are optional in the grammar, the branches are dropped",
    ("llama", "all_of_many"): "enumerations in several branches are cut down to what all of them allow",
    ("vllm", "pattern_beside_properties"): "a key by pattern is written at its shortest; sound all the same",
    ("vllm", "any_of_beside_properties"): "the declared keys are optional in the grammar, the branches are dropped",
    ("vllm", "remote_reference"): "nobody knows what a remote schema forbids; it is accepted, and means any value",
}
"""Why a server fares otherwise than the table says, by server and case."""


def differences(server: ServerName, results: Mapping[str, Result]) -> list[tuple[str, str, str, str]]:
    """Return what fares otherwise than the table says: case, what the table says, what was found, and why."""
    return [
        (case, result.notes["table"], result.notes["found"], EXPLAINED.get((server, case), "not explained"))
        for case, result in sorted(results.items())
        if result.counts and not _agrees(result)
    ]


KEYWORDS = Part(name="keywords", units=_units, run=_run, summarise=_summarise, at_once={"llama": 1, "vllm": 4})

"""Say what the results of all probes come to: is what this server is asked to enforce enforced?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from commitgate.backends.dialect import ServerFacts, ServerIdentity
from commitgate.probe.report import Enforcement
from commitgate.probe.result import ProbeResult, Verdict

Overall: TypeAlias = "tuple[Enforcement, str]"

_FAILED = (Verdict.DROPPED, Verdict.PARTIAL)
_TEXTS = ("choice", "pattern", "grammar")


def overall(facts: ServerFacts, identity: ServerIdentity, results: Sequence[ProbeResult]) -> Overall:
    """Return what it all comes to, and why.

    Keywords, tools and the order of keys are told one by one and do not count here; neither does what a server makes
    of a repeated key, or of a client that leaves.

    Args:
        facts: what is known of the server.
        identity: what it says of itself.
        results: each probe's.
    """
    if not facts.forms - {"prompt"}:
        return "not_enforced", "this API has no field for a constraint"
    if identity.engine == "none":
        return "not_enforced", "the server says that it was started without an engine for constraints"
    found = {each.name: each.verdict for each in results if each.kind != "keyword"}
    return _lost(found) or _weak(found) or _proven(facts, found, results)


def _lost(found: Mapping[str, Verdict]) -> Overall | None:
    if found.get("invalid_schema") is Verdict.DROPPED:
        return "not_enforced", "it takes a schema that nothing can enforce: the field is not read"
    for name in ("enum", "property"):
        if found.get(name) is Verdict.DROPPED:
            return "not_enforced", f"answers do not keep to the schema ({name})"
    if found.get("echo") is Verdict.DROPPED:
        return "not_enforced", "the server itself says that no constraint was in force"
    texts = [name for name in _TEXTS if name in found]
    if "enum" not in found and texts and all(found[name] in _FAILED for name in texts):
        return "not_enforced", f"answers do not keep to the constraint ({', '.join(texts)})"
    return None


def _weak(found: Mapping[str, Verdict]) -> Overall | None:
    for name in ("enum", "property", "echo"):
        if found.get(name) is Verdict.PARTIAL:
            return "partial", f"answers are JSON, but not of the schema ({name})"
    if found.get("count") in _FAILED:
        return "partial", "the schema is a hint only: it is obeyed where a model can, and miscounted where it cannot"
    dropped = [name for name in ("invalid_pattern", "invalid_grammar", *_TEXTS) if found.get(name) in _FAILED]
    if dropped:
        return "partial", f"some constraints are dropped ({', '.join(dropped)})"
    if found.get("cut") is Verdict.NO:
        return "partial", "it calls cut answers whole"
    if found.get("whole") is Verdict.NO:
        return "partial", "it does not say of whole answers that they are"
    return None


def _proven(facts: ServerFacts, found: Mapping[str, Verdict], results: Sequence[ProbeResult]) -> Overall:
    wanted = ["enum", "property"] if "json_schema" in facts.forms else [name for name in _TEXTS if name in found]
    missing = [name for name in wanted if found.get(name) is not Verdict.ENFORCED]
    if missing or not wanted:
        reasons = [each.reason for each in results if each.name in missing]
        return "unknown", f"{', '.join(missing)}: {reasons[0]}" if reasons else "nothing could be asked"
    if "count" in found and found["count"] is not Verdict.ENFORCED:
        return "unknown", "it may show the model the schema and enforce nothing: the count could not be told"
    if "count" not in found and found.get("invalid_schema", Verdict.REJECTED) is not Verdict.REJECTED:
        return "unknown", "it may show the model the schema and enforce nothing: it refuses no schema for what it is"
    return "enforced", "answers keep to constraints that the prompt led out of"


__all__ = ["Overall", "overall"]

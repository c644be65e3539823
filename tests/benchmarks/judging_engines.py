"""Ask one engine whether it takes a schema, and which texts it then accepts as whole.

Each engine is a function from a schema to a function from a text to a verdict. It raises ``RefusedError`` for a schema
that it declines. The peers are imported on first use, because they are no dependency of the project.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeAlias

Accepts: TypeAlias = Callable[[str], bool]
Engine: TypeAlias = Callable[[Any], Accepts]


class RefusedError(Exception):
    """Raised when an engine declines a schema; the message begins with the kind of the refusal."""


def _compiled(schema: Any) -> Any:
    from commitgate.automaton import compile
    from commitgate.errors import ContractError

    try:
        return compile(schema, dialect="accept")
    except ContractError as error:
        raise RefusedError(f"{type(error).__name__} {error.keyword or ''} {error.pointer}: {error}") from error


def commitgate_automaton(schema: Any) -> Accepts:
    """Let the automaton judge alone."""
    automaton = _compiled(schema)
    return lambda text: automaton.accepts(text.encode())


def commitgate_gate(schema: Any) -> Accepts:
    """Let the automaton, the strict parse and the schema layer judge together, as the gate does."""
    from commitgate.errors import ContractError
    from commitgate.gate.schema_layer import SchemaLayer

    automaton = _compiled(schema)
    try:
        layer = SchemaLayer(schema)
    except ContractError as error:
        raise RefusedError(f"schema layer {type(error).__name__} {error.pointer}: {error}") from error
    return lambda text: automaton.accepts(text.encode()) and _is_valid(layer, text)


def commitgate_schema_layer(schema: Any) -> Accepts:
    """Let the strict parse and the schema layer judge without the automaton."""
    from commitgate.errors import ContractError
    from commitgate.gate.schema_layer import SchemaLayer

    try:
        layer = SchemaLayer(schema)
    except ContractError as error:
        raise RefusedError(f"{type(error).__name__} {error.pointer}: {error}") from error
    return lambda text: _is_valid(layer, text)


def _is_valid(layer: Any, text: str) -> bool:
    from commitgate.gate.strict_parse import Parsed, strict_parse

    parsed = strict_parse(text.encode(), nesting=64)
    return isinstance(parsed, Parsed) and layer.judge(parsed.value) == ()


def llguidance(schema: Any) -> Accepts:
    """Let llguidance judge, with a vocabulary of bytes."""
    from llguidance import LLMatcher, LLTokenizer

    tokenizer = LLTokenizer("byte")
    # Compiling is what its constructor does; one matcher is copied for each text.
    first = LLMatcher(tokenizer, LLMatcher.grammar_from_json_schema(json.dumps(schema)), log_level=0)
    if first.is_error():
        raise RefusedError(first.get_error())

    def accepts(text: str) -> bool:
        matcher = first.deep_copy()
        tokens = list(text.encode())
        return matcher.try_consume_tokens(tokens) == len(tokens) and matcher.is_accepting()

    return accepts


def _xgrammar(schema: Any, strict: bool) -> Accepts:
    from xgrammar import Grammar
    from xgrammar.testing import _is_grammar_accept_string

    try:
        grammar = Grammar.from_json_schema(json.dumps(schema), strict_mode=strict)
    except RuntimeError as error:
        raise RefusedError(str(error)) from error
    return lambda text: bool(_is_grammar_accept_string(grammar, text))


def xgrammar_strict(schema: Any) -> Accepts:
    """Let xgrammar judge as it does by default: undeclared keys are refused."""
    return _xgrammar(schema, strict=True)


def xgrammar_open(schema: Any) -> Accepts:
    """Let xgrammar judge with ``strict_mode=False``."""
    return _xgrammar(schema, strict=False)


ENGINES: dict[str, Engine] = {
    "commitgate automaton": commitgate_automaton,
    "commitgate gate": commitgate_gate,
    "commitgate schema layer": commitgate_schema_layer,
    "llguidance": llguidance,
    "xgrammar (strict)": xgrammar_strict,
    "xgrammar (strict_mode=False)": xgrammar_open,
}

PEERS = ("llguidance", "xgrammar (strict)", "xgrammar (strict_mode=False)")

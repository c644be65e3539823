"""Read what a request says about the form of its answer: OpenAI's response format, or vLLM's structured outputs."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from commitgate.gate.layers import Failure
from commitgate.gate.strict_parse import PARSER_NESTING, strict_parse
from commitgate.json_value import JsonSchema, JsonValue
from commitgate.languages import Choices, Grammar, Regex
from commitgate_local.server.refusal import bad_request
from commitgate_local.server.request_fields import Fields, wrong_kind

_SCHEMA_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_FORMATS: Final = ("text", "json_object", "json_schema")
_OLD_FIELDS: Final = {
    "guided_json": "json",
    "guided_regex": "regex",
    "guided_choice": "choice",
    "guided_grammar": "grammar",
}
"""The fields of vLLM before 0.12, each with its name in ``structured_outputs``."""

_KINDS: Final = ("json", "regex", "choice", "grammar", "json_object")
_SWITCHES: Final = ("disable_any_whitespace", "disable_additional_properties")
FORMAT_FIELDS: Final = frozenset({"response_format", "structured_outputs", *_OLD_FIELDS})
"""The fields of a body that say what form its answer has."""

_GBNF_ARROW: Final = "::="


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaFormat:
    """Ask for JSON of a schema.

    Attributes:
        schema: the schema.
        param: the field of the body that it stands in.
        name: what the client calls it.
        is_strict: every keyword is enforced while decoding, or the request is refused; False where the client says
            ``"strict": false``: then what can be decoded is.
        is_compact: no white space between tokens.
    """

    schema: JsonSchema = field(repr=False)
    param: str
    name: str | None = None
    is_strict: bool = True
    is_compact: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonFormat:
    """Ask for any JSON object.

    Attributes:
        param: the field of the body that says so.
        is_compact: no white space between tokens.
    """

    param: str
    is_compact: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TextFormat:
    """Ask for a text of a language.

    Attributes:
        language: its pattern, grammar or choices.
        param: the field of the body that it stands in.
    """

    language: Regex | Grammar | Choices = field(repr=False)
    param: str


AnswerFormat: TypeAlias = SchemaFormat | JsonFormat | TextFormat


def read_format(body: Fields) -> AnswerFormat | None:
    """Return what a body says about the form of its answer; None where it may be any text.

    Raises:
        RequestRefused: it is malformed, asks for something that is not known here, or says two things.
    """
    found: list[AnswerFormat] = []
    given = body.fields("response_format")
    if given is not None:
        found += _response_format(given)
    outputs = body.fields("structured_outputs")
    if outputs is not None:
        found.append(_structured_outputs(outputs))
    for name, kind in _OLD_FIELDS.items():
        value = body.value(name)
        if value is not None:
            found.append(_constraint(kind, value, name, is_compact=False))
    if len(found) > 1:
        raise bad_request(
            f"{found[0].param} and {found[1].param} both say what form the answer has; give one of them",
            param=found[1].param,
        )
    return found[0] if found else None


def _response_format(given: Fields) -> list[AnswerFormat]:
    kind = given.word("type", _FORMATS)
    if kind is None:
        raise given.missing("type")
    if kind != "json_schema":
        given.check_known({"type"})
        return [] if kind == "text" else [JsonFormat(param="response_format")]
    given.check_known({"type", "json_schema"})
    inner = given.fields("json_schema")
    if inner is None:
        raise given.missing("json_schema")
    inner.check_known({"name", "description", "schema", "strict"})
    inner.text("description")
    name = inner.required_text("name")
    if not _SCHEMA_NAME.fullmatch(name):
        raise bad_request(
            f"{inner.place('name')} must be 1 to 64 of the characters A-Z a-z 0-9 _ -", param=inner.place("name")
        )
    schema = _schema(inner.value("schema"), inner.place("schema"))
    is_strict = inner.flag("strict") is not False
    return [SchemaFormat(schema=schema, param=inner.place("schema"), name=name, is_strict=is_strict)]


def _structured_outputs(given: Fields) -> AnswerFormat:
    given.check_known({*_KINDS, *_SWITCHES})
    kinds = [kind for kind in _KINDS if kind in given and given.value(kind) is not False]
    if len(kinds) != 1:
        raise bad_request(
            f"structured_outputs must hold exactly one of {', '.join(_KINDS)}, found {len(kinds)}",
            param="structured_outputs",
        )
    (kind,) = kinds
    is_compact = given.flag("disable_any_whitespace") or False
    if given.flag("disable_additional_properties"):
        place = given.place("disable_additional_properties")
        raise bad_request(f'{place} is not known here; write "additionalProperties": false', param=place)
    if is_compact and kind not in ("json", "json_object"):
        place = given.place("disable_any_whitespace")
        raise bad_request(f"{place} is for JSON alone", param=place)
    return _constraint(kind, given.value(kind), given.place(kind), is_compact=is_compact)


def _constraint(kind: str, value: JsonValue, place: str, *, is_compact: bool) -> AnswerFormat:
    match kind:
        case "json":
            return SchemaFormat(schema=_schema(value, place), param=place, is_compact=is_compact)
        case "json_object":
            if not isinstance(value, bool):
                raise wrong_kind(place, "true or false", value)
            return JsonFormat(param=place, is_compact=is_compact)
        case "regex":
            return TextFormat(language=Regex(_text(value, place)), param=place)
        case "choice":
            return TextFormat(language=_choices(value, place), param=place)
        case _:
            return TextFormat(language=_grammar(_text(value, place)), param=place)


def _schema(value: JsonValue, place: str) -> JsonSchema:
    """Return a schema; vLLM takes the text of one too."""
    if value is None:
        raise bad_request(f"{place} is missing", param=place, code="missing_required_parameter")
    if isinstance(value, str):
        parsed = strict_parse(value.encode(), nesting=PARSER_NESTING)
        if isinstance(parsed, Failure):
            raise bad_request(f"{place} must be a JSON Schema, found a string that is no JSON", param=place)
        value = parsed.value
    if not isinstance(value, dict | bool):
        raise wrong_kind(place, "a JSON Schema", value)
    return value


def _choices(value: JsonValue, place: str) -> Choices:
    if not isinstance(value, list):
        raise wrong_kind(place, "an array of strings", value)
    return Choices([_text(item, f"{place}[{index}]") for index, item in enumerate(value)])


def _grammar(text: str) -> Grammar:
    """Return a grammar: GBNF where an arrow of its stands anywhere, else Lark, as vLLM tells them apart."""
    syntax: Literal["gbnf", "lark"] = "gbnf" if _GBNF_ARROW in text else "lark"
    return Grammar(text, syntax)


def _text(value: JsonValue, place: str) -> str:
    if not isinstance(value, str):
        raise wrong_kind(place, "a string", value)
    return value


__all__ = ["FORMAT_FIELDS", "AnswerFormat", "JsonFormat", "SchemaFormat", "TextFormat", "read_format"]

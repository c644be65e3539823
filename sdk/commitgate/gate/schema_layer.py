"""Ask the JSON Schema itself whether a parsed value is valid, with exact numbers and without any network or file.

jsonschema-rs does the work, on the schema as ``prepared_schema`` writes it: patterns and formats mean what they mean to
the automaton. Its messages echo the value, so failures are worded anew here from the keyword alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, cast

from commitgate.argument import check_choice
from commitgate.automaton.formats import FORMATS, format_matches
from commitgate.automaton.json_schema.given_documents import given_documents
from commitgate.automaton.json_schema.vocabulary import Vocabulary, vocabulary_of
from commitgate.errors import SchemaError
from commitgate.gate.effort import bounded_effort
from commitgate.gate.failure_words import code_of, message_of
from commitgate.gate.layers import Failure, Layer
from commitgate.gate.pattern_search import PatternSearch, one_look
from commitgate.gate.places import Schemas
from commitgate.gate.pointer import shown_pointer
from commitgate.gate.prepared_schema import PATTERN, Preparation
from commitgate.gate.references import References
from commitgate.json_value import JsonObject, JsonSchema, JsonValue
from commitgate.pointer import child

if TYPE_CHECKING:
    from jsonschema_rs import KeywordValidator, ValidationError, Validator

    from commitgate.contract import Formats

FAILURES_KEPT = 64
"""Most failures that are collected of one value; a hostile one could have millions."""

UNLISTED = "schema"
"""Code of the one failure that stands for all where looking for them would take too long."""


class SchemaLayer:
    """Judge parsed values by one schema. Building it compiles the schema: CPU work for a worker thread.

    Args:
        schema: a JSON Schema; ``$schema`` chooses the draft, 2020-12 where it is absent.
        formats: whether ``format`` is asserted, in every draft and for every known format, or only annotates.
        documents: what its references may lead to, by absolute URI; nothing else is ever fetched.

    Raises:
        SchemaError: it is not a valid schema, or refers to something that is neither in it nor in ``documents``.
        UnsupportedError: ``$schema`` names neither a draft nor one of the documents.
        LimitExceededError: too many ways lead through its references.
        MisuseError: ``formats`` or ``documents`` is of the wrong kind.
    """

    def __init__(
        self,
        schema: JsonSchema,
        *,
        formats: Formats = "assert",
        documents: Mapping[str, JsonSchema] | None = None,
    ) -> None:
        check_choice("formats", formats, ("assert", "annotate"))
        given_documents(documents)
        known = documents or {}
        patterns = PatternSearch()
        self._effort = bounded_effort(References(schema, known))
        self._preparation = Preparation(patterns, known)
        self._validator = _validator(schema, formats, known, self._preparation, patterns)
        self._schemas = Schemas(schema, known, patterns=patterns)

    def judge(self, value: JsonValue) -> tuple[Failure, ...]:
        """Return what the schema finds wrong with ``value``, at most 64 failures; empty where it is valid.

        Args:
            value: as ``strict_parse`` gives it: every number that is not an integer is a ``Decimal``.
        """
        if not self._effort.is_checkable(value):
            return _unlisted("to check whether the schema is satisfied would take too long")
        with one_look() as look:
            is_valid = self._validator.is_valid(value)
        if look.has_given_up:
            # Under ``not``, what was not found would let the value through.
            return _unlisted("to check whether the schema is satisfied would take too long")
        if is_valid:
            return ()
        if not self._effort.is_listable(value):
            return _unlisted("the schema is not satisfied; to say where would take too long")
        with one_look():
            return tuple(self._failure(error) for error in islice(self._validator.iter_errors(value), FAILURES_KEPT))

    def _failure(self, error: ValidationError) -> Failure:
        code = code_of(error)
        pattern = str(cast(object, error.kind.value)) if code == PATTERN else None
        code = "pattern" if code == PATTERN else code
        schema_path = self._preparation.original_path(error.schema_path)
        return Failure(
            layer=Layer.SCHEMA,
            code=code,
            pointer=shown_pointer(self._schemas, error.instance_path),
            message=message_of(code, error, pattern),
            data={"pointer": child("", *error.instance_path), "schema_pointer": child("", *schema_path)},
        )


def _validator(
    schema: JsonSchema,
    formats: Formats,
    documents: Mapping[str, JsonSchema],
    preparation: Preparation,
    patterns: PatternSearch,
) -> Validator:
    from jsonschema_rs import ReferencingError, ValidationError, validator_for

    vocabulary = Vocabulary()
    named = schema.get("$schema") if isinstance(schema, dict) else None
    if isinstance(named, str):
        vocabulary = vocabulary_of(named, documents, "")

    def retrieve(uri: str) -> JsonSchema:
        """Stand in the way of every fetch: what is not given is not there."""
        return preparation.prepare(documents[uri.partition("#")[0]], vocabulary)

    keyword = _pattern_keyword(patterns)
    try:
        return validator_for(
            preparation.prepare(schema, vocabulary),
            formats={name: partial(format_matches, name) for name in FORMATS} if formats == "assert" else None,
            validate_formats=formats == "assert",
            keywords={PATTERN: keyword},
            retriever=retrieve,
        )
    except ValidationError as error:
        raise _schema_error(error) from None
    except ReferencingError:
        raise _unresolved() from None


def _pattern_keyword(patterns: PatternSearch) -> type[KeywordValidator]:
    class Pattern:
        """Assert that a pattern is found in a text; the exception's words are the pattern, never the text."""

        def __init__(self, parent_schema: JsonObject, value: JsonValue, schema_path: list[str | int]) -> None:
            del parent_schema, schema_path
            self._pattern = cast(str, value)
            self._finds: Callable[[str], bool] = patterns.finds(self._pattern)

        def validate(self, instance: object) -> None:
            if isinstance(instance, str) and not self._finds(instance):
                raise ValueError(self._pattern)

    return cast("type[KeywordValidator]", Pattern)


def _unlisted(message: str) -> tuple[Failure, ...]:
    return (Failure(layer=Layer.SCHEMA, code=UNLISTED, pointer="", message=message),)


def _schema_error(error: ValidationError) -> SchemaError:
    if error.kind.name == "$ref":
        return _unresolved()
    pointer = child("", *error.instance_path)
    return SchemaError(
        f"the schema is not valid at {pointer or 'the root'}: it breaks {error.kind.name} of its meta-schema",
        pointer=pointer,
    )


def _unresolved() -> SchemaError:
    return SchemaError("a reference leads outside the schema; write the schema that it means into $defs or documents")


__all__ = ["FAILURES_KEPT", "UNLISTED", "SchemaLayer"]

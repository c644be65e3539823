"""Define the limits on everything that a schema's author can make grow."""

from __future__ import annotations

from dataclasses import dataclass, fields

from commitgate.errors import MisuseError


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bound a contract, before generation (the first group) and in what may be generated (the second).

    Hitting one of the first group raises ``LimitExceededError``, with the field's name and the place.

    Attributes:
        schema_bytes: size of the schema as compact JSON; of a pattern, a grammar or all choices together, in UTF-8.
        schema_nesting: nesting of the schema document itself; of groups in a grammar.
        properties: declared properties of all places together; where a place requires more names, these.
        enum_values: values of one ``enum``; number of choices.
        pattern_characters: length of one pattern.
        branches: alternatives that the keywords of one place may multiply to; past that a keyword is only checked.
        effort: work that telling alternatives apart may take, in meetings of two small ones (about 50 microseconds
            each); past that a keyword is only checked.
        nodes: schemas within the schema; and those that values meet, each in each combination in which it is used.
        states: automaton states made while compiling and walking; one with many alternatives counts once for every 4.
        alternatives: ways to go on that one state may keep open.
        step_work: alternatives that are looked at while one token is read, or while it is worked out which may follow
            (one to two microseconds each).
        grammar_rules: rules of a grammar, or states of a machine.
        grammar_symbols: words, classes, names and groups of all rules of a grammar together.
        edges: edges of a machine.
        nesting: deepest nesting of a value, arrays and objects counted, in both dialects.
        text_bytes: size of an accepted text.
        key_bytes: size of an accepted undeclared key as it is spelled; a declared key may have its own length.
        string_characters: longest generated string without ``maxLength``, in code points.
        array_items: longest generated array without ``maxItems``.
        free_properties: most undeclared keys of one generated object.
        key_characters: longest undeclared generated key, in code points.
        integer_digits: most digits before the point of a generated number.
        fraction_digits: most digits after the point of a generated number.
    """

    schema_bytes: int = 1_048_576
    schema_nesting: int = 128
    properties: int = 10_000
    enum_values: int = 100_000
    pattern_characters: int = 10_000
    branches: int = 1_000
    effort: int = 20_000
    nodes: int = 12_000
    states: int = 400_000
    alternatives: int = 10_000
    step_work: int = 200_000
    grammar_rules: int = 10_000
    grammar_symbols: int = 25_000
    edges: int = 10_000
    nesting: int = 64
    text_bytes: int = 16_777_216
    key_bytes: int = 16_384
    string_characters: int = 10_000
    array_items: int = 1_000
    free_properties: int = 64
    key_characters: int = 64
    integer_digits: int = 15
    fraction_digits: int = 12

    def __post_init__(self) -> None:
        for entry in fields(self):
            value: object = getattr(self, entry.name)
            if type(value) is not int or value < 1:
                raise MisuseError(f"Limits.{entry.name} must be an integer >= 1, found {value!r}")


__all__ = ["Limits"]

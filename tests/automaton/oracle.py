"""Judge JSON texts with an implementation that is not ours: ``jsonschema``, numbers read as decimals."""

from __future__ import annotations

import json
from decimal import Decimal

from jsonschema import Draft202012Validator, TypeChecker
from jsonschema.validators import extend


def is_integer(checker: TypeChecker, value: object) -> bool:
    """Return whether ``value`` is an integer mathematically, which is how JSON Schema means the word."""
    del checker
    if isinstance(value, Decimal):
        return value == value.to_integral_value()
    return isinstance(value, int) and not isinstance(value, bool)


Validator = extend(Draft202012Validator, type_checker=Draft202012Validator.TYPE_CHECKER.redefine("integer", is_integer))


def reject_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Build an object, refusing a key that comes twice, as the gate does."""
    if len({name for name, _ in pairs}) != len(pairs):
        raise ValueError("a key comes twice")
    return dict(pairs)


def reject_constant(name: str) -> object:
    """Refuse NaN and the infinities, which are not JSON."""
    raise ValueError(name)


def load(text: bytes) -> object:
    """Return the value of a JSON text, exactly."""
    return json.loads(
        text.decode(),
        parse_float=Decimal,
        parse_constant=reject_constant,
        object_pairs_hook=reject_duplicates,
    )


def is_valid(schema: object, text: bytes) -> bool:
    """Return whether ``text`` is JSON, without duplicate keys, that satisfies ``schema``."""
    try:
        value = load(text)
    except ValueError:
        return False
    exact = json.loads(json.dumps(schema), parse_float=Decimal)
    return Validator(exact).is_valid(value)

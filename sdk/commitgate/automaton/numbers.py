"""Hold the languages of JSON numbers: every spelling of a value in ``accept``, the plain one in ``generate``.

``number_set`` says which numbers are meant, ``number_spelling`` and ``generated_number`` how they are written.

Source: RFC 8259 section 6.
"""

from __future__ import annotations

from commitgate.automaton.generated_number import NumbersTooFine, generate_term
from commitgate.automaton.number_set import ANY_INTEGER, ANY_NUMBER, NumberSet
from commitgate.automaton.number_spelling import accept_term
from commitgate.automaton.number_text import MAX_DIGITS, MAX_EXPONENT, plain_number

__all__ = [
    "ANY_INTEGER",
    "ANY_NUMBER",
    "MAX_DIGITS",
    "MAX_EXPONENT",
    "NumberSet",
    "NumbersTooFine",
    "accept_term",
    "generate_term",
    "plain_number",
]

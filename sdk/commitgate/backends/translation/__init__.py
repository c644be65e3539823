"""Say a contract in the words that one server takes, and put the answer back into the contract's shape. Sans-IO."""

from commitgate.backends.translation.shapes import SAME, TextShape
from commitgate.backends.translation.translating import translate
from commitgate.backends.translation.translation import (
    Difference,
    DifferenceKind,
    Form,
    Restorer,
    Shape,
    Translation,
)

__all__ = [
    "SAME",
    "Difference",
    "DifferenceKind",
    "Form",
    "Restorer",
    "Shape",
    "TextShape",
    "Translation",
    "translate",
]

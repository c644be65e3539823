"""Say a contract in a server's own subset, and put the answer back into the contract's shape. Sans-IO."""

from commitgate.backends.translation.translation import (
    Difference,
    DifferenceKind,
    Form,
    Restorer,
    Shape,
    Translation,
)

__all__ = ["Difference", "DifferenceKind", "Form", "Restorer", "Shape", "Translation"]

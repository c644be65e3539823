"""Work out an expression of ``arithmetic.lark`` exactly, without running it as a program."""

import ast
import operator
from collections.abc import Callable
from fractions import Fraction

from commitgate import RuleViolation

MOST_EXPONENT = 64
MOST_BITS = 4_000
OPERATIONS: dict[type[ast.operator], Callable[[Fraction, Fraction], Fraction]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
FUNCTIONS: dict[str, Callable[..., Fraction]] = {"abs": abs, "max": max, "min": min}
NAMES = {"dozen": Fraction(12), "percent": Fraction(1, 100)}


class CalculationError(ValueError):
    """Raised when an expression has no value here; the message says why."""


def calculate(expression: str) -> Fraction:
    """Return the value of a text of ``arithmetic.lark``.

    Raises:
        CalculationError: it divides by zero, names what there is not, or is too large.
    """
    try:
        return value(ast.parse(expression, mode="eval").body)
    except ZeroDivisionError as error:
        raise CalculationError("it divides by zero") from error
    except TypeError as error:
        raise CalculationError("a function has too few or too many arguments") from error
    except (SyntaxError, RecursionError, MemoryError) as error:
        raise CalculationError("it nests too deep") from error


def value(node: ast.expr) -> Fraction:
    """Return the value of a part."""
    match node:
        case ast.Constant(value=int() | float() as number):
            return Fraction(str(number))
        case ast.Name(id=name) if name in NAMES:
            return NAMES[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -value(operand)
        case ast.UnaryOp(operand=operand):
            return value(operand)
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            return power(value(left), value(right))
        case ast.BinOp(left=left, op=sign, right=right):
            return OPERATIONS[type(sign)](value(left), value(right))
        case ast.Call(func=ast.Name(id=name), args=arguments) if name in FUNCTIONS:
            return FUNCTIONS[name](*map(value, arguments))
        case _:
            raise CalculationError("it names what there is not")


def power(base: Fraction, exponent: Fraction) -> Fraction:
    """Return ``base ** exponent`` where it is exact and not too large."""
    bits = max(base.numerator.bit_length(), base.denominator.bit_length())
    if exponent.denominator != 1 or abs(exponent) > MOST_EXPONENT or bits * abs(exponent) > MOST_BITS:
        raise CalculationError(f"an exponent must be a whole number of at most {MOST_EXPONENT}, its power not too large")
    return base**exponent.numerator


def can_be_calculated(expression: str) -> RuleViolation | None:
    """Refuse an expression that has no value. A rule."""
    try:
        calculate(expression)
    except CalculationError as error:
        return RuleViolation("no_value", str(error))
    return None

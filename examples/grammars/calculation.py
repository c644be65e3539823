"""Work out an expression of ``arithmetic.lark`` exactly, without running it as a program."""

import ast
from fractions import Fraction

from commitgate import RuleViolation

MOST_EXPONENT = 64
MOST_BITS = 4_000
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
    except (SyntaxError, RecursionError, MemoryError) as error:
        raise CalculationError("it nests too deep") from error


def value(node: ast.expr) -> Fraction:
    """Return the value of a part."""
    match node:
        case ast.Constant(value=int() | float() as number):
            return Fraction(str(number))
        case ast.Name(id=name) if name in NAMES:
            return NAMES[name]
        case ast.UnaryOp(op=sign, operand=operand):
            return -value(operand) if isinstance(sign, ast.USub) else value(operand)
        case ast.BinOp(left=left, op=sign, right=right):
            return combined(value(left), sign, value(right))
        case ast.Call(func=ast.Name(id="max" | "min" as name), args=[_, *_] as arguments):
            return (max if name == "max" else min)(map(value, arguments))
        case _:
            raise CalculationError("it names what there is not, or gives a function no number")


def combined(left: Fraction, sign: ast.operator, right: Fraction) -> Fraction:
    """Return what a sign makes of two numbers."""
    match sign:
        case ast.Add():
            return left + right
        case ast.Sub():
            return left - right
        case ast.Mult():
            return left * right
        case ast.Div():
            return left / right
        case _:
            return power(left, right)


def power(base: Fraction, exponent: Fraction) -> Fraction:
    """Return ``base ** exponent`` where it is exact and not too large."""
    bits = max(base.numerator.bit_length(), base.denominator.bit_length())
    if exponent.denominator != 1 or abs(exponent) > MOST_EXPONENT or bits * abs(exponent) > MOST_BITS:
        raise CalculationError(
            f"an exponent must be a whole number of at most {MOST_EXPONENT}, its power not too large"
        )
    return base**exponent.numerator


def can_be_calculated(expression: str) -> RuleViolation | None:
    """Refuse an expression that has no value. A rule."""
    try:
        calculate(expression)
    except CalculationError as error:
        return RuleViolation("no_value", str(error))
    return None

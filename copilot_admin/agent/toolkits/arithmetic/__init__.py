"""Works out calculations as analysts write them: with units, percent, and functions of finance."""

from decimal import (
    Context,
    DecimalException,
    DivisionByZero,
    InvalidOperation,
    Overflow,
    Underflow,
    localcontext,
)

from copilot_admin.agent.toolkits.arithmetic.parser import Parser
from copilot_admin.agent.toolkits.arithmetic.quantity import PRECISION, Quantity
from copilot_admin.agent.toolkits.arithmetic.tokens import tokens

__all__ = ["Quantity", "calculate", "evaluate"]

_MAX_EXPONENT = 9999
_CONTEXT = Context(
    prec=PRECISION,
    Emax=_MAX_EXPONENT,
    Emin=-_MAX_EXPONENT,
    traps=[DivisionByZero, InvalidOperation, Overflow, Underflow],
)


def calculate(expression: str) -> str:
    """Works an expression out and writes the result as people do.

    Args:
        expression: Numbers, units, + - * / ^ %, mod, `of`, `in`, parentheses and functions.

    Returns:
        The number with its unit; what only rounding left behind is not shown.

    Raises:
        ValueError: It is not arithmetic, or has no result; the text says what to write instead.

    Examples:
        >>> calculate("200 + 10%"), calculate("15% of 80"), calculate("5 km + 300 m")
        ('220', '12', '5.3 km')
        >>> calculate("$1.5m / 30"), calculate("3.5% + 25 bp"), calculate("0.1 + 0.2")
        ('50000 USD', '3.75%', '0.3')
        >>> calculate("round(pmt(5%/12, 360, 300000 USD), 2)")
        '-1610.46 USD'
    """
    return str(evaluate(expression))


def evaluate(expression: str) -> Quantity:
    """Works an expression out exactly, to 50 digits; see `calculate`.

    Raises:
        ValueError: It is not arithmetic, or has no result.
    """
    with localcontext(_CONTEXT):
        try:
            return Parser(tokens(expression)).result()
        except (Overflow, Underflow):
            raise ValueError(
                f"A step is beyond 10^{_MAX_EXPONENT} or nearer to zero than 10^-{_MAX_EXPONENT}."
                " Use smaller numbers."
            ) from None
        except DecimalException:
            raise ValueError(
                "A step has no real number as its result, as the root of a negative number has"
                " none, or needs too many digits."
            ) from None

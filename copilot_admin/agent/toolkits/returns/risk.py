"""The formulas of losses: downside deviation, Sortino and Calmar ratio, value at risk.

Sources: Bacon, Practical Portfolio Performance Measurement and Attribution (2008) for the ratios;
Microsoft's description of PERCENTILE.INC for the quantile of value at risk. Where conventions
differ it is the usual one: the downside deviation is over all returns, not only those that fall
short; a quantile between two returns is on the line from one to the other.
"""

from collections.abc import Sequence
from math import floor, fsum, sqrt

from copilot_admin.agent.toolkits.returns.formulas import (
    ROUNDING,
    compound_rate,
    max_drawdown,
    mean,
)


def downside_deviation(returns: Sequence[float], target: float) -> float:
    """The root of the mean of the squares by which returns fall short of a target.

    Examples:
        >>> downside_deviation([0.03, -0.04, 0.0, -0.03], 0.0)
        0.025
    """
    return sqrt(fsum(min(0.0, one - target) ** 2 for one in returns) / len(returns))


def sortino_ratio(returns: Sequence[float], periods: float, *, target: float = 0.0) -> float | None:
    """Mean return above the target over the downside deviation, times the root of the periods.

    Args:
        returns: Of each period.
        periods: In a year.
        target: A year's; a period's is (1 + target) ^ (1 / periods) - 1.

    Returns:
        None where no return falls short of the target.
    """
    per_period: float = (1 + target) ** (1 / periods) - 1
    short = downside_deviation(returns, per_period)
    if short <= ROUNDING:
        return None
    return (mean(returns) - per_period) / short * sqrt(periods)


def calmar_ratio(levels: Sequence[float], years: float) -> float | None:
    """The annualised return over the depth of the deepest drawdown; None where there is none."""
    fall = max_drawdown(levels)
    return compound_rate(levels, years) / -fall.depth if fall else None


def quantile(values: Sequence[float], share: float) -> float:
    """The value below which a share of the values lies, on the line between the two about it.

    Examples:
        >>> quantile([1, 3, 2, 4], 0.25)
        1.75
    """
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def value_at_risk(returns: Sequence[float], confidence: float) -> float:
    """The loss that a share of the returns did not exceed; negative where it is a gain."""
    return -quantile(returns, 1 - confidence) + 0.0

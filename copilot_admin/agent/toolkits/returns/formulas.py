"""The formulas of returns and risk, over plain numbers.

Sources: Bacon, Practical Portfolio Performance Measurement and Attribution (2008) for returns,
volatility, drawdown and beta; Sharpe, The Sharpe Ratio (1994). Sums are exact (`math.fsum`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from math import fsum, log1p, sqrt

# Returns come out of a division near 1, so they are off by up to 2e-16: less is no movement.
ROUNDING = 1e-14


@dataclass(frozen=True, slots=True)
class Drawdown:
    """The deepest fall of a path from a peak, as places in it.

    Attributes:
        depth: From -1 to 0.
        peak: Where the fall began: the last time at the highest level before it.
        trough: The first time at its lowest level.
        recovery: The first time back at the level of the peak; None: not yet.
    """

    depth: float
    peak: int
    trough: int
    recovery: int | None


def simple_returns(levels: Sequence[float]) -> list[float]:
    """P(t) / P(t-1) - 1.

    Examples:
        >>> simple_returns([100, 110, 99])
        [0.10000000000000009, -0.09999999999999998]
    """
    return [later / earlier - 1 for earlier, later in pairwise(levels)]


def log_returns(returns: Sequence[float]) -> list[float]:
    """ln(1 + r); the returns must be above -1."""
    return [log1p(one) for one in returns]


def levels_of(returns: Sequence[float]) -> list[float]:
    """What 1 grows to: 1, 1 + r(1), (1 + r(1))(1 + r(2)) ...

    Examples:
        >>> levels_of([0.5, -0.5])
        [1.0, 1.5, 0.75]
    """
    return list(accumulate(returns, lambda level, one: level * (1 + one), initial=1.0))


def total_return(levels: Sequence[float]) -> float:
    """P(end) / P(begin) - 1."""
    return levels[-1] / levels[0] - 1


def compound_rate(levels: Sequence[float], years: float) -> float:
    """(P(end) / P(begin)) ^ (1 / years) - 1.

    Examples:
        >>> compound_rate([100, 121], 2)
        0.10000000000000009
    """
    growth: float = (levels[-1] / levels[0]) ** (1 / years)
    return growth - 1


def mean(values: Sequence[float]) -> float:
    """The arithmetic mean."""
    return fsum(values) / len(values)


def deviation(values: Sequence[float]) -> float | None:
    """The standard deviation of a sample (n - 1); 0 where only rounding moves, None below two."""
    if len(values) < 2:
        return None
    middle = mean(values)
    spread = sqrt(fsum((value - middle) ** 2 for value in values) / (len(values) - 1))
    return spread if spread > ROUNDING * (1 + abs(middle)) else 0.0


def volatility(returns: Sequence[float], periods: float) -> float | None:
    """The standard deviation of returns times the root of the periods of a year."""
    spread = deviation(returns)
    return None if spread is None else spread * sqrt(periods)


def sharpe_ratio(
    returns: Sequence[float], periods: float, *, risk_free_rate: float = 0.0
) -> float | None:
    """Mean excess return over its standard deviation, times the root of the periods of a year.

    Args:
        returns: Of each period.
        periods: In a year.
        risk_free_rate: A year's; a period's is (1 + rate) ^ (1 / periods) - 1.

    Returns:
        None where the returns do not vary or there are fewer than two.
    """
    spread = deviation(returns)
    if not spread:
        return None
    per_period: float = (1 + risk_free_rate) ** (1 / periods) - 1
    return (mean(returns) - per_period) / spread * sqrt(periods)


def drawdowns(levels: Sequence[float]) -> list[float]:
    """P(t) / highest P so far - 1, for every level."""
    return [level / peak - 1 for level, peak in zip(levels, accumulate(levels, max), strict=True)]


def max_drawdown(levels: Sequence[float]) -> Drawdown | None:
    """The deepest of the drawdowns, the first of equals; None where the path never falls.

    Examples:
        >>> max_drawdown([100, 120, 90, 120])
        Drawdown(depth=-0.25, peak=1, trough=2, recovery=3)
    """
    depths = drawdowns(levels)
    depth = min(depths)
    if depth >= 0:
        return None
    trough = depths.index(depth)
    highest = max(levels[:trough])
    peak = max(place for place in range(trough) if levels[place] == highest)
    later = range(trough + 1, len(levels))
    recovery = next((place for place in later if levels[place] >= highest), None)
    return Drawdown(depth, peak, trough, recovery)


def correlation(one: Sequence[float], other: Sequence[float]) -> float | None:
    """Pearson's correlation; None where one of them does not vary.

    Args:
        one: Returns.
        other: Returns of the same periods.
    """
    own, others = deviation(one), deviation(other)
    if not own or not others:
        return None
    if list(one) == list(other):
        return 1.0
    return min(1.0, max(-1.0, covariance(one, other) / own / others))


def covariance(one: Sequence[float], other: Sequence[float]) -> float:
    """The covariance of a sample (n - 1)."""
    middle, other_middle = mean(one), mean(other)
    pairs = zip(one, other, strict=True)
    return fsum((a - middle) * (b - other_middle) for a, b in pairs) / (len(one) - 1)


def beta(returns: Sequence[float], benchmark: Sequence[float]) -> float | None:
    """Covariance with the benchmark over the benchmark's variance; None where it is constant."""
    spread = deviation(benchmark)
    return covariance(returns, benchmark) / spread**2 if spread else None

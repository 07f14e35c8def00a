"""Measures series of prices or returns: return, volatility, drawdown, correlation and the like."""

from collections.abc import Mapping
from typing import Any

from copilot_admin.agent.toolkits.returns.measures import MeasuredSeries, ReturnMeasure, measure_of
from copilot_admin.agent.toolkits.returns.options import Options, ReturnUnit, unwrapped
from copilot_admin.agent.toolkits.returns.series import read_series

__all__ = ["MeasuredSeries", "Options", "ReturnMeasure", "measured"]


def measured(
    series: object, measure: str, *, settings: Mapping[str, Any] | None = None
) -> MeasuredSeries:
    """Measures series of values.

    Args:
        series: A list of numbers; rows with a date and columns of numbers; an object of several
            named series; or JSON or CSV text of one of them. `{"values": <any of these>, ...}`
            says besides how to measure, see `Options`.
        measure: One of `ReturnMeasure`.
        settings: Options for what `series` does not say itself.

    Returns:
        The table and the words of the result, with notes of what was assumed or left out.

    Raises:
        ValueError: The series cannot be read or measured; the text says what would be right.

    Examples:
        >>> measured([100, 110, 99], "total_return").rows
        ({'series': 'series', 'total_return': -0.01},)
        >>> quarters = [{"date": "2024-03-31", "A": 100}, {"date": "2024-06-30", "A": 110}]
        >>> measured(quarters, "annualised_return").lines
        ('A: annualised return 46.41%',)
    """
    try:
        chosen = ReturnMeasure(measure)
    except ValueError:
        known = ", ".join(ReturnMeasure)
        raise ValueError(f"There is no measure {measure!r}. The measures are: {known}.") from None
    values, options = unwrapped(series, settings or {})
    try:
        given = read_series(
            values,
            day_first=options.day_first,
            adds_up=chosen.is_of_payments,
            in_percent=options.unit is ReturnUnit.PERCENT,
        )
        return measure_of(chosen, given, options)
    except OverflowError:
        raise ValueError(
            "The result is too large for a number. Check the values: some are too far apart."
        ) from None

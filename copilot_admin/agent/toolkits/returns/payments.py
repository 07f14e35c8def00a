"""The measures of payments, each as cells of the row of their series.

Every function takes the series, the options, and the notes to which it adds what was assumed.
"""

from collections.abc import Sequence
from datetime import datetime

from copilot_admin.agent.toolkits.returns.cash_flows import MAX_PAYMENTS, nearest, rates_of
from copilot_admin.agent.toolkits.returns.dates import periods_in_a_year
from copilot_admin.agent.toolkits.returns.options import Options
from copilot_admin.agent.toolkits.returns.points import Series
from copilot_admin.agent.toolkits.returns.telling import Cell, Row, number, percent

DAYS_OF_A_YEAR = 365  # those of XIRR


def irr(series: Series, options: Options, notes: list[str]) -> Row:
    """The internal rate of return of a period; where its length is known, of a year as well."""
    dates = [key for key in series.keys if isinstance(key, datetime)]
    if dates:
        times = [float(place) for place in range(len(dates))]
        notes.append(
            "irr takes the time from one date to the next as one period; xirr counts days."
        )
    else:
        times = [float(int(str(key))) for key in series.keys]
    row = _row("irr", series, times, options, notes)
    known = options.periods_per_year or (periods_in_a_year(dates) if len(dates) > 1 else None)
    if known is None or known == 1:
        notes.append("irr is the rate of one period, the time from one payment to the next.")
        return row
    notes.append(f"A year has {number(known)} periods of {series.name!r}.")
    return {**row, "irr_a_year": (1 + float(str(row["irr"]))) ** known - 1}


def xirr(series: Series, options: Options, notes: list[str]) -> Row:
    """The internal rate of return of a year, by the days between the payments."""
    dates = [key for key in series.keys if isinstance(key, datetime)]
    if not dates:
        raise ValueError(
            'xirr needs dates: give [{"date": "2024-01-31", "value": -1000}, ...], or take irr for'
            " payments at equal intervals."
        )
    if len(dates) < 2:
        raise ValueError(f"{series.name!r} has no xirr: it needs payments on at least two dates.")
    notes.append("xirr is a rate a year, of 365 days.")
    days = [(date - dates[0]).total_seconds() / 86_400 for date in dates]
    return _row("xirr", series, [one / DAYS_OF_A_YEAR for one in days], options, notes)


def _row(
    name: str, series: Series, times: Sequence[float], options: Options, notes: list[str]
) -> dict[str, Cell]:
    _check(name, series)
    rates = rates_of(series.values, times)
    if not rates:
        raise ValueError(
            f"{series.name!r} has no {name}: at no rate are its payments worth nothing together."
        )
    found = nearest(rates, options.guess)
    if len(rates) == 1:
        return {name: found}
    listed = ", ".join(map(percent, rates))
    notes.append(
        f"{series.name!r} has {len(rates)} rates, since its payments change sign more than once:"
        f" {listed}. None of them is the return by itself; {percent(found)} is the nearest to the"
        f" guess of {percent(options.guess)}."
    )
    return {name: found, "all_rates": listed}


def _check(name: str, series: Series) -> None:
    if len(series.values) > MAX_PAYMENTS:
        raise ValueError(f"{series.name!r} has more than {MAX_PAYMENTS:,} payments. Send fewer.")
    if not (any(one > 0 for one in series.values) and any(one < 0 for one in series.values)):
        raise ValueError(
            f"{series.name!r} has no {name}: it needs at least one payment below zero (paid) and one"
            " above zero (received)."
        )

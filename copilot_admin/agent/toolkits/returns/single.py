"""The measures of one series, each as cells of its row.

Every function takes the path, the options, and the notes to which it adds what was assumed.
"""

from datetime import datetime

from copilot_admin.agent.toolkits.returns import formulas
from copilot_admin.agent.toolkits.returns.options import Options
from copilot_admin.agent.toolkits.returns.paths import Path, Year, year_of, years_of
from copilot_admin.agent.toolkits.returns.telling import Cell, Row, number, percent


def total_return(path: Path, options: Options, notes: list[str]) -> Row:
    """P(end) / P(begin) - 1."""
    return {"total_return": formulas.total_return(path.levels)}


def annualised_return(path: Path, options: Options, notes: list[str]) -> Row:
    """By the number of returns: (P(end) / P(begin)) ^ (periods of a year / returns) - 1."""
    year = year_noted(path, options, notes)
    years = len(path.returns) / year.periods
    warn_of_short(years, path, notes)
    return {"annualised_return": formulas.compound_rate(path.levels, years)}


def cagr(path: Path, options: Options, notes: list[str]) -> Row:
    """By the calendar: (P(end) / P(begin)) ^ (365.25 / days) - 1; without dates by the returns."""
    is_dated = isinstance(path.begin, datetime)
    year = Year(1) if is_dated else year_noted(path, options, notes)
    years = years_of(path, year)
    warn_of_short(years, path, notes)
    return {"cagr": formulas.compound_rate(path.levels, years)}


def volatility(path: Path, options: Options, notes: list[str]) -> Row:
    """The standard deviation of the returns, made annual."""
    year = year_noted(path, options, notes)
    found = formulas.volatility(path.returns, year.periods)
    if found is None:
        notes.append(f"No volatility of {path.name!r}: it needs two returns.")
    return {"volatility": found}


def sharpe(path: Path, options: Options, notes: list[str]) -> Row:
    """The Sharpe ratio, made annual."""
    year, rate = year_noted(path, options, notes), options.risk_free_rate
    found = formulas.sharpe_ratio(path.returns, year.periods, risk_free_rate=rate)
    if found is None:
        notes.append(f"No Sharpe ratio of {path.name!r}: it needs two returns that differ.")
    notes.append(f"The Sharpe ratio is over a risk-free rate of {percent(rate)} a year.")
    return {"sharpe": found}


def max_drawdown(path: Path, options: Options, notes: list[str]) -> Row:
    """The deepest fall, with when it began, was deepest, and was made good."""
    found = formulas.max_drawdown(path.levels)
    if found is None:
        return {"max_drawdown": 0.0, "peak": None, "trough": None, "recovery": None}
    recovery = None if found.recovery is None else path.when(found.recovery)
    return {
        "max_drawdown": found.depth,
        "peak": path.when(found.peak),
        "trough": path.when(found.trough),
        "recovery": recovery,
    }


def summary(path: Path, options: Options, notes: list[str]) -> Row:
    """What one wants to know of a series first."""
    row: dict[str, Cell] = {
        "begin": path.when(0),
        "end": path.when(len(path.returns)),
        "returns": len(path.returns),
    }
    for measure in (total_return, annualised_return, volatility, sharpe, max_drawdown):
        row |= measure(path, options, notes)
    return row


def year_noted(path: Path, options: Options, notes: list[str]) -> Year:
    """How many periods a year has, with a note that says it."""
    year = year_of(path, options)
    notes.append(year.note or f"A year has {number(year.periods)} periods of {path.name!r}.")
    return year


def warn_of_short(years: float, path: Path, notes: list[str]) -> None:
    """Says it where a return is made annual that is of less than a year."""
    if years < 1:
        notes.append(
            f"{path.name!r} covers {number(years)} years: a return made annual from less than a"
            " year is no forecast."
        )

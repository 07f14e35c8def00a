"""The measures of what one series may lose, each as cells of its row.

Every function takes the path, the options, and the notes to which it adds what was assumed.
"""

from copilot_admin.agent.toolkits.returns import formulas, risk
from copilot_admin.agent.toolkits.returns.comparisons import warn_of_short, year_noted
from copilot_admin.agent.toolkits.returns.options import Options
from copilot_admin.agent.toolkits.returns.paths import Path
from copilot_admin.agent.toolkits.returns.telling import Row, percent


def sortino(path: Path, options: Options, notes: list[str]) -> Row:
    """The Sortino ratio, made annual."""
    year, target = year_noted(path, options, notes), options.target_rate
    found = risk.sortino_ratio(path.returns, year.periods, target=target)
    if found is None:
        notes.append(f"No Sortino ratio of {path.name!r}: no return falls short of the target.")
    notes.append(
        f"The Sortino ratio is over a target of {percent(target)} a year; its downside deviation is"
        " over all returns."
    )
    return {"sortino": found}


def calmar(path: Path, options: Options, notes: list[str]) -> Row:
    """The annualised return over the deepest fall, of all that was given."""
    year = year_noted(path, options, notes)
    years = len(path.returns) / year.periods
    warn_of_short(years, path, notes)
    found = risk.calmar_ratio(path.levels, years)
    if found is None:
        notes.append(f"No Calmar ratio of {path.name!r}: it never falls.")
    notes.append("The Calmar ratio is over the whole series; it is often told of three years.")
    return {"calmar": found}


def value_at_risk(path: Path, options: Options, notes: list[str]) -> Row:
    """The loss of a period that a share of the returns did not exceed."""
    share = options.confidence
    notes.append(
        f"Value at risk is the loss of one period that {share * 100:.4g}% of the returns did not"
        " exceed: historical, on the line between two returns (as PERCENTILE.INC). Below zero it is"
        " a gain."
    )
    if len(path.returns) * (1 - share) < 1:
        notes.append(
            f"{path.name!r} has {len(path.returns)} returns: too few to see one beyond that loss."
        )
    return {"value_at_risk": risk.value_at_risk(path.returns, share), "confidence": share}


def standard_deviation(path: Path, options: Options, notes: list[str]) -> Row:
    """The standard deviation of the returns of one period."""
    found = formulas.deviation(path.returns)
    if found is None:
        notes.append(f"No standard deviation of {path.name!r}: it needs two returns.")
    notes.append(
        "The standard deviation is that of a sample (n - 1), of the returns of one period;"
        " volatility is the same a year."
    )
    return {"standard_deviation": found}

"""The measures that a series has at each point.

Every function takes the path, the options, and the notes to which it adds what was assumed.
"""

from copilot_admin.agent.toolkits.returns import formulas
from copilot_admin.agent.toolkits.returns.options import Options
from copilot_admin.agent.toolkits.returns.paths import Path
from copilot_admin.agent.toolkits.returns.points import label
from copilot_admin.agent.toolkits.returns.single import year_noted
from copilot_admin.agent.toolkits.returns.telling import Points


def returns(path: Path, options: Options, notes: list[str]) -> Points:
    """The simple return from each value of a series to the next."""
    return list(zip(path.keys, path.returns, strict=True))


def log_returns(path: Path, options: Options, notes: list[str]) -> Points:
    """The logarithmic return from each value of a series to the next."""
    if -1.0 in path.returns:
        key = path.keys[path.returns.index(-1.0)]
        raise ValueError(f"{path.name!r} loses everything at {label(key)}: no log return is that.")
    return list(zip(path.keys, formulas.log_returns(path.returns), strict=True))


def drawdown(path: Path, options: Options, notes: list[str]) -> Points:
    """How far each level is below the highest so far; the first, which has none, is left out."""
    return list(zip(path.keys, formulas.drawdowns(path.levels)[1:], strict=True))


def rolling_return(path: Path, options: Options, notes: list[str]) -> Points:
    """The total return of the window that ends at each point."""
    window = _window(path, options, notes)
    if 0.0 in path.levels[:-1]:
        lost = path.when(path.levels.index(0.0))
        raise ValueError(f"{path.name!r} loses everything at {lost}: nothing returns from there.")
    return [
        (path.keys[end - 1], path.levels[end] / path.levels[end - window] - 1)
        for end in range(window, len(path.levels))
    ]


def rolling_volatility(path: Path, options: Options, notes: list[str]) -> Points:
    """The volatility of the window that ends at each point."""
    window = _window(path, options, notes)
    year = year_noted(path, options, notes)
    found = (
        (path.keys[end - 1], formulas.volatility(path.returns[end - window : end], year.periods))
        for end in range(window, len(path.returns) + 1)
    )
    return [(key, value) for key, value in found if value is not None]


def _window(path: Path, options: Options, notes: list[str]) -> int:
    window, count = options.window, len(path.returns)
    if window > count:
        raise ValueError(
            f"{path.name!r} has {count} returns, fewer than the window of {window}. Give more, or"
            ' say {"values": ..., "window": ...}.'
        )
    notes.append(f"Each value is of the {window} returns up to it.")
    return window

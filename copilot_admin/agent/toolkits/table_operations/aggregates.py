"""What many cells of a column come to: their sum, mean, count and so on."""

from collections.abc import Callable, Sequence
from enum import StrEnum
from math import fsum
from statistics import median, stdev
from typing import TypeAlias

from copilot_admin.agent.toolkits.table_operations.cells import (
    Cell,
    Number,
    decimal_comma,
    is_empty,
    number_of,
    tidy,
)

Numbers: TypeAlias = Sequence[Number]


class Aggregate(StrEnum):
    """What is worked out of the cells of a group."""

    SUM = "sum"
    MEAN = "mean"
    MEDIAN = "median"
    MIN = "min"
    MAX = "max"
    STD = "std"
    COUNT = "count"
    FIRST = "first"
    LAST = "last"


def aggregated(kind: Aggregate, cells: Sequence[Cell], *, column: str) -> Cell:
    """What the cells come to; empty ones are passed over.

    Args:
        kind: What is wanted. `std` is that of a sample, and needs two values.
        cells: Of one column of one group.
        column: Its name, for the sentence of an error.

    Returns:
        Nothing where no cell has a value, except for a sum and a count: those are 0.

    Raises:
        ValueError: Numbers are wanted of what has other text in it.
    """
    filled = [cell for cell in cells if not is_empty(cell)]
    if kind is Aggregate.COUNT:
        return len(filled)
    if kind in (Aggregate.FIRST, Aggregate.LAST):
        return filled[0 if kind is Aggregate.FIRST else -1] if filled else None
    if kind in _OF_ALL_KINDS and not any(number_of(cell) is not None for cell in filled):
        return _OF_ALL_KINDS[kind](map(str, filled), default=None)
    return _OF_NUMBERS[kind](numbers(filled, column=column))


def numbers(cells: Sequence[Cell], *, column: str) -> Numbers:
    """The numbers in the cells, of which the empty ones are passed over.

    Raises:
        ValueError: A cell has other text in it.
    """
    found = [(cell, number_of(cell)) for cell in cells if not is_empty(cell)]
    for cell, number in found:
        if number is None:
            advice = decimal_comma(cell) or " Filter such rows out first, or count them instead."
            raise ValueError(
                f"The column {column!r} has {str(cell)[:40]!r} in it, which is no number.{advice}"
            )
    return [number for _, number in found if number is not None]


def _sum(values: Numbers) -> Number:
    if all(isinstance(value, int) for value in values):
        return sum(values)
    return tidy(fsum(values))


def _mean(values: Numbers) -> Number | None:
    return tidy(fsum(values) / len(values)) if values else None


def _median(values: Numbers) -> Number | None:
    return tidy(median(values)) if values else None


def _standard_deviation(values: Numbers) -> Number | None:
    return tidy(stdev(map(float, values))) if len(values) > 1 else None


_OF_ALL_KINDS: dict[Aggregate, Callable[..., Cell]] = {Aggregate.MIN: min, Aggregate.MAX: max}
_OF_NUMBERS: dict[Aggregate, Callable[[Numbers], Number | None]] = {
    Aggregate.SUM: _sum,
    Aggregate.MEAN: _mean,
    Aggregate.MEDIAN: _median,
    Aggregate.MIN: lambda values: min(values, default=None),
    Aggregate.MAX: lambda values: max(values, default=None),
    Aggregate.STD: _standard_deviation,
}

"""What is read off a process every few seconds, as figures."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class GaugeReading:
    """A figure that goes up and down.

    Attributes:
        help: What it is, in a sentence.
        label: What tells its values apart; empty where it has one.
        values: By the value of the label; "" where there is none.
        is_shared: All processes read the same, or the largest counts; else theirs are added.
    """

    help: str
    values: Mapping[str, float]
    label: str = ""
    is_shared: bool = False

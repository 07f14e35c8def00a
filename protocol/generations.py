"""The three generations of the copilot protocol."""

from enum import IntEnum


class Generation(IntEnum):
    """Which dialect a client speaks; comparisons follow time (`ONE < THREE`)."""

    ONE = 1
    TWO = 2
    THREE = 3

"""Times to the first token, from their counts in steps. Pure.

A step ends a quarter (26 %) above where it begins. What is said of a share is the geometric middle of
the step in which it lies, so it is at most 12.3 % away from the true value.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, sqrt

from copilot_admin.models.usage import TTFT_LIMITS

PER_CENT = 12.3  # that a figure may be away from the true one


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstToken:
    """A time, in milliseconds.

    Attributes:
        ms: The middle of the step; at an end of the scale, the end.
        above: Where the step begins, which is slower than this.
        sign: `<` or `>` at the ends of the scale.
    """

    ms: int
    above: int
    sign: str = ""


def percentile(counts: Sequence[int], share: float) -> FirstToken | None:
    """The time within which a share of answers began.

    Args:
        counts: How many began in each step; one more than there are limits.
        share: Between 0 and 1.

    Returns:
        None when none began.
    """
    total = sum(counts)
    if not total:
        return None
    wanted, seen = max(1, ceil(share * total)), 0
    for step, number in enumerate(counts):
        seen += number
        if seen >= wanted:
            return _middle(step)
    raise AssertionError("more than all")  # the last step has seen all


def _middle(step: int) -> FirstToken:
    if step == 0:
        return FirstToken(ms=TTFT_LIMITS[0], above=-1, sign="<")
    if step == len(TTFT_LIMITS):
        return FirstToken(ms=TTFT_LIMITS[-1], above=TTFT_LIMITS[-1], sign=">")
    low, high = TTFT_LIMITS[step - 1], TTFT_LIMITS[step]
    return FirstToken(ms=round(sqrt(low * high)), above=low)

"""Whether a reading costs more than twice as much for twice the text.

The work is counted in CPU time of this thread: counting Python's steps would not see into regular
expressions, where the costs are. It is not the machine's speed that is tested but the ratio of the
costs of two sizes, eight times apart, so that a curve stands out from noise: a straight line has 8,
the limit is 2.5 for each doubling, a square has 64. By night there are sizes between and beyond them.
What seems too much is measured again before it fails; then the least of several measurements counts.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from time import thread_time

from copilot_admin.import_export.faults import BadCopilotFile

BY_DAY = (500, 4000)  # characters
BY_NIGHT = tuple(500 * 2**doubling for doubling in range(6))  # to 16,000
MOST_PER_DOUBLING = 2.5
ATTEMPTS = 30  # a busy machine spoils some; what really grows fails each within milliseconds
SHORTEST = 0.0005  # seconds of work in one measurement; less drowns in the clock's own cost
LONGEST = 0.02  # enough to be interrupted as often as the longest reading


def text_of(start: str, piece: str, end: str, *, size: int) -> str:
    return start + piece * (size // len(piece)) + end


def seconds(read: Callable[[str], object], text: str, *, at_least: float) -> float:
    """The CPU time of one reading, measured over as many as take so long together."""
    readings = 0
    began = thread_time()
    while (spent := thread_time() - began) < at_least:
        with suppress(ValueError, RecursionError, BadCopilotFile):  # a refusal is an answer too
            read(text)
        readings += 1
    return spent / readings


def exceeds(costs: dict[int, float], size: int) -> bool:
    """Whether a size costs too much beside a smaller one that is eight times apart, or fewer."""
    return any(
        costs[size] > costs[small] * MOST_PER_DOUBLING**3
        for small in costs
        if small < size <= 8 * small
    )


def grows_too_fast(
    read: Callable[[str], object], worst: tuple[str, str, str], *, sizes: Sequence[int] = BY_DAY
) -> bool:
    """Measures again and again what seems to; the least of all measurements counts.

    On a busy machine a reading of milliseconds shares the caches with others, which a shorter one
    escapes. So when it seems to grow, all sizes are measured anew and for as long as the longest.
    """
    measured = partial(longest_if_too_long, read, worst, sizes)
    if not (longest := measured({}, at_least=SHORTEST)):
        return False
    least: dict[int, float] = {}
    equally = max(SHORTEST, min(longest, LONGEST))
    return all(measured(least, at_least=equally) for _ in range(ATTEMPTS))


def longest_if_too_long(
    read: Callable[[str], object],
    worst: tuple[str, str, str],
    sizes: Sequence[int],
    least: dict[int, float],
    *,
    at_least: float,
) -> float:
    """Measures every size once; the cost of the first that is too high, 0 if none is.

    Only a size that was measured just now is judged: of an earlier measurement nothing new is known.
    It is too high beside the least of all measurements and beside those of this moment: all attempts
    may take 30 ms together, and a machine may become half as fast behind the first small text.
    """
    now: dict[int, float] = {}
    for size in sizes:
        now[size] = seconds(read, text_of(*worst, size=size), at_least=at_least)
        least[size] = min(now[size], least.get(size, float("inf")))
        if exceeds(least, size) and exceeds(now, size):
            return now[size]  # a larger text of the same kind could take minutes
    return 0

"""What is promised, whether it was kept, and the table that says so."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.walls.bystander import Sample, Seen

# The bystander's p99 of its polls and of the gaps in its answers, less what the machine is to blame
# for (see `noise`).
MOST_SECONDS = 0.5
MOST_BYTES = 400 * 1024 * 1024  # of each process that serves


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What is promised; the program can be told others, to see it fail."""

    seconds: float = MOST_SECONDS
    bytes: int = MOST_BYTES


@dataclass(frozen=True, slots=True)
class Waits:
    """How long the bystander waited in some time, in seconds.

    Attributes:
        own: The p99 of what the machine is not to blame for.
    """

    p50: float
    p99: float
    longest: float
    own: float = 0.0

    def __str__(self) -> str:
        return "/".join(f"{seconds * 1000:.0f}" for seconds in (self.p50, self.p99, self.longest))


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A class that was sent.

    Attributes:
        alone: The bystander's polls before it.
        polls: And meanwhile.
        gaps: In the bystander's answers meanwhile.
        largest: Bytes of the server's largest process.
        together: Of all that serve.
    """

    name: str
    sent: int
    statuses: Counter[int]
    alone: Waits
    polls: Waits
    gaps: Waits
    largest: int
    together: int
    problems: tuple[str, ...]


HEAD = (
    *("class", "sent", "answers", "alone p50/p99/max", "meanwhile", "p99 judged"),
    *("gaps p50/p99/max", "p99 judged"),
    *("largest process", "all", "kept"),
)


def waits(samples: Sequence[Sample], *, since: float, until: float) -> Waits:
    """What the bystander waited in a time; without a sample there is nothing to be told."""
    chosen = [one for one in samples if since <= one.at < until]
    seconds = sorted(one.seconds for one in chosen)
    if not seconds:
        return Waits(0.0, 0.0, 0.0)
    own = sorted(one.own for one in chosen)
    return Waits(
        _percentile(seconds, 50), _percentile(seconds, 99), seconds[-1], own=_percentile(own, 99)
    )


def _percentile(ordered: Sequence[float], percent: int) -> float:
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]


def broken(row: Row, bounds: Bounds) -> list[str]:
    """What of the promises was not kept."""
    found = list(row.problems)
    for what, waited in (("polls", row.polls), ("gaps", row.gaps)):
        if waited.own >= bounds.seconds:
            found.append(f"the p99 of the bystander's {what} is {waited.own * 1000:.0f} ms")
    if row.largest >= bounds.bytes:
        found.append(f"a process of the server took {_megabytes(row.largest)}")
    return found


def seen_problems(seen: Seen, *, may_be_refused: bool) -> list[str]:
    """What the bystander may not have seen."""
    found = list(dict.fromkeys(seen.problems))
    if seen.refused and not may_be_refused:
        found.append(f"the bystander was refused {seen.refused} times")
    if not seen.ended_well:
        found.append("no answer to the bystander ended well")
    return found


def cells(row: Row, bounds: Bounds) -> tuple[str, ...]:
    """A line of the table."""
    answers = " ".join(f"{status}:{count}" for status, count in sorted(row.statuses.items()))
    return (
        row.name,
        str(row.sent),
        answers or "-",
        str(row.alone),
        str(row.polls),
        f"{row.polls.own * 1000:.0f}",
        str(row.gaps),
        f"{row.gaps.own * 1000:.0f}",
        _megabytes(row.largest),
        _megabytes(row.together),
        "NO" if broken(row, bounds) else "yes",
    )


def _megabytes(size: int) -> str:
    return f"{size / 2**20:.0f} MB"

"""Limits of speed, and the tables of `make bench`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.streaming import Measurement

MAX_CHUNK_TO_PASSTHROUGH = 1.6
MAX_CHUNK_TO_EXAMPLE_STACK = 0.25
MAX_QUESTION_TO_PASSTHROUGH = 8.0
MAX_QUESTION_TO_EXAMPLE_STACK = 0.35
MAX_PAGE_MS = 200.0
MAX_TURN_BYTES = 12_000


@dataclass(frozen=True, slots=True)
class Limit:
    """A measured value and the most that it may be."""

    name: str
    value: float
    maximum: float

    @property
    def is_met(self) -> bool:
        return self.value <= self.maximum

    def __str__(self) -> str:
        verdict = "PASS" if self.is_met else "FAIL"
        return f"{verdict}  {self.name}: {self.value:.2f} (at most {self.maximum:g})"


def chunk_limits(results: Mapping[str, Measurement]) -> list[Limit]:
    """Return the limits of a streamed chunk."""
    ours = results["ours"].cpu_us
    return [
        Limit(
            "CPU of a chunk, ours / pass-through",
            ours / results["pass-through"].cpu_us,
            MAX_CHUNK_TO_PASSTHROUGH,
        ),
        Limit(
            "CPU of a chunk, ours / example stack",
            ours / results["example stack"].cpu_us,
            MAX_CHUNK_TO_EXAMPLE_STACK,
        ),
    ]


def question_limits(question_ms: Mapping[str, float]) -> list[Limit]:
    """Return the limits of a short question."""
    ours = question_ms["ours"]
    return [
        Limit(
            "CPU of a short question, ours / pass-through",
            ours / question_ms["pass-through"],
            MAX_QUESTION_TO_PASSTHROUGH,
        ),
        Limit(
            "CPU of a short question, ours / example stack",
            ours / question_ms["example stack"],
            MAX_QUESTION_TO_EXAMPLE_STACK,
        ),
    ]


def page_limits(page_ms: Mapping[str, float], turn_bytes: float) -> list[Limit]:
    """Return the limits of the admin's pages and of the space on disk."""
    pages = [Limit(f"server ms of {name}", ms, MAX_PAGE_MS) for name, ms in page_ms.items()]
    return [*pages, Limit("bytes of a turn on disk", turn_bytes, MAX_TURN_BYTES)]


def streaming_table(results: Mapping[str, Measurement]) -> str:
    """Return the table of what streams cost each server."""
    head = ("server", "CPU us/chunk", "first words +p50 ms", "+p99 ms", "peak MB", "noise")
    rows = [
        (
            name,
            f"{one.cpu_us:.1f}",
            f"{one.first_p50_ms:.1f}",
            f"{one.first_p99_ms:.1f}",
            f"{one.peak_mb:.0f}",
            f"{one.noise:.0%}",
        )
        for name, one in results.items()
    ]
    return format_table([head, *rows])


def question_table(question_ms: Mapping[str, float]) -> str:
    """Return the table of what short questions cost each server."""
    bare = question_ms["pass-through"]
    rows = [(name, f"{ms:.2f}", f"{ms / bare:.1f}") for name, ms in question_ms.items()]
    return format_table([("server", "CPU ms/short question", "x pass-through"), *rows])


def format_table(rows: Sequence[Sequence[str]]) -> str:
    """Align columns: the first to the left, the others to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )

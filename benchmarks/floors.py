"""What the comparison has to show, and the table that shows it."""

from collections.abc import Mapping
from dataclasses import dataclass

from benchmarks.streaming import Measured
from benchmarks.table import table


@dataclass(frozen=True, slots=True)
class Floor:
    """A bound that our figure keeps to."""

    words: str
    figure: float
    bound: float

    @property
    def kept(self) -> bool:
        return self.figure <= self.bound

    def __str__(self) -> str:
        verdict = "PASS" if self.kept else "FAIL"
        return f"{verdict}  {self.words}: {self.figure:.2f} (at most {self.bound:g})"


def floors(results: Mapping[str, Measured], question_ms: Mapping[str, float]) -> tuple[Floor, ...]:
    """All floors, by the figures of each server and what a short question costs it."""
    ours = results["ours"]
    return (
        Floor(
            "CPU a chunk, ours / example stack",
            ours.cpu_us / results["example stack"].cpu_us,
            0.25,
        ),
        Floor(
            "CPU a chunk, ours / pass-through", ours.cpu_us / results["pass-through"].cpu_us, 2.5
        ),
        short_floor(question_ms),
        Floor("first words, added p50, ms", ours.first_p50_ms, 10),
        Floor("memory with 200 streams, MB", ours.peak_mb, 300),
    )


def short_floor(question_ms: Mapping[str, float]) -> Floor:
    """What a short question may cost, by the milliseconds of each server."""
    ratio = question_ms["ours"] / question_ms["pass-through"]
    return Floor("CPU a short question, ours / pass-through", ratio, 4)


def short_figures(question_ms: Mapping[str, float]) -> str:
    """The table of what short questions cost each server."""
    bare = question_ms["pass-through"]
    rows = [(name, f"{ms:.2f}", f"{ms / bare:.1f}") for name, ms in question_ms.items()]
    return table([("server", "CPU ms/short question", "x pass-through"), *rows])


def figures(results: Mapping[str, Measured]) -> str:
    """The table of what streams cost each server."""
    head = (
        "server",
        "CPU us/chunk",
        "x ours",
        "first words +p50 ms",
        "+p99 ms",
        "peak MB",
        "noise",
    )
    ours = results["ours"].cpu_us
    rows = [
        (
            name,
            f"{one.cpu_us:.1f}",
            f"{one.cpu_us / ours:.2f}",
            f"{one.first_p50_ms:.1f}",
            f"{one.first_p99_ms:.1f}",
            f"{one.peak_mb:.0f}",
            f"{one.noise:.0%}",
        )
        for name, one in results.items()
    ]
    return table([head, *rows])

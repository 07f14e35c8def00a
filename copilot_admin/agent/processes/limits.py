"""What one process may take of the machine."""

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
import resource

_MOST_LIKELY = "1000"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits of a process, which the kernel keeps.

    Attributes:
        memory: Bytes of its address space.
        cpu_seconds: After which the kernel ends it.
    """

    memory: int
    cpu_seconds: int

    def set(self) -> None:
        """Sets them for this process, for good."""
        _limit(resource.RLIMIT_AS, self.memory)
        # At the lower limit the signal says why; who does not hear it is killed a second later.
        _limit(resource.RLIMIT_CPU, self.cpu_seconds, at_most=self.cpu_seconds + 1)
        _limit(resource.RLIMIT_CORE, 0)
        _limit(resource.RLIMIT_FSIZE, 0)  # it writes no file


def end_this_first() -> None:
    """Where the machine runs out of memory, the kernel ends this process and its children first."""
    with suppress(OSError):  # Linux alone has it
        Path("/proc/self/oom_score_adj").write_text(_MOST_LIKELY)


def _limit(what: int, most: int, *, at_most: int | None = None) -> None:
    with suppress(ValueError, OSError):
        resource.setrlimit(what, (most, most if at_most is None else at_most))

"""How much memory the processes of a server take while something goes on.

The processes that read files are left out: each has a limit of its own, which the kernel keeps.
What is read is the peak that the kernel keeps for each process, so nothing falls between two looks.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
import threading

from benchmarks.processes import Process, children

FILE_READER = b"copilot_admin.agent.files.worker"
EVERY_SECONDS = 0.25
_FORGET_PEAK = "5"  # proc_pid_clear_refs(5)


class Memory:
    """The peaks of a server's processes.

    Attributes:
        largest: Bytes of the process that took the most.
        together: The most bytes that all of them have taken, each at its peak.
    """

    def __init__(self, process: Process) -> None:
        self._process = process
        self.largest = 0
        self.together = 0

    def look(self) -> None:
        """Reads the peaks of all processes that live."""
        peaks = [_peak(one) for one in serving(self._process.popen.pid)]
        self.largest = max(self.largest, *peaks, 0)
        self.together = max(self.together, sum(peaks))


@contextmanager
def memory_of(process: Process) -> Iterator[Memory]:
    """Watches a server while the block runs."""
    for one in serving(process.popen.pid):
        with suppress(OSError):  # it has ended, or may not be told: then older peaks count too
            Path(f"/proc/{one}/clear_refs").write_text(_FORGET_PEAK)
    memory, ended = Memory(process), threading.Event()

    def watch() -> None:
        while not ended.wait(EVERY_SECONDS):
            memory.look()

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        yield memory
    finally:
        ended.set()
        watching.join()
        memory.look()


def serving(process: int) -> list[int]:
    """A server's process and those that it has started, without those that read files."""
    found = [process]
    for parent in found:
        found += [one for one in children(parent) if not _reads_files(one)]
    return found


def _reads_files(process: int) -> bool:
    with suppress(OSError):
        return FILE_READER in Path(f"/proc/{process}/cmdline").read_bytes()
    return False


def _peak(process: int) -> int:
    with suppress(OSError):
        for line in Path(f"/proc/{process}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return 0

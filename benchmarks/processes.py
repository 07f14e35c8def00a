"""Server processes: started on a core of their own, measured from outside, ended by id."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
import os
from pathlib import Path
from random import SystemRandom
import signal
import socket
import subprocess
import sys
import time
from typing import IO

ROOT = Path(__file__).resolve().parent.parent
START_SECONDS = 120.0
STOP_SECONDS = 30.0
# Below the ephemeral ports of Linux (32768 and up), which any client may take while a server starts.
PORTS = range(20_000, 32_000)
_CORES = sorted(os.sched_getaffinity(0))
SERVER_CORE = _CORES[-1]
LOAD_CORE = _CORES[0]  # of the upstream and the client; the same one where there is only one


@dataclass(frozen=True, slots=True)
class Process:
    """A running server."""

    popen: subprocess.Popen[bytes]
    port: int

    def cpu_seconds(self) -> float:
        """Return user and system time, including the processes that it has started."""
        return sum(map(_cpu_seconds_of, self._family()))

    def peak_bytes(self) -> int:
        """Return the peak resident memory."""
        lines = Path(f"/proc/{self.popen.pid}/status").read_text().splitlines()
        (line,) = (line for line in lines if line.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024

    def _family(self) -> list[int]:
        """Return the ids of the process and of all its descendants."""
        found = [self.popen.pid]
        for parent in found:
            found += _children(parent)
        return found

    def kill(self) -> None:
        """Kill it and its descendants, as a power cut would."""
        family = self._family()
        self.popen.kill()
        for one in family[1:]:
            with suppress(ProcessLookupError):
                os.kill(one, signal.SIGKILL)
        self.popen.wait()

    def stop(self) -> None:
        """Terminate it, and kill it if that takes too long."""
        self.popen.terminate()
        try:
            self.popen.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()


class Noise:
    """Share of the server's core that other processes take from now on."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._began = time.monotonic()
        self._before = self._others()

    def share(self) -> float:
        """Return the share, 0 to 1."""
        return max((self._others() - self._before) / (time.monotonic() - self._began), 0.0)

    def _others(self) -> float:
        """Return the seconds that others have used the core since the machine started.

        Source: proc_stat(5): user, nice, system, idle, iowait, irq, softirq, steal. Interrupts are
        left out: the network of the loopback is done in them.
        """
        rows = (line.split() for line in Path("/proc/stat").read_text().splitlines())
        (core,) = (row for row in rows if row[0] == f"cpu{SERVER_CORE}")
        busy = sum(map(int, core[1:4])) + int(core[8])
        return busy / os.sysconf("SC_CLK_TCK") - self._process.cpu_seconds()


@contextmanager
def on_load_core() -> Iterator[None]:
    """Keep this process on the core of the load, away from the server."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {LOAD_CORE})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


@contextmanager
def running(process: Process) -> Iterator[Process]:
    """Stop the process at the end."""
    try:
        yield process
    finally:
        process.stop()


def start(*arguments: str, port: int, core: int, env: Mapping[str, str], log: IO[bytes]) -> Process:
    """Start Python with some arguments and return when the port answers."""
    popen = subprocess.Popen(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**os.environ, **env},
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
    )
    os.sched_setaffinity(popen.pid, {core})
    process = Process(popen, port)
    try:
        _wait_for_port(process)
    except BaseException:
        process.kill()
        raise
    return process


def _cpu_seconds_of(pid: int) -> float:
    """Return the time of a process and of its ended children, or 0 if it has ended.

    Source: the clock of another process, as clock_getcpuclockid(3) makes its number; cutime and
    cstime in proc_stat(5).
    """
    with suppress(OSError):
        after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        of_children = (int(after_name[13]) + int(after_name[14])) / os.sysconf("SC_CLK_TCK")
        return time.clock_gettime((~pid << 3) | 2) + of_children
    return 0.0


def _children(process: int) -> list[int]:
    """Return the ids of the running children of a process.

    Source: proc_pid_task(5), `children`: of each thread.
    """
    found: list[int] = []
    with suppress(FileNotFoundError, ProcessLookupError):
        for thread in Path(f"/proc/{process}/task").iterdir():
            found += map(int, (thread / "children").read_text().split())
    return found


def free_port() -> int:
    """Return a port that nobody listens on."""
    for port in SystemRandom().sample(PORTS, len(PORTS)):
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
    raise RuntimeError(f"all ports from {PORTS[0]} to {PORTS[-1]} are taken")


def _wait_for_port(process: Process) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.popen.poll() is not None:
            raise RuntimeError(f"{process.popen.args!r} ended with {process.popen.returncode}")
        if _answers(process.port):
            return
        time.sleep(0.05)
    raise RuntimeError(f"{process.popen.args!r} does not listen")


def _answers(port: int) -> bool:
    """Return whether anything comes back: a port may be open before its server has started."""
    try:
        with socket.create_connection(("127.0.0.1", port), START_SECONDS) as connection:
            connection.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            return bool(connection.recv(1))
    except OSError:
        return False

"""Runs tests in a forked process: it starts with what was imported here, and leaves nothing."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
import os
from pathlib import Path
import resource
import signal
import sys
import tempfile
import traceback

MOST_BYTES = 4 * 2**30  # a loop that a change made endless may fill what it finds
PRINTED = "printed"  # a file in the folder of a process
_OPTIONS = (
    *("-q", "--tb=short", "-p", "no:cacheprovider", "-p", "no:faulthandler"),
    *("-p", "pytest_django.plugin", "-p", "_hypothesis_pytestplugin"),
)


@contextmanager
def own_folder() -> Iterator[Path]:
    """A folder for one process, which is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="mutant-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def forked(work: Callable[[], int], *, root: Path, folder: Path) -> int:
    """Does something in a process of its own.

    Args:
        work: Gives the status of the process, 0 to 255.
        root: The working directory, from which modules are imported.
        folder: For temporary files and what the process prints.

    Returns:
        The status, or the number of the signal that ended the process, below 0.
    """
    pid = os.fork()
    if pid == 0:
        status = 255
        try:
            settle(root, folder)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            status = work()
        except BaseException:
            traceback.print_exc()
            raise
        finally:
            os._exit(status)
    try:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    finally:
        _end(pid)


def run_pytest(
    paths: Sequence[str], plugins: Sequence[object], *options: str, database: Path | None
) -> int:
    """Runs tests in this process, without the plugins that do not matter here.

    Args:
        paths: Files or folders below the working directory.
        plugins: Hooks of the caller.
        options: Of pytest.
        database: What the tests get a copy of; None: those that need one make it.
    """
    import pytest

    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    ready = ("-p", "tests.mutants.ready_database", f"--ready-database={database}")
    more = (*options, *(ready if database else ()))
    return int(pytest.main([*paths, *_OPTIONS, *more], plugins=list(plugins)))


def printed(folder: Path) -> str:
    """What a process has printed."""
    return (folder / PRINTED).read_text(encoding="utf-8", errors="replace")


def settle(root: Path, folder: Path) -> None:
    """Makes this process, which was just forked, one of its own.

    Args:
        root: The working directory, from which modules are imported.
        folder: For temporary files and what the process prints.
    """
    os.setsid()  # what it starts can be ended with it
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_BYTES, MOST_BYTES))
    os.chdir(root)
    sys.path.insert(0, str(root))
    os.environ["TMPDIR"] = tempfile.tempdir = str(folder)
    os.environ.pop("DATABASE_URL", None)
    out = os.open(folder / PRINTED, os.O_WRONLY | os.O_CREAT)
    for stream in (1, 2):
        os.dup2(out, stream)


def _end(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        return  # nothing that it started is left

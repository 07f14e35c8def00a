"""The folder in which workers count together: a new one at each start, without those of the dead."""

from collections.abc import Iterator
from contextlib import contextmanager
import os
from tempfile import TemporaryDirectory

from django.conf import settings

FOLDER = "PROMETHEUS_MULTIPROC_DIR"  # read by Prometheus' client when it is imported


@contextmanager
def counting_together() -> Iterator[None]:
    """Lets workers that start meanwhile count in one folder, if figures are wanted."""
    if not settings.METRICS_READERS.are_there:
        yield
        return
    with TemporaryDirectory(prefix="copilot-figures-") as folder:
        os.environ[FOLDER] = folder
        try:
            yield
        finally:
            del os.environ[FOLDER]


def forget_process(pid: int | None) -> None:
    """Takes a process that has ended out of what stands at the moment; what it counted stays."""
    if pid is None or not os.environ.get(FOLDER):
        return
    from prometheus_client.multiprocess import mark_process_dead

    mark_process_dead(pid)  # type: ignore[no-untyped-call]

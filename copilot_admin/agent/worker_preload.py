"""Start of the fork server of `worker_processes`, which imports only this module."""

import gc
from io import BytesIO
import logging
import os
from pathlib import Path
import sys

_MARK = "COPILOT_FORK_SERVER"
_KILL_FIRST = "1000"


def _drop_environment() -> None:
    """Restart without the environment: it contains keys, which a broken parser could read."""
    if _MARK not in os.environ:
        environment = {"PYTHONPATH": os.environ.get("PYTHONPATH", ""), "OPENBLAS_NUM_THREADS": "1"}
        os.execve(sys.executable, sys.orig_argv, {**environment, _MARK: "1"})  # noqa: S606


def _load_libraries() -> None:
    """Read small files: libraries load more at the first one, 30 ms in each child otherwise."""
    import openpyxl  # noqa: F401  # readers import it and pptx on demand
    from PIL import Image
    import pptx  # noqa: F401

    from copilot_admin.agent.documents.registry import data_types, parts_of
    from copilot_admin.agent.toolkits.returns.measures import measure_series
    import protocol.json_schema  # noqa: F401  # for checks of data notes

    data_types()
    Image.init()
    Image.new("RGB", (1, 1)).save(BytesIO(), format="PNG")
    measure_series(
        [{"date": f"2024-01-0{day}", "A": day, "B": 9 - day} for day in range(1, 5)], "beta"
    )
    list(parts_of("Größe für Bäume".encode("cp1252"), data_type="txt"))


def _prepare() -> None:
    _drop_environment()
    _load_libraries()
    logging.disable()  # log messages of parsers may quote the file
    for stream in (1, 2):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
    oom_score = Path("/proc/self/oom_score_adj")
    if oom_score.exists():
        oom_score.write_text(_KILL_FIRST)
    gc.collect()
    gc.freeze()  # loaded objects stay in memory that all children share


if "multiprocessing.forkserver" in sys.orig_argv[-1]:
    _prepare()

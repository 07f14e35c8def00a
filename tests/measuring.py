"""A plugin of pytest that notes which lines and branches were run: `-p tests.measuring`.

SlipCover changes the code that is imported, and takes its probes out again once they were hit, so
that a run takes a third longer. (Where the interpreter calls a tracer for each line, as it has to
before Python 3.12, it took three times as long.) Each process writes what it saw into the folder
that `MEASURED_FOLDER` names.
"""

import json
import os
from pathlib import Path

import pytest
from slipcover import FileMatcher, ImportManager, Slipcover

from tests.measured import LEFT_OUT, MEASURED_FOLDER, NO_CODE, SOURCES

_probes = Slipcover(
    immediate=True, branch=True, source=SOURCES, omit=LEFT_OUT, exclude_also=NO_CODE
)
# For good: what is imported from now on is measured, and a plugin comes before all of it.
ImportManager(_probes, FileMatcher(sources=SOURCES, omit=LEFT_OUT)).__enter__()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Writes what this process has run; the one that hands the tests out to others runs none."""
    options = session.config.option
    if getattr(options, "numprocesses", None) and not hasattr(session.config, "workerinput"):
        return
    file = Path(os.environ[MEASURED_FOLDER]) / f"{os.getpid()}.json"
    file.write_text(json.dumps(_probes.get_coverage()), encoding="utf-8")

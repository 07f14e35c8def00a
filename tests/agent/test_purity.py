"""The agent imports no Django."""

import subprocess
import sys

from tests.polling import HANGS_SECONDS

IMPORT_ALL = """
import importlib, pkgutil, sys
from copilot_admin import agent, errors
for module in pkgutil.walk_packages(agent.__path__, "copilot_admin.agent."):
    importlib.import_module(module.name)
print(sorted({name.partition(".")[0] for name in sys.modules} & {"django", "channels", "ninja"}))
"""


def test_agent_imports_no_django():
    done = subprocess.run(
        [sys.executable, "-c", IMPORT_ALL],
        capture_output=True,
        text=True,
        check=True,
        timeout=HANGS_SECONDS,
    )
    assert done.stdout.strip() == "[]"

"""The wire package stands alone: it needs no Django and nothing of ours."""

import pkgutil
import subprocess
import sys

import protocol

MODULES = [module.name for module in pkgutil.walk_packages(protocol.__path__, prefix="protocol.")]


def test_importing_every_module_imports_no_framework():
    program = (
        "import importlib, sys\n"
        f"for name in {MODULES!r}: importlib.import_module(name)\n"
        "roots = {name.partition('.')[0] for name in sys.modules}\n"
        "print(sorted(roots & {'django', 'copilot_admin', 'openai', 'openbb_ai', 'asgiref'}))\n"
    )
    done = subprocess.run(  # our own interpreter, our own text
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def test_every_module_was_found():
    assert {"protocol.parsing", "protocol.message_parsing", "protocol.sse"} <= set(MODULES)

"""All threads of a server share a few heaps."""

import subprocess
import sys

import pytest

from copilot_admin.server.heaps import HEAPS

# Sixteen threads at the same time; what malloc says of its heaps is counted.
MANY_THREADS = """
import ctypes, sys, threading
from copilot_admin.server.heaps import keep_few_heaps
keep_few_heaps()
together = threading.Barrier(16)
def take():
    together.wait()
    kept = [bytes(1000 + n) for n in range(100)]
    together.wait()
threads = [threading.Thread(target=take) for _ in range(16)]
[one.start() for one in threads]
[one.join() for one in threads]
ctypes.CDLL(None).malloc_stats()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="asks the C library of Linux")
def test_many_threads_share_a_few_heaps():
    done = subprocess.run([sys.executable, "-c", MANY_THREADS], capture_output=True, check=True)
    assert 1 <= done.stderr.count(b"Arena ") <= HEAPS

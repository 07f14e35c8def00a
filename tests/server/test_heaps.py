"""All threads of a server share a few heaps; what is large has none."""

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


# Texts of 8 MB that go and come, behind each something small that stays; then what the heaps hold.
LARGE_TEXTS = """
import ctypes
from copilot_admin.server.heaps import keep_few_heaps
keep_few_heaps()
kept = []
for _ in range(20):
    large = "x" * 8_000_000
    kept.append(bytes(100_000))
    del large
ctypes.CDLL(None).malloc_stats()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="asks the C library of Linux")
def test_no_heap_keeps_the_room_of_a_large_text():
    done = subprocess.run([sys.executable, "-c", LARGE_TEXTS], capture_output=True, check=True)
    heaps, _, _ = done.stderr.partition(b"Total")
    sizes = [int(line.split()[-1]) for line in heaps.splitlines() if b"system bytes" in line]
    assert sum(sizes) < 8_000_000

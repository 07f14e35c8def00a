"""All threads of a server share a few heaps; what is large has none, and gaps go back."""

import subprocess
import sys

import pytest

from copilot_admin.http.heaps import HEAPS

# Sixteen threads at the same time; what malloc says of its heaps is counted.
MANY_THREADS = """
import ctypes, sys, threading
from copilot_admin.http.heaps import keep_few_heaps
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
from copilot_admin.http.heaps import keep_few_heaps
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


# Twenty megabytes in pieces, of which every hundredth stays; then what of it is resident.
GAPS = """
from copilot_admin.http.heaps import give_back_gaps, keep_few_heaps

def resident():
    with open("/proc/self/status") as status:
        (line,) = (line for line in status if line.startswith("VmRSS"))
    return int(line.split()[1]) * 1024

keep_few_heaps()
before = resident()
kept = [bytes(20_000) for _ in range(1000)]
kept[:] = kept[::100]
filled = resident()
give_back_gaps()
print(before, filled, resident())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="asks the kernel of Linux")
def test_the_gaps_between_what_stays_go_back():
    done = subprocess.run([sys.executable, "-c", GAPS], capture_output=True, check=True)
    before, filled, after = map(int, done.stdout.split())
    assert filled - before > 10_000_000
    assert after - before < 5_000_000

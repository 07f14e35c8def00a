"""The memory of a server process: what a large request took goes back to the system, or to the next."""

import ctypes

# Of mallopt; Source: malloc.h of glibc
_M_MMAP_THRESHOLD = -3
_M_ARENA_MAX = -8
HEAPS = 2
# What is as large has pages of its own, which the system has back with it. Left to itself, the C
# library takes up to 32 MB out of a heap once it has seen as much go, and keeps the gap.
OWN_PAGES_BYTES = 512 * 1024


def keep_few_heaps() -> None:
    """Lets all threads share a few heaps, where the C library would give each its own.

    Views run in many threads, one after the other. With eight heaps a core each kept what its
    largest request had left in it: some 100 MB more after a few large files. The lock of the
    interpreter is waited for before any of a heap.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # not every C library has it
    if mallopt is not None:
        mallopt(_M_ARENA_MAX, HEAPS)
        mallopt(_M_MMAP_THRESHOLD, OWN_PAGES_BYTES)

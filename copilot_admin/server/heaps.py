"""The memory of a server process: what a large request took goes back to the system, or to the next."""

import ctypes

_M_ARENA_MAX = -8  # of mallopt; Source: malloc.h of glibc
HEAPS = 2


def keep_few_heaps() -> None:
    """Lets all threads share a few heaps, where the C library would give each its own.

    Views run in many threads, one after the other. With eight heaps a core each kept what its
    largest request had left in it: some 100 MB more after a few large files. The lock of the
    interpreter is waited for before any of a heap.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # not every C library has it
    if mallopt is not None:
        mallopt(_M_ARENA_MAX, HEAPS)

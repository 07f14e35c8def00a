"""The memory of a server process: what a large request took goes back to the system, or to the next."""

import ctypes

# Of mallopt; Source: malloc.h of glibc
_M_MMAP_THRESHOLD = -3
_M_ARENA_MAX = -8
HEAPS = 2
# What is as large has pages of its own, which the system has back with it. Left to itself, the C
# library takes up to 32 MB out of a heap once it has seen as much go, and keeps the gap.
OWN_PAGES_BYTES = 512 * 1024
_LIBRARY = ctypes.CDLL(None)


def keep_few_heaps() -> None:
    """Lets all threads share a few heaps, where the C library would give each its own.

    Views run in many threads, one after the other. With eight heaps a core each kept what its
    largest request had left in it: some 100 MB more after a few large files. The lock of the
    interpreter is waited for before any of a heap.
    """
    mallopt = getattr(_LIBRARY, "mallopt", None)  # not every C library has it
    if mallopt is not None:
        mallopt(_M_ARENA_MAX, HEAPS)
        mallopt(_M_MMAP_THRESHOLD, OWN_PAGES_BYTES)


def give_back_gaps() -> None:
    """Hands the system what the heaps keep of requests that are gone, between what is still used.

    The C library gives back only the end of a heap, and that not while anything lies behind it. The
    pieces of large questions are shorter than what has pages of its own: 40 of them left gaps of
    160 MB, to which what the next one took of its own came. For each 100 MB it takes some 15 ms, in
    which the other threads of the process go on as far as they need nothing of a heap.
    """
    malloc_trim = getattr(_LIBRARY, "malloc_trim", None)  # not every C library has it
    if malloc_trim is not None:
        malloc_trim(0)

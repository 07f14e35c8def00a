"""A task that does whatever its order says."""

import os
from pathlib import Path
import resource
import signal
import sys


def perform(order, body):
    yield {"process": os.getpid()}
    match order["do"]:
        case "echo":
            yield body.decode()
        case "wait":
            signal.pause()
        case "exit":
            os._exit(0)
        case "raise":
            raise IndexError
        case "spin":
            resource.setrlimit(resource.RLIMIT_CPU, (1, 2))
            while True:
                pass
        case "allocate":
            yield len(bytes(2**31))
        case "signal":
            os.kill(os.getpid(), int(body))
        case "describe":
            yield Path("/proc/self/environ").read_text()
            yield resource.getrlimit(resource.RLIMIT_CPU)[0]
            yield resource.getrlimit(resource.RLIMIT_FSIZE)[0]
            yield sorted({"aiohttp", "django"} & set(sys.modules))

"""A program that does whatever an order says, also what no reader of files should."""

import os
import resource
import signal

from copilot_admin.agent.processes.fork_server import serve
from copilot_admin.agent.processes.limits import Limits

LIMITS = Limits(memory=2**30, cpu_seconds=5)


def perform(order, body):
    yield {"process": os.getpid()}
    match order["do"]:
        case "say":
            yield body.decode()
        case "wait":
            signal.pause()
        case "end":
            os._exit(0)
        case "break":
            raise IndexError
        case "spin":
            resource.setrlimit(resource.RLIMIT_CPU, (1, 2))
            while True:
                pass
        case "grow":
            yield len(bytes(2**31))
        case "signal":
            os.kill(os.getpid(), int(body))
        case "tell":
            yield sorted(os.environ)
            yield resource.getrlimit(resource.RLIMIT_CPU)[0]
            yield resource.getrlimit(resource.RLIMIT_FSIZE)[0]


if __name__ == "__main__":
    serve(perform, limits=LIMITS)

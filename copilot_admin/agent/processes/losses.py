"""Why a process ended before its work was done, as far as the kernel or the process itself says."""

from collections.abc import Mapping
from enum import IntEnum
import os
import signal

NO_MEMORY = 3  # the status of a process that could not have as much as it asked for


class Loss(IntEnum):
    """What cost a process its life; a byte on the line from the fork server."""

    UNKNOWN = 0  # the fork server itself is gone
    DAMAGE = 1
    TIME = 2
    MEMORY = 3


# The kernel sends the first where the CPU time is used up, and the second where the machine has no
# memory left; libraries that are refused memory abort.
_BY_SIGNAL: Mapping[int, Loss] = {
    signal.SIGXCPU: Loss.TIME,
    signal.SIGKILL: Loss.MEMORY,
    signal.SIGABRT: Loss.MEMORY,
}


def loss_of(status: int) -> Loss:
    """What a process died of, by what `os.waitpid` says of it.

    One that says that all went well has not kept its word, if anybody still waits for its replies.
    """
    if os.WIFSIGNALED(status):
        return _BY_SIGNAL.get(os.WTERMSIG(status), Loss.DAMAGE)
    return Loss.MEMORY if os.waitstatus_to_exitcode(status) == NO_MEMORY else Loss.DAMAGE

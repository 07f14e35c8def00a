"""Signals that mean nothing to a server, and by default end or stop a process as it stands.

They are meant for a supervisor of several workers, which hears some of them, or for another program.
Loads nothing of Django: workers come by here before it is there.
"""

import signal

MEANT_FOR_OTHERS = (signal.SIGUSR1, signal.SIGUSR2, signal.SIGTTIN, signal.SIGTTOU)


def ignore_signals_of_others() -> None:
    """Lets them do nothing to this process and to those that it starts."""
    for number in MEANT_FOR_OTHERS:
        signal.signal(number, signal.SIG_IGN)

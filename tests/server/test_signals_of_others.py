"""Signals that a server has no use for."""

import signal

from copilot_admin.server.signals_of_others import MEANT_FOR_OTHERS, ignore_signals_of_others


def test_they_end_and_stop_nothing():
    before = {number: signal.getsignal(number) for number in MEANT_FOR_OTHERS}
    try:
        ignore_signals_of_others()
        for number in MEANT_FOR_OTHERS:
            signal.raise_signal(number)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

"""A plugin of pytest that hides what is loaded from the garbage collector: `-p tests.loading`.

Modules and tests stay until the end. To walk through all of them takes it half a second, dozens of
times in a session; and while they are loaded it finds nothing, a tenth of the time.
"""

from collections.abc import Generator
import gc

import pytest

gc.disable()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Lets it look at what comes after the tests are collected, as seldom as in a server."""
    from copilot_admin.server.garbage import look_rarely  # measured, so not before the measuring

    try:
        return (yield)
    finally:
        gc.freeze()
        look_rarely()
        gc.enable()

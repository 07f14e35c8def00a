"""What pytest is told in a forked process: which tests, how long each, and what to measure."""

from collections.abc import Collection, Generator, Mapping, Sequence
import json
from pathlib import Path
import signal
import time

from coverage import Coverage
import pytest

# Marks of what a change is not tried with: services, and what seldom finds something.
OUTSIDE = frozenset({"browser", "nginx", "nightly", "pgbouncer", "postgres", "redis"})
NO_TEST = ""  # the context of what runs outside of every test, at an import for example


class Selection:
    """Keeps some tests, in a given order; those that were not there before are kept too.

    A change may give tests other names: the words of a module may be names of examples.
    """

    def __init__(self, selected: Sequence[str], known: Collection[str]) -> None:
        self._place = {name: place for place, name in enumerate(selected)}
        self._left_out = frozenset(known) - frozenset(selected)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        self.keep(items)

    def keep(self, items: list[pytest.Item]) -> None:
        """Leaves out what is not selected, and puts the others in their order."""
        kept = [one for one in items if one.nodeid not in self._left_out and not _is_outside(one)]
        items[:] = sorted(kept, key=lambda one: self._place.get(one.nodeid, -1))


class FirstFailure:
    """Lets properties be satisfied with any example that breaks them.

    To look for the smallest takes minutes, and nobody reads it.
    """

    def pytest_configure(self) -> None:
        from hypothesis import Phase, settings

        phases = (Phase.explicit, Phase.generate)
        settings.register_profile("first failure", parent=settings(), phases=phases)
        settings.load_profile("first failure")


class Limits:
    """Ends the process when a test takes much longer than without a change.

    Args:
        seconds: How long each test takes without it.
        times: As long as that it may take,
        at_least: and so many seconds more.
        begun: A file that is there as soon as any test begins.
    """

    def __init__(
        self, seconds: Mapping[str, float], *, times: float, at_least: float, begun: Path
    ) -> None:
        self._seconds = seconds
        self._times = times
        self._at_least = at_least
        self._begun = begun

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        self._begun.touch()
        usual = self._seconds.get(item.nodeid, 0.0)
        # The kernel ends the process, whatever Python is busy with.
        signal.setitimer(signal.ITIMER_REAL, self._at_least + self._times * usual)
        return (yield)


class Measuring:
    """Notes how long each test takes and which lines of the sources it runs."""

    def __init__(self, folder: Path, sources: Sequence[Path]) -> None:
        self._seconds: dict[str, float] = {}
        self._file = folder / "seconds.json"
        self._coverage = Coverage(
            data_file=str(folder / "coverage"),
            config_file=False,
            include=[f"{one}/*" if one.is_dir() else str(one) for one in sources],
            concurrency=["thread"],
        )
        self._coverage.start()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        self._coverage.switch_context(item.nodeid)
        started = time.perf_counter()
        try:
            return (yield)
        finally:
            self._seconds[item.nodeid] = time.perf_counter() - started
            self._coverage.switch_context(NO_TEST)

    def pytest_sessionfinish(self) -> None:
        self._coverage.stop()
        self._coverage.save()
        self._file.write_text(json.dumps(self._seconds), encoding="utf-8")


def _is_outside(item: pytest.Item) -> bool:
    return any(mark.name in OUTSIDE for mark in item.iter_markers())

"""Rates that have no room for some seconds: a flood of refusals asks no counter."""

from datetime import datetime

from copilot_admin.limits.rules import Rule

_MOST = 10_000  # that are remembered; a megabyte or two


class ClosedRates:
    """When rates have room again."""

    def __init__(self) -> None:
        self._until: dict[Rule, datetime] = {}

    def until(self, rule: Rule, now: datetime) -> datetime | None:
        """When a rate has room again; None: it may have some now."""
        until = self._until.get(rule)
        if until is None or until > now:
            return until
        del self._until[rule]
        return None

    def close(self, rule: Rule, *, until: datetime, now: datetime) -> None:
        """Notes that a rate has none."""
        if len(self._until) >= _MOST:
            self._until = {one: end for one, end in self._until.items() if end > now}
        self._until[rule] = until

    def forget(self) -> None:
        """Begins anew."""
        self._until.clear()


CLOSED_RATES = ClosedRates()

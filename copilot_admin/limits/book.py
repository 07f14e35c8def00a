"""The limits that hold now, kept in memory: every request looks.

What the admin of this process changes is read anew at once; other processes look every few seconds.
"""

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from math import inf
import time
from types import MappingProxyType
from typing import Any, TypeAlias

from django.conf import settings
from django.db import transaction

from copilot_admin.limits.rules import LimitRule, rules_of
from copilot_admin.limits.subjects import Asking, LimitSubject
from copilot_admin.limits.taken_away import forget, taken_away
from copilot_admin.models import Copilot, LimitScope, SubjectLimits
from copilot_admin.storage.selects import member
from copilot_admin.storage.writer import READER

Limits: TypeAlias = Mapping[str, Any]
STALE_SECONDS = 15.0  # three rounds of housekeeping
_NOTHING: Limits = MappingProxyType({})


class Book:
    """The limits of every subject that has some.

    Args:
        clock: Seconds that never go back.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._read_at = -inf
        self._limits: Mapping[LimitSubject, Limits] = {}
        self._rules: dict[LimitSubject, tuple[LimitRule, ...]] = {}
        self._taken_away: frozenset[str] = frozenset()  # counters that are to be forgotten

    def rules_for(self, asking: Asking) -> tuple[LimitRule, ...]:
        """What holds for a request, the narrowest first."""
        rules: list[LimitRule] = []
        for subject in asking.subjects:
            found = self._rules.get(subject)
            if found is None:
                found = self._make(subject, is_anonymous=asking.is_anonymous)
            rules += found
        return tuple(rule for rule in rules if _is_for(rule, asking)) if rules else ()

    def limits_of(self, subject: LimitSubject, *, is_anonymous: bool = False) -> Limits:
        """The limits of a subject: its own, and for what it has none those of all of its kind."""
        own = self._limits.get(subject, _NOTHING)
        if subject.scope is LimitScope.ADDRESS and not is_anonymous:
            return own
        everyone = self._limits.get(LimitSubject(subject.scope), _NOTHING)
        if subject.scope is LimitScope.ADDRESS:
            everyone = {**settings.ANONYMOUS_LIMITS, **everyone}
        return {**everyone, **own}

    @property
    def is_stale(self) -> bool:
        """Whether nobody has read it for long: a worker that asks saved questions has no duties."""
        return self._clock() - self._read_at > STALE_SECONDS

    def read(self) -> None:
        """Takes over what the database holds now."""
        self._read_at = self._clock()
        rows = SubjectLimits.objects.values_list("scope", "subject", "limits")
        found = {
            LimitSubject(member(LimitScope, scope), subject): limits
            for scope, subject, limits in rows
        }
        copilots = Copilot.objects.exclude(limits={}).values_list("pk", "limits")
        found |= {LimitSubject(LimitScope.COPILOT, str(pk)): limits for pk, limits in copilots}
        if found != self._limits:
            self._taken_away |= taken_away(self._limits, found)
            self._limits = found
            self._rules = {}

    async def look_after(self) -> None:
        """Takes over what other processes changed; of all that notice it the last one forgets."""
        await READER.run(self.read)
        patterns = self._taken_away
        if not patterns:
            return
        is_done = await asyncio.to_thread(forget, patterns)
        if is_done:
            self._taken_away -= patterns

    def forget(self) -> None:
        """Holds nothing until somebody reads it."""
        self._limits, self._rules, self._read_at = {}, {}, inf
        self._taken_away = frozenset()

    def _make(self, subject: LimitSubject, *, is_anonymous: bool) -> tuple[LimitRule, ...]:
        """The rules of a subject; kept only for those with a row, since of addresses there is no end."""
        made = rules_of(subject, self.limits_of(subject, is_anonymous=is_anonymous))
        if subject.scope is not LimitScope.ADDRESS and subject.scope is not LimitScope.USER:
            self._rules[subject] = made
        return made


def _is_for(rule: LimitRule, asking: Asking) -> bool:
    """Whether a rule holds for a request: a trial is no use of a copilot, but costs as much."""
    if rule.is_seat or rule.counts_requests:
        return not asking.is_trial and (asking.is_answered or rule.counts_requests)
    return asking.is_answered


def limits_changed(**_: object) -> None:
    """Reads the book anew once a change is committed."""
    transaction.on_commit(partial(BOOK.read))


BOOK = Book()

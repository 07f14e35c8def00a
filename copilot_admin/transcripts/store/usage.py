"""Count what happened into the rollups of its hour and its day; figures are read from them alone.

Whatever is counted says so in its own row, so that nothing counts twice and what is older than the
rollups can be counted later.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import Model

from copilot_admin.models import (
    CallerDay,
    CriterionUsage,
    DailyTotal,
    DailyUsage,
    ErrorUsage,
    HourlyUsage,
    Outcome,
)
from copilot_admin.models.conversations import PLAYGROUND
from copilot_admin.models.usage import TTFT_COLUMNS, TTFT_LIMITS
from copilot_admin.storage.held_back import Number, hold_back, hold_sum
from copilot_admin.storage.statements import Insert, Update, database_here

ERRORS = frozenset({Outcome.FAILED, Outcome.CRASHED, Outcome.INTERRUPTED})
_OUTCOMES = tuple(one.value for one in Outcome if one is not Outcome.RUNNING)
_VOTES = ("up", "down", "good", "mixed", "bad")
COUNTED = (
    "runs", "questions", "conversations", "errors", *_OUTCOMES, "tokens", "cost", "unpriced",
    *_VOTES, *TTFT_COLUMNS,
)  # fmt: skip
_ROW = ("copilot_id", "version", "model")
_ADD_TO_RUN = tuple(name for name in COUNTED if name not in _VOTES)
_known_callers: dict[tuple[str, date, int, str], int] = {}  # first hours that this process wrote
_MOST_KNOWN = 10_000


class _Rollup:
    """The statements of one table of counts.

    Args:
        model: Whose table.
        where: Columns that say which row it is.
        add: Columns to which something is added.
    """

    def __init__(self, model: type[Model], *, where: Sequence[str], add: Sequence[str]) -> None:
        self._place = (model._meta.db_table,)
        self._nothing: Mapping[str, Number] = dict.fromkeys(add, 0)
        self._columns = add[0]  # no two ways to change one table begin with the same
        self._insert = Insert(model, returning=("id",), or_ignore=True)
        self._add = Update(model, where=where, add=add)

    def __call__(self, row: Mapping[str, object], more: Mapping[str, Number]) -> None:
        """Adds to a row, and makes it with the first; where there is none, nothing is taken away.

        Args:
            row: Which one.
            more: By column, where there is something to add.
        """
        # Apart from what is added: where a row is gone, that still makes it.
        is_taken = min(more.values()) < 0
        place = (*self._place, *row.values(), self._columns, is_taken)
        hold_sum(place, more, partial(self._change, row))

    def _change(self, row: Mapping[str, object], numbers: Mapping[str, Number]) -> None:
        more = {**self._nothing, **numbers}
        if self._add(**row, **more) or min(more.values()) < 0:
            return
        if self._insert(**row, **more) is None:
            self._add(**row, **more)  # somebody else made it meanwhile


_TOTAL = ("day", "copilot_id", "version")
_DAY = ("day", *_ROW)
_HOUR = ("hour", *_ROW)
_TOTAL_RUN = _Rollup(DailyTotal, where=_TOTAL, add=_ADD_TO_RUN)
_TOTAL_VOTES = _Rollup(DailyTotal, where=_TOTAL, add=_VOTES)
_DAILY_RUN = _Rollup(DailyUsage, where=_DAY, add=_ADD_TO_RUN)
_DAILY_VOTES = _Rollup(DailyUsage, where=_DAY, add=_VOTES)
_HOURLY_RUN = _Rollup(HourlyUsage, where=_HOUR, add=_ADD_TO_RUN)
_HOURLY_VOTES = _Rollup(HourlyUsage, where=_HOUR, add=_VOTES)
_COST = ("cost", "unpriced")
_TOTAL_COST = _Rollup(DailyTotal, where=_TOTAL, add=_COST)
_DAILY_COST = _Rollup(DailyUsage, where=_DAY, add=_COST)
_HOURLY_COST = _Rollup(HourlyUsage, where=_HOUR, add=_COST)
_ERRORS_OF_HOUR = _Rollup(ErrorUsage, where=("hour", "copilot_id", "code"), add=("number",))
_CRITERIA_OF_HOUR = _Rollup(
    CriterionUsage, where=("hour", "copilot_id", "criterion_id"), add=("number", "total")
)
_INSERT_CALLER = Insert(CallerDay, returning=("id",), or_ignore=True)


def person_of(user_id: int) -> str:
    """How people are counted who are named: by the id of their row."""
    return f"user:{user_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageKey:
    """Where something counts: when, of which copilot, who answered; `version` 0: none did."""

    at: datetime
    copilot_id: int
    version: int
    model: str
    principal: str
    user_id: int | None = None

    @property
    def person(self) -> str:
        """Who counts as one: the user, or the key where nobody named one; "" where neither is kept."""
        return self.principal if self.user_id is None else person_of(self.user_id)

    @property
    def is_use(self) -> bool:
        """Whether it counts: what a builder tries would be taken for use."""
        return not self.principal.startswith(PLAYGROUND)

    @property
    def hour(self) -> datetime:
        """The beginning of its hour."""
        return self.at.astimezone(UTC).replace(minute=0, second=0, microsecond=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedRun:
    """One run that has ended, as it counts.

    Attributes:
        begins_turn: It is the first of its question.
        begins_conversation: It is the first of its conversation.
        ttft_ms: None: no token came.
        cost: None: nobody knows.
    """

    outcome: Outcome
    error_code: str = ""
    tokens: int = 0
    ttft_ms: int | None = None
    cost: Decimal | None = Decimal(0)
    begins_turn: bool = False
    begins_conversation: bool = False


def beginnings(
    started_at: datetime, *, turn: datetime | None, talk: datetime | None
) -> Mapping[str, bool]:
    """Whether a run is the first of its question and of its conversation: it began when they did.

    Where nothing is kept there is neither: every run is taken for a question.

    Args:
        started_at: Of the run.
        turn: When its question was asked.
        talk: When its conversation began.
    """
    return {
        "begins_turn": turn is None or turn == started_at,
        "begins_conversation": talk == started_at,
    }


def count(asked: UsageKey, run: CountedRun, *, times: int = 1) -> None:
    """Adds a run to the rollups, or several that ended alike."""
    _count(asked, run, sign=times)
    if asked.is_use and asked.person and run.outcome is not Outcome.REFUSED:
        _note_caller(asked)


def uncount(asked: UsageKey, run: CountedRun) -> None:
    """Takes a run out again that was counted with an end that was only guessed."""
    _count(asked, run, sign=-1)


def count_cost(asked: UsageKey, cost: Decimal, *, was_unpriced: bool = True) -> None:
    """Adds the cost of a run that was counted without it.

    Args:
        asked: Where it counts.
        cost: Of the run.
        was_unpriced: Whether it was counted as one of unknown cost.
    """
    if asked.is_use:
        more: Mapping[str, Number] = {"cost": cost, "unpriced": -int(was_unpriced)}
        _add(asked, more, (_TOTAL_COST, _DAILY_COST, _HOURLY_COST))


def count_votes(asked: UsageKey, votes: Mapping[str, int]) -> None:
    """Adds thumbs and ratings, by the names of their columns; less than 0 takes away."""
    if asked.is_use and any(votes.values()):
        more = {name: votes.get(name, 0) for name in _VOTES}
        _add(asked, more, (_TOTAL_VOTES, _DAILY_VOTES, _HOURLY_VOTES))


def count_mark(asked: UsageKey, criterion_id: int, *, number: int, total: int) -> None:
    """Adds marks of a label or a score; less than 0 takes away."""
    if asked.is_use and (number or total):
        row = {"hour": asked.hour, "copilot_id": asked.copilot_id, "criterion_id": criterion_id}
        _CRITERIA_OF_HOUR(row, {"number": number, "total": total})


def _count(asked: UsageKey, run: CountedRun, *, sign: int) -> None:
    if not asked.is_use:
        return
    more = {name: sign * number for name, number in _increments(run).items()}
    _add(asked, more, (_TOTAL_RUN, _DAILY_RUN, _HOURLY_RUN))
    if run.error_code:
        row = {"hour": asked.hour, "copilot_id": asked.copilot_id, "code": run.error_code}
        _ERRORS_OF_HOUR(row, {"number": sign})


def _add(
    asked: UsageKey, more: Mapping[str, Number], rollups: tuple[_Rollup, _Rollup, _Rollup]
) -> None:
    """Adds to the totals of a day, its rows by model, and those of its hours."""
    total, daily, hourly = rollups
    hour, day = asked.hour, asked.hour.date()
    row: dict[str, object] = {"copilot_id": asked.copilot_id, "version": asked.version}
    total({"day": day, **row}, more)
    row["model"] = asked.model
    daily({"day": day, **row}, more)
    hourly({"hour": hour, **row}, more)


def _increments(run: CountedRun) -> Mapping[str, Number]:
    """What a run adds to the columns to which it adds something: a few of twenty."""
    columns: dict[str, Number] = {
        "runs": 1,
        "questions": int(run.begins_turn),
        "conversations": int(run.begins_conversation),
        "errors": int(run.outcome in ERRORS),
        run.outcome.value: 1,
        "tokens": run.tokens,
        "cost": run.cost or 0,
        "unpriced": int(run.cost is None),
    }
    if run.ttft_ms is not None:
        columns[TTFT_COLUMNS[bisect_left(TTFT_LIMITS, run.ttft_ms)]] = 1
    return {name: number for name, number in columns.items() if number}


def _note_caller(asked: UsageKey) -> None:
    """Notes who asked on that day, and the first hour; what this process noted costs nothing."""
    day, hour = asked.hour.date(), asked.hour.hour
    key = (str(database_here().settings_dict["NAME"]), day, asked.copilot_id, asked.person)
    if _known_callers.get(key, 24) <= hour:
        return
    row = {"day": day, "copilot_id": asked.copilot_id, "principal": asked.person}
    hold_back((CallerDay._meta.db_table, *row.values()), partial(_write_caller, row, hour, key))


def _write_caller(row: Mapping[str, Any], hour: int, key: tuple[str, date, int, str]) -> None:
    if _INSERT_CALLER(**row, first_hour=hour) is None:
        CallerDay.objects.filter(**row, first_hour__gt=hour).update(first_hour=hour)
    transaction.on_commit(partial(_remember, key, hour))


def _remember(key: tuple[str, date, int, str], hour: int) -> None:
    if len(_known_callers) >= _MOST_KNOWN:
        _known_callers.clear()
    _known_callers[key] = hour


def forget_callers() -> None:
    """Has every caller noted again: for a database that was emptied."""
    _known_callers.clear()

"""Note which models, errors and reasons there are, so that nobody reads the log for a list of them."""

from datetime import datetime
from functools import partial
from typing import TypeAlias

from django.db import transaction
from django.utils import timezone

from copilot_admin.models import SeenKind, SeenValue
from copilot_admin.storage.held_back import hold_back
from copilot_admin.storage.statements import Insert, database_here

LONGEST = 200
# Reasons are what callers type, 20 with each thumb: more than a filter offers are not noted.
MOST_REASONS = 1000
_INSERT = Insert(SeenValue, returning=("id",), or_ignore=True)
_MOST_KNOWN = 10_000
# Database, kind, value, hour: what was forgotten because nothing had it is noted when it comes again.
_Key: TypeAlias = tuple[str, SeenKind, str, datetime]
_noted: set[_Key] = set()  # of this process


def note_seen(kind: SeenKind, value: str) -> None:
    """Notes a value of the log; one that this process has noted within the hour costs nothing."""
    cut = value[:LONGEST]
    hour = timezone.now().replace(minute=0, second=0, microsecond=0)
    key = (str(database_here().settings_dict["NAME"]), kind, cut, hour)
    if not cut or key in _noted:
        return
    hold_back((SeenValue._meta.db_table, kind.value, cut), partial(_note, key))


def _note(key: _Key) -> None:
    _, kind, value, _ = key
    if kind is not SeenKind.REASON or not _are_enough_reasons():
        _INSERT(kind=kind, value=value)
    transaction.on_commit(partial(_remember, key))


def _are_enough_reasons() -> bool:
    noted = SeenValue.objects.filter(kind=SeenKind.REASON).order_by("value")
    return noted[MOST_REASONS - 1 : MOST_REASONS].exists()


def _remember(key: _Key) -> None:
    if len(_noted) >= _MOST_KNOWN:
        _noted.clear()
    _noted.add(key)


def forget_noted() -> None:
    """Has every value noted when it comes again: what was noted may be erased."""
    _noted.clear()

"""Note which models, errors and reasons there are, so that nobody reads the log for a list of them."""

from functools import partial

from django.db import connection, transaction

from copilot_admin.models import SeenKind, SeenValue
from copilot_admin.storage.held_back import hold_back
from copilot_admin.storage.statements import Insert

FILTERS_FILLING = "filters"  # the row of `Filling` for turns that are older than this
LONGEST = 200
_INSERT = Insert(SeenValue, returning=("id",), or_ignore=True)
_noted: set[tuple[str, SeenKind, str]] = set()  # database, kind, value; of this process


def note_seen(kind: SeenKind, value: str) -> None:
    """Notes a value of the log; one that this process has noted costs nothing."""
    cut = value[:LONGEST]
    key = (str(connection.settings_dict["NAME"]), kind, cut)
    if not cut or key in _noted:
        return
    hold_back((SeenValue._meta.db_table, kind.value, cut), partial(_note, key))


def _note(key: tuple[str, SeenKind, str]) -> None:
    _, kind, value = key
    _INSERT(kind=kind, value=value)
    transaction.on_commit(partial(_noted.add, key))


def forget_noted() -> None:
    """Has every value noted again: for a database that was emptied."""
    _noted.clear()

"""The rows of those who ask: made when one is first seen, and known by id from then on."""

from datetime import datetime
from functools import partial
from typing import TypeVar

from django.db import IntegrityError, connection, transaction

from copilot_admin.copilots.users import AskingUser, hashed
from copilot_admin.models import EndUser

_MOST_KNOWN = 10_000
T = TypeVar("T")
_Key = tuple[str, AskingUser, datetime]  # database, user, hour in which he was last written
_known: dict[_Key, int] = {}  # of this process


def row_of(user: AskingUser, *, at: datetime) -> int:
    """The id of a user's row; writes it when he is new, and once an hour what is told of him.

    Args:
        user: Who asks.
        at: When.
    """
    key = _key(user, at)
    found = _known.get(key)
    if found is not None:
        return found
    row_id = written(user, at=at)
    transaction.on_commit(partial(_remember, key, row_id))
    return row_id


def written(user: AskingUser, *, at: datetime) -> int:
    """The id of a user's row, which is there now: who refers to it at once finds it.

    A row that is there is only read: many transactions refer to it, and none waits for another.

    Args:
        user: Who asks.
        at: When.
    """
    hour = _hour(at)
    told = {"email": user.email, "name": user.name, "source": user.source.value}
    seen = {**told, "digest": hashed(user.id), "last_at": hour}
    row_id = _find(user)
    if row_id is None:
        # Another process may be faster. Its row is only read: a lock would last until the commit.
        new = EndUser(identifier=user.id, **seen, first_at=at)
        EndUser.objects.bulk_create([new], ignore_conflicts=True)
        row_id = _find(user)
    if row_id is None:
        raise IntegrityError("The user was erased while they were looked up.")
    # What isn't said today was said before: nothing becomes empty.
    changed = {name: value for name, value in seen.items() if value}
    EndUser.objects.filter(pk=row_id, first_at__lt=at).update(**changed)
    return row_id


def _find(user: AskingUser) -> int | None:
    return EndUser.objects.filter(identifier=user.id).values_list("pk", flat=True).first()


def _key(user: AskingUser, at: datetime) -> _Key:
    return str(connection.settings_dict["NAME"]), user, _hour(at)


def _hour(at: datetime) -> datetime:
    return at.replace(minute=0, second=0, microsecond=0)


def forget_users() -> None:
    """Has every user looked up again, as rows were erased."""
    _known.clear()


def _remember(key: _Key, row_id: int) -> None:
    if len(_known) >= _MOST_KNOWN:
        _known.clear()
    _known[key] = row_id

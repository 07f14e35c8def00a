"""Rows of end users, created from requests."""

from datetime import datetime

from copilot_admin.copilots.end_users import AskingUser, hashed
from copilot_admin.models import EndUser


def save_end_user(user: AskingUser, *, at: datetime) -> int:
    """Return the id of a user's row, which is created if needed and updated once an hour.

    Most transactions only read the row, so they don't block each other.
    """
    hour = at.replace(minute=0, second=0, microsecond=0)
    facts = {
        "email": user.email,
        "name": user.name,
        "source": user.source.value,
        "digest": hashed(user.id),
    }
    known = EndUser.objects.filter(identifier=user.id).values("pk", "last_at", *facts).first()
    if known is None:
        new, _ = EndUser.objects.get_or_create(
            identifier=user.id,
            defaults={**facts, "first_at": at, "last_at": hour},
        )
        return new.pk
    # Facts that this request lacks are known from earlier ones: no column is cleared.
    changed: dict[str, object] = {
        name: value for name, value in facts.items() if value and value != known[name]
    }
    if hour > known["last_at"]:
        changed["last_at"] = hour
    if changed:
        EndUser.objects.filter(pk=known["pk"]).update(**changed)
    return int(known["pk"])


def find_end_user(user: AskingUser) -> int | None:
    """Return the id of a user's row, or None if no question of theirs was ever accepted."""
    return EndUser.objects.filter(identifier=user.id).values_list("pk", flat=True).first()

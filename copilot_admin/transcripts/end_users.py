"""End users: rows that requests create, and lookup by typed text."""

from datetime import datetime
from unicodedata import normalize

from django.db.models import Q

from copilot_admin.copilots.end_users import AskingUser, hashed
from copilot_admin.models import EndUser

ID_PREFIX = "id:"  # the rest is an id, even if it is also a name
MAX_NAMED = 5  # users of one name in an error


def find_user(text: str) -> EndUser:
    """Return the one user with this id, e-mail address, name, or hash; a ValueError says why not."""
    text = text.strip()
    rows = EndUser.objects.filter(match_users(text)) if text else EndUser.objects.none()
    found = list(rows.order_by("pk")[: MAX_NAMED + 1])
    if not found:
        raise ValueError("There is no such user. Type an id, an e-mail address or a name.")
    if len(found) > 1:
        ids = ", ".join(f"{ID_PREFIX}{one.identifier}" for one in found[:MAX_NAMED])
        more = " and others" if len(found) > MAX_NAMED else ""
        raise ValueError(f"Several users are called that: {ids}{more}. Type one of these ids.")
    return found[0]


def match_users(text: str) -> Q:
    """Return the condition on users that match a text; see `find_user`."""
    if text.startswith(ID_PREFIX):
        return Q(identifier=text.removeprefix(ID_PREFIX))
    # A keyboard may compose accents differently from the identity provider, and an erasure must not
    # miss a user for this reason.
    forms = {text, normalize("NFC", text), normalize("NFD", text)}
    found = Q(identifier__in=forms) | Q(name__in=forms) | Q(digest=text)
    for form in forms:
        found |= Q(email__iexact=form)
    return found


def save_end_user(user: AskingUser, *, at: datetime) -> int:
    """Return the id of a user's row, created if needed and updated once an hour to avoid locks."""
    hour = at.replace(minute=0, second=0, microsecond=0)
    facts = {"email": user.email, "name": user.name, "source": user.source.value}
    facts["digest"] = hashed(user.id)
    known = EndUser.objects.filter(identifier=user.id).values("pk", "last_at", *facts).first()
    if known is None:
        new, _ = EndUser.objects.get_or_create(
            identifier=user.id, defaults={**facts, "first_at": at, "last_at": hour}
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

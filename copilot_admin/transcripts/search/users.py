"""Which user somebody means who types an id, an e-mail address or a name; reads the database."""

from unicodedata import normalize

from django.db.models import Q

from copilot_admin.models import EndUser

ID_START = "id:"  # what follows is an id, whatever else there is of this name
_MOST_NAMED = 5  # of those that a text could mean


def user_meant(text: str) -> EndUser:
    """The one user whom a text means.

    Args:
        text: His id, his e-mail address in whatever letters, his name, or the hash that providers
            are told; or `id:` and his id.

    Raises:
        ValueError: Nobody is called that, or several are.
    """
    text = text.strip()
    rows = EndUser.objects.filter(called(text)) if text else EndUser.objects.none()
    found = list(rows.order_by("pk")[: _MOST_NAMED + 1])
    if not found:
        raise ValueError("There is no such user. Type an id, an e-mail address or a name.")
    if len(found) > 1:
        ids = ", ".join(f"{ID_START}{one.identifier}" for one in found[:_MOST_NAMED])
        more = " and others" if len(found) > _MOST_NAMED else ""
        raise ValueError(f"Several users are called that: {ids}{more}. Type one of these ids.")
    return found[0]


def called(text: str) -> Q:
    """Which users a text may mean, as `user_meant` reads it."""
    if text.startswith(ID_START):
        return Q(identifier=text.removeprefix(ID_START))
    # An address that somebody types has whatever letters, and a keyboard says "e" and an accent in one
    # sign or in two: who is to be erased must not be missed for them.
    forms = {text, normalize("NFC", text), normalize("NFD", text)}
    found = Q(identifier__in=forms) | Q(name__in=forms) | Q(digest=text)
    for form in forms:
        found |= Q(email__iexact=form)
    return found

"""Which user somebody means who types an id, an e-mail address or a name; reads the database."""

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
    rows = EndUser.objects.filter(_called(text)) if text else EndUser.objects.none()
    found = list(rows.order_by("pk")[: _MOST_NAMED + 1])
    if not found:
        raise ValueError("There is no such user. Type an id, an e-mail address or a name.")
    if len(found) > 1:
        ids = ", ".join(f"{ID_START}{one.identifier}" for one in found[:_MOST_NAMED])
        more = " and others" if len(found) > _MOST_NAMED else ""
        raise ValueError(f"Several users are called that: {ids}{more}. Type one of these ids.")
    return found[0]


def _called(text: str) -> Q:
    if text.startswith(ID_START):
        return Q(identifier=text.removeprefix(ID_START))
    # An address that somebody types has whatever letters; who is erased must not be missed for them.
    return Q(identifier=text) | Q(email__iexact=text) | Q(name=text) | Q(digest=text)

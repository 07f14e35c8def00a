"""How a page's address names whom limits are of: `user:anna`, and `user:` for every user."""

from ipaddress import ip_address

from django.utils.translation import gettext as _

from copilot_admin.limits.subjects import LimitSubject
from copilot_admin.models import Copilot, EndpointKey, LimitScope
from copilot_admin.models.limits import LONGEST_SUBJECT

LONGEST_NUMBER = 18  # digits of a row's id


def subject_in(text: str) -> LimitSubject | None:
    """Whom a text names; None: nobody. Reads no database.

    Args:
        text: Of an address or a form, so anything.
    """
    scope, _colon, id = text.partition(":")
    if scope not in LimitScope.values or len(id) > LONGEST_SUBJECT or not id.isprintable():
        return None
    match LimitScope(scope):
        case LimitScope.SERVER:
            is_one = not id
        case LimitScope.COPILOT:
            is_one = _is_number(id)
        case LimitScope.KEY:
            is_one = not id or _is_number(id)
        case LimitScope.USER:
            is_one = id == id.strip()
        case LimitScope.ADDRESS:
            is_one = not id or _is_address(id)
    return LimitSubject(LimitScope(scope), id) if is_one else None


def name_of(subject: LimitSubject) -> str | None:
    """Whom limits are of, for people; None: a copilot or key that is gone. Reads the database."""
    match subject.scope:
        case LimitScope.SERVER:
            return _("This server")
        case LimitScope.COPILOT:
            names = Copilot.objects.filter(pk=subject.id).values_list("name", flat=True)
            return names.first()
        case LimitScope.KEY if subject.id:
            key = EndpointKey.objects.filter(pk=subject.id).first()
            return str(key) if key else None
        case LimitScope.KEY:
            return _("Every endpoint key that has no limits of its own")
        case LimitScope.USER:
            return subject.id or _("Every user who has no limits of his own")
        case LimitScope.ADDRESS:
            return subject.id or _("Every address, of callers without key and user")


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= LONGEST_NUMBER


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True

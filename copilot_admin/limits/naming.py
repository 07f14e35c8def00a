"""How a page's address names whom limits are of: `user:anna`, and `user:` for every user."""

from collections.abc import Collection, Iterable, Mapping
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
    return names_of([subject]).get(subject)


def names_of(subjects: Collection[LimitSubject]) -> Mapping[LimitSubject, str]:
    """Whom limits are of, for people, without copilots and keys that are gone.

    Reads the database once for all copilots and once for all keys: a page of 100 keys asked it a
    hundred times.
    """
    copilots, keys = _ids(subjects, LimitScope.COPILOT), _ids(subjects, LimitScope.KEY)
    stored: dict[LimitSubject, str] = {}
    if copilots:
        rows = Copilot.objects.filter(pk__in=copilots).values_list("pk", "name")
        stored |= {LimitSubject(LimitScope.COPILOT, str(pk)): name for pk, name in rows}
    if keys:
        found = EndpointKey.objects.filter(pk__in=keys)
        stored |= {LimitSubject(LimitScope.KEY, str(key.pk)): str(key) for key in found}
    named = ((one, _words(one) or stored.get(_plain(one))) for one in subjects)
    return {one: name for one, name in named if name is not None}


def _ids(subjects: Iterable[LimitSubject], scope: LimitScope) -> list[int]:
    return [int(one.id) for one in subjects if one.scope is scope and one.id]


def _plain(subject: LimitSubject) -> LimitSubject:
    """A subject whose number is written as the database writes it: an address may say `key:07`."""
    is_row = subject.id and subject.scope in (LimitScope.COPILOT, LimitScope.KEY)
    return LimitSubject(subject.scope, str(int(subject.id))) if is_row else subject


def _words(subject: LimitSubject) -> str:
    """What somebody is called who is no row; "" of copilots and keys."""
    match subject.scope:
        case LimitScope.SERVER:
            return _("This server")
        case LimitScope.COPILOT:
            return ""
        case LimitScope.KEY:
            return "" if subject.id else _("Every endpoint key that has no limits of its own")
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

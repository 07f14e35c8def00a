"""Subjects of limits in URLs and pages: `user:anna`, and `user:` for every user."""

from collections.abc import Collection, Mapping
from ipaddress import ip_address
import re

from django.utils.translation import gettext as _

from copilot_admin.limits.rules import LimitSubject
from copilot_admin.models import Copilot, EndpointKey, LimitScope
from copilot_admin.models.limits import MAX_LIMIT_SUBJECT_LENGTH

# Ids by scope; without one, the limits apply to each subject of the scope.
_IDS: Mapping[str, re.Pattern[str]] = {
    LimitScope.SERVER: re.compile(""),
    LimitScope.COPILOT: re.compile("[1-9][0-9]{0,17}"),
    LimitScope.KEY: re.compile("|[1-9][0-9]{0,17}"),
    LimitScope.USER: re.compile(rf"|\S(.{{0,{MAX_LIMIT_SUBJECT_LENGTH - 2}}}\S)?"),
    LimitScope.ADDRESS: re.compile("[0-9A-Fa-f:.]{0,45}"),
}
_ROW_SCOPES = (LimitScope.COPILOT, LimitScope.KEY)


def parse_subject(text: str) -> LimitSubject | None:
    """Parse a subject from a URL or form; None if it isn't valid. Reads no database."""
    scope, _colon, id = text.partition(":")
    if scope not in _IDS or not _IDS[scope].fullmatch(id) or not id.isprintable():
        return None
    if scope == LimitScope.ADDRESS and id:
        try:
            ip_address(id)
        except ValueError:
            return None
    return LimitSubject(LimitScope(scope), id)


def get_name(subject: LimitSubject) -> str | None:
    """Return a subject's name for people; None if the copilot or key is gone. Reads the database."""
    return get_names([subject]).get(subject)


def get_names(subjects: Collection[LimitSubject]) -> Mapping[LimitSubject, str]:
    """Return names for people, without copilots and keys that are gone; two queries at most."""
    names = {subject: _name_without_row(subject) for subject in subjects}
    ids = {
        scope: [int(one.id) for one in subjects if one.scope is scope and one.id]
        for scope in _ROW_SCOPES
    }
    if ids[LimitScope.COPILOT]:
        rows = Copilot.objects.filter(pk__in=ids[LimitScope.COPILOT]).values_list("pk", "name")
        names |= {LimitSubject(LimitScope.COPILOT, str(pk)): name for pk, name in rows}
    if ids[LimitScope.KEY]:
        keys = EndpointKey.objects.filter(pk__in=ids[LimitScope.KEY])
        names |= {LimitSubject(LimitScope.KEY, str(key.pk)): str(key) for key in keys}
    return {subject: name for subject, name in names.items() if name}


def _name_without_row(subject: LimitSubject) -> str:
    match subject.scope:
        case LimitScope.SERVER:
            return _("Whole server")
        case LimitScope.COPILOT:
            return ""
        case LimitScope.KEY:
            return "" if subject.id else _("Default per API key")
        case LimitScope.USER:
            return subject.id or _("Default per user")
        case LimitScope.ADDRESS:
            return subject.id or _("Default per IP address (anonymous callers)")

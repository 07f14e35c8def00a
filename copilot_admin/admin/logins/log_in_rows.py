"""Where somebody is logged in, as rows of a page, and what can be done about it."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from django.contrib import messages
from django.contrib.auth.models import User
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from copilot_admin.accounts.sessions import (
    active_sessions,
    describe_device,
    end_all_sessions,
    end_sessions,
)
from copilot_admin.audit.parties import Actor, Subject
from copilot_admin.audit.recording import record
from copilot_admin.models import Action, LogIn


@dataclass(frozen=True, slots=True, kw_only=True)
class LogInRow:
    """A browser in which somebody is logged in, as a row of the page."""

    number: int
    device: str
    address: str
    since: datetime
    last_seen: datetime
    is_this: bool


def rows_of(request: HttpRequest, user: User) -> list[LogInRow]:
    """All of them, the one in which the page is shown first."""
    return sorted(_rows(request, user), key=lambda row: not row.is_this)


def _rows(request: HttpRequest, user: User) -> Iterator[LogInRow]:
    for one in active_sessions(user):
        yield LogInRow(
            number=one.pk,
            device=describe_device(one.device) or _("unknown"),
            address=one.address or _("unknown"),
            since=one.since,
            last_seen=one.last_seen,
            is_this=one.session_key == request.session.session_key,
        )


def carried_out(request: HttpRequest, user: User, *, back: str) -> HttpResponse:
    """Ends one log-in or all others, says so, and leads back."""
    with transaction.atomic():
        count = _ended(request, user)
        if count:
            by, on = Actor.of(request), Subject.of(user)
            record(Action.LOGGED_OUT, by=by, on=on, after={"log_ins_ended": count})
    text = ngettext("One log-in was ended.", "%(n)d log-ins were ended.", count) % {"n": count}
    messages.success(request, text if count else _("There was nothing to end any more."))
    return HttpResponseRedirect(back)


def _ended(request: HttpRequest, user: User) -> int:
    wanted = request.POST.get("end", "")
    own = request.session.session_key if request.user.pk == user.pk else None
    if wanted == "others":
        return end_all_sessions(user, but=own)
    is_number = wanted.isascii() and wanted.isdecimal() and len(wanted) < 16
    return end_sessions(LogIn.objects.filter(user=user, pk=int(wanted))) if is_number else 0

"""The switch for more origins: an operator allows the pages of one, or takes that back."""

from functools import partial

from django.contrib import messages
from django.contrib.admin.models import ADDITION, DELETION, LogEntry
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from copilot_admin.admin.connect.page import (
    ALLOW_ORIGIN,
    FOLDER,
    FORBID_ORIGIN,
    AskedOrigin,
    asked_origin,
    copilot_for,
    page_context,
)
from copilot_admin.audit.parties import Actor, Subject
from copilot_admin.audit.recording import record
from copilot_admin.http.origins import ALLOWED_ORIGINS, MAX_ORIGINS
from copilot_admin.models import Action, AllowedOrigin, Copilot


@require_POST
def allow(request: HttpRequest, pk: int) -> HttpResponse:
    """Lets the pages of one more origin ask; it acts at once, for all copilots."""
    copilot = copilot_for(request, pk, permission=ALLOW_ORIGIN)
    wanted = _checked(asked_origin(request.POST.get("allowed", "")))
    if wanted.fault:
        context = page_context(request, copilot, wanted=wanted)
        return render(request, f"{FOLDER}/page.html", context, status=400)
    with transaction.atomic():
        row, is_new = AllowedOrigin.objects.get_or_create(
            origin=wanted.text, defaults={"allowed_by_id": request.user.pk}
        )
        if is_new:
            _log(request, row, ADDITION, Action.ADDED)
        transaction.on_commit(ALLOWED_ORIGINS.refresh)
    messages.success(
        request, _("Pages of %(origin)s may ask from now on.") % {"origin": row.origin}
    )
    return _back(copilot)


@require_POST
def forbid(request: HttpRequest, pk: int) -> HttpResponse:
    """Takes the leave of an origin back; what the deployment allows stays."""
    copilot = copilot_for(request, pk, permission=FORBID_ORIGIN)
    with transaction.atomic():
        row = AllowedOrigin.objects.filter(origin=request.POST.get("origin", "")).first()
        if row is not None:
            deleted = AllowedOrigin(pk=row.pk, origin=row.origin)
            row.delete()
            _log(request, deleted, DELETION, Action.DELETED)
            text = _("Pages of %(origin)s may not ask any more.")
            messages.success(request, text % {"origin": row.origin})
        transaction.on_commit(ALLOWED_ORIGINS.refresh)
    return _back(copilot)


def _checked(wanted: AskedOrigin) -> AskedOrigin:
    if wanted.fault:
        return wanted
    refuse = partial(AskedOrigin, wanted.text)
    if not wanted.text:
        return refuse(_("Write the origin of the page first."))
    if ALLOWED_ORIGINS.is_pinned:
        return refuse(_("The environment of this server names all origins with CORS_ORIGINS."))
    if wanted.text in ALLOWED_ORIGINS.given:
        return refuse(_("It is allowed already."))
    if AllowedOrigin.objects.count() >= MAX_ORIGINS:
        text = _("%(count)d origins are the most. Take one away first.")
        return refuse(text % {"count": MAX_ORIGINS})
    return wanted


def _log(request: HttpRequest, row: AllowedOrigin, flag: int, action: Action) -> None:
    LogEntry.objects.log_actions(request.user.pk or 0, [row], flag)
    record(action, by=Actor.of(request), on=Subject.of(row))


def _back(copilot: Copilot) -> HttpResponse:
    address = reverse("connect:page", args=[copilot.pk])
    return HttpResponseRedirect(f"{address}#origins-heading")

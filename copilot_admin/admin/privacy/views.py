"""Privacy pages: retention, redaction, legal holds, erasure."""

from collections.abc import Iterable
from functools import partial
from typing import Any

from django.contrib import messages
from django.db import OperationalError, transaction
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from copilot_admin.admin.common.base import stored
from copilot_admin.admin.privacy.forms import EraseForm, RetentionForm, ScopeForm
from copilot_admin.admin.site.site import site
from copilot_admin.audit.recording import Actor, Subject, record
from copilot_admin.jobs.removal import begin_erasure, remove
from copilot_admin.models import Action, Copilot, EndUser, LegalHold, Removal
from copilot_admin.privacy import holds
from copilot_admin.privacy.rows import RemovalPreview, preview_removal
from copilot_admin.privacy.scopes import PrivacyScope, record_hold, record_release, record_removal
from copilot_admin.redaction.kinds import LABELS
from copilot_admin.redaction.rules import describe_rules, server_rules
from copilot_admin.storage.errors import is_statement_timeout

HOLD = "copilot_admin.hold_data"
ERASE = "copilot_admin.erase_data"
FOLDER = "admin/copilot_admin/privacy"
MAX_SHOWN = 100
MAX_COPILOTS = 1000
# Holds and removals outlive their copilots, so they have no foreign key.
NAME = {"copilot_name": Subquery(Copilot.objects.filter(pk=OuterRef("copilot")).values("name"))}
ANY_METHOD = require_http_methods(["GET", "HEAD", "POST"])


@site.page("privacy/", name="privacy", permissions=(HOLD, ERASE), menu="Privacy")
@require_safe
def privacy_view(request: HttpRequest) -> HttpResponse:
    copilots = Copilot.objects.in_use().filter(deletion_requested_at=None).by_name()
    return _render(
        request,
        "page.html",
        title=_("Privacy"),
        copilots=_with_redaction(copilots),
        server_kinds=[LABELS[kind] for kind in server_rules().kinds],
        holds=holds.in_force().select_related("user_row").annotate(**NAME)[:MAX_SHOWN],
        removals=_with_users(
            Removal.objects.select_related("asked_by").annotate(**NAME)[:MAX_SHOWN]
        ),
        may_hold=request.user.has_perm(HOLD),
        may_erase=request.user.has_perm(ERASE),
    )


@site.page("privacy/copilots/<id:pk>/", name="privacy_keeping", permissions=(HOLD,))
@ANY_METHOD
def retention_view(request: HttpRequest, pk: int) -> HttpResponse:
    copilot = get_object_or_404(Copilot, pk=pk, deletion_requested_at=None)
    form = RetentionForm(request.POST or None, instance=copilot)
    stored_text = None
    if form.is_valid():
        if "try" not in request.POST:
            with transaction.atomic():
                before = stored(copilot)
                after = stored(form.save())
                if before != after:
                    by, on = Actor.of(request), Subject.of(copilot)
                    record(Action.CHANGED, by=by, on=on, before=before, after=after)
            messages.success(request, _("Saved. Stored conversations are not changed."))
            return HttpResponseRedirect(reverse("admin:privacy"))
        stored_text = form.redact_sample()
    title = _("Privacy of %(name)s") % {"name": copilot.name}
    return _render(request, "retention.html", title=title, form=form, stored_text=stored_text)


@site.page("privacy/hold/", name="privacy_hold", permissions=(HOLD,))
@ANY_METHOD
def hold_view(request: HttpRequest) -> HttpResponse:
    form = ScopeForm(request.POST or None, initial=_requested_scope(request))
    if form.is_valid():
        try:
            with transaction.atomic():
                hold = holds.place(
                    form.scope,
                    reason=form.cleaned_data["reason"],
                    by=request.user.get_username(),
                    by_id=request.user.pk,
                )
                record_hold(hold, by=Actor.of(request))
        except ValueError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, _("Legal hold placed."))
            return HttpResponseRedirect(reverse("admin:privacy"))
    return _render(request, "hold.html", title=_("New legal hold"), form=form)


@site.page("privacy/release/<id:pk>/", name="privacy_release", permissions=(HOLD,))
@require_POST
def release_view(request: HttpRequest, pk: int) -> HttpResponse:
    hold = get_object_or_404(LegalHold, pk=pk)
    with transaction.atomic():
        was_in_force = holds.release(hold.pk, by=request.user.get_username())
        if was_in_force:
            record_release(hold.pk, by=Actor.of(request))
    if was_in_force:
        messages.success(request, _("Legal hold released."))
    else:
        messages.info(request, _("This hold was already released."))
    return HttpResponseRedirect(reverse("admin:privacy"))


@site.page("privacy/erase/", name="privacy_erase", permissions=(ERASE,))
@ANY_METHOD
def erase_view(request: HttpRequest) -> HttpResponse:
    form = EraseForm(request.POST or None, initial=_requested_scope(request))
    context: dict[str, Any] = {"title": _("Erase conversations"), "form": form}
    if form.is_valid():
        if "sure" in request.POST:
            with transaction.atomic():
                removal = begin_erasure(
                    form.scope,
                    reason=form.cleaned_data["reason"],
                    by_id=request.user.pk,
                    with_questions=form.cleaned_data["with_questions"],
                )
                transaction.on_commit(partial(remove.enqueue, removal.pk))
                record_removal(removal, by=Actor.of(request))
            messages.success(request, _("Erasing has started. See its status below."))
            return HttpResponseRedirect(reverse("admin:privacy"))
        found = _count(form.scope)
        context |= {"found": found, "is_too_much": found is None}
    return _render(request, "erase.html", **context)


def _render(request: HttpRequest, page: str, **context: Any) -> HttpResponse:
    return render(request, f"{FOLDER}/{page}", {**site.each_context(request), **context})


def _count(scope: PrivacyScope) -> RemovalPreview | None:
    try:
        with transaction.atomic():
            return preview_removal(scope)
    except OperationalError as error:
        if not is_statement_timeout(error):
            raise
        return None


def _with_users(removals: Iterable[Removal]) -> list[Removal]:
    rows = list(removals)
    users = EndUser.objects.in_bulk([row.user for row in rows if row.user is not None])
    for row in rows:
        vars(row)["user_row"] = users.get(row.user or 0)
    return rows


def _with_redaction(copilots: QuerySet[Copilot]) -> list[Copilot]:
    rows = list(copilots.only("name", *RetentionForm.Meta.fields)[:MAX_COPILOTS])
    for row in rows:
        row.not_stored = describe_rules(row)  # type: ignore[attr-defined]  # for the template
    return rows


def _requested_scope(request: HttpRequest) -> dict[str, str]:
    names = ("conversation", "user", "principal")
    return {name: request.GET[name] for name in names if name in request.GET}

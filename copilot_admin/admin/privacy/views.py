"""The pages of those who keep, hold and erase data."""

from collections.abc import Iterable
from functools import partial
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import OperationalError, transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.urls import URLPattern, URLResolver, path, reverse
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from copilot_admin.admin.common.base import stored
from copilot_admin.admin.components.catalogue import ComponentViews
from copilot_admin.admin.privacy.forms import EraseForm, KeepingForm, ScopeForm
from copilot_admin.audit.parties import Actor, Subject
from copilot_admin.audit.recording import record
from copilot_admin.jobs.removal import begin_erasure, remove
from copilot_admin.models import Action, Copilot, EndUser, LegalHold, Removal
from copilot_admin.models.privacy import ScopeColumns
from copilot_admin.privacy import holds
from copilot_admin.privacy.audit import record_hold, record_release, record_removal
from copilot_admin.privacy.counting import RemovalPreview, preview_removal
from copilot_admin.privacy.scopes import PrivacyScope
from copilot_admin.redaction.kinds import LABELS
from copilot_admin.redaction.rules import describe_rules, server_rules
from copilot_admin.storage.errors import is_statement_timeout

HOLD = "copilot_admin.hold_data"
ERASE = "copilot_admin.erase_data"
FOLDER = "admin/copilot_admin/privacy"
MOST_SHOWN = 100
MOST_COPILOTS = 1000
ANY_METHOD = require_http_methods(["GET", "HEAD", "POST"])


class PrivacyViews(ComponentViews):
    """For how long data is kept; who may hold sees everything, who may erase erases."""

    def get_urls(self) -> list[URLPattern | URLResolver]:
        wrap = self.admin_view
        own: list[URLPattern | URLResolver] = [
            path("privacy/", wrap(self.privacy_view), name="privacy"),
            path("privacy/copilots/<id:pk>/", wrap(self.keeping_view), name="privacy_keeping"),
            path("privacy/hold/", wrap(self.hold_view), name="privacy_hold"),
            path("privacy/release/<id:pk>/", wrap(self.release_view), name="privacy_release"),
            path("privacy/erase/", wrap(self.erase_view), name="privacy_erase"),
        ]
        return own + super().get_urls()

    def places(self, request: HttpRequest) -> list[dict[str, str]]:
        """The links of the rail that lead to no model."""
        places = super().places(request)
        if request.user.has_perm(HOLD) or request.user.has_perm(ERASE):
            url = reverse(f"{self.name}:privacy")
            places.append({"object_name": "Privacy", "name": _("Privacy"), "admin_url": url})
        return places

    @method_decorator(require_safe)
    def privacy_view(self, request: HttpRequest) -> HttpResponseBase:
        """What is kept for how long, what is held, what was removed."""
        _check(request, HOLD, ERASE)
        copilots = Copilot.objects.in_use().filter(deletion_requested_at=None).by_name()
        return self._privacy_page(
            request,
            "page.html",
            title=_("Privacy"),
            copilots=_kept(copilots),
            server_kinds=[LABELS[kind] for kind in server_rules().kinds],
            holds=_named(holds.in_force().select_related("user_row")[:MOST_SHOWN]),
            removals=_named(_with_users(Removal.objects.select_related("asked_by")[:MOST_SHOWN])),
            may_hold=request.user.has_perm(HOLD),
            may_erase=request.user.has_perm(ERASE),
        )

    @method_decorator(ANY_METHOD)
    def keeping_view(self, request: HttpRequest, pk: int) -> HttpResponseBase:
        """For how long one copilot's transcripts are kept, and what of them is not stored."""
        _check(request, HOLD)
        copilot = get_object_or_404(Copilot, pk=pk, deletion_requested_at=None)
        form = KeepingForm(_posted(request), instance=copilot)
        tried = ""
        if form.is_valid():
            if "try" not in request.POST:
                _keep(request, form)
                messages.success(request, _("It acts from now on. What is stored stays as it is."))
                return HttpResponseRedirect(reverse(f"{self.name}:privacy"))
            tried = form.tried
        return self._privacy_page(
            request, "keeping.html", title=copilot.name, form=form, tried=tried
        )

    @method_decorator(ANY_METHOD)
    def hold_view(self, request: HttpRequest) -> HttpResponseBase:
        """Places a legal hold."""
        _check(request, HOLD)
        form = ScopeForm(_posted(request), initial=_asked_for(request))
        if form.is_valid():
            try:
                _hold(request, form)
            except ValueError as error:
                form.add_error(None, str(error))
            else:
                messages.success(
                    request, _("It is held. Nobody can remove it until you release it.")
                )
                return HttpResponseRedirect(reverse(f"{self.name}:privacy"))
        return self._privacy_page(request, "hold.html", title=_("Place a legal hold"), form=form)

    @method_decorator(require_POST)
    def release_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Ends a legal hold."""
        _check(request, HOLD)
        hold = get_object_or_404(LegalHold, pk=pk)
        with transaction.atomic():
            was_in_force = holds.release(hold.pk, by=request.user.get_username())
            if was_in_force:
                record_release(hold.pk, by=Actor.of(request))
        if was_in_force:
            messages.success(request, _("The hold is released."))
        else:
            messages.info(request, _("Somebody released it before."))
        return HttpResponseRedirect(reverse(f"{self.name}:privacy"))

    @method_decorator(ANY_METHOD)
    def erase_view(self, request: HttpRequest) -> HttpResponseBase:
        """Counts what would be erased, and erases it when that was seen."""
        _check(request, ERASE)
        form = EraseForm(_posted(request), initial=_asked_for(request))
        asked: dict[str, Any] = {"title": _("Erase"), "form": form}
        if form.is_valid():
            if "sure" in request.POST:
                return self._erase(request, form)
            found = _counted(form.scope)
            asked |= {"found": found, "is_too_much": found is None}
        return self._privacy_page(request, "erase.html", **asked)

    def _erase(self, request: HttpRequest, form: EraseForm) -> HttpResponse:
        with transaction.atomic():
            removal = begin_erasure(
                form.scope,
                reason=form.cleaned_data["reason"],
                by_id=request.user.pk,
                with_questions=form.cleaned_data["with_questions"],
            )
            transaction.on_commit(partial(remove.enqueue, removal.pk))
            record_removal(removal, by=Actor.of(request))
        messages.success(request, _("It is being erased. This page says when it is done."))
        return HttpResponseRedirect(reverse(f"{self.name}:privacy"))

    def _privacy_page(self, request: HttpRequest, page: str, **context: Any) -> HttpResponse:
        return render(request, f"{FOLDER}/{page}", {**self.each_context(request), **context})


def _counted(scope: PrivacyScope) -> RemovalPreview | None:
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


def _kept(copilots: QuerySet[Copilot]) -> list[Copilot]:
    rows = list(copilots.only("name", *KeepingForm.Meta.fields))
    for row in rows[:MOST_COPILOTS]:
        row.not_stored = describe_rules(row)  # type: ignore[attr-defined]  # for the template
    return rows[:MOST_COPILOTS]


def _named(rows: Iterable[ScopeColumns]) -> list[ScopeColumns]:
    found = list(rows)
    names = dict(
        Copilot.objects.filter(pk__in={one.copilot for one in found}).values_list("pk", "name")
    )
    for one in found:
        one.copilot_name = names.get(one.copilot or 0, "")  # type: ignore[attr-defined]  # likewise
    return found


def _check(request: HttpRequest, *any_of: str) -> None:
    if not any(request.user.has_perm(permission) for permission in any_of):
        raise PermissionDenied


@transaction.atomic
def _hold(request: HttpRequest, form: ScopeForm) -> None:
    hold = holds.place(
        form.scope,
        reason=form.cleaned_data["reason"],
        by=request.user.get_username(),
        by_id=request.user.pk,
    )
    record_hold(hold, by=Actor.of(request))


@transaction.atomic
def _keep(request: HttpRequest, form: KeepingForm) -> None:
    copilot = form.instance
    before = stored(copilot)
    form.save()
    after = stored(copilot)
    if before != after:
        by, on = Actor.of(request), Subject.of(copilot)
        record(Action.CHANGED, by=by, on=on, before=before, after=after)


def _posted(request: HttpRequest) -> QueryDict | None:
    return request.POST if request.method == "POST" else None


def _asked_for(request: HttpRequest) -> dict[str, str]:
    return {
        name: request.GET[name]
        for name in ("conversation", "user", "principal")
        if name in request.GET
    }

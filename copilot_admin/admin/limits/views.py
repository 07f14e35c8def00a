"""The pages of limits: all there are with what was used, and the form of one."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import URLPattern, URLResolver, path, reverse
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from copilot_admin.admin.components.catalogue import ComponentViews
from copilot_admin.admin.limits.form import LimitsForm, WhomForm, note_on
from copilot_admin.admin.limits.words import Bar, bar_of, bar_of_each
from copilot_admin.audit.parties import Actor
from copilot_admin.audit.parties import Subject as Audited
from copilot_admin.audit.recording import record
from copilot_admin.http.networks import network_of
from copilot_admin.limits.book import limits_changed
from copilot_admin.limits.counting import COUNTING
from copilot_admin.limits.naming import name_of, names_of, subject_in
from copilot_admin.limits.rules import rules_of
from copilot_admin.limits.subjects import LimitSubject
from copilot_admin.limits.use import use_of
from copilot_admin.models import Action, Copilot, EndpointKey, LimitScope, SubjectLimits
from copilot_admin.storage.selects import member

CHANGE = "copilot_admin.change_subjectlimits"
VIEW = "copilot_admin.view_subjectlimits"
FOLDER = "admin/copilot_admin/limits"
MOST_SHOWN = 100  # subjects on the page, each with its bars; others are found by their name
MOST_CHOICES = 1000
_EVERY = (
    LimitSubject(LimitScope.SERVER),
    LimitSubject(LimitScope.KEY),
    LimitSubject(LimitScope.USER),
    LimitSubject(LimitScope.ADDRESS),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitedRow:
    """A subject of limits, as a row of the page."""

    name: str
    kind: str
    whom: str
    url: str
    bars: tuple[Bar, ...]


class LimitsViews(ComponentViews):
    """The limits, for those who operate the servers."""

    def get_urls(self) -> list[URLPattern | URLResolver]:
        """The stock addresses, and ours before them."""
        own: list[URLPattern | URLResolver] = [
            path("limits/", self.admin_view(self.limits_view), name="limits"),
            path("limits/one/", self.admin_view(self.limits_one_view), name="limits_one"),
        ]
        return own + super().get_urls()

    def places(self, request: HttpRequest) -> list[dict[str, str]]:
        """The links of the rail that lead to no model."""
        places = super().places(request)
        if not _may_look(request):
            return places
        url = reverse(f"{self.name}:limits")
        return [*places, {"object_name": "Limits", "name": _("Limits"), "admin_url": url}]

    @method_decorator(require_safe)
    def limits_view(self, request: HttpRequest) -> HttpResponse:
        """All limits with what was used of them."""
        if not _may_look(request):
            raise PermissionDenied
        stored = _stored()
        known = [*_EVERY, *(one for one in stored if one not in _EVERY)]
        rows = list(_rows(known[:MOST_SHOWN], stored, address=reverse(f"{self.name}:limits_one")))
        context = {
            **self.each_context(request),
            "title": _("Limits"),
            "rows": rows,
            "hidden": max(0, len(known) - MOST_SHOWN),
            "problem": COUNTING.problem,
            "may_change": request.user.has_perm(CHANGE),
            "choice": WhomForm(
                Copilot.objects.by_name().values_list("pk", "name")[:MOST_CHOICES],
                EndpointKey.objects.filter(revoked_at=None)[:MOST_CHOICES],
            ),
        }
        return render(request, f"{FOLDER}/page.html", context)

    @method_decorator(require_http_methods(["GET", "HEAD", "POST"]))
    def limits_one_view(self, request: HttpRequest) -> HttpResponse:
        """The form of one that is limited; a POST sets its limits, which act within seconds."""
        _check(request)
        subject = _asked(request)
        name = name_of(subject) if subject else None
        if subject is None or name is None:
            if request.GET.get("kind"):
                messages.error(request, _("This is nobody whose requests could be counted."))
                return HttpResponseRedirect(reverse(f"{self.name}:limits"))
            raise Http404
        limits = _stored().get(subject, {})
        form = LimitsForm(request.POST if request.method == "POST" else None, initial=limits)
        if request.method == "POST" and form.is_valid():
            _keep(request, subject, form.limits)
            messages.success(request, _("Done. It acts within seconds, in all servers."))
            return HttpResponseRedirect(reverse(f"{self.name}:limits"))
        context = {
            **self.each_context(request),
            "title": _("Limits of %s") % name,
            "form": form,
            "note": note_on(subject),
            "whom": subject.name,
            "bars": _bars({subject: limits})[subject],
        }
        return render(request, f"{FOLDER}/one.html", context)


def _may_look(request: HttpRequest) -> bool:
    return request.user.has_perm(CHANGE) or request.user.has_perm(VIEW)


def _check(request: HttpRequest) -> None:
    if not request.user.has_perm(CHANGE):
        raise PermissionDenied


def _asked(request: HttpRequest) -> LimitSubject | None:
    """Whom the address names: by kind and id from a form with two fields, or as one text."""
    kind, typed = request.GET.get("kind", ""), request.GET.get("id", "").strip()
    if kind and not typed:
        return None
    subject = subject_in(f"{kind}:{typed}" if kind else request.GET.get("whom", ""))
    if subject is not None and subject.scope is LimitScope.ADDRESS and subject.id:
        return LimitSubject(LimitScope.ADDRESS, network_of(subject.id))
    return subject


def _stored() -> dict[LimitSubject, Mapping[str, Any]]:
    """All limits that are set, the server first."""
    rows = SubjectLimits.objects.exclude(limits={}).values_list("scope", "subject", "limits")
    found = {LimitSubject(member(LimitScope, scope), id): limits for scope, id, limits in rows}
    copilots = Copilot.objects.exclude(limits={}).by_name().values_list("pk", "limits")
    of_copilots = {LimitSubject(LimitScope.COPILOT, str(pk)): limits for pk, limits in copilots}
    order = list(LimitScope)
    together = {**of_copilots, **found}
    return dict(sorted(together.items(), key=lambda one: order.index(one[0].scope)))


def _rows(
    subjects: Collection[LimitSubject],
    stored: Mapping[LimitSubject, Mapping[str, Any]],
    *,
    address: str,
) -> Iterable[LimitedRow]:
    names = names_of(subjects)
    bars = _bars({one: _shown(one, stored.get(one, {})) for one in subjects if one in names})
    for subject in subjects:
        name = names.get(subject)
        if name is not None:
            yield LimitedRow(
                name=name,
                kind=str(subject.scope.label) if subject.id else "",
                whom=subject.name,
                url=f"{address}?{urlencode({'whom': subject.name})}",
                bars=bars[subject],
            )


def _shown(subject: LimitSubject, limits: Mapping[str, Any]) -> Mapping[str, Any]:
    """The limits that hold: for the address of any stranger the settings have some too."""
    is_every_address = subject == LimitSubject(LimitScope.ADDRESS)
    return {**settings.ANONYMOUS_LIMITS, **limits} if is_every_address else limits


def _bars(
    limits: Mapping[LimitSubject, Mapping[str, Any]],
) -> Mapping[LimitSubject, tuple[Bar, ...]]:
    """A bar for each limit of each subject; the counters are read once for all of them."""
    rules = {subject: rules_of(subject, of) for subject, of in limits.items()}
    counted = {one: of for one, of in rules.items() if one not in _EVERY[1:]}
    use = use_of([rule for of in counted.values() for rule in of])
    return {
        one: tuple(bar_of(rule, use[rule]) if one in counted else bar_of_each(rule) for rule in of)
        for one, of in rules.items()
    }


@transaction.atomic
def _keep(request: HttpRequest, subject: LimitSubject, limits: Mapping[str, int | float]) -> None:
    before = {"limits": _stored().get(subject, {})}
    if subject.scope is LimitScope.COPILOT:
        Copilot.objects.filter(pk=subject.id).update(limits=limits)
    else:
        SubjectLimits.objects.update_or_create(
            scope=subject.scope, subject=subject.id, defaults={"limits": limits}
        )
    limits_changed()
    if before["limits"] != limits:
        by, on = Actor.of(request), _audited(subject)
        record(Action.CHANGED, by=by, on=on, before=before, after={"limits": limits})


def _audited(subject: LimitSubject) -> Audited:
    """What the audit trail calls it: a copilot as the copilot, all else by whom it limits."""
    if subject.scope is LimitScope.COPILOT:
        return Audited("copilot", subject.id, name_of(subject) or "")
    return Audited("subjectlimits", "", subject.name)

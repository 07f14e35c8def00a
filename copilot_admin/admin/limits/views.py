"""Pages of limits: all with their usage and rejections, and the form of one subject."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

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
from copilot_admin.admin.limits.bars import Bar, build_bar, build_bar_of_each
from copilot_admin.admin.limits.forms import LimitsForm, SubjectForm, get_note
from copilot_admin.admin.limits.rejections import get_advice, load_rejections
from copilot_admin.admin.limits.subjects import get_name, get_names, parse_subject
from copilot_admin.admin.limits.usage import measure_usage
from copilot_admin.audit.parties import Actor
from copilot_admin.audit.parties import Subject as Audited
from copilot_admin.audit.recording import record
from copilot_admin.http.scope import get_client_network
from copilot_admin.limits.cache import get_anonymous_limits, reload_on_commit
from copilot_admin.limits.redis_client import LIMIT_REDIS
from copilot_admin.limits.rules import Limits, LimitSubject, build_rules
from copilot_admin.models import Action, Copilot, EndpointKey, LimitScope, SubjectLimits

CHANGE = "copilot_admin.change_subjectlimits"
VIEW = "copilot_admin.view_subjectlimits"
FOLDER = "admin/copilot_admin/limits"
MAX_SHOWN = 100  # subjects on the page, each with its bars; others are found by their name
MAX_CHOICES = 1000
_EVERY = (
    LimitSubject(LimitScope.SERVER),
    LimitSubject(LimitScope.KEY),
    LimitSubject(LimitScope.USER),
    LimitSubject(LimitScope.ADDRESS),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitedRow:
    """Subject of limits, as a row of the page."""

    name: str
    kind: str
    url: str
    bars: tuple[Bar, ...]


class LimitsViews(ComponentViews):
    """Limits, for operators."""

    def get_urls(self) -> list[URLPattern | URLResolver]:
        own: list[URLPattern | URLResolver] = [
            path("limits/", self.admin_view(self.limits_view), name="limits"),
            path("limits/one/", self.admin_view(self.limits_one_view), name="limits_one"),
        ]
        return own + super().get_urls()

    def places(self, request: HttpRequest) -> list[dict[str, str]]:
        places = super().places(request)
        if not _can_view(request):
            return places
        url = reverse(f"{self.name}:limits")
        return [*places, {"object_name": "Limits", "name": _("Limits"), "admin_url": url}]

    @method_decorator(require_safe)
    def limits_view(self, request: HttpRequest) -> HttpResponse:
        """Show all limits with their usage, and recent rejections."""
        if not _can_view(request):
            raise PermissionDenied
        stored, rejections = _load_limits(), load_rejections()
        known = [*_EVERY, *(one for one in stored if one not in _EVERY)]
        rows = list(_build_rows(known[:MAX_SHOWN], stored, url=reverse(f"{self.name}:limits_one")))
        context = {
            **self.each_context(request),
            "title": _("Limits"),
            "rows": rows,
            "hidden": max(0, len(known) - MAX_SHOWN),
            "rejections": rejections,
            "advice": get_advice(rejections),
            "problem": LIMIT_REDIS.problem,
            "may_change": request.user.has_perm(CHANGE),
            "choice": SubjectForm(
                Copilot.objects.by_name().values_list("pk", "name")[:MAX_CHOICES],
                EndpointKey.objects.filter(revoked_at=None)[:MAX_CHOICES],
            ),
        }
        return render(request, f"{FOLDER}/page.html", context)

    @method_decorator(require_http_methods(["GET", "HEAD", "POST"]))
    def limits_one_view(self, request: HttpRequest) -> HttpResponse:
        """Show or save the limits of one subject."""
        if not request.user.has_perm(CHANGE):
            raise PermissionDenied
        subject = _get_subject(request)
        name = get_name(subject) if subject else None
        if subject is None or name is None:
            if request.GET.get("kind"):
                messages.error(request, _("This is not a valid user or address."))
                return HttpResponseRedirect(reverse(f"{self.name}:limits"))
            raise Http404
        limits = _load_limits().get(subject, {})
        form = LimitsForm(request.POST if request.method == "POST" else None, initial=limits)
        if request.method == "POST" and form.is_valid():
            _save(request, subject, form.limits)
            messages.success(request, _("Saved. All servers apply it within seconds."))
            return HttpResponseRedirect(reverse(f"{self.name}:limits"))
        context = {
            **self.each_context(request),
            "title": _("Limits of %s") % name,
            "form": form,
            "note": get_note(subject),
            "whom": subject.name,
            "bars": _build_bars({subject: limits})[subject],
        }
        return render(request, f"{FOLDER}/one.html", context)


def _can_view(request: HttpRequest) -> bool:
    return request.user.has_perm(CHANGE) or request.user.has_perm(VIEW)


def _get_subject(request: HttpRequest) -> LimitSubject | None:
    kind, typed = request.GET.get("kind", ""), request.GET.get("id", "").strip()
    if kind and not typed:
        return None
    subject = parse_subject(f"{kind}:{typed}" if kind else request.GET.get("whom", ""))
    if subject is not None and subject.scope is LimitScope.ADDRESS and subject.id:
        return LimitSubject(LimitScope.ADDRESS, get_client_network(subject.id))
    return subject


def _load_limits() -> dict[LimitSubject, Limits]:
    rows = SubjectLimits.objects.exclude(limits={}).values_list("scope", "subject", "limits")
    found = {LimitSubject(LimitScope(scope), id): limits for scope, id, limits in rows}
    copilots = Copilot.objects.exclude(limits={}).by_name().values_list("pk", "limits")
    of_copilots = {LimitSubject(LimitScope.COPILOT, str(pk)): limits for pk, limits in copilots}
    order = list(LimitScope)
    together = {**of_copilots, **found}
    return dict(sorted(together.items(), key=lambda one: order.index(one[0].scope)))


def _build_rows(
    subjects: Collection[LimitSubject], stored: Mapping[LimitSubject, Limits], *, url: str
) -> Iterable[LimitedRow]:
    names = get_names(subjects)
    bars = _build_bars(
        {one: _add_defaults(one, stored.get(one, {})) for one in subjects if one in names}
    )
    for subject in subjects:
        name = names.get(subject)
        if name is not None:
            yield LimitedRow(
                name=name,
                kind=str(subject.scope.label) if subject.id else "",
                url=f"{url}?{urlencode({'whom': subject.name})}",
                bars=bars[subject],
            )


def _add_defaults(subject: LimitSubject, limits: Limits) -> Limits:
    is_every_address = subject == LimitSubject(LimitScope.ADDRESS)
    return {**get_anonymous_limits(), **limits} if is_every_address else limits


def _build_bars(limits: Mapping[LimitSubject, Limits]) -> Mapping[LimitSubject, tuple[Bar, ...]]:
    rules = {subject: build_rules(subject, of) for subject, of in limits.items()}
    counted = {one: of for one, of in rules.items() if one not in _EVERY[1:]}
    usage = measure_usage([rule for of in counted.values() for rule in of])
    return {
        one: tuple(
            build_bar(rule, usage[rule]) if one in counted else build_bar_of_each(rule)
            for rule in of
        )
        for one, of in rules.items()
    }


@transaction.atomic
def _save(request: HttpRequest, subject: LimitSubject, limits: Mapping[str, int | float]) -> None:
    before = {"limits": _load_limits().get(subject, {})}
    if subject.scope is LimitScope.COPILOT:
        Copilot.objects.filter(pk=subject.id).update(limits=limits)
    else:
        SubjectLimits.objects.update_or_create(
            scope=subject.scope, subject=subject.id, defaults={"limits": limits}
        )
    reload_on_commit()
    if before["limits"] != limits:
        by, on = Actor.of(request), _audited(subject)
        record(Action.CHANGED, by=by, on=on, before=before, after={"limits": limits})


def _audited(subject: LimitSubject) -> Audited:
    if subject.scope is LimitScope.COPILOT:
        return Audited("copilot", subject.id, get_name(subject) or "")
    return Audited("subjectlimits", "", subject.name)

"""Pages of limits: all with their usage and rejections, and the form of one subject."""

from collections.abc import Collection, Iterator, Mapping
from urllib.parse import urlencode

from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from copilot_admin.admin.limits.forms import NOTES, LimitsForm, SubjectForm, is_without_users
from copilot_admin.admin.limits.usage import (
    build_meter,
    get_advice,
    get_names,
    load_rejections,
    measure_usage,
    parse_subject,
)
from copilot_admin.admin.site.site import site
from copilot_admin.audit.recording import Actor, record
from copilot_admin.audit.recording import Subject as Audited
from copilot_admin.http.scope import get_client_network
from copilot_admin.limits.counters import LIMIT_REDIS
from copilot_admin.limits.rules import Limits, LimitSubject, build_rules
from copilot_admin.limits.usage import get_anonymous_limits, load_limits, reload_on_commit
from copilot_admin.models import Action, Copilot, EndpointKey, LimitScope, SubjectLimits

CHANGE = "copilot_admin.change_subjectlimits"
VIEW = "copilot_admin.view_subjectlimits"
FOLDER = "admin/copilot_admin/limits"
MAX_SHOWN = 100  # subjects on the page
MAX_CHOICES = 1000
_DEFAULTS = tuple(LimitSubject(one) for one in LimitScope if one is not LimitScope.COPILOT)


@site.page("limits/", name="limits", permissions=(VIEW, CHANGE), menu="Limits")
@require_safe
def limits_view(request: HttpRequest) -> HttpResponse:
    stored, rejections = load_limits(), load_rejections()
    others = (one for one in stored if one not in _DEFAULTS)
    known = [*_DEFAULTS, *sorted(others, key=lambda one: list(LimitScope).index(one.scope))]
    context = {
        **site.each_context(request),
        "title": _("Limits"),
        "rows": list(_build_rows(known[:MAX_SHOWN], stored)),
        "hidden": max(0, len(known) - MAX_SHOWN),
        "rejections": rejections,
        "advice": get_advice(row["subject"] for row in rejections),
        "problem": LIMIT_REDIS.problem,
        "may_change": request.user.has_perm(CHANGE),
        "choice": SubjectForm(
            Copilot.objects.by_name().values_list("pk", "name")[:MAX_CHOICES],
            EndpointKey.objects.filter(revoked_at=None)[:MAX_CHOICES],
        ),
    }
    return render(request, f"{FOLDER}/page.html", context)


@site.page("limits/one/", name="limits_one", permissions=(CHANGE,))
@require_http_methods(["GET", "HEAD", "POST"])
def limit_view(request: HttpRequest) -> HttpResponse:
    subject = _get_subject(request)
    name = get_names([subject]).get(subject) if subject else None
    if subject is None or name is None:
        if request.GET.get("kind"):
            messages.error(request, _("Enter a valid user ID or IP address."))
            return HttpResponseRedirect(reverse("admin:limits"))
        raise Http404
    limits = load_limits().get(subject, {})
    form = LimitsForm(request.POST if request.method == "POST" else None, initial=limits)
    if request.method == "POST" and form.is_valid():
        _save(request, subject, form.limits)
        messages.success(request, _("Limits saved."))
        return HttpResponseRedirect(reverse("admin:limits"))
    context = {
        **site.each_context(request),
        "title": name,
        "form": form,
        "note": NOTES[subject.scope],
        "is_without_users": is_without_users(subject),
        "whom": subject.name,
        "meters": _build_meters({subject: limits})[subject],
    }
    return render(request, f"{FOLDER}/one.html", context)


def _get_subject(request: HttpRequest) -> LimitSubject | None:
    kind, typed = request.GET.get("kind", ""), request.GET.get("id", "").strip()
    if kind and not typed:
        return None
    subject = parse_subject(f"{kind}:{typed}" if kind else request.GET.get("whom", ""))
    if subject is not None and subject.scope is LimitScope.ADDRESS and subject.id:
        return LimitSubject(LimitScope.ADDRESS, get_client_network(subject.id))
    return subject


def _build_rows(
    subjects: Collection[LimitSubject], stored: Mapping[LimitSubject, Limits]
) -> Iterator[dict[str, object]]:
    names = get_names(subjects)
    known = [one for one in subjects if one in names]
    limits = {one: stored.get(one, {}) for one in known}
    every_address = LimitSubject(LimitScope.ADDRESS)
    if every_address in limits:
        limits[every_address] = {**get_anonymous_limits(), **limits[every_address]}
    meters = _build_meters(limits)
    for subject in known:
        yield {
            "name": names[subject],
            "kind": str(subject.scope.label) if subject.id else "",
            "url": f"{reverse('admin:limits_one')}?{urlencode({'whom': subject.name})}",
            "meters": meters[subject],
            "is_without_users": meters[subject] and is_without_users(subject),
        }


def _build_meters(limits: Mapping[LimitSubject, Limits]) -> dict[LimitSubject, list[object]]:
    rules = {subject: build_rules(subject, of) for subject, of in limits.items()}
    counted = [rule for one, of in rules.items() if one not in _DEFAULTS[1:] for rule in of]
    usage = measure_usage(counted)
    return {one: [build_meter(rule, usage.get(rule)) for rule in of] for one, of in rules.items()}


@transaction.atomic
def _save(request: HttpRequest, subject: LimitSubject, limits: Mapping[str, int | float]) -> None:
    before = {"limits": load_limits().get(subject, {})}
    if subject.scope is LimitScope.COPILOT:
        Copilot.objects.filter(pk=subject.id).update(limits=limits)
    else:
        SubjectLimits.objects.update_or_create(
            scope=subject.scope, subject=subject.id, defaults={"limits": limits}
        )
    reload_on_commit()
    if before["limits"] != limits:
        on = Audited("subjectlimits", "", subject.name)
        if subject.scope is LimitScope.COPILOT:
            on = Audited("copilot", subject.id, get_names([subject]).get(subject, ""))
        by = Actor.of(request)
        record(Action.CHANGED, by=by, on=on, before=before, after={"limits": limits})

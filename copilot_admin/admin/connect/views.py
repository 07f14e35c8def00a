"""The Connect page of a copilot: URL, API keys, allowed origins, and the test."""

import asyncio
from collections.abc import Mapping
from typing import Any, NamedTuple

from asgiref.sync import async_to_sync
from django.conf import settings
from django.contrib import messages
from django.contrib.admin.models import ADDITION, DELETION, LogEntry
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import path, reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from copilot_admin.accounts.members import reachable
from copilot_admin.admin.site.site import site
from copilot_admin.audit.recording import Actor, Subject, record
from copilot_admin.config.variables import check_origin
from copilot_admin.connection_test.client import ConnectionAsker, is_own_url
from copilot_admin.connection_test.steps import TITLES, StepName, run_step
from copilot_admin.connection_test.values import (
    Setup,
    StepResult,
    StepVerdict,
    problem_of,
    setup_of,
)
from copilot_admin.copilots.live_settings import keys_of
from copilot_admin.http.middleware import ALLOWED_ORIGINS, MAX_ORIGINS, get_base_url
from copilot_admin.models import Access, Action, AllowedOrigin, Copilot, EndpointKey

VIEW = "copilot_admin.view_copilot"
CHANGE = "copilot_admin.change_copilot"
ALLOW_ORIGIN = "copilot_admin.add_allowedorigin"
FORBID_ORIGIN = "copilot_admin.delete_allowedorigin"
MAKE_KEY = "copilot_admin.add_endpointkey"
FOLDER = "admin/copilot_admin/connect"
EXAMPLE_ORIGIN = "https://workspace.example.com"
MAX_KEY_NAME_LENGTH = 100


class TypedOrigin(NamedTuple):
    """An origin that a user typed, and its error."""

    text: str = ""
    fault: str = ""


NO_ORIGIN = TypedOrigin()


@require_safe
def show_page(request: HttpRequest, pk: int) -> HttpResponse:
    return _render(request, _load_copilot(request, pk, permission=VIEW))


@require_POST
def make_key(request: HttpRequest, pk: int) -> HttpResponse:
    """Create a key for this copilot and show it once; it is in no session and no log."""
    copilot = _load_copilot(request, pk, permission=MAKE_KEY)
    name = _("Workspace: %(name)s") % {"name": copilot.name}
    with transaction.atomic():
        key, text = EndpointKey.issue(name[:MAX_KEY_NAME_LENGTH])
        key.limit_to([copilot])
        site.get_model_admin(EndpointKey).log_addition(request, key, [{"added": {}}])
    return _render(request, copilot, made=key, made_text=text)


@require_POST
def test(request: HttpRequest, pk: int) -> HttpResponse:
    """Run all steps; htmx gets the results alone."""
    copilot = _load_copilot(request, pk, permission=CHANGE)
    origin = _parse_origin(request.POST.get("origin", ""))
    extra, user_id = "" if origin.fault else origin.text, request.user.pk or 0
    setup = setup_of(copilot, base=get_base_url(request), user_id=user_id, extra_origin=extra)
    port = request.META.get("SERVER_PORT", "")
    is_own = is_own_url(setup.base, public_url=settings.PUBLIC_URL, server_port=port)
    results = async_to_sync(_run_steps)(setup, is_own=is_own)
    verdicts = [result.verdict for result in results.values()]
    return _render(
        request,
        copilot,
        part="test" if "HX-Request" in request.headers else "page",
        origin=origin,
        results=results,
        counts={verdict.value: verdicts.count(verdict) for verdict in StepVerdict},
    )


async def _run_steps(setup: Setup, *, is_own: bool) -> dict[StepName, StepResult]:
    ask = ConnectionAsker(setup.base if is_own else "")
    results = await asyncio.gather(*(run_step(name, setup, ask) for name in StepName))
    return dict(zip(StepName, results, strict=True))


@require_POST
def allow(request: HttpRequest, pk: int) -> HttpResponse:
    """Allow one more origin, for all copilots; takes effect immediately."""
    copilot = _load_copilot(request, pk, permission=ALLOW_ORIGIN)
    wanted = _check_new(_parse_origin(request.POST.get("allowed", "")))
    if wanted.fault:
        return _render(request, copilot, status=400, wanted=wanted)
    with transaction.atomic():
        row, is_new = AllowedOrigin.objects.get_or_create(
            origin=wanted.text, defaults={"allowed_by_id": request.user.pk}
        )
        if is_new:
            _log(request, row, ADDITION, Action.ADDED)
        transaction.on_commit(ALLOWED_ORIGINS.refresh)
    text = _("%(origin)s was added to the allowed origins.")
    messages.success(request, text % {"origin": row.origin})
    return HttpResponseRedirect(f"{reverse('connect:page', args=[pk])}#origins-heading")


@require_POST
def forbid(request: HttpRequest, pk: int) -> HttpResponse:
    """Remove an allowed origin; those of the deployment stay."""
    _load_copilot(request, pk, permission=FORBID_ORIGIN)
    with transaction.atomic():
        row = AllowedOrigin.objects.filter(origin=request.POST.get("origin", "")).first()
        if row is not None:
            _log(request, row, DELETION, Action.DELETED)
            row.delete()
            text = _("%(origin)s was removed from the allowed origins.")
            messages.success(request, text % {"origin": row.origin})
        transaction.on_commit(ALLOWED_ORIGINS.refresh)
    return HttpResponseRedirect(f"{reverse('connect:page', args=[pk])}#origins-heading")


def _load_copilot(request: HttpRequest, pk: int, *, permission: str) -> Copilot:
    """Return the copilot; users who can create keys see every copilot, as in the form of keys."""
    user = request.user
    may_make_key = user.has_perm(MAKE_KEY)
    if not user.has_perm(permission) and not (permission == VIEW and may_make_key):
        raise PermissionDenied
    rows = Copilot.objects.in_use().select_related("provider", "live__provider")
    if not may_make_key:
        rows = reachable(user, rows)
    return get_object_or_404(rows, pk=pk, deletion_requested_at=None)


def _parse_origin(text: str) -> TypedOrigin:
    wanted = text.strip().rstrip("/")
    try:
        if wanted:
            check_origin(wanted)
    except ValueError:
        fault = _("Enter scheme, host and optional port, for example %(example)s")
        return TypedOrigin(wanted, fault % {"example": EXAMPLE_ORIGIN})
    return TypedOrigin(wanted)


def _check_new(wanted: TypedOrigin) -> TypedOrigin:
    fault = wanted.fault
    if not wanted.text:
        fault = _("Enter an origin.")
    elif ALLOWED_ORIGINS.is_pinned:
        fault = _("All origins are set by CORS_ORIGINS in the environment of this server.")
    elif wanted.text in ALLOWED_ORIGINS.given:
        fault = _("This origin is already allowed.")
    elif AllowedOrigin.objects.count() >= MAX_ORIGINS:
        text = _("At most %(count)d origins can be added. Remove one first.")
        fault = text % {"count": MAX_ORIGINS}
    return wanted._replace(fault=fault)


def _render(
    request: HttpRequest,
    copilot: Copilot,
    *,
    part: str = "page",
    status: int = 200,
    origin: TypedOrigin = NO_ORIGIN,
    wanted: TypedOrigin = NO_ORIGIN,
    results: Mapping[StepName, StepResult] | None = None,
    **more: Any,
) -> HttpResponse:
    found = results or {}
    context = {
        **site.each_context(request),
        "title": _("Connect to Workspace"),
        "copilot": copilot,
        "base": get_base_url(request),
        "problem": problem_of(copilot),
        "needs_key": copilot.access == Access.KEY,
        "keys": keys_of(copilot),
        "origins": ALLOWED_ORIGINS.given,
        "added": ALLOWED_ORIGINS.load_added(),
        "is_pinned": ALLOWED_ORIGINS.is_pinned,
        "wanted": wanted,
        "cors_line": _build_cors_line(wanted if wanted.text else origin),
        "origin": origin,
        "rows": [
            {"name": name, "title": TITLES[name], "result": found.get(name)} for name in StepName
        ],
        **more,
    }
    return render(request, f"{FOLDER}/{part}.html", context, status=status)


def _build_cors_line(origin: TypedOrigin) -> str:
    """Return the environment variable that allows one more origin."""
    wanted = EXAMPLE_ORIGIN if origin.fault or not origin.text else origin.text
    return f"CORS_ORIGINS={','.join(dict.fromkeys((*ALLOWED_ORIGINS.given, wanted)))}"


def _log(request: HttpRequest, row: AllowedOrigin, flag: int, action: Action) -> None:
    LogEntry.objects.log_actions(request.user.pk or 0, [row], flag)
    record(action, by=Actor.of(request), on=Subject.of(row))


app_name = "connect"
urlpatterns = [
    path("<id:pk>/", site.admin_view(show_page), name="page"),
    path("<id:pk>/key/", site.admin_view(make_key), name="key"),
    path("<id:pk>/allow/", site.admin_view(allow), name="allow"),
    path("<id:pk>/forbid/", site.admin_view(forbid), name="forbid"),
    path("<id:pk>/test/", site.admin_view(test), name="test"),
]

"""Views of the Connect page: the page, API keys, allowed origins, the test."""

import asyncio
from functools import partial
from typing import Any

from asgiref.sync import async_to_sync
from django.conf import settings
from django.contrib import messages
from django.contrib.admin.models import ADDITION, DELETION, LogEntry
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from copilot_admin.admin.common.first_publish import (
    is_first_published,
    restart_first_test,
    start_first_test,
)
from copilot_admin.admin.connect.page import (
    ALLOW_ORIGIN,
    CHANGE,
    FOLDER,
    FORBID_ORIGIN,
    MAKE_KEY,
    VIEW,
    AskedOrigin,
    asked_origin,
    copilot_for,
    page_context,
)
from copilot_admin.admin.site.site import site
from copilot_admin.audit.parties import Actor, Subject
from copilot_admin.audit.recording import record
from copilot_admin.connection_test.client import ConnectionAsker, may_be_asked
from copilot_admin.connection_test.steps import StepName, run_step
from copilot_admin.connection_test.values import Setup, StepResult, setup_of
from copilot_admin.http.origins import ALLOWED_ORIGINS, MAX_ORIGINS, get_base_url
from copilot_admin.models import Action, AllowedOrigin, Copilot, EndpointKey

MAX_KEY_NAME_LENGTH = 100  # of a key


@require_safe
def page(request: HttpRequest, pk: int) -> HttpResponse:
    """Show URL, key, allowed origins and the test."""
    copilot = copilot_for(request, pk, permission=VIEW)
    return render(
        request, f"{FOLDER}/page.html", _with_test(request, page_context(request, copilot))
    )


@require_POST
def make_key(request: HttpRequest, pk: int) -> HttpResponse:
    """Create a key for this copilot and show it once; it is in no session and no log."""
    copilot = copilot_for(request, pk, permission=MAKE_KEY)
    name = _("Workspace: %(name)s") % {"name": copilot.name}
    with transaction.atomic():
        key, text = EndpointKey.issue(name[:MAX_KEY_NAME_LENGTH])
        key.limit_to([copilot])
        site.get_model_admin(EndpointKey).log_addition(request, key, [{"added": {}}])
    restart_first_test(request, copilot.pk)
    context = page_context(request, copilot) | {"made": key, "made_text": text}
    return render(request, f"{FOLDER}/page.html", _with_test(request, context))


@require_POST
def test(request: HttpRequest, pk: int) -> HttpResponse:
    """Run all steps; htmx gets the results alone."""
    copilot = copilot_for(request, pk, permission=CHANGE)
    origin = asked_origin(request.POST.get("origin", ""))
    setup = setup_of(
        copilot,
        base=get_base_url(request),
        user_id=request.user.pk or 0,
        extra_origin="" if origin.fault else origin.text,
    )
    is_own = may_be_asked(
        setup.base,
        public_url=settings.PUBLIC_URL,
        server_port=request.META.get("SERVER_PORT", ""),
    )
    results = async_to_sync(_run_steps)(setup, is_own=is_own)
    context = page_context(request, copilot, origin=origin, results=results)
    part = "test" if "HX-Request" in request.headers else "page"
    return render(request, f"{FOLDER}/{part}.html", context)


@require_POST
def allow(request: HttpRequest, pk: int) -> HttpResponse:
    """Allow one more origin, for all copilots; takes effect immediately."""
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
        request, _("%(origin)s was added to the allowed origins.") % {"origin": row.origin}
    )
    return _back(copilot)


@require_POST
def forbid(request: HttpRequest, pk: int) -> HttpResponse:
    """Remove an allowed origin; those of the deployment stay."""
    copilot = copilot_for(request, pk, permission=FORBID_ORIGIN)
    with transaction.atomic():
        row = AllowedOrigin.objects.filter(origin=request.POST.get("origin", "")).first()
        if row is not None:
            deleted = AllowedOrigin(pk=row.pk, origin=row.origin)
            row.delete()
            _log(request, deleted, DELETION, Action.DELETED)
            text = _("%(origin)s was removed from the allowed origins.")
            messages.success(request, text % {"origin": row.origin})
        transaction.on_commit(ALLOWED_ORIGINS.refresh)
    return _back(copilot)


def _checked(wanted: AskedOrigin) -> AskedOrigin:
    if wanted.fault:
        return wanted
    refuse = partial(AskedOrigin, wanted.text)
    if not wanted.text:
        return refuse(_("Enter an origin."))
    if ALLOWED_ORIGINS.is_pinned:
        return refuse(_("All origins are set by CORS_ORIGINS in the environment of this server."))
    if wanted.text in ALLOWED_ORIGINS.given:
        return refuse(_("This origin is already allowed."))
    if AllowedOrigin.objects.count() >= MAX_ORIGINS:
        text = _("At most %(count)d origins can be added. Remove one first.")
        return refuse(text % {"count": MAX_ORIGINS})
    return wanted


def _log(request: HttpRequest, row: AllowedOrigin, flag: int, action: Action) -> None:
    LogEntry.objects.log_actions(request.user.pk or 0, [row], flag)
    record(action, by=Actor.of(request), on=Subject.of(row))


def _back(copilot: Copilot) -> HttpResponse:
    address = reverse("connect:page", args=[copilot.pk])
    return HttpResponseRedirect(f"{address}#origins-heading")


def _with_test(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    has_its_key = not context["needs_key"] or context["keys"] or not context["may_make_key"]
    is_due = is_first_published(request, context["copilot"].pk) and context["may_test"]
    if is_due and has_its_key and not context["problem"]:
        start_first_test(request)
        return context | {"tests_now": True}
    return context


async def _run_steps(setup: Setup, *, is_own: bool) -> dict[StepName, StepResult]:
    ask = ConnectionAsker(setup.base if is_own else "")
    results = await asyncio.gather(*(run_step(name, setup, ask) for name in StepName))
    return dict(zip(StepName, results, strict=True))

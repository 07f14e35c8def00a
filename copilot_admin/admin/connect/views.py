"""The views of connecting: the page, a key made on the spot, and the test, a step at a time."""

import asyncio
from collections.abc import Iterable
from typing import Any

from asgiref.sync import async_to_sync
from django.conf import settings
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from copilot_admin.admin.common.published import (
    forget_published,
    is_just_published,
    tell_key_made,
)
from copilot_admin.admin.connect.page import (
    CHANGE,
    FOLDER,
    MAKE_KEY,
    VIEW,
    ConnectionStepRow,
    asked_origin,
    copilot_for,
    page_context,
)
from copilot_admin.admin.site.site import site
from copilot_admin.connection_test.asking import asking, may_be_asked
from copilot_admin.connection_test.steps import StepName, run_step
from copilot_admin.connection_test.values import Setup, StepResult, setup_of
from copilot_admin.http.origins import get_base_url
from copilot_admin.models import EndpointKey

LONGEST_NAME = 100  # of a key


@require_safe
def page(request: HttpRequest, pk: int) -> HttpResponse:
    """Address, header, origins and the test of a copilot."""
    copilot = copilot_for(request, pk, permission=VIEW)
    return render(request, f"{FOLDER}/page.html", _told(request, page_context(request, copilot)))


@require_POST
def make_key(request: HttpRequest, pk: int) -> HttpResponse:
    """Makes a key for this copilot alone and shows it, this once: it is in no session and no log.

    Nobody keeps the answer: like every page of the admin it comes with `no-store`.
    """
    copilot = copilot_for(request, pk, permission=MAKE_KEY)
    name = _("Workspace: %(name)s") % {"name": copilot.name}
    with transaction.atomic():
        key, text = EndpointKey.issue(name[:LONGEST_NAME])
        key.limit_to([copilot])
        site.get_model_admin(EndpointKey).log_addition(request, key, [{"added": {}}])
    tell_key_made(request, copilot.pk)
    context = page_context(request, copilot) | {"made": key, "made_text": text}
    return render(request, f"{FOLDER}/page.html", _told(request, context))


@require_POST
def test(request: HttpRequest, pk: int) -> HttpResponse:
    """Does all steps at once, or with `?part=1` the one that is named, for the page to put in."""
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
    if "part" in request.GET:
        row = _row(request.POST.get("step", ""), setup, is_own=is_own)
        return render(request, f"{FOLDER}/step.html", {"row": row})
    results = async_to_sync(_run)(tuple(StepName), setup, is_own=is_own)
    context = page_context(request, copilot, origin=origin, results=results)
    return render(request, f"{FOLDER}/page.html", context)


def _told(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    has_its_key = not context["needs_key"] or context["keys"] or not context["may_make_key"]
    is_due = is_just_published(request, context["copilot"].pk) and context["may_test"]
    if is_due and has_its_key and not context["problem"]:
        forget_published(request)
        return context | {"tests_now": True}
    return context


def _row(wanted: str, setup: Setup, *, is_own: bool) -> ConnectionStepRow:
    try:
        name = StepName(wanted)
    except ValueError as error:
        raise Http404 from error
    results = async_to_sync(_run)((name,), setup, is_own=is_own)
    return ConnectionStepRow(name=name, result=results[name])


async def _run(
    names: Iterable[StepName], setup: Setup, *, is_own: bool
) -> dict[StepName, StepResult]:
    wanted = tuple(names)
    async with asking(setup.base, is_own=is_own) as ask:
        results = await asyncio.gather(*(run_step(name, setup, ask) for name in wanted))
    return dict(zip(wanted, results, strict=True))

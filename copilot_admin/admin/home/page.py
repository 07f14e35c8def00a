"""Contents of the home page, each part only for those who may see it, and the demo data."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import permission_required
from django.contrib.auth.models import User
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from copilot_admin.admin.analytics.cards import Report
from copilot_admin.admin.analytics.scope import AnalyticsScope
from copilot_admin.admin.home.attention import find_tasks
from copilot_admin.admin.home.checklist import NOTICE, build_checklist
from copilot_admin.admin.home.copilots import DAYS, load_copilots
from copilot_admin.analytics.periods import read_period
from copilot_admin.analytics.rollups import Scope
from copilot_admin.audit.recording import Actor
from copilot_admin.demo.loading import has_demo_data, load_demo_data, remove_demo_data
from copilot_admin.models import Conversation, HiddenNotice

MAX_CONVERSATIONS = 8
PERMISSIONS = ("copilot_admin.publish_copilot", "copilot_admin.delete_copilot")


def build_home(request: HttpRequest) -> dict[str, Any]:
    """Return the context of the home page."""
    user = request.user
    if not isinstance(user, User):
        return {}
    may_read = user.has_perm("copilot_admin.view_conversation")
    copilots = load_copilots(user) if user.has_perm("copilot_admin.view_copilot") else None
    period = read_period({"days": str(DAYS)}, at=timezone.now())
    recent = Conversation.objects.of_callers().select_related("copilot", "user")
    return {
        "checklist": build_checklist(user),
        "copilots": copilots,
        "tasks": find_tasks(user, copilots),
        "report": Report(AnalyticsScope(period=period, traffic=Scope())) if may_read else None,
        "recent": recent.order_by("-last_at", "-id")[:MAX_CONVERSATIONS] if may_read else (),
        "has_demo": user.has_perms(PERMISSIONS) and has_demo_data(),
    }


def hide(request: HttpRequest) -> HttpResponse:
    """Hide the checklist for the signed-in user."""
    if request.user.pk:
        HiddenNotice.objects.get_or_create(user_id=request.user.pk, name=NOTICE)
    return HttpResponse() if "HX-Request" in request.headers else redirect("admin:index")


@require_POST
@permission_required(PERMISSIONS, raise_exception=True)
def load_view(request: HttpRequest) -> HttpResponse:
    number = load_demo_data(request.user, by=Actor.of(request), now=timezone.now())
    text = ngettext("Loaded %(n)d demo conversation.", "Loaded %(n)d demo conversations.", number)
    messages.success(request, text % {"n": number})
    return redirect("admin:index")


@require_POST
@permission_required(PERMISSIONS, raise_exception=True)
def remove_view(request: HttpRequest) -> HttpResponse:
    with transaction.atomic():
        remove_demo_data(by=Actor.of(request))
    messages.success(request, _("Removing the demo conversations. This takes a few seconds."))
    return redirect("admin:index")

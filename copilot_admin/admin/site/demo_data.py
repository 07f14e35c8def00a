"""Buttons that load and remove the demo conversations."""

from django.contrib import messages
from django.contrib.auth.decorators import permission_required
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, PermissionsMixin
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from copilot_admin.audit.recording import Actor
from copilot_admin.demo.loading import has_demo_data, load_demo_data, remove_demo_data

PERMISSIONS = ("copilot_admin.publish_copilot", "copilot_admin.delete_copilot")


def describe_demo_data(user: AbstractBaseUser | AnonymousUser) -> dict[str, bool]:
    """Return template variables: whether the user may load or remove demo data, and if it's there."""
    may_change = isinstance(user, PermissionsMixin) and user.has_perms(PERMISSIONS)
    return {"may_change_demo": may_change, "has_demo": may_change and has_demo_data()}


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

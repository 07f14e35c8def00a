"""What a column of the playground may ask besides the draft: versions, and other providers."""

from collections.abc import Mapping

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, JsonResponse
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from copilot_admin.admin.playground.builders import may_build
from copilot_admin.admin.playground.sides import LIVE
from copilot_admin.models import Copilot, CopilotVersion, Provider

MOST_VERSIONS = 500  # as many as one looks through; older ones are on the page of the versions


@require_safe
@never_cache
def choices(request: HttpRequest, pk: int) -> JsonResponse:
    """The live version, every other one, and each provider, as values and labels."""
    if not may_build(request.user):
        raise PermissionDenied
    copilot = get_object_or_404(Copilot, pk=pk, deletion_requested_at=None)
    rows = copilot.versions.order_by("-number").only("number", "note")[:MOST_VERSIONS]
    providers = Provider.objects.order_by("name").values_list("pk", "name")
    return JsonResponse(
        {
            "versions": [_version(row, is_live=row.pk == copilot.live_id) for row in rows],
            "providers": [{"value": str(pk), "label": name} for pk, name in providers],
        }
    )


def _version(version: CopilotVersion, *, is_live: bool) -> Mapping[str, str]:
    words = _("Live: version %(number)d") if is_live else _("Version %(number)d")
    label = words % {"number": version.number}
    return {
        "value": LIVE if is_live else str(version.number),
        "label": f"{label} · {version.note}" if version.note else label,
    }

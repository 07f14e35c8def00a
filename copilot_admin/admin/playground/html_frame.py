"""The HTML of an answer in the playground, as a document of its own that can do nothing.

Workspace renders HTML; transcripts show its text, since a reviewer reads what strangers wrote. Here
it is what a builder's own draft made: it is drawn in a frame without scripts, forms and origin,
which loads nothing from anywhere.
"""

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from copilot_admin.admin.blocks.blocks import build_blocks
from copilot_admin.admin.blocks.contents import FULL_LIMITS
from copilot_admin.admin.blocks.kinds import ArtifactBlock
from copilot_admin.admin.playground.builders import may_build
from copilot_admin.evaluation.playground import builder
from copilot_admin.models import Conversation
from copilot_admin.transcripts.queries import read_conversation

SANDBOX = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'; sandbox"
)


@require_safe
@never_cache
def html_frame(request: HttpRequest, pk: int) -> HttpResponse:
    """One piece of HTML of a chat of one's own, by the key of its block."""
    if not may_build(request.user):
        raise PermissionDenied
    rows = Conversation.objects.filter(copilot_id=pk, principal=builder(request.user).principal)
    conversation = get_object_or_404(rows, trace_id=request.GET.get("chat", ""))
    html = _html(conversation, request.GET.get("key", ""))
    if not html:
        raise Http404
    response = HttpResponse(f"<!DOCTYPE html><meta charset=utf-8>{html}")
    response["Content-Security-Policy"] = SANDBOX
    response["X-Frame-Options"] = "SAMEORIGIN"
    return response


def _html(conversation: Conversation, key: str) -> str:
    for turn in read_conversation(conversation).turns:
        for run in turn.runs:
            if key.startswith(f"r{run.id.hex}-"):
                blocks = build_blocks(run, limits=FULL_LIMITS, formatted=False)
                found = [one for one in blocks if isinstance(one, ArtifactBlock) and one.key == key]
                return found[0].source if found else ""
    return ""

"""Thumbs for an answer of the playground, kept with the trial as those of a user are."""

from django.http import HttpRequest, JsonResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from copilot_admin.admin.playground.builders import may_build
from copilot_admin.evaluation.playground import builder
from copilot_admin.models import Turn
from copilot_admin.transcripts.feedback import GivenFeedback, keep

VOTES = ("thumbs_up", "thumbs_down")


@require_POST
def judge(request: HttpRequest, pk: int) -> JsonResponse:
    """Keeps a judgement of an answer in a chat of one's own; says what came of it."""
    if not may_build(request.user):
        return _said(_("You may not change copilots. Log in again, then judge."), status=403)
    vote, turn = request.POST.get("vote", ""), _turn(request, pk)
    if vote not in VOTES:
        return _said(_("Choose thumbs up or thumbs down."), status=422)
    if turn is None:
        return _said(_("This answer is not kept any more."), status=404)
    keep(GivenFeedback.model_validate({"vote": vote}), turn=turn)
    return _said(_("Thumbs up is kept.") if vote == VOTES[0] else _("Thumbs down is kept."))


def _turn(request: HttpRequest, pk: int) -> Turn | None:
    wanted = request.POST.get("turn", "")
    if not (wanted.isascii() and wanted.isdecimal() and len(wanted) < 16):
        return None
    principal = builder(request.user).principal
    rows = Turn.objects.filter(conversation__copilot_id=pk, conversation__principal=principal)
    return rows.filter(pk=int(wanted)).first()


def _said(sentence: str, *, status: int = 200) -> JsonResponse:
    return JsonResponse({"detail": sentence}, status=status)

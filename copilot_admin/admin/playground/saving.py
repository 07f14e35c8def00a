"""A question of the playground kept as a saved question of the copilot."""

from django.db import transaction
from django.http import HttpRequest, JsonResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from copilot_admin.admin.playground.builders import may_build
from copilot_admin.admin.playground.sent import sent_json
from copilot_admin.admin.playground.sides import origin_of
from copilot_admin.audit.parties import Actor, Subject
from copilot_admin.audit.recording import record
from copilot_admin.errors import ConfigurationError
from copilot_admin.import_export.questions import add_question, read_question
from copilot_admin.models import Action, Copilot
from protocol.strict_json import MalformedJson, parse

FIELD = "question"  # of the form; it holds the question as a copilot file has it


@require_POST
def save(request: HttpRequest, pk: int) -> JsonResponse:
    """Keeps a question with what it brings; says where it is, or why it is not kept."""
    if not may_build(request.user):
        return _refusal(_("You may not change copilots. Log in again, then save."), status=403)
    copilot = Copilot.objects.in_use().filter(pk=pk, deletion_requested_at=None).first()
    if copilot is None:
        return _refusal(_("This copilot is gone."), status=404)
    try:
        entry = read_question(parse(sent_json(request, FIELD)).value)
        with transaction.atomic():
            saved = add_question(copilot, entry, origin=origin_of(request.POST))
            on, facts = Subject.of(saved), {"copilot": copilot.slug}
            record(Action.ADDED, by=Actor.of(request), on=on, after=facts)
    except (ConfigurationError, MalformedJson) as error:
        return _refusal(_("The question is not saved. %s") % error.public, status=422)
    address = reverse("admin:copilot_admin_copilot_question", args=[pk, saved.pk])
    sentence = _("The question is saved. Say what its answer shall be.")
    return JsonResponse({"sentence": sentence, "url": address})


def _refusal(sentence: str, *, status: int) -> JsonResponse:
    return JsonResponse({"detail": sentence}, status=status)

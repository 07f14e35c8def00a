"""Views and URLs of the playground: draw, rate and save an answer, list targets."""

from collections.abc import Sequence
from decimal import Decimal
from types import SimpleNamespace

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.urls import path, reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from copilot_admin.admin.blocks.blocks import build_blocks
from copilot_admin.admin.blocks.kinds import FULL_LIMITS, ArtifactBlock
from copilot_admin.admin.common.base import number_in, require_copilot_access
from copilot_admin.admin.playground.ask import ORIGIN, ask, may_build, read_file
from copilot_admin.admin.transcripts.conversation_page import (
    RunPart,
    build_parts,
    find_turn_of_key,
)
from copilot_admin.admin.transcripts.facts import latest_turn
from copilot_admin.audit.recording import Actor, Subject, record
from copilot_admin.errors import ConfigurationError
from copilot_admin.evaluation.targets import make_caller
from copilot_admin.import_export.questions import add_case, parse_case
from copilot_admin.models import (
    Action,
    Conversation,
    Copilot,
    CostConfidence,
    Feedback,
    FeedbackSource,
    Provider,
    Turn,
)
from copilot_admin.transcripts.feedback import SubmittedFeedback, store_turn_feedback
from copilot_admin.transcripts.queries.reading import read_turns
from copilot_admin.transcripts.queries.tree import Tree
from protocol.json import MalformedJson, loads

TEST = "question"  # the field that holds a test case as a copilot file has it
VOTES = {"thumbs_up": 1, "thumbs_down": -1}
MAX_VERSIONS = 50  # in the menu; older ones are on the page of the versions
SANDBOX = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'; sandbox"
)


def _check_builder(request: HttpRequest) -> None:
    if not may_build(request.user):
        raise PermissionDenied


def _load_own_chat(request: HttpRequest, pk: int) -> Conversation:
    _check_builder(request)
    rows = Conversation.objects.filter(copilot_id=pk, principal=make_caller(request.user).principal)
    return get_object_or_404(rows.select_related("copilot"), trace_id=request.GET.get("chat", ""))


@require_safe
@never_cache
def show_answer(request: HttpRequest, pk: int) -> HttpResponse:
    """Draw the newest answer of one of the user's own chats, as a conversation page would."""
    conversation = _load_own_chat(request, pk)
    turn = latest_turn(conversation)
    tree = Tree(conversation)
    turns = read_turns(conversation, tree, {turn}) if turn else {}
    parts = build_parts(tree, turns)
    if not parts or not parts[0].answers:
        raise Http404
    answer = parts[0].answers[-1]
    began = answer[0].run.row.started_at  # an older thumb rated another answer
    given = Feedback.objects.filter(
        turn=turn, source=FeedbackSource.END_USER, created_at__gte=began
    )
    chat = urlencode({"chat": conversation.trace_id})
    context = {
        "copilot": conversation.copilot,
        "conversation": conversation,
        "answer": answer,
        "totals": _sum_up(answer),
        "last_row": answer[-1].run.row,
        "turn": turn,
        "rating": given.values_list("value", flat=True).first(),
        "html_frames": f"{reverse('playground:html', args=[pk])}?{chat}",
    }
    return render(request, "admin/copilot_admin/playground/answer.html", context)


def _sum_up(answer: Sequence[RunPart]) -> SimpleNamespace:
    """Return the totals of all requests of an answer, without the time that Workspace took."""
    rows = [part.run.row for part in answer]
    last = answer[-1].run
    return SimpleNamespace(
        model=last.row.model,
        version=last.version,
        requests=len(rows),
        ttft_ms=last.row.ttft_ms,
        ms=None if last.row.ms is None else sum(row.ms or 0 for row in rows),
        tokens=sum(row.input_tokens + row.output_tokens for row in rows),
        input_tokens=sum(row.input_tokens for row in rows),
        output_tokens=sum(row.output_tokens for row in rows),
        cost=sum((row.cost or Decimal() for row in rows), Decimal()),
        n_unpriced=sum(row.cost is None for row in rows),
        cost_is_estimated=any(row.cost_confidence == CostConfidence.ESTIMATED for row in rows),
    )


@require_POST
def rate_answer(request: HttpRequest, pk: int) -> HttpResponse:
    """Store thumbs up or down for an answer in one of the user's own chats."""
    _check_builder(request)
    vote = request.POST.get("vote", "")
    if vote not in VOTES:
        return HttpResponse(_("Choose thumbs up or down."), status=422, content_type="text/plain")
    principal = make_caller(request.user).principal
    rows = Turn.objects.filter(conversation__copilot_id=pk, conversation__principal=principal)
    turn = get_object_or_404(rows, pk=number_in(request.POST.get("turn")))
    store_turn_feedback(SubmittedFeedback.model_validate({"vote": vote}), turn=turn)
    context = {"copilot": turn.conversation.copilot, "turn": turn.pk, "rating": VOTES[vote]}
    return render(request, "admin/copilot_admin/playground/rating.html", context)


@require_POST
def save_test(request: HttpRequest, pk: int) -> JsonResponse:
    """Save a question with its test data; answers with a message and a link, or an error."""
    if not may_build(request.user):
        text = _("You do not have permission to change copilots.")
        return JsonResponse({"detail": text}, status=403)
    copilot = Copilot.objects.in_use().filter(pk=pk, deletion_requested_at=None).first()
    if copilot is None:
        return JsonResponse({"detail": _("This copilot was deleted.")}, status=404)
    try:
        entry = parse_case(loads(read_file(request, TEST)))
        with transaction.atomic():
            saved = add_case(copilot, entry, origin=number_in(request.POST.get(ORIGIN)) or None)
            on, facts = Subject.of(saved), {"copilot": copilot.slug}
            record(Action.ADDED, by=Actor.of(request), on=on, after=facts)
    except (ConfigurationError, MalformedJson) as error:
        return JsonResponse({"detail": _("Test not saved. %s") % error.public}, status=422)
    url = reverse("admin:copilot_admin_copilot_test", args=[pk, saved.pk])
    return JsonResponse({"message": _("Test saved. Set the expected answer."), "url": url})


@require_safe
@never_cache
def list_targets(request: HttpRequest, pk: int) -> HttpResponse:
    """Draw the menu of versions and other models."""
    _check_builder(request)
    copilot = get_object_or_404(Copilot, pk=pk, deletion_requested_at=None)
    versions = copilot.versions.exclude(pk=copilot.live_id or 0).order_by("-number")[:MAX_VERSIONS]
    providers = Provider.objects.order_by("name")
    context = {"copilot": copilot, "versions": versions, "providers": providers}
    return render(request, "admin/copilot_admin/playground/target_menu.html", context)


@require_safe
@never_cache
def show_html(request: HttpRequest, pk: int) -> HttpResponse:
    """Serve an HTML artifact of one of the user's own chats, by the key of its block.

    It is drawn in a frame without scripts, forms and origin, which loads nothing from anywhere.
    """
    html = _find_html(_load_own_chat(request, pk), request.GET.get("key", ""))
    if not html:
        raise Http404
    response = HttpResponse(f"<!DOCTYPE html><meta charset=utf-8>{html}")
    response["Content-Security-Policy"] = SANDBOX
    response["X-Frame-Options"] = "SAMEORIGIN"
    return response


def _find_html(conversation: Conversation, key: str) -> str:
    tree = Tree(conversation)
    turn = find_turn_of_key(conversation, tree, key)
    for view in read_turns(conversation, tree, {turn} if turn else ()).values():
        for run in view.runs:
            if key.startswith(f"r{run.id.hex}-"):
                blocks = build_blocks(run, limits=FULL_LIMITS, formatted=False)
                found = [one for one in blocks if isinstance(one, ArtifactBlock) and one.key == key]
                return found[0].source if found else ""
    return ""


app_name = "playground"
urlpatterns = [
    path("<id:pk>/ask/", ask, name="ask"),
    path("<id:pk>/answer/", require_copilot_access(show_answer), name="answer"),
    path("<id:pk>/targets/", require_copilot_access(list_targets), name="targets"),
    path("<id:pk>/html/", require_copilot_access(show_html), name="html"),
    path("<id:pk>/rate/", require_copilot_access(rate_answer), name="rate"),
    path("<id:pk>/save/", require_copilot_access(save_test), name="save"),
]

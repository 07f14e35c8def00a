"""What is told of a conversation that was deleted while somebody wrote about it."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from copilot_admin.admin.transcripts.views import number_in
from copilot_admin.admin.transcripts.way import Way, way_in
from copilot_admin.models import Conversation

View = Callable[..., HttpResponse]
TYPED = ("text", "comment")  # the fields in which people write
TEMPLATE = "admin/copilot_admin/conversation/gone.html"


def gone_page(request: HttpRequest, way: Way) -> TemplateResponse:
    """Says that it is gone; of a form that nothing was saved, with what was typed in it."""
    typed = "\n\n".join(filter(None, (request.POST.get(name, "") for name in TYPED)))
    was_sent = request.method == "POST"
    context = {"was_sent": was_sent, "typed": typed, "list_address": way.list_address}
    return TemplateResponse(request, TEMPLATE, context, status=404)


def told_if_deleted(view: View) -> View:
    """Tells who sends a form of a conversation's page that there is no conversation any more."""

    @wraps(view)
    def told(self: Any, request: HttpRequest, pk: str, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return view(self, request, pk, *args, **kwargs)
        except Http404:
            if request.method != "POST" or _is_there(pk):
                raise
            return gone_page(request, way_in(request.POST))

    return told


def _is_there(pk: str) -> bool:
    number = number_in(pk)
    return number is not None and Conversation.objects.filter(pk=number).exists()

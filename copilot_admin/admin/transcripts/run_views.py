"""The pages of one run as it was: what it was asked, and what it put out."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import URLPattern, path

from copilot_admin.admin.transcripts.keys import turn_of_key
from copilot_admin.admin.transcripts.raw import MOST_SHOWN, raw_events, raw_messages
from copilot_admin.admin.transcripts.views import FOLDER, TranscriptViews, read_only
from copilot_admin.evaluation.learning import path_to
from copilot_admin.models import Conversation
from copilot_admin.rendering.text import pretty_json
from copilot_admin.transcripts.queries import (
    ConversationView,
    Extent,
    RunView,
    read_request,
    read_tree,
    read_turns,
)

# A page of so many events is drawn in a second; an export has more of them.
RAW_EXTENT = Extent(events=1_000)


class RunViews(TranscriptViews):
    """What whoever looks for a fault wants to see."""

    def get_urls(self) -> list[URLPattern]:
        wrap = self.admin_site.admin_view
        name = "copilot_admin_conversation_{}".format
        own = [
            path("<str:pk>/runs/<str:run>/", wrap(self.run_view), name=name("run")),
            path("<str:pk>/runs/<str:run>/request/", wrap(self.request_view), name=name("request")),
        ]
        return own + super().get_urls()

    @read_only
    def run_view(self, request: HttpRequest, pk: str, run: str) -> HttpResponse:
        """A run as it was: request and events."""
        conversation = self.conversation(request, pk, view="run", of=run)
        view, asked = self.run_of(conversation, run)
        whole = pretty_json(request_of(view, asked))
        context = {
            "run": asked,
            "events": list(raw_events(asked)),
            "request_text": whole[:MOST_SHOWN],
            "request_is_cut": len(whole) > MOST_SHOWN,
        }
        if "fragment" in request.GET:
            context["conversation"] = conversation
            return render(request, f"{FOLDER}/raw.html", context)
        return self.page(request, "run.html", conversation, **context)

    @read_only
    def request_view(self, request: HttpRequest, pk: str, run: str) -> HttpResponse:
        """The whole request of a run as a file."""
        conversation = self.conversation(request, pk, view="request", of=run)
        view, asked = self.run_of(conversation, run)
        response = HttpResponse(
            pretty_json(request_of(view, asked)), content_type="application/json"
        )
        response["Content-Disposition"] = f'attachment; filename="request-{asked.id}.json"'
        return response

    def run_of(self, conversation: Conversation, run: str) -> tuple[ConversationView, RunView]:
        """A run by its id, and the conversation on the way to it.

        Raises:
            Http404: It is none of this conversation.
        """
        tree = read_tree(conversation)
        turn = turn_of_key(conversation, tree, f"r{run.replace('-', '')}")
        above = path_to(tree, turn) if turn is not None else []
        read = read_turns(conversation, tree, above, extent=RAW_EXTENT)
        asked = [one for turn in read.values() for one in turn.runs if str(one.id) == run]
        if not asked:
            raise Http404
        turns = tuple(read[one] for one in above)
        return ConversationView(id=conversation.pk, turns=turns, history=()), asked[0]


def request_of(view: ConversationView, run: RunView) -> Any:
    """A request as it is kept: its messages, and what came with them."""
    env = read_request(run.id) if run.has_request else None
    rest = env if isinstance(env, dict) else {}
    return {"messages": raw_messages(view, run), **rest}

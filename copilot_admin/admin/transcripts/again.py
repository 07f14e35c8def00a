"""A question asked again: as a command for the shell, and in the playground of its copilot."""

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.urls import URLPattern, path

from copilot_admin.admin.transcripts.judging import JudgingViews
from copilot_admin.admin.transcripts.run_views import RunViews, request_of
from copilot_admin.admin.transcripts.views import number_in, read_only
from copilot_admin.evaluation.curl import curl_of
from copilot_admin.evaluation.learning import path_to
from copilot_admin.evaluation.replay import question_of
from copilot_admin.http.origins import get_base_url
from copilot_admin.transcripts.queries import read_request, read_tree, read_turns


class AskingAgainViews(JudgingViews, RunViews):
    """What a reviewer takes along to ask the same once more."""

    def get_urls(self) -> list[URLPattern]:
        wrap = self.admin_site.admin_view
        name = "copilot_admin_conversation_{}".format
        own = [
            path("<str:pk>/runs/<str:run>/curl/", wrap(self.curl_view), name=name("curl")),
            path(
                "<str:pk>/turns/<str:turn>/question/",
                wrap(self.question_view),
                name=name("question"),
            ),
        ]
        return own + super().get_urls()

    @read_only
    def curl_view(self, request: HttpRequest, pk: str, run: str) -> HttpResponse:
        """The request of a run as a command, without a key."""
        conversation = self.conversation(request, pk, view="request", of=run)
        view, asked = self.run_of(conversation, run)
        address = f"{get_base_url(request)}/v1/copilots/{conversation.copilot.slug}/query"
        text = curl_of(address, request_of(view, asked))
        return HttpResponse(text, content_type="text/plain; charset=utf-8")

    @read_only
    def question_view(self, request: HttpRequest, pk: str, turn: str) -> HttpResponse:
        """A question with its data and options, for the playground."""
        conversation = self.conversation(request, pk)
        tree = read_tree(conversation)
        number = number_in(turn)
        above = path_to(tree, number) if number is not None else []
        turns = read_turns(conversation, tree, above)
        if not turns:
            raise Http404
        kept = [run.id for run in turns[above[-1]].runs if run.has_request]
        found = read_request(kept[0]) if kept else None
        asked = question_of([turns[one] for one in above], found)
        return JsonResponse({**asked, "origin": conversation.origin or conversation.pk})

"""The page of a conversation, and its parts for htmx: panel, turns, data, trace."""

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils.translation import gettext as _

from copilot_admin.admin.transcripts.conversation_page import (
    EXTENT,
    ConversationPage,
    build_page,
    build_parts,
    find_content,
)
from copilot_admin.admin.transcripts.facts import load_facts
from copilot_admin.admin.transcripts.nav_context import ReturnContext, read_context
from copilot_admin.admin.transcripts.pages import (
    FOLDER,
    is_fragment,
    load_conversation,
    parse_id,
    read_page,
    render_page,
    title_of,
)
from copilot_admin.admin.transcripts.raw import load_run, request_of
from copilot_admin.admin.transcripts.review import VerdictForm, build_review, redirect_to_next
from copilot_admin.admin.transcripts.trace import build_trace, rebuild_prompt
from copilot_admin.admin.transcripts.turns import find_turn_of_key, plan_page
from copilot_admin.models import Conversation
from copilot_admin.privacy.holds import holds_of
from copilot_admin.review.results import turn_reviews, verdicts_on
from copilot_admin.storage.time_limit import TooSlowError
from copilot_admin.transcripts.access import visible_conversations
from copilot_admin.transcripts.queries import WHOLE, Extent, Tree, TurnView, read_tree, read_turns
from copilot_admin.transcripts.search.list_query import ConversationList, RowKey
from copilot_admin.transcripts.search.saved_views import SEARCH_PARAMETER, read_query
from copilot_admin.transcripts.search.text_index import parse_search

VIEW_PROMPTS = "copilot_admin.view_copilot"
NEXT, PREVIOUS = "next", "previous"


def conversation_page(
    request: HttpRequest, pk: str, *, form: VerdictForm | None = None
) -> HttpResponse:
    """Show a conversation; with a verdict to correct, if one is given."""
    conversation = load_conversation(request, pk)
    nav = read_context(request.POST or request.GET)
    context = _page_context(request, conversation, nav, form=form)
    return render_page(request, "page.html", title_of(conversation), **context)


@read_page
def panel_view(request: HttpRequest, pk: str) -> HttpResponse:
    """Return the side panel of the list."""
    conversation = load_conversation(request, pk)
    context = _page_context(request, conversation, read_context(request.GET))
    return render(request, f"{FOLDER}/panel.html", context)


@read_page
def chat_view(request: HttpRequest, pk: str) -> HttpResponse:
    """Return the chat and the facts, for a page that is open."""
    conversation = load_conversation(request, pk, view="")
    context = _page_context(request, conversation, read_context(request.GET))
    return render(request, f"{FOLDER}/chat.html", {**context, "with_facts": True})


@read_page
def turn_view(request: HttpRequest, pk: str, turn: str) -> HttpResponse:
    """Return one turn, and the facts of its conversation, for a page that is open."""
    conversation = load_conversation(request, pk)
    return render_turn(request, conversation, parse_id(turn))


def render_turn(
    request: HttpRequest, conversation: Conversation, turn: int | None, **extra: Any
) -> HttpResponse:
    """Return a turn as a part of a page."""
    tree = read_tree(conversation)
    view = _read_turn(conversation, tree, turn, extent=EXTENT)
    verdicts = verdicts_on(conversation)
    reviews = turn_reviews(conversation, [view.id], verdicts)
    (part,) = build_parts(tree, {view.id: view}, reviews=reviews)
    context = {
        "part": part,
        **_about(request, conversation, read_context(request.POST or request.GET)),
        **extra,
    }
    return render(request, f"{FOLDER}/turn_fragment.html", context)


@read_page
def part_view(request: HttpRequest, pk: str, key: str) -> HttpResponse:
    """Show a whole piece of data of which the page has the beginning."""
    conversation = load_conversation(request, pk, view="data")
    tree = read_tree(conversation)
    turn = _read_turn(conversation, tree, find_turn_of_key(conversation, tree, key))
    content = find_content(turn, key, first=parse_id(request.GET.get("from", "")) or 0)
    if content is None:
        raise Http404
    context = {"content": content, "conversation": conversation, "whole": True}
    if is_fragment(request):
        return render(request, f"{FOLDER}/content.html", context)
    return render_page(request, "sub_page.html", title_of(conversation), **context)


@read_page
def trace_view(request: HttpRequest, pk: str, turn: str) -> HttpResponse:
    """Show what happened to answer a question."""
    conversation = load_conversation(request, pk, view="trace", of=turn)
    tree = read_tree(conversation)
    view = _read_turn(conversation, tree, parse_id(turn), extent=EXTENT)
    context = {
        "trace": build_trace(view),
        "turn": view,
        "conversation": conversation,
        "facts": load_facts(conversation),
    }
    if is_fragment(request):
        return render(request, f"{FOLDER}/trace.html", context)
    return render_page(request, "trace_page.html", title_of(conversation), **context)


@read_page
def prompt_view(request: HttpRequest, pk: str, run: str) -> HttpResponse:
    """Show the messages that the model got, rebuilt from the version and the stored request."""
    conversation = load_conversation(request, pk, view="prompt", of=run)
    path, asked = load_run(conversation, run)
    may_see = request.user.has_perm(VIEW_PROMPTS)
    prompt = rebuild_prompt(request_of(path, asked), asked.row) if may_see else None
    context = {"messages_sent": prompt, "may_see": may_see, "run": asked}
    return render(request, f"{FOLDER}/prompt.html", context)


@read_page
def adjacent_view(request: HttpRequest, pk: str, direction: str) -> HttpResponse:
    """Redirect to the conversation before or after this one in the list."""
    nav = read_context(request.GET)
    conversation = load_conversation(request, pk, view="")
    if direction not in (NEXT, PREVIOUS):
        raise Http404
    url = find_adjacent(request, conversation, nav, is_next=direction == NEXT)
    return HttpResponseRedirect(url)


def find_adjacent(
    request: HttpRequest, conversation: Conversation, nav: ReturnContext, *, is_next: bool
) -> str:
    """Return the URL of the neighbour in the list, or of this one with a message at the end."""
    listed = ConversationList(visible_conversations(request.user), read_query(nav.filters))
    kept = RowKey.parse(nav.place)
    key = kept if kept and kept.pk == conversation.pk else RowKey.of(conversation)
    try:
        found = listed.find_neighbour(key, is_next=is_next)
    except TooSlowError:
        messages.info(
            request, _("Finding the next conversation takes too long. Narrow the filters.")
        )
        return nav.url_of("change", conversation.pk)
    if found is not None:
        return ReturnContext(filters=nav.filters).url_of("change", found)
    end = _("This is the last conversation of the list.")
    messages.info(request, end if is_next else _("This is the first conversation of the list."))
    return nav.url_of("change", conversation.pk)


def go_on(request: HttpRequest, conversation: Conversation, nav: ReturnContext) -> HttpResponse:
    """Redirect to the next conversation of the queue or of the list."""
    if nav.queue is not None:
        return redirect_to_next(request, nav.queue)
    return HttpResponseRedirect(find_adjacent(request, conversation, nav, is_next=True))


def _page_context(
    request: HttpRequest,
    conversation: Conversation,
    nav: ReturnContext,
    *,
    form: VerdictForm | None = None,
) -> dict[str, Any]:
    tree = read_tree(conversation)
    through = parse_id(request.GET.get("turn", ""))
    plan = plan_page(tree, through=through)
    verdicts = verdicts_on(conversation)
    page: ConversationPage = build_page(
        plan,
        read_turns(conversation, tree, plan.shown, extent=EXTENT),
        reviews=turn_reviews(conversation, plan.shown, verdicts),
    )
    return {
        **_about(request, conversation, nav),
        "page": page,
        "through": through,
        "review": build_review(request, conversation, nav, verdicts, form=form),
        "holds": holds_of(conversation),
    }


def _about(request: HttpRequest, conversation: Conversation, nav: ReturnContext) -> dict[str, Any]:
    words = request.GET.get(SEARCH_PARAMETER, "")
    query = {**nav.fields, **({SEARCH_PARAMETER: words} if words else {})}
    return {
        "conversation": conversation,
        "facts": load_facts(conversation),
        "nav": nav,
        "part_query": urlencode(query),
        "phrases": tuple(parse_search(words).phrases),
    }


def _read_turn(
    conversation: Conversation, tree: Tree, turn: int | None, *, extent: Extent = WHOLE
) -> TurnView:
    found = {} if turn is None else read_turns(conversation, tree, {turn}, extent=extent)
    for view in found.values():
        return view
    raise Http404

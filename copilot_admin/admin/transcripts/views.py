"""The page of a conversation, and its parts for htmx: panel, turns, data, trace."""

from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils.translation import gettext as _

from copilot_admin.admin.common.base import number_in
from copilot_admin.admin.transcripts.conversation_page import (
    EXTENT,
    build_parts,
    find_content,
    find_turn_of_key,
    plan_page,
)
from copilot_admin.admin.transcripts.facts import load_facts
from copilot_admin.admin.transcripts.pages import (
    FOLDER,
    ReturnContext,
    load_conversation,
    read_context,
    render_page,
    render_part,
    title_of,
)
from copilot_admin.admin.transcripts.raw import load_request
from copilot_admin.admin.transcripts.review import VerdictForm, build_review, redirect_to_next
from copilot_admin.admin.transcripts.trace import build_trace, rebuild_prompt
from copilot_admin.models import Conversation
from copilot_admin.privacy.holds import holds_of
from copilot_admin.review.queues import prefetch_reviews
from copilot_admin.storage.errors import TooSlowError
from copilot_admin.transcripts.access import visible_conversations
from copilot_admin.transcripts.queries.reading import WHOLE, Extent, TurnView, read_turns
from copilot_admin.transcripts.queries.tree import Tree
from copilot_admin.transcripts.search.list_query import (
    SEARCH_PARAMETER,
    ConversationList,
    RowKey,
    read_query,
)
from copilot_admin.transcripts.search.text_index import parse_search

VIEW_PROMPTS = "copilot_admin.view_copilot"
NEXT, PREVIOUS = "next", "previous"


def conversation_page(
    request: HttpRequest, pk: int, *, form: VerdictForm | None = None
) -> HttpResponse:
    conversation = load_conversation(request, pk)
    context = _page_context(request, conversation, form=form)
    return render_page(request, "page.html", title_of(conversation), **context)


def panel_view(request: HttpRequest, pk: int) -> HttpResponse:
    context = _page_context(request, load_conversation(request, pk))
    return render(request, f"{FOLDER}/panel.html", context)


def chat_view(request: HttpRequest, pk: int) -> HttpResponse:
    """Return the chat and the facts, for a page that is open."""
    context = _page_context(request, load_conversation(request, pk, view=""))
    return render(request, f"{FOLDER}/chat.html", {**context, "with_facts": True})


def turn_view(request: HttpRequest, pk: int, turn: int) -> HttpResponse:
    return render_turn(request, load_conversation(request, pk), turn)


def render_turn(
    request: HttpRequest, conversation: Conversation, turn: int, **extra: Any
) -> HttpResponse:
    tree = Tree(conversation)
    view = _read_turn(conversation, tree, turn, extent=EXTENT)
    prefetch_reviews([view.row])
    (part,) = build_parts(tree, {view.id: view})
    context = {"part": part, **_base_context(request, conversation), **extra}
    return render(request, f"{FOLDER}/turn_fragment.html", context)


def part_view(request: HttpRequest, pk: int, key: str) -> HttpResponse:
    conversation = load_conversation(request, pk, view="data")
    tree = Tree(conversation)
    turn = _read_turn(conversation, tree, find_turn_of_key(conversation, tree, key))
    content = find_content(turn, key, first=number_in(request.GET.get("from")))
    if content is None:
        raise Http404
    context = {"content": content, "whole": True}
    return render_part(request, "content.html", "sub_page.html", conversation, **context)


def trace_view(request: HttpRequest, pk: int, turn: int) -> HttpResponse:
    conversation = load_conversation(request, pk, view="trace", of=turn)
    view = _read_turn(conversation, Tree(conversation), turn, extent=EXTENT)
    context = {"trace": build_trace(view)}
    return render_part(request, "trace.html", "trace_page.html", conversation, **context)


def prompt_view(request: HttpRequest, pk: int, run: UUID) -> HttpResponse:
    conversation = load_conversation(request, pk, view="prompt", of=run)
    body, view = load_request(conversation, run)
    may_see = request.user.has_perm(VIEW_PROMPTS)
    prompt = rebuild_prompt(body, view.row) if may_see else None
    context = {"messages_sent": prompt, "may_see": may_see, "run": view}
    return render(request, f"{FOLDER}/prompt.html", context)


def adjacent_view(request: HttpRequest, pk: int, direction: str) -> HttpResponse:
    """Redirect to the conversation before or after this one in the list."""
    conversation = load_conversation(request, pk, view="")
    if direction not in (NEXT, PREVIOUS):
        raise Http404
    nav = read_context(request.GET)
    return _go_to_adjacent(request, conversation, nav, is_next=direction == NEXT)


def go_on(request: HttpRequest, conversation: Conversation, nav: ReturnContext) -> HttpResponse:
    if nav.queue:
        return redirect_to_next(request, nav.queue)
    return _go_to_adjacent(request, conversation, nav, is_next=True)


def _go_to_adjacent(
    request: HttpRequest, conversation: Conversation, nav: ReturnContext, *, is_next: bool
) -> HttpResponse:
    """Redirect to the neighbour in the list, or to this one with a message at the end."""
    listed = ConversationList(visible_conversations(request.user), read_query(nav.filters))
    kept = RowKey.parse(nav.place)
    key = kept if kept and kept.pk == conversation.pk else RowKey.of(conversation)
    try:
        found = listed.find_neighbour(key, is_next=is_next)
    except TooSlowError:
        text = _("Finding the next conversation takes too long. Narrow the filters.")
    else:
        if found is not None:
            return HttpResponseRedirect(ReturnContext(filters=nav.filters).url_of("change", found))
        text = _("This is the first conversation of the list.")
        if is_next:
            text = _("This is the last conversation of the list.")
    messages.info(request, text)
    return HttpResponseRedirect(nav.url_of("change", conversation.pk))


def _page_context(
    request: HttpRequest, conversation: Conversation, *, form: VerdictForm | None = None
) -> dict[str, Any]:
    tree = Tree(conversation)
    through = number_in(request.GET.get("turn"))
    path, shown = plan_page(tree, through=through)
    turns = read_turns(conversation, tree, shown, extent=EXTENT)
    prefetch_reviews([view.row for view in turns.values()])
    parts = build_parts(tree, turns, path)
    context = _base_context(request, conversation)
    return {
        **context,
        "page": {
            "parts": parts,
            "is_live": any(part.is_live for part in parts),
            "newest": parts[-1].place if parts else None,
        },
        "through": through,
        "review": build_review(request, conversation, context["nav"], form=form),
        "holds": holds_of(conversation),
    }


def _base_context(request: HttpRequest, conversation: Conversation) -> dict[str, Any]:
    nav = read_context(request.POST or request.GET)
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

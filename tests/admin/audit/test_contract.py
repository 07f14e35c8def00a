"""Whatever changes something in the admin stands in the trail, or here with the reason why not.

The reader is told by the code of each view: it calls `audit`, `record`, one of their kin or Django's
methods that log additions and deletions, itself or in what it calls within the admin.
"""

import ast
from collections.abc import Iterator
from functools import cache
import inspect
from pathlib import Path
import textwrap
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver
import pytest

from copilot_admin.admin.common.audited import AuditedAdmin
from copilot_admin.admin.frame.site import site
from copilot_admin.settings import BASE_DIR

SAYS = frozenset(
    {
        "audit",
        "record",
        "record_hold",
        "record_import",
        "apply_plan",
        "record_read",
        "record_release",
        "record_removal",
        "record_search",
        "password_changed",
    }
)
# Views of Django that are audited by the class around them, or by signals.
OF_DJANGO = frozenset(
    {
        "add_view",
        "change_view",
        "changelist_view",
        "changeform_view",
        "delete_view",
        "history_view",
        "user_change_password",
        "login",
        "logout",
        "password_change",
    }
)
# Views that answer a POST, or say nothing of what was read, and are in no trail.
WITHOUT: dict[str, str] = {
    "admin:app_list": "shows links",
    "admin:emergency": "a log-in, which the signals of log-ins tell",
    "admin:limits": "shows limits and what was used of them",
    "admin:logged_in": "says that it was done",
    "admin:privacy": "shows for how long is kept, what is held and removed; nothing that was said",
    "admin:index": "shows links and counts",
    "admin:jsi18n": "texts of the program",
    "admin:password_change_done": "says that it was done",
    "admin:autocomplete": "names of copilots for a field",
    "admin:view_on_site": "leads elsewhere",
    "admin:component_try": "tries a component on what was typed; nothing is stored",
    "admin:component_stream": "as above",
    "admin:component": "describes a component",
    "admin:components": "lists components",
    "admin:figures": "counts; a table that is taken along is an entry",
    "admin:figures_running": "counts",
    "admin:running": "shows what is under way",
    "admin:running_rows": "as above",
    "admin:copilot_admin_copilot_preview": "draws a form; nothing is stored",
    "admin:copilot_admin_copilot_models": "asks for a list of models, which is kept as it is found",
    "admin:copilot_admin_copilot_checklist": "as above, and shows what is found then",
    "admin:copilot_admin_copilot_image": "a picture that Workspace shows to everybody",
    "admin:copilot_admin_copilot_templates": "lists templates",
    "admin:copilot_admin_copilot_versions": "shows copilots to their builders",
    "admin:copilot_admin_copilot_compare": "as above",
    "admin:copilot_admin_copilot_import": "keeps files for the page that asks; what they do is an entry",
    "admin:copilot_admin_copilot_questions": "shows saved questions to builders",
    "admin:copilot_admin_copilot_question_rows": "as above",
    "admin:copilot_admin_copilot_question_fares": "as above",
    "admin:copilot_admin_copilot_question_differences": "as above",
    "admin:copilot_admin_copilot_question_move": "their order on the page",
    "admin:copilot_admin_copilot_replay": "shows replays to builders",
    "admin:copilot_admin_copilot_replay_rows": "as above",
    "admin:copilot_admin_copilot_replay_pair": "as above",
    "admin:copilot_admin_conversation_state": "what is running; nothing that was said",
    "admin:copilot_admin_conversation_beside": "leads to the next one, which is an entry",
    "admin:copilot_admin_conversation_view_save": "filters of one's own list",
    "admin:copilot_admin_conversation_view_rename": "as above",
    "admin:copilot_admin_conversation_view_delete": "as above",
    "admin:copilot_admin_reviewqueue_next": "leads to a conversation, which is an entry",
    "admin:copilot_admin_transcriptexport_state": "how far an export has come",
    "connect:page": "shows an address",
    "connect:test": "asks this server what everybody may ask it",
    "playground:ask": "asks a draft; what was asked is in the transcripts of the playground",
    "playground:judge": "what is expected of an answer that is not saved",
    "playground:choices": "names of files for a field",
    "playground:html": "an empty frame",
}


def views() -> Iterator[tuple[str, Any]]:
    """Each view of the admin, by the name of its address."""
    for pattern, space in _walk(get_resolver().url_patterns, ""):
        if space and pattern.name and "wildcard" not in pattern.name:
            yield f"{space}:{pattern.name}", pattern.callback


def _walk(patterns: list[Any], space: str) -> Iterator[tuple[URLPattern, str]]:
    for one in patterns:
        if isinstance(one, URLResolver):
            yield from _walk(one.url_patterns, one.namespace or space)
        elif space in ("admin", "connect", "playground"):
            yield one, space


def function_of(view: Any) -> Any:
    """The function behind the wrappers of Django and of the site."""
    seen = view
    while (inner := getattr(seen, "__wrapped__", None)) is not None:
        seen = inner
    return seen


@cache
def functions() -> dict[str, set[str]]:
    """What each function of the admin calls, by its name; those of one name together."""
    found: dict[str, set[str]] = {}
    for file in (Path(BASE_DIR) / "copilot_admin" / "admin").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                found.setdefault(node.name, set()).update(called_in(node))
    return found


def called_in(node: ast.AST) -> set[str]:
    calls = [one.func for one in ast.walk(node) if isinstance(one, ast.Call)]
    names = {one.attr for one in calls if isinstance(one, ast.Attribute)}
    return names | {one.id for one in calls if isinstance(one, ast.Name)}


def says(function: Any) -> bool:
    """Whether a function, or what it calls within the admin, makes an entry."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    asked = called_in(tree)
    seen: set[str] = set()
    while asked - seen:
        name = (asked - seen).pop()
        seen.add(name)
        # `log_change` is Django's history: an entry comes of it only where a stock form was sent.
        if name in SAYS or name in ("log_addition", "log_deletions"):
            return True
        if name not in ("get", "filter", "get_object", "page", "render"):
            asked = asked | functions().get(name, set())
    return False


VIEWS = dict(views())


@pytest.mark.parametrize("name", sorted(VIEWS))
def test_a_view_is_audited_or_has_a_reason(name: str) -> None:
    function = function_of(VIEWS[name])
    if name in WITHOUT:
        return
    is_stock = function.__name__ in OF_DJANGO and function.__module__.startswith("django.")
    assert is_stock or says(function) or function.__name__ in OF_DJANGO, function


def test_reasons_are_given_for_views_that_there_are() -> None:
    assert sorted(WITHOUT.keys() - VIEWS.keys()) == []


def test_every_class_of_the_admin_is_an_audited_one() -> None:
    others = [
        model.__name__
        for model, page in site._registry.items()
        if not isinstance(page, AuditedAdmin)
    ]
    assert others == []

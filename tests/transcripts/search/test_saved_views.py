"""Views of the transcript list that reviewers keep."""

from typing import Any
from urllib.parse import urlencode

from django.test import Client as Browser
import pytest

from copilot_admin.config.roles import Role, create_roles
from copilot_admin.models import SavedView
from copilot_admin.transcripts.search import saved_views
from copilot_admin.transcripts.search.saved_views import list_views, normalize_query, save_view
from tests.factories import make_user
from tests.transcripts.store.journaling import Client

pytestmark = pytest.mark.django_db
LIST = "/admin/copilot_admin/conversation/"
SAVE = f"{LIST}views/save/"


def log_in(*groups: str, **changes: object) -> Browser:
    create_roles()
    browser = Browser()
    browser.force_login(make_user(*groups, **changes))
    return browser


def said(response: Any) -> list[str]:
    return [str(message) for message in response.context["messages"]]


def test_a_view_is_saved_shown_shared_and_deleted():
    mine, others = log_in(Role.REVIEWERS), log_in(Role.REVIEWERS)
    Client().ask("Why?").answer("-")
    form = {"name": " My <b> ", "query": "outcome=completed&older=1-1&tokens-to=", "shared": "on"}
    response = mine.post(SAVE, form, follow=True)
    assert said(response) == ["The view is saved."]
    assert response.redirect_chain[-1][0] == f"{LIST}?outcome=completed"
    page = others.get(LIST).content.decode()
    assert "<bdi>My &lt;b&gt;</bdi>" in page
    assert 'href="?outcome=completed"' in page
    assert '<span class="ca-count ca-nums">1</span>' in page
    view = SavedView.objects.get()
    gone = f"{LIST}views/{view.pk}/delete/"
    assert said(others.post(gone, follow=True)) == [
        "That view is not yours, or it is gone already."
    ]
    assert said(mine.post(gone, follow=True)) == ["The view is deleted."]
    assert not SavedView.objects.exists()


def renamed(browser: Browser, view: SavedView, name: str) -> list[str]:
    form = {"name": name, "query": view.query}
    return said(browser.post(f"{LIST}views/{view.pk}/rename/", form, follow=True))


def test_an_own_view_is_renamed_and_nobody_elses():
    mine, others = log_in(Role.REVIEWERS), log_in(Role.REVIEWERS)
    for name in ("Old", "Kept"):
        mine.post(SAVE, {"name": name, "query": "outcome=failed", "shared": "on"})
    kept, old = SavedView.objects.order_by("name")
    assert f"{LIST}views/{old.pk}/rename/" in mine.get(f"{LIST}?outcome=failed").content.decode()
    assert "/rename/" not in others.get(f"{LIST}?outcome=failed").content.decode()
    assert renamed(mine, old, " New\0  <b> ") == ["The view is renamed."]
    assert renamed(mine, old, "New <b>") == ["The view is renamed."]
    assert renamed(mine, old, "Kept") == [
        "Another view of yours has that name. Choose a different one."
    ]
    assert renamed(mine, old, " ") == ["Give the view a name."]
    assert renamed(mine, old, "n" * 61) == ["A name has 60 characters at the most."]
    gone = ["That view is not yours, or it is gone already."]
    assert renamed(others, old, "Taken over") == gone
    assert set(SavedView.objects.values_list("pk", "name", "query", "is_shared")) == {
        (kept.pk, "Kept", "outcome=failed", True),
        (old.pk, "New <b>", "outcome=failed", True),
    }
    old.delete()
    assert renamed(mine, old, "Back") == gone


def test_who_may_not_read_transcripts_renames_no_view():
    view = SavedView.objects.create(owner=make_user(), name="One", query="q=a")
    assert log_in().post(f"{LIST}views/{view.pk}/rename/", {"name": "x"}).status_code == 403


def test_an_admin_deletes_what_others_share_and_nothing_else():
    owner, admin = make_user(), log_in(is_superuser=True)
    for name, shared in (("Shared", True), ("Own", False)):
        save_view(owner, name=name, query="q=a", is_shared=shared)
    for view in SavedView.objects.all():
        admin.post(f"{LIST}views/{view.pk}/delete/")
    assert [view.name for view in SavedView.objects.all()] == ["Own"]


def test_who_may_only_read_shares_nothing():
    browser = log_in("Readers")
    from django.contrib.auth.models import Group, Permission

    Group.objects.get(name="Readers").permissions.add(
        Permission.objects.get(codename="view_conversation")
    )
    browser.post(SAVE, {"name": "One", "query": "q=a", "shared": "on"})
    assert not SavedView.objects.get().is_shared
    assert "For all reviewers" not in browser.get(LIST, {"q": "a"}).content.decode()


LONG = urlencode({"q": "為" * 600, "outcome": "completed"})


@pytest.mark.parametrize(
    ("name", "query", "message"),
    [
        (" ", "q=x", "Give the view a name."),
        ("x" * 61, "q=x", "A name has 60 characters at the most."),
        ("x", "older=1-1", "Choose a filter or type words first: a view keeps those."),
        ("x", urlencode({"tag": "é" * 9_000}), "The filters are too long for a view."),
        ("Long", LONG, "The view is saved."),
        ("Bad \u202eones", "outcome=failed", "The view is saved."),
    ],
)
def test_a_view_has_a_name_and_filters_of_bounded_length(name: str, query: str, message: str):
    response = log_in(Role.REVIEWERS).post(SAVE, {"name": name, "query": query}, follow=True)
    assert said(response)[0].startswith(message)
    saved = list(SavedView.objects.values_list("name", "query"))
    cut = urlencode({"q": "為" * 500, "outcome": "completed"})
    kept = {"Long": [("Long", cut)], "Bad \u202eones": [("Bad ones", "outcome=failed")]}
    assert saved == kept.get(name, [])


def test_a_view_is_private_and_replaced_by_the_same_name():
    mine, others = log_in(Role.REVIEWERS), log_in(Role.REVIEWERS)
    for query in ("q=a", "q=bonds&copilot=&older=1-1"):
        mine.post(SAVE, {"name": "Mine", "query": query})
    assert SavedView.objects.get().query == normalize_query({"q": " bonds "}) == "q=bonds"
    assert "Mine" in mine.get(LIST).content.decode()
    assert "Mine" not in others.get(LIST).content.decode()
    assert log_in("Nobody").post(SAVE, {"name": "x", "query": "q=a"}).status_code == 403
    assert mine.get(SAVE).status_code == 405


def test_views_are_counted_up_to_a_limit_and_while_it_is_cheap(monkeypatch):
    monkeypatch.setattr(saved_views, "MAX_COUNT", 1)
    monkeypatch.setattr(saved_views, "COUNT_SECONDS", 60)
    user = make_user()
    for number in range(2):
        Client().ask(f"q{number}").answer("-")
    queries = {"all": "outcome=completed", "found": "q=a", "bad": "copilot=x", "no": "model=none"}
    for name, query in queries.items():
        save_view(user, name=name, query=query, is_shared=False)
    shown = list_views(user, current="q=a")
    counts = {"all": "1+", "found": "", "bad": "", "no": "0"}
    assert {one.view.name: one.count for one in shown} == counts
    assert [one.view.name for one in shown if one.is_current] == ["found"]
    monkeypatch.setattr(saved_views, "COUNT_SECONDS", 0)
    assert {one.count for one in list_views(user, current="")} == {""}

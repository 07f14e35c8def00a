"""Views of the transcript list that reviewers keep."""

from typing import Any
from urllib.parse import urlencode

from django.test import Client as Browser
import pytest

from copilot_admin.config.roles import Role, create_roles
from copilot_admin.models import SavedView
from copilot_admin.transcripts.search import saved_views
from copilot_admin.transcripts.search.saved_views import kept_query, save_view, views_for
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


def test_own_views_are_seen_by_nobody_else():
    mine, others = log_in(Role.REVIEWERS), log_in(Role.REVIEWERS)
    mine.post(SAVE, {"name": "Mine", "query": "q=bonds"})
    assert "Mine" in mine.get(LIST).content.decode()
    assert "Mine" not in others.get(LIST).content.decode()


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ({"name": " ", "query": "q=x"}, "Give the view a name."),
        ({"name": "x" * 61, "query": "q=x"}, "A name has 60 characters at the most."),
        ({"name": "x", "query": "older=1-1"}, "Choose a filter or type words first"),
        ({}, "Give the view a name."),
    ],
)
def test_what_cannot_be_saved_is_said(form, words):
    response = log_in(Role.REVIEWERS).post(SAVE, form, follow=True)
    assert words in said(response)[0]
    assert not SavedView.objects.exists()


def test_the_same_name_again_replaces_the_view():
    user = make_user()
    for query in ("q=a", "q=b"):
        save_view(user, name="One", query=query, is_shared=False)
    assert [view.query for view in SavedView.objects.all()] == ["q=b"]


def test_who_may_only_read_shares_nothing():
    browser = log_in("Readers")
    from django.contrib.auth.models import Group, Permission

    Group.objects.get(name="Readers").permissions.add(
        Permission.objects.get(codename="view_conversation")
    )
    browser.post(SAVE, {"name": "One", "query": "q=a", "shared": "on"})
    assert not SavedView.objects.get().is_shared
    assert "For all reviewers" not in browser.get(LIST, {"q": "a"}).content.decode()


def test_others_save_nothing_and_nothing_is_saved_by_looking():
    assert log_in("Nobody").post(SAVE, {"name": "x", "query": "q=a"}).status_code == 403
    assert log_in(Role.REVIEWERS).get(SAVE).status_code == 405


def test_the_name_of_a_view_turns_no_writing_around():
    mine = log_in(Role.REVIEWERS)
    mine.post(SAVE, {"name": "Bad \u202eones", "query": "outcome=failed"})
    assert SavedView.objects.get().name == "Bad ones"


def test_a_view_keeps_filters_and_words_in_one_order():
    given = {"outcome": "failed", "q": " почему ", "copilot": "", "older": "1-1"}
    assert kept_query(given) == "q=%D0%BF%D0%BE%D1%87%D0%B5%D0%BC%D1%83&outcome=failed"


def test_counts_stop_at_a_bound_and_are_left_out_where_they_cost(monkeypatch):
    monkeypatch.setattr(saved_views, "COUNTED", 1)
    user = make_user()
    for number in range(3):
        Client().ask(f"q{number}").answer("-")
    for name, query in (
        ("cheap", "outcome=completed"),
        ("searched", "q=a"),
        ("dear", "model=small-1"),
        ("gone", "copilot=nonsense"),
    ):
        save_view(user, name=name, query=query, is_shared=False)
    shown = {one.view.name: one for one in views_for(user, current="q=a")}
    assert {name: one.count for name, one in shown.items()} == {
        "cheap": "1+",
        "searched": "",
        "dear": "",
        "gone": "",
    }
    assert [name for name, one in shown.items() if one.is_current] == ["searched"]


def test_a_view_of_long_words_keeps_what_is_searched_and_all_filters():
    query = urlencode({"q": "為" * 600, "outcome": "completed"})
    mine = log_in(Role.REVIEWERS)
    assert said(mine.post(SAVE, {"name": "Long", "query": query}, follow=True)) == [
        "The view is saved."
    ]
    assert SavedView.objects.get().query == urlencode({"q": "為" * 500, "outcome": "completed"})


def test_a_view_of_too_much_says_so():
    query = urlencode({"tag": "é" * 9_000})  # longer than Django takes an address to lead to
    mine = log_in(Role.REVIEWERS)
    assert said(mine.post(SAVE, {"name": "Long", "query": query}, follow=True)) == [
        "The filters are too long for a view. Choose less in them."
    ]

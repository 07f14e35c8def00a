"""Views of the transcript list that reviewers keep."""

from django.test import Client as Browser
import pytest

from copilot_admin.config.roles import Role, create_roles
from copilot_admin.models import SavedView
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


def test_a_view_is_saved_shown_shared_and_deleted():
    mine, others = log_in(Role.REVIEWERS), log_in(Role.REVIEWERS)
    Client().ask("Why?").answer("-")
    form = {"name": " My <b> ", "query": "outcome=completed", "shared": "on"}
    mine.post(SAVE, form)
    page = others.get(LIST).content.decode()
    assert "My &lt;b&gt;" in page
    assert 'href="?outcome=completed"' in page
    view = SavedView.objects.get()
    others.post(f"{LIST}views/{view.pk}/delete/")
    assert SavedView.objects.exists()
    mine.post(f"{LIST}views/{view.pk}/delete/")
    assert not SavedView.objects.exists()


def rename(browser: Browser, view: SavedView, name: str) -> str:
    form = {"name": name, "query": view.query}
    browser.post(f"{LIST}views/{view.pk}/rename/", form)
    return SavedView.objects.get(pk=view.pk).name


def test_an_own_view_is_renamed_and_nobody_elses():
    mine, others = log_in(Role.REVIEWERS), log_in(Role.REVIEWERS)
    for name in ("Old", "Kept"):
        mine.post(SAVE, {"name": name, "query": "outcome=failed", "shared": "on"})
    old = SavedView.objects.get(name="Old")
    assert "/rename/" not in others.get(f"{LIST}?outcome=failed").content.decode()
    assert rename(mine, old, " New  <b> ") == "New <b>"
    for refused in ("Kept", " ", "n" * 61):
        assert rename(mine, old, refused) == "New <b>"
    assert rename(others, old, "Taken over") == "New <b>"

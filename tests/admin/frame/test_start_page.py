"""The start page: what there is, what happened last, what to do next; and the rail."""

from datetime import timedelta
from typing import Any

from django.test import Client
from django.utils import timezone
import pytest

from copilot_admin.admin.frame.navigation import navigation
from copilot_admin.config.roles import Role
from copilot_admin.models import Conversation, Copilot, DailyUsage
from tests.factories import make_copilot, make_provider, make_published, make_user

START = "/admin/"


def login(client: Client, *roles: str, **changes: Any) -> Client:
    client.force_login(make_user(*roles, **changes))
    return client


def titles(client: Client) -> list[str]:
    return [str(step.title) for step in client.get(START).context["steps"]]


@pytest.mark.django_db
def test_a_fresh_server_leads_to_a_provider_then_to_a_copilot(client: Client) -> None:
    login(client, is_superuser=True)
    assert titles(client) == ["Add a provider"]
    make_provider()
    assert titles(client) == ["Make your first copilot"]
    page = client.get(START).content.decode()
    assert "There is no copilot yet." in page
    assert "Nobody has asked anything yet." in page


@pytest.mark.django_db
def test_what_needs_a_hand_is_named_with_the_place_to_do_it(client: Client) -> None:
    login(client, Role.BUILDERS)
    draft, changed = make_copilot(name="Draft"), make_published(name="Changed")
    broken = make_published(name="Broken")
    make_published(name="Fine")
    make_published(name="Off", enabled=False)
    changed.description = "New"
    changed.save()
    broken.provider.api_key_env = "COPILOT_KEY_NOT_SET"
    broken.provider.save()
    assert set(titles(client)) == {
        "Draft is only a draft",
        "Changed has unpublished changes",
        "Broken is broken",
    }
    page = client.get(START).content.decode()
    assert f"/admin/copilot_admin/copilot/{draft.pk}/change/" in page


@pytest.mark.django_db
def test_what_needs_attention_stands_first_then_what_is_used_most(client: Client) -> None:
    login(client, Role.BUILDERS)
    quiet, used, off = make_published(name="Quiet"), make_published(name="Used"), make_published()
    Copilot.objects.filter(pk=off.pk).update(enabled=False, name="Off")
    broken = make_published(name="Broken")
    broken.provider.api_key_env = "COPILOT_KEY_NOT_SET"
    broken.provider.save()
    today = timezone.now().date()
    for copilot, day, runs, errors in (
        (used, 0, 5, 1),
        (used, 6, 2, 1),
        (used, 7, 90, 90),
        (off, 1, 50, 0),
        (quiet, 0, 1, 0),
    ):
        DailyUsage.objects.create(
            copilot=copilot, day=today - timedelta(days=day), runs=runs, errors=errors
        )
    now = timezone.now()
    for principal, hours in (("anonymous", 3), ("anonymous", 30), ("playground:1", 1)):
        Conversation.objects.create(
            copilot=used, principal=principal, first_at=now, last_at=now - timedelta(hours=hours)
        )
    response = client.get(START)
    tiles = response.context["tiles"]
    assert [(str(tile.copilot), tile.questions, tile.errors) for tile in tiles] == [
        ("Broken", 0, 0),
        ("Used", 7, 2),
        ("Quiet", 1, 0),
        ("Off", 50, 0),
    ]
    assert [tile.last_at for tile in tiles] == [None, now - timedelta(hours=3), None, None]
    page = response.content.decode()
    assert '7 questions in seven days, <span class="ca-bad-text">2 failed</span>' in page
    assert "1 question in seven days" in page
    assert "Not asked in seven days" in page


@pytest.mark.django_db
def test_more_copilots_than_tiles_lead_to_the_list(client: Client) -> None:
    login(client, Role.BUILDERS)
    for _ in range(13):
        make_copilot()
    response = client.get(START)
    assert len(response.context["tiles"]) == 12
    assert "All copilots" in response.content.decode()


@pytest.mark.django_db
def test_a_reviewer_sees_conversations_and_no_copilots(client: Client) -> None:
    now = timezone.now()
    Conversation.objects.create(
        copilot=make_published(name="News"),
        principal="anonymous",
        title="Why <b>now</b>?",
        first_at=now,
        last_at=now,
    )
    login(client, Role.REVIEWERS)
    response = client.get(START)
    page = response.content.decode()
    assert "Why &lt;b&gt;now&lt;/b&gt;?" in page
    assert response.context["tiles"] == []
    assert "New copilot" not in page


@pytest.mark.django_db
def test_a_builder_sees_no_conversations(client: Client) -> None:
    now = timezone.now()
    Conversation.objects.create(
        copilot=make_published(), principal="a", title="Secret?", first_at=now, last_at=now
    )
    login(client, Role.BUILDERS)
    assert "Secret?" not in client.get(START).content.decode()


@pytest.mark.django_db
def test_somebody_without_a_role_is_told_whom_to_ask(client: Client) -> None:
    login(client)
    assert "Ask an operator to put you into a group." in client.get(START).content.decode()


@pytest.mark.django_db
def test_the_login_page_bears_the_name(client: Client) -> None:
    page = client.get("/admin/login/").content.decode()
    assert "Copilot Admin" in page
    assert "Django" not in page


@pytest.mark.django_db
def test_no_page_writes_scripts_or_styles_into_itself(client: Client) -> None:
    login(client, is_superuser=True)
    copilot = make_published()
    for url in (
        START,
        "/admin/copilot_admin/copilot/",
        f"/admin/copilot_admin/copilot/{copilot.pk}/change/",
        f"/admin/copilot_admin/copilot/publish/?id={copilot.pk}",
        f"/admin/copilot_admin/provider/{copilot.provider_id}/change/",
        "/admin/copilot_admin/endpointkey/",
        "/admin/auth/user/",
        "/admin/auth/user/add/",
    ):
        page = client.get(url).content.decode()
        assert "<style" not in page
        assert " style=" not in page
        assert "javascript:" not in page
        assert "<script>" not in page


def test_the_rail_keeps_its_order_and_puts_strangers_last() -> None:
    models = [
        {"object_name": name, "name": name.lower(), "admin_url": f"/admin/{name}/"}
        for name in ("Zebra", "User", "Provider", "Conversation", "Copilot")
    ]
    models.append({"object_name": "Hidden", "name": "hidden", "admin_url": ""})
    groups = navigation(models, index_url="/admin/", path="/admin/Copilot/7/change/")
    found = [
        (str(group.label), [(place.label, place.icon, place.is_current) for place in group.places])
        for group in groups
    ]
    assert found == [
        ("", [("Start", "home", False)]),
        ("Build", [("copilot", "copilot", True)]),
        ("Review", [("conversation", "transcript", False)]),
        ("Operate", [("provider", "provider", False)]),
        ("People", [("user", "person", False)]),
        ("More", [("zebra", "dot", False)]),
    ]

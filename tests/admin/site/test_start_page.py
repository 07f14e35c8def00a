"""The start page: what there is, what happened last, what to do next; and the rail."""

from datetime import UTC, datetime, timedelta
from typing import Any

from django.test import Client
from django.utils import timezone
import pytest

from copilot_admin.admin.site.cards import cards_to_show
from copilot_admin.config.roles import Role
from copilot_admin.copilots.standing import CopilotState
from copilot_admin.models import Conversation, Copilot, DailyTotal
from tests.factories import make_copilot, make_key, make_provider, make_published, make_user

START = "/admin/"


def login(client: Client, *roles: str, **changes: Any) -> Client:
    client.force_login(make_user(*roles, **changes))
    return client


def titles(client: Client) -> list[str]:
    return [str(step.title) for step in client.get(START).context["steps"]]


@pytest.mark.django_db
def test_an_empty_server_shows_one_way(client: Client) -> None:
    login(client, is_superuser=True)
    assert titles(client) == []
    page = client.get(START).content.decode()
    assert "There is no copilot yet." in page
    assert page.count('class="button') == 1
    assert 'href="/admin/copilot_admin/copilot/templates/">Begin with a template</a>' in page
    assert "Nobody has asked anything yet." in page


@pytest.mark.django_db
def test_an_operator_is_led_to_a_provider(client: Client) -> None:
    login(client, Role.OPERATORS)
    assert titles(client) == ["Add a provider"]
    make_provider()
    assert titles(client) == []


@pytest.mark.django_db
def test_who_sees_no_copilots_is_told_how_the_rest_stands(client: Client) -> None:
    login(client, Role.OPERATORS)
    make_published(limits={"requests_per_day": 5})
    make_provider()
    make_key()
    make_key(expires_at=timezone.now() - timedelta(days=1))
    places = client.get(START).context["places"]
    assert [(str(one.title), one.sentence) for one in places] == [
        ("Providers", "2 providers; copilots use 1."),
        ("Endpoint keys", "1 valid key."),
        ("Limits", "Set for 1 subject."),
        ("Alerts", "No rule is on: nobody is told when something is wrong."),
        ("People", "1 person may log in."),
    ]
    assert all(client.get(one.url).status_code == 200 for one in places)
    login(client, Role.BUILDERS, Role.OPERATORS)
    assert "places" not in client.get(START).context


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
        DailyTotal.objects.create(
            copilot=copilot, day=today - timedelta(days=day), questions=runs, errors=errors
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


def shown(states: str, *, most: int = 6, used: str = "") -> str:
    """The cards that are shown, by the first letters of states; a later one was changed later."""
    by_letter = {state.value[0]: state for state in CopilotState if state.value != "disabled"}
    day = datetime(2026, 1, 1, tzinfo=UTC)
    rows = [
        (number, by_letter[letter], day + timedelta(days=number))
        for number, letter in enumerate(states)
    ]
    questions = {int(number): 5 for number in used}
    return "".join(map(str, cards_to_show(rows, questions=questions, most=most)))


# b: broken, c: changed, p: published
@pytest.mark.parametrize(
    ("states", "used", "expected"),
    [
        ("", "", ""),
        ("ppb", "0", "201"),  # broken first, then what is used
        ("cccccccpp", "", "654387"),  # what is unfinished leaves room for what people use
        ("ccccccccc", "", "876543"),  # unless there is nothing else
        ("cpppppppp", "1", "018765"),
        ("bbbbbbbbp", "", "765432"),  # more broken ones than there is room for
    ],
)
def test_the_cards_that_are_shown(states: str, used: str, expected: str) -> None:
    assert shown(states, used=used) == expected


@pytest.mark.django_db
def test_the_start_page_is_narrowed_to_a_tag(client: Client) -> None:
    login(client, Role.BUILDERS)
    make_copilot(name="One", tags=["Rates & FX"])
    make_copilot(name="Other", tags=["<b>", "rates & fx"])
    make_copilot(name="Third")
    response = client.get(START, {"tag": "Rates & FX"})
    assert sorted(str(tile.copilot) for tile in response.context["tiles"]) == ["One", "Other"]
    page = response.content.decode()
    assert '<a class="ca-tag" href="?tag=%3Cb%3E" dir="auto">&lt;b&gt; ' in page
    assert 'aria-current="true" href="?tag=Rates%20%26%20FX"' in page
    assert "No copilot has this tag." in client.get(START, {"tag": "nobody"}).content.decode()


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

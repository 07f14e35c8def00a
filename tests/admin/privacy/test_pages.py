"""The pages of those who keep, hold and erase: what they show, who may, what they do."""

from django.contrib.auth.models import Permission
from django.urls import reverse
import pytest

from copilot_admin.copilots.end_users import AskingUser
from copilot_admin.models import Conversation, Copilot, LegalHold, Removal
from copilot_admin.privacy import holds
from copilot_admin.privacy.scopes import PrivacyScope
from tests.factories import make_user, make_version
from tests.jobs.test_removal import remove
from tests.transcripts.store.journaling import Client as Asker

pytestmark = pytest.mark.django_db
START = "/admin/privacy/"


def logged_in(client, *names):
    user = make_user(username="ann")
    user.user_permissions.set(Permission.objects.filter(codename__in=names))
    client.force_login(user)
    return client


def errors_of(response):
    """Return the code of the first error of each field."""
    found = response.context["form"].errors.as_data()
    return {name: errors[0].code for name, errors in found.items()}


def text_of(response):
    return " ".join(response.content.decode().split())


@pytest.mark.parametrize(
    ("permission", "allowed"),
    [
        ("hold_data", {"privacy", "privacy_hold", "privacy_keeping"}),
        ("erase_data", {"privacy", "privacy_erase"}),
        ("view_copilot", set()),
    ],
)
def test_holding_and_erasing_are_permissions_of_their_own(client, permission, allowed):
    logged_in(client, permission)
    copilot = make_version().copilot
    addresses = {
        name: reverse(f"admin:{name}", args=[copilot.pk] if name == "privacy_keeping" else [])
        for name in ("privacy", "privacy_hold", "privacy_keeping", "privacy_erase")
    }
    answers = {name: client.get(address).status_code for name, address in addresses.items()}
    assert answers == {name: 200 if name in allowed else 403 for name in addresses}
    release = client.post(reverse("admin:privacy_release", args=[1])).status_code
    assert release == (404 if permission == "hold_data" else 403)
    assert (START in text_of(client.get("/admin/settings/"))) is bool(allowed)


def test_a_hold_is_placed_shown_on_the_transcript_and_released(client):
    logged_in(client, "hold_data", "view_conversation", "erase_data")
    talk = Asker(trace_id="a").ask("q").answer("a").conversation
    form = client.get(reverse("admin:privacy_hold") + f"?conversation={talk.pk}")
    assert f'value="{talk.pk}"' in text_of(form)
    given = {"conversation": talk.pk, "reason": "Case <12>"}
    assert client.post(reverse("admin:privacy_hold"), given).url == START
    page = text_of(client.get(f"/admin/copilot_admin/conversation/{talk.pk}/change/"))
    assert "Legal hold by ann since" in page
    assert "Case &lt;12&gt;" in page
    start = text_of(client.get(START))
    assert f"Conversation {talk.pk}" in start
    assert "Case &lt;12&gt;" in start
    hold = LegalHold.objects.get()
    release = reverse("admin:privacy_release", args=[hold.pk])
    assert client.get(release).status_code == 405
    assert 'data-message="success"' in text_of(client.post(release, follow=True))
    assert 'data-message="info"' in text_of(client.post(release, follow=True))


@pytest.mark.parametrize(
    ("given", "field", "code"),
    [
        ({"reason": "r"}, "__all__", "everything"),
        ({"principal": "a"}, "reason", "required"),
        ({"copilot": "nobody", "reason": "r"}, "copilot", "invalid_choice"),
        ({"conversation": "7", "reason": "r"}, "__all__", None),
        ({"since": "2026-02-01", "until": "2026-01-01", "reason": "r"}, "until", None),
        ({"until": "9999-12-31", "reason": "r"}, "until", "max_value"),
    ],
)
def test_a_hold_without_meaning_is_rejected(client, given, field, code):
    logged_in(client, "hold_data")
    assert errors_of(client.post(reverse("admin:privacy_hold"), given)) == {field: code}
    assert not LegalHold.objects.exists()


def test_what_would_be_erased_is_counted_before(client, django_capture_on_commit_callbacks):
    logged_in(client, "erase_data")
    talk = Asker(principal="key:7", trace_id="a").ask("q").answer("a").conversation
    held = Asker(principal="key:7", trace_id="b").ask("q").answer("a").conversation
    holds.place(PrivacyScope(conversation=held.pk), reason="r", by="ann")
    given = {
        "principal": "key:7",
        "copilot": talk.copilot.slug,
        "since": "2026-11-01",
        "until": "2026-11-30",
        "reason": "Ticket 5",
        "with_questions": "on",
    }
    address = reverse("admin:privacy_erase")
    page = text_of(client.post(address, given))
    assert 'data-preview="1"' in page
    assert not Removal.objects.exists()
    Asker(principal="key:7", trace_id="c").ask("q").answer("a")
    with django_capture_on_commit_callbacks() as callbacks:
        assert client.post(address, {**given, "sure": "1"}).url == START
    assert len(callbacks) == 1
    removal = Removal.objects.get()
    assert (removal.reason, removal.total, removal.with_questions) == ("Ticket 5", 1, True)
    assert removal.asked_by.username == "ann"
    assert "Ticket 5" in text_of(client.get(START))
    assert Conversation.objects.count() == 3


def test_how_long_is_kept_and_what_is_not_stored_is_chosen_per_copilot(client):
    logged_in(client, "hold_data")
    copilot = make_version().copilot
    address = reverse("admin:privacy_keeping", args=[copilot.pk])
    given = {
        "retention_days": "30",
        "redaction": ["card", "email"],
        "redacted_expressions": "CUST-[0-9]{6}\n\n CUST-[0-9]{6} \n",
    }
    assert client.post(address, given).url == START
    copilot.refresh_from_db()
    assert (copilot.retention_days, copilot.redaction) == (30, ["card", "email"])
    assert copilot.redacted_expressions == ["CUST-[0-9]{6}"]
    page = text_of(client.get(START))
    assert "30 days" in page
    assert "CUST-[0-9]{6}" in text_of(client.get(address))
    assert client.post(address, {"redacted_expressions": ""}).url == START
    copilot.refresh_from_db()
    assert (copilot.retention_days, copilot.redaction, copilot.redacted_expressions) == (
        None,
        [],
        [],
    )


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"redacted_expressions": "("}, "pattern"),
        ({"redacted_expressions": "\n".join(map(str, range(21)))}, "too-many"),
        ({"retention_days": "0"}, "min_value"),
        ({"redaction": ["colour"]}, "invalid_choice"),
    ],
)
def test_invalid_rules_are_rejected(client, given, code):
    logged_in(client, "hold_data")
    copilot = make_version().copilot
    answer = client.post(reverse("admin:privacy_keeping", args=[copilot.pk]), given)
    assert errors_of(answer) == dict.fromkeys(given, code)
    assert Copilot.objects.get().retention_days is None


def test_a_user_is_counted_erased_and_then_not_named_any_more(
    client, django_capture_on_commit_callbacks
):
    logged_in(client, "erase_data")
    user = AskingUser(id="ada", name="Ada")
    talk = Asker(trace_id="a", user=user).ask("q").answer("a").conversation
    given = {"user": "Ada", "reason": "Ticket 5", "with_questions": "on"}
    address = reverse("admin:privacy_erase")
    page = text_of(client.post(address, given))
    assert 'data-preview="1"' in page
    assert "data-users" in page
    with django_capture_on_commit_callbacks():
        assert client.post(address, {**given, "sure": "1"}).url == START
    assert "User <bdi>Ada</bdi> (<bdi>ada</bdi>)" in text_of(client.get(START))
    assert remove(removal=Removal.objects.get()).counts["EndUser"] == 1
    page = text_of(client.get(START))
    assert "Ada" not in page
    assert 'data-scope="erased-user"' in page
    assert not Conversation.objects.filter(pk=talk.pk).exists()

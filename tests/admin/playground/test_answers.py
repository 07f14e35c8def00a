"""Answers of the playground: drawn, rated, and their HTML in a frame without rights."""

from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.models import Conversation, Copilot, Feedback, Turn
from tests.admin.playground.conftest import ask, form_of, script
from tests.agent.scripted import call, text
from tests.factories import make_copilot, make_provider, make_user

pytestmark = pytest.mark.django_db(transaction=True)
HTML = '<p style="color: red">4.5 %</p>'


@pytest.fixture
def copilot(monkeypatch: pytest.MonkeyPatch, builder: Client, ada: User) -> Copilot:
    """Asked once by Ada."""
    made = make_copilot(provider=make_provider(name="One"))
    script(monkeypatch, text("Hello **you** <b>there</b>"))
    ask(ada, made.pk, form_of(builder, made))
    return made


def url_of(name: str, copilot: Copilot) -> str:
    return reverse(f"playground:{name}", args=[copilot.pk])


def read(client: Client, copilot: Copilot) -> str:
    return client.get(f"{url_of('answer', copilot)}?chat=t-1").content.decode()


def rate(client: Client, copilot: Copilot, **fields: str) -> int:
    return client.post(url_of("rate", copilot), fields).status_code


def test_the_answer_is_drawn_as_in_a_conversation(builder: Client, copilot: Copilot):
    page = read(builder, copilot)
    assert "<strong>you</strong>" in page
    assert "&lt;b&gt;there" in page
    url = url_of("answer", copilot)
    assert builder.get(f"{url}?chat=other").status_code == 404
    assert builder.get(url).status_code == 404


def test_nobody_else_sees_or_rates_the_chat(builder: Client, copilot: Copilot):
    turn = str(Turn.objects.get().pk)
    for role, status in ((Role.BUILDERS, 404), (Role.REVIEWERS, 403)):
        builder.force_login(make_user(role))
        assert builder.get(f"{url_of('answer', copilot)}?chat=t-1").status_code == status
        assert rate(builder, copilot, turn=turn, vote="thumbs_up") == status
    assert not Feedback.objects.exists()


@pytest.mark.database
def test_a_rating_is_stored_changed_and_shown(builder: Client, copilot: Copilot):
    turn = str(Turn.objects.get().pk)
    for vote in ("thumbs_up", "thumbs_down"):
        assert rate(builder, copilot, turn=turn, vote=vote) == 200
    assert [one.value for one in Feedback.objects.all()] == [-1]
    conversation = Conversation.objects.get()
    assert (conversation.n_up, conversation.n_down) == (0, 1)
    up, down = read(builder, copilot).split('name="vote"')[:2]
    assert 'aria-pressed="false"' in up
    assert 'aria-pressed="true"' in down


@pytest.fixture
def with_html(monkeypatch: pytest.MonkeyPatch, builder: Client, ada: User) -> Copilot:
    """Asked by Ada, it answered with HTML."""
    made = make_copilot(tools=["html"])
    shown = {"name": "Card", "description": "A number.", "html": f"{HTML}<script>x()</script>"}
    script(monkeypatch, call("html", **shown), text("Here."))
    ask(ada, made.pk, form_of(builder, made))
    return made


def frame_url(client: Client, copilot: Copilot) -> str:
    _, _, after = read(client, copilot).partition('<iframe class="ca-frame" sandbox src="')
    return after.partition('"')[0].replace("&amp;", "&")


def test_html_is_in_a_frame_without_scripts_and_origin(builder: Client, with_html: Copilot):
    response = builder.get(frame_url(builder, with_html))
    box = f'<div style="height:100%;overflow:auto">{HTML}</div>'
    assert response.content.decode() == f"<!DOCTYPE html><meta charset=utf-8>{box}"
    assert response["Content-Security-Policy"].split("; ") == [
        "default-src 'none'",
        "style-src 'unsafe-inline'",
        "img-src data:",
        "frame-ancestors 'self'",
        "sandbox",
    ]
    page = builder.get(reverse("admin:copilot_admin_copilot_change", args=[with_html.pk]))
    assert page["Content-Security-Policy"].endswith("; frame-src 'self'")


def test_html_is_found_by_its_key_in_ones_own_chat_alone(builder: Client, with_html: Copilot):
    url = frame_url(builder, with_html)
    for other in (f"{url}0", url.partition("&key")[0], url.replace("t-1", "t-2")):
        assert builder.get(other).status_code == 404
    for role, status in ((Role.BUILDERS, 404), (Role.REVIEWERS, 403)):
        builder.force_login(make_user(role))
        assert builder.get(url).status_code == status

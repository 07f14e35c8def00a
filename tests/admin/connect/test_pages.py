"""The page that says how Workspace is told of a copilot, and what each role may do on it."""

from django.test import Client, override_settings
from django.urls import reverse
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.copilots.callers import identify
from copilot_admin.http.middleware import ALLOWED_ORIGINS
from copilot_admin.models import Access, AllowedOrigin, Copilot, EndpointKey
from tests.factories import make_copilot, make_key, make_published, make_user

pytestmark = pytest.mark.django_db
PUBLIC = "https://copilots.example.com"


def browser(*roles: str, **options: object) -> Client:
    client = Client(**options)
    client.force_login(make_user(*roles))
    return client


def url(name: str, copilot: Copilot) -> str:
    return reverse(f"connect:{name}", args=[copilot.pk])


def text_of(client: Client, copilot: Copilot) -> str:
    response = client.get(url("page", copilot))
    assert response.status_code == 200
    return response.content.decode()


@override_settings(PUBLIC_URL=PUBLIC)
def test_the_page_says_the_address_and_the_origins():
    html = text_of(browser(Role.BUILDERS), make_published(access=Access.OPEN))
    assert f'id="connect-address" class="ca-input" value="{PUBLIC}"' in html
    assert 'data-key="none"' in html
    assert "<li><code>https://pro.openbb.co</code></li>" in html
    assert "data-ask-operator" in html


def test_where_the_environment_names_the_origins_its_line_is_shown(monkeypatch):
    monkeypatch.setattr(ALLOWED_ORIGINS, "is_pinned", True)
    AllowedOrigin.objects.create(origin="https://forgotten.example")
    copilot = make_published()
    client = browser(Role.OPERATORS)
    html = text_of(client, copilot)
    assert 'value="CORS_ORIGINS=https://pro.openbb.co,' in html
    assert ',https://workspace.example.com"' in html
    assert "forgotten.example" not in html
    assert 'id="allow-form"' not in html
    answer = client.post(url("allow", copilot), {"allowed": "https://mine.example"})
    assert (answer.status_code, bool(answer.context["wanted"].fault)) == (400, True)


def test_the_page_says_which_header_to_enter_and_how_many_keys_there_are():
    copilot = make_published(access=Access.KEY)
    builder = browser(Role.BUILDERS)
    html = text_of(builder, copilot)
    assert 'value="X-API-Key"' in html
    assert 'data-key="0"' in html and 'id="key-form"' not in html
    make_key(copilots=(copilot,))
    assert 'data-key="1"' in text_of(builder, copilot)


def test_what_is_not_live_is_said():
    builder = browser(Role.BUILDERS)
    assert "data-problem" in text_of(builder, make_copilot())
    assert "data-problem" in text_of(builder, make_published(enabled=False))
    assert "data-problem" not in text_of(builder, make_published())


def test_a_key_is_made_on_the_spot_for_this_copilot_alone_and_shown_once():
    copilot = make_published(access=Access.KEY, name="<b>News</b>")
    client = browser(Role.BUILDERS, Role.OPERATORS)
    response = client.post(url("key", copilot))
    key = EndpointKey.objects.get()
    made = response.context["made_text"]
    html = response.content.decode()
    assert (key.name, key.is_scoped, list(key.copilots.all())) == (
        "Workspace: <b>News</b>",
        True,
        [copilot],
    )
    assert identify(made).copilot_ids == frozenset({copilot.pk})
    assert f'id="new-key" class="ca-input" value="{made}"' in html
    assert "<b>News" not in html
    assert "no-store" in response["Cache-Control"]
    assert made not in text_of(client, copilot)

"""Sign-in with OpenID Connect, against a provider that runs next to the tests."""

from typing import Any

from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
import jwt
import pytest

from copilot_admin.accounts.sessions import BEGAN
from copilot_admin.config.roles import Role
from copilot_admin.config.sso import PasswordSignIn
from copilot_admin.models import ExternalAccount
from tests.admin.sign_in.conftest import add_app
from tests.admin.sign_in.oidc_provider import Provider, query_of, sign_in
from tests.factories import make_user

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # in the provider's threads
]


@pytest.fixture
def provider(running: Provider, settings: Any) -> Provider:
    settings.SSO = running.sign_in()
    running.knows("ann", preferred_username="ann", name="Ann Lee", groups=["analysts"])
    return running


def user_of(client: Client) -> User | None:
    pk = client.session.get("_auth_user_id")
    return User.objects.get(pk=pk) if pk else None


def roles(user: User) -> set[str]:
    return set(user.groups.values_list("name", flat=True))


def test_a_group_makes_a_builder_on_the_page_they_wanted(provider, client):
    answer = sign_in(client, provider, "ann", "/admin/copilot_admin/copilot/?q=a")
    assert (answer.status_code, answer["Location"]) == (302, "/admin/copilot_admin/copilot/?q=a")
    ann = user_of(client)
    assert (ann.username, ann.get_full_name(), ann.is_superuser) == ("ann", "Ann Lee", False)
    assert roles(ann) == {Role.BUILDERS}
    assert not ann.has_usable_password()
    assert client.get(answer["Location"]).status_code == 200
    assert ExternalAccount.objects.get().subject == "ann"


def test_the_sign_in_page_leads_to_the_provider(running, client, settings):
    settings.SSO = running.sign_in(label="Example Bank")
    page = client.get("/admin/login/?next=/admin/analytics/").text
    assert "Example Bank" in page
    assert 'href="/admin/sso/start/?next=%2Fadmin%2Fanalytics%2F"' in page


@pytest.mark.database
def test_roles_follow_the_groups_at_each_sign_in(provider, client):
    sign_in(client, provider, "ann")
    ann = user_of(client)
    for groups, expected, is_superuser in (
        (["root"], set(), True),
        ("analysts", {Role.BUILDERS}, False),
        (["risk", "analysts", "canteen"], {Role.BUILDERS, Role.REVIEWERS}, False),
        ([None, 3, ["analysts"], " risk "], {Role.REVIEWERS}, False),
    ):
        provider.knows("ann", preferred_username="anna", groups=groups)
        assert sign_in(Client(), provider, "ann").status_code == 302
        ann.refresh_from_db()
        assert (ann.username, roles(ann), ann.is_superuser) == ("ann", expected, is_superuser)


@pytest.mark.parametrize("groups", [None, 7, "Analysts", "analysts,risk", [[]], ["canteen"]])
def test_without_a_mapped_group_nobody_gets_in(provider, client, groups):
    provider.knows("bob", preferred_username="bob", groups=groups)
    assert sign_in(client, provider, "bob").status_code == 403
    assert user_of(client) is None
    assert not ExternalAccount.objects.exists()


def test_the_admin_shows_the_issuer_and_edits_no_role(provider, client):
    sign_in(client, provider, "ann")
    ann = user_of(client)
    boss = Client()
    boss.force_login(make_user(is_superuser=True))
    url = reverse("admin:auth_user_change", args=[ann.pk])
    page = boss.get(url).text
    assert provider.url in page
    assert 'name="roles"' not in page
    assert reverse("admin:auth_user_password_link", args=[ann.pk]) not in page
    boss.post(url, {"username": "ann", "is_active": "on", "roles": ["administrator"]})
    ann.refresh_from_db()
    assert (roles(ann), ann.is_superuser, ann.is_staff) == ({Role.BUILDERS}, False, True)
    link = reverse("admin:auth_user_password_link", args=[ann.pk])
    assert boss.post(link).status_code == 403


@pytest.mark.parametrize(("minutes", "status"), [(479, 200), (481, 302)])
def test_a_session_lasts_as_long_as_its_setting(provider, client, minutes, status):
    sign_in(client, provider, "ann")
    session = client.session
    session[BEGAN] -= minutes * 60
    session.save()
    assert client.get("/admin/").status_code == status


@pytest.mark.parametrize("url", ["http://127.0.0.1:9", "https://127.0.0.1:9"])
def test_a_provider_that_does_not_answer_leaves_the_password(client, settings, monkeypatch, url):
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", "/missing.pem")  # read for https
    settings.SSO = Provider(url).sign_in()
    answer = client.get(reverse("sso_start"))
    assert answer.status_code == 503
    assert reverse("account_login") in answer.text


def test_sign_out_also_ends_the_session_of_the_provider(provider, client):
    sign_in(client, provider, "ann")
    page = client.post(reverse("admin:logout"))
    assert user_of(client) is None
    url = page.text.replace("&amp;", "&").split('content="0; url=')[1].split('"')[0]
    query = query_of(url)
    assert url.startswith(f"{provider.url}/oauth2/end_session?")
    assert query["post_logout_redirect_uri"] == "http://testserver/admin/login/"
    hint = jwt.decode(query["id_token_hint"], options={"verify_signature": False})
    assert hint["sub"] == "ann"


def test_changing_factors_later_needs_another_sign_in(provider, client):
    sign_in(client, provider, "ann")
    url = reverse("mfa_activate_totp")
    assert client.get(url).status_code == 200
    session = client.session
    for record in session["account_authentication_methods"]:
        record["at"] -= 3600
    session.save()
    assert client.get(url)["Location"].startswith(reverse("sso_start"))
    sign_in(client, provider, "ann", url)
    assert client.get(url).status_code == 200


def test_a_provider_that_asks_for_a_second_factor_is_enough(provider, client, settings):
    sign_in(client, provider, "ann")
    add_app(user_of(client))
    settings.SSO = provider.sign_in().model_copy(update={"has_second_factor": True})
    other = Client()
    assert sign_in(other, provider, "ann")["Location"] == "/admin/"
    assert other.get("/admin/").status_code == 200


class TestEmergency:
    @pytest.fixture(autouse=True)
    def _emergency_only(self, running, settings) -> None:
        settings.SSO = running.sign_in(passwords=PasswordSignIn.EMERGENCY)

    def attempt(self, name: str, user: User, password: str = "secret") -> int:
        values = {"login": user.username, "password": password}
        return Client().post(reverse(name), values).status_code

    def test_only_administrators_use_passwords_and_only_there(self):
        boss, builder = make_user(is_superuser=True), make_user(Role.BUILDERS)
        assert self.attempt("account_login", boss) == 403
        assert self.attempt("account_emergency", builder) == 200
        assert self.attempt("account_emergency", boss) == 302
        assert "id_password" not in Client().get(reverse("account_login")).text

    def test_failures_do_not_close_it_to_the_right_password(self):
        boss = make_user(is_superuser=True)
        for number in range(12):
            self.attempt("account_emergency", User(username=f"guess-{number}"), "wrong")
            self.attempt("account_emergency", boss, "wrong")
        assert self.attempt("account_emergency", boss) == 302

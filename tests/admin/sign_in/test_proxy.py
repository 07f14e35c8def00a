"""Sign-in by the header of a trusted proxy."""

from http.cookies import SimpleCookie
from typing import Any

from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.test import AsyncClient, Client
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.config.sso import PasswordSignIn, SsoProxy, SsoSettings
from copilot_admin.config.variables import parse_networks
from copilot_admin.http.proxy_identity import REMOTE_USER_KEY, RemoteUser
from copilot_admin.models import ExternalAccount
from tests.factories import make_user

pytestmark = pytest.mark.django_db
RULES = SsoProxy(
    user_header="x-forwarded-user",
    groups_header="x-forwarded-groups",
    networks=parse_networks(("10.0.0.0/8", "fd00::/8")),
    roles={"analysts": frozenset({Role.BUILDERS})},
    superusers=("root",),
)


class _Browser:
    """A browser behind the proxy: its requests have what the edge says of the person."""

    def __init__(self) -> None:
        self.client = AsyncClient()
        self.cookies: SimpleCookie = self.client.cookies

    def get(self, path: str, user: str | None, *groups: str, method: str = "get") -> Any:
        found = {REMOTE_USER_KEY: RemoteUser(user, groups)} if user else {}
        return async_to_sync(self._asked)(path, found, method)

    async def _asked(self, path: str, found: dict[str, Any], method: str) -> Any:
        handler = self.client.handler

        async def with_person(asked: Any) -> Any:
            return await handler({**asked, **found})

        self.client.handler = with_person  # type: ignore[assignment]
        try:
            return await getattr(self.client, method)(path)
        finally:
            self.client.handler = handler


@pytest.fixture
def browser(settings: Any) -> _Browser:
    settings.SSO = SsoSettings(proxy=RULES)
    return _Browser()


def test_a_named_user_is_in_with_the_roles_of_their_groups(browser):
    page = browser.get("/admin/copilot_admin/copilot/", "ann", "analysts")
    assert page.status_code == 200
    ann = User.objects.get(username="ann")
    assert [group.name for group in ann.groups.all()] == [Role.BUILDERS]
    assert ExternalAccount.objects.get(user=ann).issuer == "proxy"
    assert browser.get("/admin/", "ann", "analysts").status_code == 200
    assert User.objects.count() == 1


def test_other_groups_are_other_rights_with_the_next_request(browser):
    browser.get("/admin/", "ann", "analysts")
    assert browser.get("/admin/auth/user/", "ann", "root").status_code == 200
    assert browser.get("/admin/auth/user/", "ann", "analysts").status_code == 403
    assert browser.get("/admin/", "ann", "canteen").status_code == 403
    assert User.objects.get(username="ann").is_staff is False


def test_another_name_is_another_person(browser):
    browser.get("/admin/", "ann", "root")
    page = browser.get("/admin/auth/user/", "bob", "analysts")
    assert page.status_code == 403


def test_without_the_header_the_session_is_worth_nothing(browser):
    browser.get("/admin/", "ann", "analysts")
    assert browser.get("/admin/", None).status_code == 302
    assert browser.get("/admin/", None).status_code == 302


def test_a_local_account_of_that_name_is_another(browser):
    boss = make_user(username="boss", is_superuser=True)
    browser.get("/admin/", "boss", "analysts")
    assert ExternalAccount.objects.get().user != boss
    assert ExternalAccount.objects.get().user.username == "boss-2"


def test_an_emergency_goes_past_the_proxy(browser, settings):
    settings.SSO = SsoSettings(proxy=RULES, passwords=PasswordSignIn.EMERGENCY)
    boss = make_user(is_superuser=True)
    client = Client()
    values = {"login": boss.username, "password": "secret"}
    assert client.post("/admin/emergency/", values).status_code == 302
    assert client.get("/admin/").status_code == 200
    assert "id_password" not in Client().get("/admin/login/").text

"""A header of a trusted proxy: whom it names is logged in, and nobody else can name anybody."""

import asyncio
from dataclasses import replace
from http.cookies import SimpleCookie
from typing import Any

from asgiref.sync import async_to_sync
from django.conf import settings as django_settings
from django.contrib.auth.models import User
from django.test import AsyncClient, Client
import pytest
import requests

from copilot_admin.config.asking_users import ProxyRules
from copilot_admin.config.firm_log_in import FirmLogIn, Passwords, RoleMap, UserProxy
from copilot_admin.config.networks import networks
from copilot_admin.config.roles import Role
from copilot_admin.http.log_in_proxy import PERSON_KEY, LogInProxy, ProxyPerson
from copilot_admin.http.proxy_headers import APART_KEY, PEER_KEY, trust_forwarded_headers
from copilot_admin.http.proxy_users import ProxyUsers, words_in
from copilot_admin.models import ExternalAccount
from tests.factories import make_user
from tests.http.asgi_client import call, scope
from tests.live_server import live_server
from tests.polling import HANGS_SECONDS

pytestmark = pytest.mark.django_db
RULES = UserProxy(
    user_header="x-forwarded-user",
    groups_header="x-forwarded-groups",
    networks=networks(("10.0.0.0/8", "fd00::/8"), setting="X"),
    map=RoleMap(roles={"analysts": frozenset({Role.BUILDERS})}, superusers=frozenset({"root"})),
)


def passed_on(headers: dict[str, str], *, peer: str | None, **more: Any) -> dict[str, Any]:
    """What the application is handed of a request."""
    seen: list[dict[str, Any]] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append(scope)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    asked = scope("/admin/", headers=headers, **more)
    call(LogInProxy(app, RULES), {**asked, PEER_KEY: peer} if peer else asked)
    return seen[0]


class TestAtTheEdge:
    NAMED = {"X-Forwarded-User": "ann", "X-Forwarded-Groups": "analysts, it,,"}

    @pytest.mark.parametrize("peer", ["10.1.2.3", "fd00::1", "::ffff:10.1.2.3"])
    def test_a_named_proxy_names_somebody(self, peer):
        found = passed_on({**self.NAMED, "X-Other": "1"}, peer=peer)
        assert found[PERSON_KEY] == ProxyPerson("ann", ("analysts", "it"))
        assert found["headers"] == [(b"x-other", b"1")]

    @pytest.mark.parametrize("peer", ["192.0.2.1", "", None, "10.evil"])
    def test_a_stranger_names_nobody_and_his_header_is_gone(self, peer):
        found = passed_on(
            {**self.NAMED, "X-Forwarded-For": "10.1.2.3"}, peer=peer, client=("10.1.2.3", 1)
        )
        assert PERSON_KEY not in found
        assert found["headers"] == [(b"x-forwarded-for", b"10.1.2.3")]

    def test_a_header_that_django_takes_for_it_is_gone_too(self):
        found = passed_on(
            {"X_Forwarded_User": "boss", "X-Forwarded-Groups": "root"}, peer="10.1.1.1"
        )
        assert (found["headers"], PERSON_KEY in found) == ([], False)

    def test_two_names_are_nobody(self):
        asked = scope("/admin/")
        asked["headers"] = [(b"x-forwarded-user", b"ann"), (b"x-forwarded-user", b"boss")]
        assert LogInProxy(None, RULES).apart({**asked, PEER_KEY: "10.0.0.1"}) == {
            **asked,
            "headers": [],
            APART_KEY: asked["headers"],
            PEER_KEY: "10.0.0.1",
        }

    @pytest.mark.parametrize("is_log_in_first", [True, False])
    @pytest.mark.parametrize(
        ("peer", "person", "ids"),
        [
            ("10.1.2.3", ProxyPerson("ann", ()), (b"ann",)),  # trusted by both
            ("10.9.9.9", ProxyPerson("ann", ()), None),  # lets people in, but names no users
            ("192.0.2.1", None, None),
        ],
    )
    def test_one_header_names_the_person_of_the_admin_and_the_user_of_a_question(
        self, is_log_in_first, peer, person, ids
    ):
        asked = {**scope("/", headers={"X-Forwarded-User": "ann", "X_Forwarded_User": "boss"})}
        users = ProxyRules(
            networks=networks(("10.1.0.0/16",), setting="X"), id_header="x-forwarded-user"
        )
        both = [LogInProxy(None, RULES), ProxyUsers(None, users)]
        found = {**asked, PEER_KEY: peer}
        for one in both if is_log_in_first else reversed(both):
            found = one.apart(found)
        words = words_in(found)
        assert (found["headers"], found.get(PERSON_KEY)) == ([], person)
        assert (words.ids if words else None) == ids

    def test_groups_on_two_lines_are_nobodys(self):
        """A proxy that adds its line to that of the client lets him name groups of his own."""
        asked = scope("/admin/")
        asked["headers"] = [
            (b"x-forwarded-groups", b"root"),
            (b"x-forwarded-user", b"ann"),
            (b"x-forwarded-groups", b"analysts"),
        ]
        found = LogInProxy(None, RULES).apart({**asked, PEER_KEY: "10.0.0.1"})
        assert (found["headers"], PERSON_KEY in found) == ([], False)

    def test_letters_of_any_script_are_read(self):
        asked = scope("/admin/")
        for raw, name in (("Žofie".encode(), "Žofie"), ("Zoé".encode("latin-1"), "Zoé")):
            asked["headers"] = [(b"x-forwarded-user", raw)]
            found = LogInProxy(None, RULES).apart({**asked, PEER_KEY: "10.0.0.1"})
            assert found[PERSON_KEY] == ProxyPerson(name, ())

    def test_without_a_setting_nothing_is_touched(self):
        async def app(found: Any, receive: Any, send: Any) -> None:
            assert found is asked

        asked = scope("/admin/", headers=self.NAMED)
        asyncio.run(LogInProxy(app, UserProxy())(asked, None, None))


def test_over_a_real_socket_the_peer_counts_and_no_forwarded_address():
    """`X-Forwarded-For` of a trusted proxy replaces the client's address."""
    seen: list[Any] = []

    async def app(found: Any, receive: Any, send: Any) -> None:
        if found["type"] == "lifespan":
            for word in ("startup", "shutdown"):
                await receive()
                await send({"type": f"lifespan.{word}.complete"})
            return
        seen.append((found["client"][0], found.get(PERSON_KEY)))
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    headers = {"X-Forwarded-User": "boss", "X-Forwarded-For": "10.0.0.1"}
    here = replace(RULES, networks=networks(("127.0.0.1",), setting="X"))
    for rules in (RULES, here):
        with live_server(trust_forwarded_headers(LogInProxy(app, rules), "127.0.0.1")) as server:
            requests.get(server.url, headers=headers, timeout=HANGS_SECONDS)
    assert seen == [("10.0.0.1", None), ("10.0.0.1", ProxyPerson("boss", ()))]


class _Browser:
    """A browser behind the proxy: its requests have what the edge says of the person."""

    def __init__(self) -> None:
        self.client = AsyncClient()
        self.cookies: SimpleCookie = self.client.cookies

    def get(self, path: str, user: str | None, *groups: str, method: str = "get") -> Any:
        found = {PERSON_KEY: ProxyPerson(user, groups)} if user else {}
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
    settings.FIRM_LOG_IN = FirmLogIn(proxy=RULES)
    return _Browser()


def test_whom_the_proxy_names_is_in_with_the_roles_of_his_groups(browser):
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
    answer = browser.get("/admin/", "ann", "canteen")
    assert (answer.status_code, b"not in any group" in answer.content) == (403, True)
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


def test_a_header_that_never_passed_the_edge_means_nothing(settings):
    settings.FIRM_LOG_IN = FirmLogIn(proxy=RULES)
    answer = Client().get("/admin/", HTTP_X_FORWARDED_USER="ann", HTTP_X_FORWARDED_GROUPS="root")
    assert answer.status_code == 302
    assert not User.objects.exists()


def test_an_emergency_goes_past_the_proxy(browser, settings):
    settings.FIRM_LOG_IN = FirmLogIn(proxy=RULES, passwords=Passwords.EMERGENCY)
    boss = make_user(is_superuser=True)
    client = Client()
    values = {"username": boss.username, "password": "secret"}
    assert client.post("/admin/emergency/", values).status_code == 302
    assert client.get("/admin/").status_code == 200
    page = Client().get("/admin/login/").content.decode()
    assert "proxy says who you are, and it named nobody" in page


def test_the_edge_stands_before_the_application():
    assert "copilot_admin.admin.logins.middleware.PageFirmLogIns" in django_settings.MIDDLEWARE

"""Logging in with the firm's accounts, against a provider that runs beside the tests."""

from collections.abc import Iterator
import time
from typing import Any

from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
import jwt
import pytest

from copilot_admin import models
from copilot_admin.admin.logins import discovery, oidc_views
from copilot_admin.admin.logins.exchange import CodeExchange
from copilot_admin.config.roles import Role
from copilot_admin.config.sso import PasswordSignIn
from copilot_admin.models import ExternalAccount, LogIn
from tests.admin.logins.provider import (
    CLIENT,
    Provider,
    begin,
    come_back,
    log_in,
    query_of,
    running_provider,
)
from tests.factories import make_user

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # in the provider's threads
]
START = "/admin/"
PAGE = {"HTTP_ACCEPT": "text/html"}


@pytest.fixture(scope="module")
def running() -> Iterator[Provider]:
    with running_provider() as provider:
        yield provider


@pytest.fixture
def provider(running: Provider, settings: Any) -> Provider:
    settings.SSO = running.log_in()
    running.knows("ann", preferred_username="ann", name="Ann Lee", groups=["analysts"])
    return running


@pytest.fixture
def browser() -> Client:
    return Client()


def person(client: Client) -> User | None:
    number = client.session.get("_auth_user_id")
    return User.objects.get(pk=number) if number else None


def roles(user: User | None) -> set[str]:
    assert user is not None
    return set(user.groups.values_list("name", flat=True))


def words(answer: Any) -> str:
    return " ".join(answer.content.decode().split())


def age(client: Client, minutes: float) -> None:
    """Lets a session have been vouched for so long ago."""
    session = client.session
    session["firm"] = {**session["firm"], "at": time.time() - minutes * 60}
    session.save()


class TestLoggingIn:
    def test_a_group_makes_a_builder_who_lands_where_he_wanted_to_go(self, provider, browser):
        answer = log_in(browser, provider, "ann", "/admin/copilot_admin/copilot/?q=a")
        assert (answer.status_code, answer["Location"]) == (
            302,
            "/admin/copilot_admin/copilot/?q=a",
        )
        ann = person(browser)
        assert (ann.username, ann.get_full_name(), ann.is_staff, ann.is_superuser) == (
            "ann",
            "Ann Lee",
            True,
            False,
        )
        assert roles(ann) == {Role.BUILDERS}
        assert not ann.has_usable_password()
        assert browser.get(answer["Location"]).status_code == 200

    def test_the_page_of_the_log_in_leads_there_and_names_it(self, running, browser, settings):
        settings.SSO = running.log_in(label="Example Bank")
        page = words(browser.get("/admin/login/?next=/admin/analytics/"))
        assert "Log in with Example Bank" in page
        assert 'href="/admin/firm/start/?next=%2Fadmin%2Fanalytics%2F"' in page

    def test_the_request_proves_itself_with_pkce_state_and_nonce(
        self, provider, browser, monkeypatch
    ):
        sent = []
        get_token = CodeExchange.get_token
        monkeypatch.setattr(
            CodeExchange,
            "get_token",
            lambda self, asked: sent.append(asked) or get_token(self, asked),
        )
        asked = begin(browser)
        said = query_of(asked)
        assert said["code_challenge_method"] == "S256"
        assert {"state", "nonce", "code_challenge"} <= set(said)
        assert said["scope"] == "openid profile email"
        come_back(browser, provider.answer(asked, "ann"))
        assert (
            oidc_views.generate_code_challenge(sent[0]["code_verifier"], "S256")
            == (said["code_challenge"])
        )

    @pytest.mark.parametrize(
        "following",
        ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)"],
    )
    def test_it_leads_to_pages_of_this_server_alone(self, provider, browser, following):
        assert log_in(browser, provider, "ann", following)["Location"] == START

    def test_a_session_that_somebody_planted_is_not_the_one_that_is_logged_in(
        self, provider, browser
    ):
        asked = begin(browser)
        planted = browser.session.session_key
        come_back(browser, provider.answer(asked, "ann"))
        assert person(browser) is not None
        assert browser.session.session_key != planted

    def test_without_a_provider_there_are_no_such_pages(self, browser):
        for name in ("firm:start", "firm:callback"):
            assert browser.get(reverse(name)).status_code == 404


class TestRefusals:
    @pytest.mark.database
    def test_somebody_in_no_group_is_told_so_and_leaves_no_account(self, provider, browser):
        provider.knows("bob", preferred_username="bob", groups=["canteen"])
        answer = log_in(browser, provider, "bob")
        assert answer.status_code == 403
        assert "Your account is not in any group that may work here." in words(answer)
        assert person(browser) is None
        assert not ExternalAccount.objects.exists()

    def test_whoever_says_no_at_the_provider_is_told_what_to_do(self, provider, browser):
        state = query_of(begin(browser))["state"]
        said = {"error": "access_denied", "state": state}
        answer = browser.get(reverse("firm:callback"), said)
        assert (answer.status_code, "Log in again" in words(answer)) == (403, True)

    def test_an_answer_counts_once(self, provider, browser):
        address = provider.answer(begin(browser), "ann")
        assert come_back(browser, address).status_code == 302
        again = come_back(browser, address)
        assert (again.status_code, "was used already" in words(again)) == (401, True)

    def test_an_answer_counts_in_the_browser_that_asked(self, provider, browser):
        address = provider.answer(begin(Client()), "ann")
        begin(browser)
        assert come_back(browser, address).status_code == 401
        assert person(browser) is None

    def test_an_answer_that_took_too_long_counts_no_more(self, provider, browser, monkeypatch):
        address = provider.answer(begin(browser), "ann")
        monkeypatch.setattr(oidc_views, "STATE_SECONDS", 0.0)
        assert come_back(browser, address).status_code == 401

    def test_a_code_that_the_provider_does_not_know_is_refused(self, provider, browser):
        address = provider.answer(begin(browser), "ann")
        forged = address.replace(query_of(address)["code"], "forged")
        answer = come_back(browser, forged)
        assert (answer.status_code, "was not completed" in words(answer)) == (401, True)

    def test_an_account_that_is_switched_off_here_stays_out(self, provider, browser):
        log_in(browser, provider, "ann")
        User.objects.filter(username="ann").update(is_active=False)
        answer = log_in(Client(), provider, "ann")
        assert (answer.status_code, "disabled" in words(answer)) == (403, True)

    def test_a_provider_that_does_not_answer_is_said_and_passwords_go_on(
        self, running, browser, settings
    ):
        settings.SSO = Provider("http://127.0.0.1:9").log_in()
        answer = browser.get(reverse("firm:start"))
        assert (answer.status_code, "does not answer" in words(answer)) == (503, True)
        assert 'href="/admin/login/?next=%2Fadmin%2F">Use a password</a>' in words(answer)
        user = make_user(is_superuser=True)
        values = {"username": user.username, "password": "secret"}
        assert browser.post(reverse("admin:login"), values).status_code == 302

    @pytest.mark.parametrize("by_firm", [True, False], ids=["the firm's", "a local one"])
    def test_whose_account_is_switched_off_while_he_works_does_nothing_more(
        self, provider, browser, by_firm
    ):
        if by_firm:
            provider.knows("ann", preferred_username="ann", groups=["it"])
            log_in(browser, provider, "ann")
        else:
            browser.force_login(make_user(username="ann", is_superuser=True))
        assert browser.get("/admin/").status_code == 200
        User.objects.filter(username="ann").update(is_active=False)
        page = browser.get("/admin/")
        given = browser.post("/admin/copilot_admin/provider/add/", {"name": "Mine"})
        assert (page.status_code, given.status_code) == (302, 302)
        assert not models.Provider.objects.exists()

    def test_failures_here_lock_nobody_out(self, provider, browser):
        for _ in range(12):
            begin(browser)
            browser.get(f"{reverse('firm:callback')}?state=x&code=y", REMOTE_ADDR="192.0.2.1")
        user = make_user(is_superuser=True)
        values = {"username": user.username, "password": "secret"}
        answer = browser.post(reverse("admin:login"), values, REMOTE_ADDR="192.0.2.1")
        assert answer.status_code == 302

    def test_a_password_with_a_code_beside_it_starts_no_exchange(self, provider, browser):
        values = {"username": "ann", "password": "x"}
        address = f"{reverse('admin:login')}?code=a&state=b"
        assert browser.post(address, values).status_code == 200
        assert person(browser) is None


class TestAccounts:
    def test_an_account_with_the_same_name_and_mail_is_not_his(self, provider, browser):
        local = make_user(username="Ann", email="ann@example.com", is_superuser=True)
        provider.knows(
            "ann",
            preferred_username="ann",
            email="ann@example.com",
            email_verified=True,
            groups=["analysts"],
        )
        log_in(browser, provider, "ann")
        ann = person(browser)
        assert ann != local
        assert (ann.username, ann.email, ann.is_superuser) == ("ann-2", "ann@example.com", False)

    def test_an_address_that_nobody_verified_is_not_kept(self, provider, browser):
        provider.knows("ann", email="boss@example.com", email_verified="true", groups=["analysts"])
        log_in(browser, provider, "ann")
        assert person(browser).email == ""

    @pytest.mark.database
    def test_the_subject_is_the_person_whatever_he_is_called(self, provider, browser):
        log_in(browser, provider, "ann")
        first = person(browser)
        provider.knows("ann", preferred_username="anna", name="Anna Lim", groups=["risk"])
        other = Client()
        log_in(other, provider, "ann")
        again = person(other)
        assert (again.pk, again.username, again.get_full_name()) == (first.pk, "ann", "Anna Lim")
        assert roles(again) == {Role.REVIEWERS}

    @pytest.mark.database
    def test_roles_of_before_are_replaced_by_those_of_now(self, provider, browser):
        log_in(browser, provider, "ann")
        ann = person(browser)
        ann.groups.add(*make_user(Role.OPERATORS).groups.all())
        provider.knows("ann", groups=["root"])
        log_in(browser, provider, "ann")
        ann.refresh_from_db()
        assert (roles(ann), ann.is_superuser) == (set(), True)
        provider.knows("ann", groups=["analysts"])
        log_in(Client(), provider, "ann")
        ann.refresh_from_db()
        assert (roles(ann), ann.is_superuser) == ({Role.BUILDERS}, False)

    @pytest.mark.parametrize(
        ("groups", "expected"),
        [
            ("analysts", {Role.BUILDERS}),
            (["risk", "analysts", "canteen"], {Role.BUILDERS, Role.REVIEWERS}),
            ([f"group-{number}" for number in range(10_000)] + ["risk"], {Role.REVIEWERS}),
            ([None, 3, {"a": 1}, ["analysts"], " risk "], {Role.REVIEWERS}),
        ],
    )
    def test_groups_come_as_a_list_or_as_one_name(self, provider, browser, groups, expected):
        provider.knows("ann", groups=groups)
        assert log_in(browser, provider, "ann").status_code == 302
        assert roles(person(browser)) == expected

    @pytest.mark.parametrize(
        "groups",
        [
            *(None, 7, {"analysts": True}, "Analysts", "analysts,risk", [[]]),
            pytest.param(True, marks=pytest.mark.nightly),
            pytest.param({}, marks=pytest.mark.nightly),
            pytest.param("", marks=pytest.mark.nightly),
        ],
    )
    def test_any_other_claim_is_no_group(self, provider, browser, groups):
        provider.knows("ann", groups=groups)
        assert log_in(browser, provider, "ann").status_code == 403

    @pytest.mark.database
    def test_he_logs_in_with_no_password_even_if_he_has_one(self, provider, browser):
        log_in(browser, provider, "ann")
        ann = person(browser)
        ann.set_password("a-long-password")
        ann.save()
        values = {"username": "ann", "password": "a-long-password"}
        answer = Client().post(reverse("admin:login"), values)
        assert "logs in with your firm&#x27;s log-in" in answer.content.decode()

    def test_the_admin_shows_where_he_comes_from_and_edits_no_role(self, provider, browser):
        log_in(browser, provider, "ann")
        ann = person(browser)
        boss = Client()
        boss.force_login(make_user(is_superuser=True))
        url = reverse("admin:auth_user_change", args=[ann.pk])
        page = boss.get(url).content.decode()
        assert f"of {provider.url}, which says its roles" in page
        assert 'name="groups"' not in page
        assert "../password/" not in page  # he has none here, and the page of it is closed
        boss.post(url, {"username": "ann", "is_active": "on", "is_superuser": "on", "groups": []})
        ann.refresh_from_db()
        assert (roles(ann), ann.is_superuser, ann.is_staff) == ({Role.BUILDERS}, False, True)
        assert (
            boss.get(reverse("admin:auth_user_password_change", args=[ann.pk])).status_code == 403
        )


class TestTokens:
    """What a forged provider could send: the exchange believes none of it."""

    @pytest.fixture
    def exchange(self, provider, settings) -> CodeExchange:
        oidc = settings.SSO.oidc
        return CodeExchange(oidc, discovery.endpoints_of(oidc))

    def claims(self, provider: Provider, **changes: Any) -> dict[str, Any]:
        now = int(time.time())
        usual = {"iss": provider.url, "aud": CLIENT, "sub": "ann", "nonce": "n"}
        said = {**usual, "iat": now, "exp": now + 60, **changes}
        return {name: value for name, value in said.items() if value is not None}

    @pytest.mark.parametrize(
        "changes",
        [
            {"iss": "https://evil.example"},
            {"aud": "another"},
            {"aud": ["another", "third"]},
            {"aud": [CLIENT, "another"], "azp": "another"},
            {"exp": 1},
            {"iat": 99_999_999_999},
            {"sub": None},
            {"exp": None},
            {"nonce": "other"},
            {"nonce": None},
        ],
    )
    def test_a_token_that_is_not_for_us_now_is_not_believed(
        self, provider, exchange, monkeypatch, own_key, changes
    ):
        monkeypatch.setattr(CodeExchange, "retrieve_matching_jwk", lambda *_: own_key.public_key())
        token = jwt.encode(self.claims(provider, **changes), own_key, algorithm="RS256")
        with pytest.raises((jwt.PyJWTError, oidc_views.Unauthorized)):
            exchange.verify_token(token, nonce="n")

    def test_a_good_one_is(self, provider, exchange, monkeypatch, own_key):
        monkeypatch.setattr(CodeExchange, "retrieve_matching_jwk", lambda *_: own_key.public_key())
        token = jwt.encode(self.claims(provider), own_key, algorithm="RS256")
        assert exchange.verify_token(token, nonce="n")["sub"] == "ann"

    def test_a_key_that_the_provider_does_not_have_signs_nothing(self, provider, exchange, own_key):
        token = jwt.encode(self.claims(provider), own_key, "RS256", headers={"kid": "mine"})
        with pytest.raises(oidc_views.Unauthorized):
            exchange.verify_token(token, nonce="n")

    @pytest.mark.parametrize("algorithm", ["none", "HS256"])
    def test_no_other_algorithm_is_taken(self, provider, exchange, algorithm):
        key = "shared" * 8 if algorithm == "HS256" else ""
        token = jwt.encode(self.claims(provider), key, algorithm=algorithm)
        with pytest.raises(oidc_views.Unauthorized):
            exchange.verify_token(token, nonce="n")


@pytest.fixture(scope="module")
def own_key() -> Any:
    from cryptography.hazmat.primitives.asymmetric import rsa

    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


class TestRenewal:
    def test_from_half_the_time_on_a_page_asks_the_provider_in_silence(self, provider, browser):
        log_in(browser, provider, "ann")
        assert browser.get(START, **PAGE).status_code == 200
        age(browser, 8)
        answer = browser.get("/admin/?tag=a", **PAGE)
        assert answer["Location"] == "/admin/firm/start/?silent=1&next=%2Fadmin%2F%3Ftag%3Da"
        asked = browser.get(answer["Location"])["Location"]
        assert query_of(asked)["prompt"] == "none"
        token = browser.session["_auth_user_hash"], browser.cookies["csrftoken"].value
        back = come_back(browser, provider.answer(asked, "ann"))
        assert back["Location"] == "/admin/?tag=a"
        assert browser.get("/admin/?tag=a", **PAGE).status_code == 200
        assert token == (browser.session["_auth_user_hash"], browser.cookies["csrftoken"].value)
        assert LogIn.objects.count() == 1

    def test_a_group_that_was_taken_away_takes_its_rights_with_it(self, provider, browser):
        log_in(browser, provider, "ann")
        provider.knows("ann", groups=["canteen"])
        age(browser, 8)
        answer = come_back(browser, provider.answer(begin(browser, silent="1"), "ann"))
        assert answer.status_code == 403
        assert person(browser) is None
        ann = User.objects.get(username="ann")
        assert (ann.is_staff, roles(ann)) == (False, set())

    def test_after_all_of_the_time_nothing_is_done_for_him(self, provider, browser):
        log_in(browser, provider, "ann")
        age(browser, 7)
        assert browser.post("/admin/copilot_admin/copilot/preview/").status_code == 200
        age(browser, 16)
        answer = browser.post("/admin/copilot_admin/copilot/preview/")
        assert (answer.status_code, answer["Location"][:13]) == (302, "/admin/login/")
        assert browser.get("/admin/jsi18n/").status_code == 302

    def test_a_provider_that_has_to_ask_may(self, provider, browser):
        begin(browser, "/admin/analytics/", silent="1")
        state = next(iter(browser.session["oidc_states"]))
        answer = browser.get(reverse("firm:callback"), {"error": "login_required", "state": state})
        assert answer["Location"] == "/admin/firm/start/?next=%2Fadmin%2Fanalytics%2F"

    def test_without_its_setting_a_session_ends(self, provider, browser, settings):
        log_in(browser, provider, "ann")
        settings.SSO = type(settings.SSO)()
        assert browser.get(START, **PAGE).status_code == 302
        assert person(browser) is None

    def test_local_accounts_are_never_renewed(self, provider, browser):
        browser.force_login(make_user(is_superuser=True))
        assert browser.get(START, **PAGE).status_code == 200


class TestLoggingOut:
    def test_it_ends_here_and_then_at_the_provider(self, provider, browser):
        log_in(browser, provider, "ann")
        page = browser.post(reverse("admin:logout"))
        assert page.status_code == 200
        assert person(browser) is None
        html = page.content.decode().replace("&amp;", "&")
        address = html.split('http-equiv="refresh" content="0; url=')[1].split('"')[0]
        said = query_of(address)
        assert address.startswith(f"{provider.url}/oauth2/end_session?")
        assert said["post_logout_redirect_uri"] == "http://testserver/admin/login/"
        assert jwt.decode(said["id_token_hint"], options={"verify_signature": False})["sub"] == (
            "ann"
        )

    def test_a_strange_page_logs_nobody_out(self, provider):
        browser = Client(enforce_csrf_checks=True)
        log_in(browser, provider, "ann")
        assert browser.post(reverse("admin:logout")).status_code == 403
        assert browser.get(reverse("admin:logout")).status_code == 405
        assert person(browser) is not None

    def test_who_came_with_a_password_is_only_logged_out_here(self, provider, browser):
        browser.force_login(make_user())
        page = browser.post(reverse("admin:logout")).content.decode()
        assert "http-equiv" not in page.split("<body")[0].replace('http-equiv="Content', "")


class TestEmergency:
    @pytest.fixture(autouse=True)
    def _only_emergencies(self, running, settings) -> None:
        settings.SSO = running.log_in(passwords=PasswordSignIn.EMERGENCY)

    def attempt(self, name: str, user: User) -> int:
        values = {"username": user.username, "password": "secret"}
        return Client().post(reverse(name), values).status_code

    def test_passwords_open_the_address_of_emergencies_for_superusers_alone(self):
        boss, builder = make_user(is_superuser=True), make_user(Role.BUILDERS)
        assert self.attempt("admin:login", boss) == 403
        assert self.attempt("admin:emergency", builder) == 200
        assert self.attempt("admin:emergency", boss) == 302
        page = Client().get(reverse("admin:login")).content.decode()
        assert ("id_password" in page, "Log in with" in page) == (False, True)

    def test_else_there_is_no_such_address(self, running, settings):
        settings.SSO = running.log_in()
        assert self.attempt("admin:emergency", make_user(is_superuser=True)) == 404

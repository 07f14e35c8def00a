"""What an attacker tries at the sign-in, one row each."""

from collections.abc import Callable
import re
import time
from typing import Any

from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from cryptography.hazmat.primitives.asymmetric import rsa
from django.contrib.auth.models import User
from django.test import Client, RequestFactory
from django.urls import reverse
import jwt
import pytest

from copilot_admin.admin.sign_in.oidc import OidcAdapter
from copilot_admin.config.sso import PasswordSignIn, SsoSettings
from copilot_admin.models import ExternalAccount
from tests.admin.sign_in.conftest import add_app, make_code
from tests.admin.sign_in.oidc_provider import CLIENT, Provider, begin, come_back, query_of, sign_in
from tests.admin.sign_in.test_proxy import RULES, _Browser
from tests.factories import make_user

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # in the provider's threads
]
HOME = "/admin/"
EVIL = ("https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)")
MINE = rsa.generate_private_key(public_exponent=65537, key_size=2048)


@pytest.fixture
def provider(running: Provider, settings: Any) -> Provider:
    settings.SSO = running.sign_in()
    running.knows("ann", preferred_username="ann", groups=["analysts"])
    return running


def is_in(client: Client) -> bool:
    return client.get(HOME).status_code == 200


def password_step(client: Client, user: User, following: str = "", password: str = "secret"):
    values = {"login": user.username, "password": password, "next": following}
    return client.post(reverse("account_login"), values)


# Tokens: changed claims of a token that the provider signed, and other signatures
FORGED_CLAIMS: dict[str, dict[str, Any]] = {
    "issuer of another": {"iss": "https://evil.example"},
    "audience of another client": {"aud": "another"},
    "audience list without this client": {"aud": ["another", "third"]},
    "two audiences, made for the other": {"aud": [CLIENT, "another"], "azp": "another"},
    "expired": {"exp": 1},
    "issued in the future": {"iat": 99_999_999_999},
    "no subject": {"sub": None},
    "no expiry": {"exp": None},
    "no audience": {"aud": None},
    "nonce of another sign-in": {"nonce": "other"},
    "no nonce": {"nonce": None},
}


@pytest.fixture
def forge(provider: Provider, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Return a sign-in whose ID token is replaced on its way from the provider."""

    def forged(client: Client, key: Any = MINE, algorithm: str = "RS256", **changes: Any) -> Any:
        address = begin(client)
        now = int(time.time())
        usual = {"iss": provider.url, "aud": CLIENT, "sub": "ann", "iat": now, "exp": now + 60}
        claims = {**usual, "nonce": query_of(address)["nonce"], **changes}
        claims = {name: value for name, value in claims.items() if value is not None}
        token = jwt.encode(claims, key, algorithm=algorithm)
        fetch = OidcAdapter.get_access_token_data

        def replace(self: OidcAdapter, *args: Any, **options: Any) -> Any:
            return {**fetch(self, *args, **options), "id_token": token}

        monkeypatch.setattr(OidcAdapter, "get_access_token_data", replace)
        return come_back(client, provider.answer(address, "ann"))

    return forged


@pytest.fixture
def trusted_key(monkeypatch: pytest.MonkeyPatch) -> None:
    jwk = jwt.PyJWK.from_json(jwt.algorithms.RSAAlgorithm.to_jwk(MINE.public_key()))
    monkeypatch.setattr(OidcAdapter, "_find_key", lambda *_: jwk)


def test_the_forged_tokens_below_would_be_good_without_the_change(client, forge, trusted_key):
    assert forge(client).status_code == 302
    assert is_in(client)


@pytest.mark.parametrize("attack", FORGED_CLAIMS)
def test_tokens_for_others_or_of_other_times_are_refused(client, forge, trusted_key, attack):
    assert forge(client, **FORGED_CLAIMS[attack]).status_code == 401
    assert not is_in(client)
    assert not ExternalAccount.objects.exists()


@pytest.mark.parametrize(
    ("key", "algorithm"), [(MINE, "RS256"), ("shared" * 8, "HS256"), (None, "none")]
)
def test_tokens_that_the_provider_did_not_sign_are_refused(client, forge, key, algorithm):
    assert forge(client, key=key, algorithm=algorithm).status_code == 401
    assert not is_in(client)


def test_a_provider_with_another_issuer_is_refused(provider, client, monkeypatch):
    config = OidcAdapter(RequestFactory().get("/")).openid_config
    parent = OidcAdapter.__mro__[1]
    claimed = property(lambda _: {**config, "issuer": "https://evil.example"})
    monkeypatch.setattr(parent, "openid_config", claimed)
    assert client.get(reverse("sso_start")).status_code == 503


# The way to the provider and back


def test_parameters_of_a_link_do_not_reach_the_provider(provider, client):
    url = reverse("sso_start")
    link = {"scope": "admin", "auth_params": "prompt=none&redirect_uri=x", "process": "connect"}
    query = query_of(client.get(url, link)["Location"])
    assert set(query["scope"].split()) == {"openid", "profile", "email"}
    assert "prompt" not in query
    assert query["redirect_uri"] == "http://testserver/admin/sso/callback/"


def test_an_answer_counts_only_in_the_browser_that_asked(provider, client):
    address = provider.answer(begin(Client()), "ann")
    begin(client)
    assert come_back(client, address).status_code == 401
    assert not is_in(client)


@pytest.mark.parametrize("change", [{"code": "forged"}, {"state": "forged"}, {"state": ""}])
def test_forged_codes_and_states_are_refused(provider, client, change):
    query = query_of(provider.answer(begin(client), "ann"))
    assert client.get(reverse("sso_callback"), {**query, **change}).status_code == 401
    assert not is_in(client)


@pytest.mark.parametrize("following", EVIL)
def test_nobody_is_led_elsewhere(provider, client, following):
    assert sign_in(client, provider, "ann", following)["Location"] == HOME
    user = make_user()
    assert password_step(Client(), user, following)["Location"] == HOME
    secret = add_app(user)
    other = Client()
    password_step(other, user, following)
    answer = other.post(reverse("mfa_authenticate"), {"code": make_code(secret)})
    assert answer["Location"] == HOME


# Accounts
def test_a_local_account_of_the_same_name_and_mail_is_not_taken_over(provider, client):
    boss = make_user(username="Ann", email="ann@example.com", is_superuser=True)
    claims = {"preferred_username": "Ann", "email": "ann@example.com", "email_verified": True}
    provider.knows("ann", groups=["analysts"], **claims)
    sign_in(client, provider, "ann")
    assert ExternalAccount.objects.get().user != boss
    assert not ExternalAccount.objects.get().user.is_superuser


def test_an_unverified_address_is_not_stored(provider, client):
    provider.knows("ann", email="boss@example.com", email_verified="true", groups=["analysts"])
    sign_in(client, provider, "ann")
    assert ExternalAccount.objects.get().user.email == ""


def test_an_account_of_single_sign_on_has_no_password_here(provider, client):
    sign_in(client, provider, "ann")
    ann = ExternalAccount.objects.get().user
    ann.set_password("secret")
    ann.save()
    other = Client()
    assert password_step(other, ann).status_code == 200
    assert not is_in(other)


def test_wrong_unknown_disabled_and_staffless_get_the_same_answer():
    kinds = (
        make_user(),
        make_user(is_active=False),
        make_user(is_staff=False),
        User(username="nobody"),
    )
    passwords = ("wrong", "secret", "secret", "wrong")
    pages = set()
    for user, word in zip(kinds, passwords, strict=True):
        page = password_step(Client(), user, "", word).text.replace(user.username, "")
        pages.add(re.sub(r"\b\w{64}\b", "", page))  # tokens against forgery
    assert len(pages) == 1


# Second factor
def emergency(user: User, settings: Any) -> Client:
    settings.SSO = SsoSettings(proxy=RULES, passwords=PasswordSignIn.EMERGENCY)
    client = Client()
    values = {"login": user.username, "password": "secret"}
    client.post(reverse("account_emergency"), values)
    return client


def password_only(user: User, settings: Any) -> Client:
    client = Client()
    password_step(client, user)
    return client


def old_session(user: User, settings: Any) -> Client:
    """A session from before the factor was set up, or made in another way than by allauth."""
    client = Client()
    client.force_login(user)
    return client


@pytest.mark.parametrize("way", [password_only, emergency, old_session])
def test_no_way_in_goes_past_the_second_factor(settings, way):
    user = make_user(is_superuser=True)
    add_app(user)
    client = way(user, settings)
    pages = (HOME, "/admin/auth/user/", "/admin/two-factor/app/remove/", "/admin/two-factor/codes/")
    for page in (*pages, "/admin/two-factor/", "/admin/two-factor/keys/add/", "/admin/sessions/"):
        assert client.get(page).status_code == 302, page
        assert client.post(page).status_code in (302, 403), page
    assert Authenticator.objects.filter(user=user).count() == 1


def test_a_proxy_does_not_go_past_it_unless_a_setting_says_so(settings):
    settings.SSO = SsoSettings(proxy=RULES)
    browser = _Browser()
    browser.get(HOME, "ann", "analysts")
    add_app(User.objects.get())
    assert browser.get(HOME, "ann", "analysts").status_code == 302
    settings.SSO = SsoSettings(proxy=RULES, has_second_factor=True)
    assert browser.get(HOME, "ann", "analysts").status_code == 200


def test_oidc_asks_for_it_too(provider, client):
    sign_in(client, provider, "ann")
    secret = add_app(User.objects.get())
    other = Client()
    assert sign_in(other, provider, "ann")["Location"] == reverse("mfa_authenticate")
    assert not is_in(other)
    other.post(reverse("mfa_authenticate"), {"code": make_code(secret)})
    assert is_in(other)


def test_codes_can_not_be_guessed_on():
    user = make_user()
    secret = add_app(user)
    client = Client()
    password_step(client, user)
    for number in range(10):
        client.post(reverse("mfa_authenticate"), {"code": f"{number:06}"})
    right = format_hotp_value(hotp_value(secret, int(time.time()) // 30))
    assert client.post(reverse("mfa_authenticate"), {"code": right}).status_code == 200
    # A new password step doesn't start a new count.
    other = Client(REMOTE_ADDR="198.51.100.9")
    password_step(other, user)
    assert other.post(reverse("mfa_authenticate"), {"code": right}).status_code == 200
    assert not is_in(other)


def test_disabling_an_account_between_the_steps_stops_it():
    user = make_user()
    secret = add_app(user)
    client = Client()
    password_step(client, user)
    User.objects.filter(pk=user.pk).update(is_active=False)
    client.post(reverse("mfa_authenticate"), {"code": make_code(secret)})
    assert not is_in(client)


@pytest.mark.parametrize("page", ["mfa_deactivate_totp", "mfa_generate_recovery_codes"])
def test_a_stolen_session_can_not_change_factors_later(page):
    user = make_user()
    secret = add_app(user)
    client = Client()
    password_step(client, user)
    client.post(reverse("mfa_authenticate"), {"code": make_code(secret)})
    session = client.session
    for record in session["account_authentication_methods"]:
        record["at"] -= 3600
    session.save()
    assert "confirm" in client.get(reverse(page))["Location"]
    assert client.post(reverse(page)).status_code in (302, 405)
    assert Authenticator.objects.filter(user=user).exists()


def test_the_request_has_state_nonce_and_pkce(provider, client):
    query = query_of(begin(client))
    assert query["code_challenge_method"] == "S256"
    assert min(len(query[name]) for name in ("state", "nonce", "code_challenge")) >= 16

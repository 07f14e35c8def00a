"""An OpenID Connect provider on this machine, and the steps of a browser."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
import os
from typing import Any
from unittest.mock import patch
from urllib.parse import parse_qs, urlsplit
import warnings

from django.test import Client
from django.urls import reverse
from joserfc.jwk import import_key
from pydantic import SecretStr
import requests

from copilot_admin.config.roles import Role
from copilot_admin.config.sso import OidcProvider, PasswordSignIn, RoleMap, SsoSettings
from tests.polling import HANGS_SECONDS

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of the library that it is made with
    import oidc_provider_mock

CLIENT = "copilots"
_KEYS: dict[str, Any] = {}  # of providers, which read theirs for each token: 20 ms
MAP = RoleMap(
    roles={
        "analysts": frozenset({Role.BUILDERS}),
        "risk": frozenset({Role.REVIEWERS}),
        "it": frozenset({Role.OPERATORS}),
    },
    superusers=("root",),
)


@dataclass
class Provider:
    """The provider and what it knows."""

    url: str

    def sign_in(self, **changes: Any) -> SsoSettings:
        """Return settings with this provider."""
        passwords = changes.pop("passwords", PasswordSignIn.ON)
        oidc = OidcProvider(
            issuer=self.url,
            client_id=CLIENT,
            client_secret=SecretStr("shared"),
            roles=MAP.roles,
            superusers=MAP.superusers,
            **changes,
        )
        return SsoSettings(oidc=oidc, passwords=passwords)

    def knows(self, subject: str, **claims: Any) -> None:
        """Tells it who somebody is."""
        answer = requests.put(f"{self.url}/users/{subject}", json=claims, timeout=HANGS_SECONDS)
        answer.raise_for_status()

    def answer(self, address: str, subject: str) -> str:
        """Return the URL that the provider sends a browser back to."""
        sent = {"sub": subject}
        answer = requests.post(address, data=sent, allow_redirects=False, timeout=HANGS_SECONDS)
        assert answer.status_code == 302, answer.text
        return answer.headers["Location"]


def _read_once(key: dict[str, str]) -> Any:
    """Reads a key as the library does, unless it has."""
    if key["n"] not in _KEYS:
        _KEYS[key["n"]] = import_key(key)
    return _KEYS[key["n"]]


@contextmanager
def running_provider() -> Iterator[Provider]:
    """The provider, on a free port of this machine."""
    with (
        patch.dict(os.environ, {"AUTHLIB_INSECURE_TRANSPORT": "1"}),
        patch("authlib.oidc.core.grants.code.import_any_key", _read_once),
        oidc_provider_mock.run_server_in_thread() as server,
    ):
        yield Provider(f"http://localhost:{server.server_port}")


def begin(client: Client, following: str = "", **options: Any) -> str:
    """Return the URL at the provider that a sign-in begins with."""
    sent = {"next": following} if following else {}
    answer = client.get(reverse("sso_start"), {**sent, **options})
    assert answer.status_code == 302, answer.content
    return str(answer["Location"])


def come_back(client: Client, address: str) -> Any:
    """Follows the provider back to the callback."""
    parts = urlsplit(address)
    return client.get(f"{parts.path}?{parts.query}")


def sign_in(client: Client, provider: Provider, subject: str, following: str = "") -> Any:
    """Sign in and return the response of the callback."""
    return come_back(client, provider.answer(begin(client, following), subject))


def query_of(address: str) -> dict[str, str]:
    """The parameters of an address."""
    return {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}

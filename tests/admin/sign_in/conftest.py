"""Codes of an authenticator app, and an identity provider."""

from collections.abc import Iterator
import time

from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import TOTP, format_hotp_value, hotp_value
from django.contrib.auth.models import User
from django.core.cache import cache
import pytest

from tests.admin.sign_in.oidc_provider import Provider, running_provider


def make_code(secret: str) -> str:
    """Return the code that an app with this secret shows now, also if it was used before."""
    cache.clear()
    return str(format_hotp_value(hotp_value(secret, int(time.time()) // 30)))


def add_app(user: User, secret: str = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP") -> str:
    TOTP.activate(user, secret)
    assert Authenticator.objects.filter(user=user).count() == 1
    return secret


@pytest.fixture(scope="package")
def running() -> Iterator[Provider]:
    with running_provider() as provider:
        yield provider

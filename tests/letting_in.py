"""Gives a browser the session of somebody, without the page of the log-in."""

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.test import Client
from django.test.client import ClientMixin
from django.utils.crypto import get_random_string

SIGNS = "abcdefghijklmnopqrstuvwxyz0123456789"  # of the name of a session


def let_in(browser: Client, user: User, backend: str | None = None) -> None:
    """Gives a session, and notes nowhere that somebody logged in: that takes ten times as long.

    It is what `force_login` does in tests.
    """
    key = get_random_string(32, SIGNS)
    store = SessionStore()
    kept = {
        SESSION_KEY: str(user.pk),
        BACKEND_SESSION_KEY: backend or browser._get_backend(),  # type: ignore[attr-defined]  # private
        HASH_SESSION_KEY: user.get_session_auth_hash(),
    }
    Session.objects.create(
        session_key=key, session_data=store.encode(kept), expire_date=store.get_expiry_date()
    )
    browser.cookies[settings.SESSION_COOKIE_NAME] = key


def log_in(browser: Client, user: User) -> None:
    """Logs somebody in with all that it leaves: where he is logged in, and an entry of the trail."""
    ClientMixin.force_login(browser, user)

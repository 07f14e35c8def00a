"""Limits of sign-in attempts by address and account."""

from ipaddress import ip_address
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.cache import cache
from django.core.cache.backends.base import BaseCache
from django.core.cache.backends.locmem import LocMemCache
from django.http import HttpRequest
from django.utils.crypto import salted_hmac

from copilot_admin.http.scope import get_client_network


def counted_address(text: str) -> str:
    """What failures from an address are counted by.

    Addresses of IPv6 count by their network, else one machine has as many as it likes. One of IPv4
    that is written as IPv6, as on a socket for both, is itself: all of them are one such network.

    Raises:
        ValueError: It is none.
    """
    ip_address(text)
    return get_client_network(text)


def client_address(request: HttpRequest) -> str | None:
    """Where a log-in comes from; uvicorn has looked through the proxies that it trusts."""
    try:
        return counted_address(request.META.get("REMOTE_ADDR") or "")
    except ValueError:  # a socket of this machine, or Django's test client
        return None


MARK_LENGTH = 16  # of a name that is no account's; a user name has no colon
_SALT = "copilot_admin.admin.logins.sign_in_limits"


def counted_name(request: HttpRequest, credentials: dict[str, Any] | None = None) -> str:
    """What failures are counted by and logged with: the account, or the mark of a name that is none.

    Whoever types a password into the wrong field has it neither in the log nor in the database.
    """
    typed = str((credentials or request.POST).get("username") or "")
    if User.objects.filter(username=typed).exists():
        return typed
    mark = salted_hmac(_SALT, typed, algorithm="sha256").hexdigest()
    return f"unknown:{mark[:MARK_LENGTH]}"


def attempt_words(request: HttpRequest) -> str:
    """Of which account a log-in is, and from where, for a line of the log."""
    return f"a log-in of account {counted_name(request)} from {client_address(request)}"


MOST_REMEMBERED = 10_000  # marks in the count of a process; some megabytes
_OWN = LocMemCache(__name__, {"OPTIONS": {"MAX_ENTRIES": MOST_REMEMBERED}})


def within(what: str, most: int, *, seconds: int) -> bool:
    """Counts that something is asked for once more; whether it is no more than may be.

    Args:
        what: What is counted, and of whom; it is kept as a mark.
        most: So often in the time.
        seconds: The time, from the first on.
    """
    key = f"asked:{salted_hmac(__name__, what, algorithm='sha256').hexdigest()}"
    # Without Redis the cache is of this process, and never away.
    counts: tuple[BaseCache, ...] = (cache, _OWN) if settings.REDIS_URL else (cache,)
    return max(_counted(one, key, seconds) for one in counts) <= most


def forget() -> None:
    """Forgets what this process has counted; for tests."""
    _OWN.clear()


def _counted(count: BaseCache, key: str, seconds: int) -> int:
    count.add(key, 0, seconds)
    try:
        return count.incr(key) or 0  # None: Redis is away
    except ValueError:  # it ran out between the two, or does not answer
        return 0

"""Cache of the limits that apply now, loaded at each change here and every few seconds."""

from collections.abc import Callable
from functools import partial
from ipaddress import ip_address, ip_network
from math import inf
import time

from django.conf import settings
from django.db import transaction

from copilot_admin.limits.rules import LimitRule, Limits, LimitSubject, RequestIdentity, build_rules
from copilot_admin.models import Copilot, LimitScope, SubjectLimits
from copilot_admin.storage.writer import READER

STALE_SECONDS = 15.0  # three periods of the task that reloads it
DEFAULT_ANONYMOUS_LIMITS: Limits = {"concurrent": 20, "requests_per_minute": 120}
# RFC 1918, RFC 6598 (carrier-grade NAT), loopback, link-local and unique local addresses.
_PRIVATE_NETWORKS = [
    ip_network(text)
    for text in (
        "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "127.0.0.0/8",
        "169.254.0.0/16", "::/128", "::1/128", "fe80::/10", "fc00::/7",
    )
]  # fmt: skip


class LimitCache:
    """Limits of every subject that has some."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._loaded_at = -inf
        self._limits: dict[LimitSubject, Limits] = {}

    @property
    def is_stale(self) -> bool:
        """True if nothing has loaded it lately, as in a worker without periodic tasks."""
        return self._clock() - self._loaded_at > STALE_SECONDS

    def get_rules(self, identity: RequestIdentity) -> tuple[LimitRule, ...]:
        """Return the rules for a request, the narrowest first."""
        is_known = identity.key_id or identity.user or identity.is_trial
        rules: list[LimitRule] = []
        for subject in identity.subjects:
            limits = self._limits.get(subject, {})
            if subject.scope is not LimitScope.ADDRESS:
                limits = {**self._limits.get(LimitSubject(subject.scope), {}), **limits}
            elif not is_known:
                every = self._limits.get(LimitSubject(subject.scope), {})
                limits = {**get_anonymous_limits(subject.id), **every, **limits}
            rules += build_rules(subject, limits)
        return tuple(rule for rule in rules if rule.applies_to(identity))

    def load(self) -> None:
        """Load the limits from the database."""
        self._loaded_at = self._clock()
        rows = SubjectLimits.objects.values_list("scope", "subject", "limits")
        found = {LimitSubject(LimitScope(scope), id): limits for scope, id, limits in rows}
        copilots = Copilot.objects.exclude(limits={}).values_list("pk", "limits")
        found |= {LimitSubject(LimitScope.COPILOT, str(pk)): limits for pk, limits in copilots}
        self._limits = found

    async def refresh(self) -> None:
        """Load what other processes have changed; a periodic task."""
        await READER.run(self.load)

    def forget(self) -> None:
        """Drop all limits and wait for the next `load`; for tests."""
        self._limits, self._loaded_at = {}, inf


def get_anonymous_limits(address: str = "") -> Limits:
    """Return the limits that the settings give to an anonymous address; "": to each of them.

    Values of the environment always apply. The defaults apply in production only, and to a private
    address only if trusted proxies are configured: without them, a whole firm shares the address of
    its reverse proxy.
    """
    is_shared = bool(address) and is_private(address) and not has_trusted_proxies()
    explicit = {
        "concurrent": settings.ANONYMOUS_CONCURRENT,
        "requests_per_minute": settings.ANONYMOUS_PER_MINUTE,
    }
    limits = dict(DEFAULT_ANONYMOUS_LIMITS) if settings.PRODUCTION and not is_shared else {}
    limits |= {key: number for key, number in explicit.items() if number is not None}
    return {key: number for key, number in limits.items() if number}


def has_trusted_proxies() -> bool:
    """Return whether the settings name proxies besides this machine."""
    return any(not network.is_loopback for network in settings.TRUSTED_PROXIES)


def is_private(address: str) -> bool:
    """Return whether many clients may share an address: it is private, or no IP address."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return True
    return any(parsed in network for network in _PRIVATE_NETWORKS)


def reload_on_commit() -> None:
    """Load the limits again when the current transaction is committed."""
    transaction.on_commit(partial(LIMIT_CACHE.load))


LIMIT_CACHE = LimitCache()

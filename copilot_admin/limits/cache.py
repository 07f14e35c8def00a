"""Cache of the limits that apply now, loaded at each change here and when it is some seconds old."""

from collections.abc import Callable
from ipaddress import ip_address
from math import inf
import time

from django.conf import settings
from django.db import transaction

from copilot_admin.limits.rules import LimitRule, Limits, LimitSubject, RequestIdentity, build_rules
from copilot_admin.models import Copilot, LimitScope, SubjectLimits
from copilot_admin.storage.writer import READER, Deadline

CACHE_SECONDS = 5.0
DEFAULT_ANONYMOUS_LIMITS: Limits = {"concurrent": 20, "requests_per_minute": 120}


class LimitCache:
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._loaded_at = -inf
        self._limits: dict[LimitSubject, Limits] = {}

    async def refresh(self, deadline: Deadline) -> None:
        """Load the limits again if another process may have changed them.

        Raises:
            Unavailable: The database does not answer.
        """
        if self._clock() - self._loaded_at > CACHE_SECONDS:
            await READER.run(self.load, deadline)

    def get_rules(self, identity: RequestIdentity) -> tuple[LimitRule, ...]:
        """Return the rules for a request, the narrowest first."""
        is_known = identity.key_id or identity.user or identity.is_trial
        rules: list[LimitRule] = []
        for subject in identity.subjects:
            is_address = subject.scope is LimitScope.ADDRESS
            limits = dict(get_anonymous_limits(subject.id)) if is_address and not is_known else {}
            if not (is_address and is_known):
                limits |= self._limits.get(LimitSubject(subject.scope), {})
            rules += build_rules(subject, {**limits, **self._limits.get(subject, {})})
        return tuple(rule for rule in rules if rule.applies_to(identity))

    def load(self) -> None:
        self._loaded_at = self._clock()
        rows = SubjectLimits.objects.values_list("scope", "subject", "limits")
        found = {LimitSubject(LimitScope(scope), id): limits for scope, id, limits in rows}
        copilots = Copilot.objects.exclude(limits={}).values_list("pk", "limits")
        found |= {LimitSubject(LimitScope.COPILOT, str(pk)): limits for pk, limits in copilots}
        self._limits = found


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
    return any(not network.is_loopback for network in settings.TRUSTED_PROXIES)


def is_private(address: str) -> bool:
    """Return whether many clients may share an address: it is private, or no IP address."""
    try:
        return not ip_address(address).is_global
    except ValueError:
        return True


def reload_on_commit() -> None:
    transaction.on_commit(LIMIT_CACHE.load)


LIMIT_CACHE = LimitCache()

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


class LimitCache:
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._loaded_at = -inf
        self._limits: dict[LimitSubject, Limits] = {}

    async def refresh(self, deadline: Deadline) -> None:
        """Load the limits again if another process may have changed them."""
        if self._clock() - self._loaded_at > CACHE_SECONDS:
            await READER.run(self.load, deadline)

    def get_rules(self, identity: RequestIdentity) -> tuple[LimitRule, ...]:
        """Return the rules for a request, the narrowest first."""
        is_known = identity.key_id or identity.user or identity.is_trial
        rules: list[LimitRule] = []
        for subject in identity.subjects:
            defaults = dict(self._limits.get(LimitSubject(subject.scope), {}))
            if subject.scope is LimitScope.ADDRESS:  # the defaults are for anonymous callers
                anonymous = get_anonymous_limits(subject.id)
                defaults = {} if is_known else {**anonymous, **defaults}
            rules += build_rules(subject, {**defaults, **self._limits.get(subject, {})})
        return tuple(rule for rule in rules if rule.applies_to(identity))

    def load(self) -> None:
        self._loaded_at = self._clock()
        self._limits = load_limits()


def load_limits() -> dict[LimitSubject, Limits]:
    """Load the limits of all subjects; those of copilots are sorted by name."""
    rows = SubjectLimits.objects.exclude(limits={}).values_list("scope", "subject", "limits")
    found = {LimitSubject(LimitScope(scope), id): limits for scope, id, limits in rows}
    copilots = Copilot.objects.exclude(limits={}).by_name().values_list("pk", "limits")
    return found | {LimitSubject(LimitScope.COPILOT, str(pk)): limits for pk, limits in copilots}


def get_anonymous_limits(address: str = "") -> Limits:
    """Return the limits that the settings give to an anonymous address; "": to each of them.

    Values of the environment always apply. The defaults apply in production only, and to a private
    address only if trusted proxies are configured: without them, a whole firm shares the address of
    its reverse proxy.
    """
    is_shared = bool(address) and is_private(address) and not has_trusted_proxies()
    has_defaults = settings.PRODUCTION and not is_shared
    limits = {
        "concurrent": (settings.ANONYMOUS_CONCURRENT, 20),
        "requests_per_minute": (settings.ANONYMOUS_PER_MINUTE, 120),
    }
    numbers = {
        key: default if explicit is None and has_defaults else explicit
        for key, (explicit, default) in limits.items()
    }
    return {key: number for key, number in numbers.items() if number}


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

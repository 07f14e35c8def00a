"""What a limit is of: the server, a copilot, a key, a user or an address."""

from dataclasses import dataclass
from functools import lru_cache
import hashlib
import hmac

from django.conf import settings

from copilot_admin.models.limits import LimitScope

_PEOPLE = (LimitScope.USER, LimitScope.ADDRESS)
_DIGEST_DIGITS = 32


@dataclass(frozen=True, slots=True)
class LimitSubject:
    """Whom or what a limit is of.

    Attributes:
        id: Of the copilot, the key, the user or the network; "" of the server.
    """

    scope: LimitScope
    id: str = ""

    @property
    def name(self) -> str:
        """The name for people who may know whose limits they are."""
        return f"{self.scope.value}:{self.id}"

    @property
    def counter(self) -> str:
        """The name within those of counters; of users and addresses a keyed digest.

        Counters last for up to a month, in Redis: whoever is erased must not stand in their names.
        """
        if not self.id or self.scope not in _PEOPLE:
            return self.name
        return f"{self.scope.value}:{_digest(self.id)}"

    @property
    def told(self) -> str:
        """The name for the log, which says neither which user nor which address it is."""
        return self.name if self.id and self.scope not in _PEOPLE else self.scope.value


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """Who asks, as far as limits ask.

    Attributes:
        copilot_id: That is asked; None: a component that no copilot lends.
        user: The id of the user; "" if nobody says who he is.
        address: The network that the request came from; "": it came from this process.
        is_trial: A builder or a test asks: rates are not for it, budgets are.
        is_answered: An answer is given, which takes a seat and costs; else it is only a request.
    """

    copilot_id: int | None = None
    key_id: int | None = None
    user: str = ""
    address: str = ""
    is_trial: bool = False
    is_answered: bool = True

    @property
    def is_anonymous(self) -> bool:
        """Whether neither a key, nor a user, nor a trial says who asks."""
        return self.key_id is None and not self.user and not self.is_trial

    @property
    def subjects(self) -> tuple[LimitSubject, ...]:
        """Everything that it counts for, the narrowest first: who is told should know whose it is."""
        named = (
            (LimitScope.ADDRESS, self.address),
            (LimitScope.USER, self.user),
            (LimitScope.KEY, self.key_id),
            (LimitScope.COPILOT, self.copilot_id),
        )
        known = (LimitSubject(scope, str(one)) for scope, one in named if one not in (None, ""))
        return (*known, LimitSubject(LimitScope.SERVER))


def _digest(id: str) -> str:
    key = _key(settings.SECRET_KEY)
    return hmac.digest(key, id.encode(), hashlib.sha256).hex()[:_DIGEST_DIGITS]


@lru_cache(maxsize=2)
def _key(secret: str) -> bytes:
    return hashlib.sha256(b"limits:" + secret.encode()).digest()

"""The pages that may ask: those of the deployment, and those that operators allowed besides.

Every request looks, so what the database holds is kept in memory. Whoever changes it has it read
anew; other processes do so with their housekeeping, every few seconds.
"""

from collections.abc import Iterable

from django.conf import settings

from copilot_admin.models import AllowedOrigin
from copilot_admin.storage.writer import READER

MOST_ORIGINS = 50  # that operators allow; a firm has a few Workspaces


class AllowedOrigins:
    """Origins, exactly as browsers write them.

    Attributes:
        given: Those of the deployment.
        is_pinned: Whether the deployment named them itself, so that there are no others.
    """

    def __init__(self, given: Iterable[str], *, is_pinned: bool = True) -> None:
        self.given = tuple(given)
        self.is_pinned = is_pinned
        self._added: frozenset[str] = frozenset()
        self._all = frozenset(origin.encode() for origin in self.given)

    def __contains__(self, origin: bytes | None) -> bool:
        """Whether pages of an origin, as a header has it, may ask."""
        return origin in self._all

    def added(self) -> tuple[str, ...]:
        """The origins that operators allowed; reads the database."""
        if self.is_pinned:
            return ()
        return tuple(AllowedOrigin.objects.values_list("origin", flat=True))

    def read(self) -> None:
        """Takes over what the database holds now."""
        added = frozenset(self.added())
        if added != self._added:
            self._added = added
            self._all = frozenset(origin.encode() for origin in (*self.given, *added))

    async def look_after(self) -> None:
        """Takes over what other processes changed."""
        await READER.run(self.read)


ALLOWED_ORIGINS = AllowedOrigins(settings.CORS_ORIGINS, is_pinned=settings.CORS_PINNED)

"""The key set of an issuer: fetched, kept, and fetched again when it grows old or lacks a key.

An issuer that is away does not lock anybody out: the keys that are known stay good.
"""

import asyncio
from collections.abc import Callable
import logging
from time import monotonic
from urllib.parse import urlsplit

from copilot_admin.agent.fetching.egress import Egress, Fetch, FetchFailed
from copilot_admin.copilots.key_sets import EmptyKeySet, InvalidKeySet, KeySet, read_key_set
from copilot_admin.errors import Unavailable

SECONDS = 5.0  # for a fetch: whoever asks may wait for it
MOST_BYTES = 1024 * 1024
OLD_SECONDS = 10 * 60.0  # then they are renewed beside the answer
# A key that an issuer has taken back is good for at most so long: where nobody asked in between, the
# next one waits for the keys of now.
OLDEST_SECONDS = 2 * OLD_SECONDS
AGAIN_SECONDS = 60.0  # between fetches that a token may cause: whoever invents keys costs one
FIRST_AGAIN_SECONDS = 5.0  # while there are no keys at all
_NOT_FETCHED = "the keys of users could not be fetched (%s): %s"
_NONE_YET = "there are none yet"
logger = logging.getLogger(__name__)


class FetchedKeys:
    """The keys behind one address; used in one event loop at a time.

    Args:
        address: Of the key set.
        algorithms: That are allowed.
        fetch: Gets the bytes behind an address; None: guarded, and to this host only.
        clock: Seconds that never go back.
    """

    def __init__(
        self,
        address: str,
        algorithms: tuple[str, ...],
        *,
        fetch: Fetch | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._address, self._algorithms, self._clock = address, algorithms, clock
        self._fetch = fetch or _egress(address)
        self._keys: KeySet | None = None
        self._tried_at: float | None = None
        self._fetching: asyncio.Task[None] | None = None

    async def current(self) -> KeySet:
        """The keys; waits only where there are none yet or nobody asked for long.

        Raises:
            Unavailable: There are none, and they cannot be had.
        """
        if self._keys is None:
            await self._renewed(not_before=FIRST_AGAIN_SECONDS)
        elif self._is_due(OLDEST_SECONDS):
            await asyncio.shield(self._begin())
        elif self._is_due(OLD_SECONDS):
            self._begin()
        if self._keys is None:
            raise Unavailable(
                "Users cannot be recognised at the moment, because the keys of their issuer can't be "
                "fetched. Ask again in a few seconds.",
                code="no-user-keys",
            )
        return self._keys

    async def newer(self) -> KeySet | None:
        """The keys as they are now, for a token whose key is not known; None: asked just before."""
        before = self._keys
        await self._renewed(not_before=AGAIN_SECONDS)
        return self._keys if self._keys is not before else None

    async def _renewed(self, *, not_before: float) -> None:
        if self._running() is None and not self._is_due(not_before):
            return
        await asyncio.shield(self._begin())

    def _is_due(self, seconds: float) -> bool:
        return self._tried_at is None or self._clock() - self._tried_at >= seconds

    def _running(self) -> "asyncio.Task[None] | None":
        task = self._fetching
        if task is None or task.done() or task.get_loop() is not asyncio.get_running_loop():
            return None
        return task

    def _begin(self) -> "asyncio.Task[None]":
        task = self._running()
        if task is None:
            self._tried_at = self._clock()
            task = self._fetching = asyncio.create_task(self._get(), name="fetch keys of users")
        return task

    async def _get(self) -> None:
        try:
            async with self._fetch(self._address) as body:
                self._keys = read_key_set(body, self._algorithms)
        except EmptyKeySet as error:
            kept = "those that were known are taken back" if self._keys else _NONE_YET
            self._keys = self._keys and KeySet({})  # where there never was one a setting is wrong
            logger.warning(_NOT_FETCHED, kept, error)
        except (FetchFailed, InvalidKeySet) as error:
            kept = "those that are known stay" if self._keys else _NONE_YET
            why = error.detail if isinstance(error, FetchFailed) else error
            logger.warning(_NOT_FETCHED, kept, why)


def _egress(address: str) -> Fetch:
    host = urlsplit(address).hostname or ""
    return Egress((host,), seconds=SECONDS, most_bytes=MOST_BYTES, keeps_https=True).fetch

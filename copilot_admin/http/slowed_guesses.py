"""Refuses the keys of guessers, before the body is read and again before anything is looked up.

Where too many wrong keys came from, only keys pass that this process has seen to be good: a firm
behind one address goes on working beside one wrong client, and a guess opens nothing. Those that
came at once were all let in before the first was known to be wrong: each is asked for again where
it is looked up, on the one thread that does that, and counted there before the next.
"""

from collections.abc import Callable
from time import monotonic_ns
from typing import TypeVar

from copilot_admin.copilots.door import credentials_in, headers_read
from copilot_admin.copilots.seen_keys import SEEN_KEYS
from copilot_admin.copilots.trial_passes import is_trial_pass
from copilot_admin.errors import InvalidKey
from copilot_admin.http.asgi_types import App, Receive, Scope, Send, is_api, is_query, whole_header
from copilot_admin.http.guesses import GUESSES, too_many_guesses
from copilot_admin.http.ids import SCOPE_KEY
from copilot_admin.http.lingering import Incoming, refuse
from copilot_admin.telemetry.refusals import tell_refusal

T = TypeVar("T")


class SlowedGuesses:
    """ASGI middleware of the API, inside what gives ids and outside what reads bodies."""

    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        came = monotonic_ns()
        seconds = _seconds_to_wait(scope)
        if not seconds:
            await self.app(scope, receive, send)
            return
        error = too_many_guesses(seconds)
        if scope["method"] == "POST" and is_query(scope["path"]):
            tell_refusal(error, ids=scope[SCOPE_KEY], came=came)
        await refuse(scope, Incoming(receive), send, error)


def looked_up(job: Callable[[], T], key: str | None, address: str) -> T:
    """Does a job that looks a key up, unless it is a guess too many; on the reader's thread.

    Args:
        job: What it is looked up for.
        key: The endpoint key of a request, if it carries one.
        address: That it came from. Behind a proxy it is what the server made of its headers
            (FORWARDED_ALLOW_IPS).

    Raises:
        TooManyFailedAttempts: Too many wrong keys came from there; it is not looked up, or it was one more.
        InvalidKey: It opens nothing.
    """
    if GUESSES.slow(address) and (mark := guess_of(key)) is not None:
        seconds = GUESSES.take_turn(address, mark)
        if seconds:
            raise too_many_guesses(seconds)
    try:
        return job()
    except InvalidKey as error:
        seconds = GUESSES.count(address)
        if seconds:
            raise too_many_guesses(seconds) from error
        raise


def guess_of(key: str | None) -> bytes | None:
    """The mark of a key of which nobody knows whether it is good; None: it is no guess."""
    # A pass for a trial is signed: a wrong one is told without a look at the database.
    if key is None or is_trial_pass(key):
        return None
    mark = SEEN_KEYS.mark_of(key)
    return None if SEEN_KEYS.know(mark) else mark


def _seconds_to_wait(scope: Scope) -> int:
    """For how long a request is not looked at; 0: it brings no guess, or nobody guesses there."""
    if scope["type"] != "http" or not is_api(scope["path"]):
        return 0
    address = str((scope.get("client") or ("",))[0])
    if not GUESSES.slow(address):
        return 0
    given = {name: whole_header(scope, name) for name in headers_read()}
    sent = {name: value for name, value in given.items() if value is not None}
    mark = guess_of(credentials_in(sent).key)
    return 0 if mark is None else GUESSES.wait(address, mark)

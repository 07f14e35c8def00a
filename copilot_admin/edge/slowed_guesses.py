"""Refuses the keys of guessers, before the body is read and anything is looked up.

Where too many wrong keys came from, only keys pass that this process has seen to be good: a firm
behind one address goes on working beside one wrong client, and a guess opens nothing.
"""

from time import monotonic_ns

from copilot_admin.copilots.door import credentials_in, headers_read
from copilot_admin.copilots.seen_keys import SEEN_KEYS
from copilot_admin.copilots.trial_passes import is_trial_pass
from copilot_admin.edge.asgi_types import App, Receive, Scope, Send, is_api, is_query, whole_header
from copilot_admin.edge.guesses import GUESSES, too_many_guesses
from copilot_admin.edge.ids import SCOPE_KEY
from copilot_admin.edge.lingering import Incoming, refuse
from copilot_admin.telemetry.refusals import tell_refusal


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


def _seconds_to_wait(scope: Scope) -> int:
    """For how long a request is not looked at; 0: it brings no guess, or nobody guesses there."""
    if scope["type"] != "http" or not is_api(scope["path"]):
        return 0
    address = str((scope.get("client") or ("",))[0])
    if not GUESSES.slow(address):
        return 0
    given = {name: whole_header(scope, name) for name in headers_read()}
    sent = {name: value for name, value in given.items() if value is not None}
    key = credentials_in(sent).key
    # A pass for a trial is signed: a wrong one is told without a look at the database.
    if key is None or is_trial_pass(key):
        return 0
    mark = SEEN_KEYS.mark_of(key)
    return 0 if SEEN_KEYS.know(mark) else GUESSES.wait(address, mark)

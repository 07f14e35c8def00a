"""Reads which user a trusted proxy names in the headers of a request."""

from copilot_admin.config.asking_users import ProxyRules
from copilot_admin.copilots.users import ProxyWords
from copilot_admin.edge.asgi_types import App, Receive, Scope, Send
from copilot_admin.edge.proxy_headers import is_from, names_of, set_apart, values_of

WORDS_KEY = "copilot_admin.proxy_words"  # in the scope: what a trusted proxy says


class ProxyUsers:
    """ASGI middleware; where no header is set up, nothing is done.

    Args:
        app: Gets the requests, with what a proxy says under `WORDS_KEY`.
        rules: Which headers, and which proxies.
    """

    def __init__(self, app: App, rules: ProxyRules) -> None:
        self.app = app
        self.rules = rules
        self._names = names_of(rules.headers)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        if self._names and scope["type"] in ("http", "websocket"):
            scope = self._without_headers(scope)
        await self.app(scope, receive, send)

    def _without_headers(self, scope: Scope) -> Scope:
        """The request without the headers, and with what they say if a trusted proxy set them."""
        scope, rows = set_apart(scope, self._names)
        if not rows or not is_from(scope, self.rules.networks):
            return scope
        words = ProxyWords(
            ids=values_of(self.rules.id_header, rows),
            emails=values_of(self.rules.email_header, rows),
            names=values_of(self.rules.name_header, rows),
        )
        return {**scope, WORDS_KEY: words}


def words_in(scope: Scope) -> ProxyWords | None:
    """What a trusted proxy says of the user; None: nothing, or it is none."""
    words: ProxyWords | None = scope.get(WORDS_KEY)
    return words

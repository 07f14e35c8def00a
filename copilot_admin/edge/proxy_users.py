"""Takes the headers that name a user out of every request, and believes them of trusted proxies.

Who a proxy is says the connection itself, never `X-Forwarded-For`, which anybody may write. Inside,
nobody can read such a header of a stranger, as it is not there any more.
"""

from copilot_admin.config.asking_users import ProxyRules
from copilot_admin.config.networks import is_in
from copilot_admin.copilots.users import ProxyWords
from copilot_admin.edge.asgi_types import App, Headers, Receive, Scope, Send

PEER_KEY = "copilot_admin.peer"  # in the scope: the address at the other end of the connection
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
        self._names = frozenset(name.encode() for name in rules.headers)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        if self._names and scope["type"] in ("http", "websocket"):
            scope = self._without_headers(scope)
        await self.app(scope, receive, send)

    def _without_headers(self, scope: Scope) -> Scope:
        """The request without the headers, which are kept apart if a trusted proxy set them."""
        rows: Headers = scope["headers"]
        named = [(name, value) for name, value in rows if _dashed(name) in self._names]
        if not named:
            return scope
        others = [(name, value) for name, value in rows if _dashed(name) not in self._names]
        scope = {**scope, "headers": others}
        if is_in(peer_of(scope), self.rules.networks):
            scope[WORDS_KEY] = self._words(named)
        return scope

    def _words(self, named: Headers) -> ProxyWords:
        def values(header: str) -> tuple[bytes, ...]:
            return tuple(value for name, value in named if header and name == header.encode())

        return ProxyWords(
            ids=values(self.rules.id_header),
            emails=values(self.rules.email_header),
            names=values(self.rules.name_header),
        )


def peer_of(scope: Scope) -> str:
    """Who is connected; "" where the server does not say: then nobody is trusted."""
    return str(scope.get(PEER_KEY, ""))


def words_in(scope: Scope) -> ProxyWords | None:
    """What a trusted proxy says of the user; None: nothing, or it is none."""
    words: ProxyWords | None = scope.get(WORDS_KEY)
    return words


def _dashed(name: bytes) -> bytes:
    """A header's name as Django reads it, which takes `X_User` for `X-User`."""
    return bytes(name).lower().replace(b"_", b"-")

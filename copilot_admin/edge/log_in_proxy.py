"""Takes the headers that name a person out of every request, and believes them of named proxies.

Who a proxy is says the connection itself, never `X-Forwarded-For`, which anybody may write.
"""

from dataclasses import dataclass

from copilot_admin.config.firm_log_in import UserProxy
from copilot_admin.config.networks import is_in
from copilot_admin.edge.asgi_types import App, Headers, Receive, Scope, Send

PEER_KEY = "copilot_admin.peer"  # in the scope: the address at the other end of the connection
PERSON_KEY = "copilot_admin.person"  # in the scope: whom a named proxy vouches for


@dataclass(frozen=True, slots=True)
class ProxyPerson:
    """Whom a proxy names, with his groups as they stand in the header."""

    user: str
    groups: tuple[str, ...]


class LogInProxy:
    """ASGI middleware; where no header is set up, nothing is done."""

    def __init__(self, app: App, rules: UserProxy) -> None:
        self.app = app
        self.rules = rules
        self._names = frozenset(name.encode() for name in rules.headers)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        if self._names and scope["type"] in ("http", "websocket"):
            scope = self._without_headers(scope)
        await self.app(scope, receive, send)

    def _without_headers(self, scope: Scope) -> Scope:
        rows: Headers = scope["headers"]
        named = [row for row in rows if _dashed(row[0]) in self._names]
        scope = {**scope, "headers": [row for row in rows if _dashed(row[0]) not in self._names]}
        person = self._person(named)
        if person is not None and is_in(str(scope.get(PEER_KEY, "")), self.rules.networks):
            scope[PERSON_KEY] = person
        return scope

    def _person(self, named: Headers) -> ProxyPerson | None:
        """Whom the headers name; nobody where two of them do, or a name is written otherwise."""
        users = [_text(value) for name, value in named if _is(name, self.rules.user_header)]
        groups = [_text(value) for name, value in named if _is(name, self.rules.groups_header)]
        if len(users) != 1 or not users[0].strip():
            return None
        listed = (one.strip() for text in groups for one in text.split(","))
        return ProxyPerson(users[0].strip(), tuple(filter(None, listed)))


def _is(name: bytes, header: str) -> bool:
    return bytes(name).lower() == header.encode()


def _text(value: bytes) -> str:
    try:
        return bytes(value).decode()
    except UnicodeDecodeError:
        return bytes(value).decode("latin-1")


def _dashed(name: bytes) -> bytes:
    """A header's name as Django reads it, which takes `X_User` for `X-User`."""
    return bytes(name).lower().replace(b"_", b"-")

"""Identity headers: stripped from every request, and read from trusted proxies only.

The address of the connection decides who a proxy is, never `X-Forwarded-For`, which any client
can write. So this middleware stands outside the one that reads `X-Forwarded-For`. Inside,
nobody can read such a header of a stranger, because it is gone.
"""

from dataclasses import dataclass
from hashlib import sha256
from typing import cast

from copilot_admin.config.sso import SsoProxy
from copilot_admin.config.variables import is_in
from copilot_admin.copilots.end_users import ProxyHeaders
from copilot_admin.copilots.user_tokens import ProxyRules
from copilot_admin.http.scope import App, Headers, Receive, Scope, Send, get_client_address

REMOTE_USER_KEY = "copilot_admin.remote_user"  # in the scope: who signs in to the admin
END_USER_KEY = "copilot_admin.end_user"  # in the scope: who asks a copilot


@dataclass(frozen=True, slots=True)
class RemoteUser:
    """User that a trusted proxy has signed in, with groups as in the header."""

    user: str
    groups: tuple[str, ...]

    @property
    def mark(self) -> str:
        """Hash that a session keeps, to notice another user or other groups."""
        return sha256(repr((self.user, self.groups)).encode()).hexdigest()


class ProxyIdentity:
    """ASGI middleware that replaces identity headers by what trusted proxies say in them.

    The application finds it in the scope, under `REMOTE_USER_KEY` and `END_USER_KEY`.
    """

    def __init__(self, app: App, *, remote_user: SsoProxy, end_user: ProxyRules) -> None:
        self.app = app
        self.remote_user = remote_user
        self.end_user = end_user
        headers = (*remote_user.headers, *end_user.headers)
        self._names = frozenset(_normalize(name.encode()) for name in headers)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._names and scope["type"] in ("http", "websocket"):
            scope = self.strip(scope)
        await self.app(scope, receive, send)

    def strip(self, scope: Scope) -> Scope:
        rows: Headers = scope["headers"]
        found = [row for row in rows if _normalize(row[0]) in self._names]
        if not found:
            return scope
        stripped = {**scope, "headers": [row for row in rows if row not in found]}
        peer = get_client_address(scope)
        if is_in(peer, self.remote_user.networks) and (user := self._read_remote_user(found)):
            stripped[REMOTE_USER_KEY] = user
        if is_in(peer, self.end_user.networks):
            stripped[END_USER_KEY] = ProxyHeaders(
                ids=_get_values(self.end_user.id_header, found),
                emails=_get_values(self.end_user.email_header, found),
                names=_get_values(self.end_user.name_header, found),
            )
        return stripped

    def _read_remote_user(self, found: Headers) -> RemoteUser | None:
        """Return the user of the headers; one that came twice may be the client's."""
        users = [_decode(value) for value in _get_values(self.remote_user.user_header, found)]
        groups = [_decode(value) for value in _get_values(self.remote_user.groups_header, found)]
        if len(users) != 1 or len(groups) > 1 or not users[0].strip():
            return None
        names = (name.strip() for value in groups for name in value.split(","))
        return RemoteUser(users[0].strip(), tuple(filter(None, names)))


def get_end_user(scope: Scope) -> ProxyHeaders | None:
    return cast(ProxyHeaders | None, scope.get(END_USER_KEY))


def _get_values(header: str, rows: Headers) -> tuple[bytes, ...]:
    return tuple(value for name, value in rows if header and name.lower() == header.encode())


def _normalize(name: bytes) -> bytes:
    return name.lower().replace(b"_", b"-")


def _decode(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")

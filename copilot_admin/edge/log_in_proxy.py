"""Reads which person a named proxy lets in, from the headers of a request."""

from dataclasses import dataclass

from copilot_admin.config.firm_log_in import UserProxy
from copilot_admin.edge.asgi_types import App, Headers, Receive, Scope, Send
from copilot_admin.edge.proxy_headers import is_from, names_of, set_apart, values_of

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
        self._names = names_of(rules.headers)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        if self._names and scope["type"] in ("http", "websocket"):
            scope = self._without_headers(scope)
        await self.app(scope, receive, send)

    def _without_headers(self, scope: Scope) -> Scope:
        scope, named = set_apart(scope, self._names)
        person = self._person(named)
        if person is not None and is_from(scope, self.rules.networks):
            return {**scope, PERSON_KEY: person}
        return scope

    def _person(self, named: Headers) -> ProxyPerson | None:
        """Whom the headers name; nobody where one came twice, or is written otherwise.

        Of two lines one is maybe the client's, which a proxy added its own to.
        """
        users = [_text(value) for value in values_of(self.rules.user_header, named)]
        groups = [_text(value) for value in values_of(self.rules.groups_header, named)]
        if len(users) != 1 or len(groups) > 1 or not users[0].strip():
            return None
        listed = (one.strip() for value in groups for one in value.split(","))
        return ProxyPerson(users[0].strip(), tuple(filter(None, listed)))


def _text(value: bytes) -> str:
    try:
        return bytes(value).decode()
    except UnicodeDecodeError:
        return bytes(value).decode("latin-1")

"""Reads which person a named proxy lets in, from the headers of a request."""

from dataclasses import dataclass
from functools import partial

from copilot_admin.config.firm_log_in import UserProxy
from copilot_admin.http.asgi_types import App, Headers
from copilot_admin.http.proxy_headers import ProxyHeaders, values_of

PERSON_KEY = "copilot_admin.person"  # in the scope: whom a named proxy vouches for


@dataclass(frozen=True, slots=True)
class ProxyPerson:
    """Whom a proxy names, with his groups as they stand in the header."""

    user: str
    groups: tuple[str, ...]


class LogInProxy(ProxyHeaders):
    """ASGI middleware; where no header is set up, nothing is done.

    Args:
        app: Gets the requests, with whom a proxy vouches for under `PERSON_KEY`.
        rules: Which headers, and which proxies.
    """

    def __init__(self, app: App, rules: UserProxy) -> None:
        super().__init__(
            app,
            headers=rules.headers,
            proxies=rules.networks,
            key=PERSON_KEY,
            read=partial(_person, rules),
        )


def _person(rules: UserProxy, named: Headers) -> ProxyPerson | None:
    """Whom the headers name; nobody where one came twice, or is written otherwise.

    Of two lines one is maybe the client's, which a proxy added its own to.
    """
    users = [_text(value) for value in values_of(rules.user_header, named)]
    groups = [_text(value) for value in values_of(rules.groups_header, named)]
    if len(users) != 1 or len(groups) > 1 or not users[0].strip():
        return None
    listed = (one.strip() for value in groups for one in value.split(","))
    return ProxyPerson(users[0].strip(), tuple(filter(None, listed)))


def _text(value: bytes) -> str:
    try:
        return bytes(value).decode()
    except UnicodeDecodeError:
        return bytes(value).decode("latin-1")

"""Whom a named proxy lets in stands in the scope, and in no header that anybody may send."""

from ipaddress import ip_network
from typing import Any

import pytest

from copilot_admin.config.firm_log_in import UserProxy
from copilot_admin.http.log_in_proxy import PERSON_KEY, LogInProxy, ProxyPerson
from copilot_admin.http.proxy_headers import PEER_KEY
from tests.http.asgi_client import call

RULES = UserProxy(
    user_header="x-user", groups_header="x-groups", networks=(ip_network("10.0.0.0/8"),)
)
KEPT = (b"host", b"desk.example")


def seen(
    *headers: tuple[bytes, bytes], peer: str | None = "10.1.2.3", rules: UserProxy = RULES
) -> Any:
    """The scope as the application gets it."""
    found: list[Any] = []

    async def note(scope: Any, receive: Any, send: Any) -> None:
        found.append(scope)

    scope = {
        "type": "http",
        "path": "/",
        "method": "GET",
        **({} if peer is None else {PEER_KEY: peer}),
        "headers": [KEPT, *headers],
    }
    call(LogInProxy(note, rules), scope)
    return found[0]


@pytest.mark.parametrize(
    ("headers", "person"),
    [
        ([(b"x-user", b" ann ")], ProxyPerson("ann", ())),
        (
            [(b"x-user", b"ann"), (b"x-groups", b"desk, ,audit ")],
            ProxyPerson("ann", ("desk", "audit")),
        ),
        ([(b"x-user", "Jos\u00e9".encode())], ProxyPerson("Jos\u00e9", ())),
        ([(b"x-user", "Jos\u00e9".encode("latin-1"))], ProxyPerson("Jos\u00e9", ())),
        ([(b"x-user", b" ")], None),
        ([(b"x-groups", b"desk")], None),
        ([(b"x-user", b"ann"), (b"x-user", b"ann")], None),
        ([(b"x-user", b"ann"), (b"x-groups", b"a"), (b"x-groups", b"b")], None),
    ],
)
def test_a_named_proxy_says_who_somebody_is(headers: Any, person: ProxyPerson | None) -> None:
    scope = seen(*headers)
    assert scope.get(PERSON_KEY) == person
    assert scope["headers"] == [KEPT]


@pytest.mark.parametrize("peer", ["192.0.2.1", "", None])
def test_anybody_else_says_nothing(peer: str | None) -> None:
    scope = seen((b"x-user", b"ann"), peer=peer)
    assert PERSON_KEY not in scope
    assert scope["headers"] == [KEPT]


def test_where_no_header_is_set_up_nothing_is_done() -> None:
    header = (b"x-user", b"ann")
    scope = seen(header, rules=UserProxy())
    assert PERSON_KEY not in scope
    assert scope["headers"] == [KEPT, header]

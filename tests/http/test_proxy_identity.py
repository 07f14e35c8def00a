"""Identity headers: nobody but trusted proxies can set them."""

from typing import Any

import pytest
import requests
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from copilot_admin.config.sso import SsoProxy
from copilot_admin.config.variables import parse_networks
from copilot_admin.copilots.end_users import ProxyHeaders
from copilot_admin.copilots.user_tokens import ProxyRules
from copilot_admin.http.proxy_identity import (
    REMOTE_USER_KEY,
    ProxyIdentity,
    RemoteUser,
    get_end_user,
)
from tests.http.asgi_client import call, scope
from tests.live_server import live_server
from tests.polling import HANGS_SECONDS

REMOTE_USER = SsoProxy(
    user_header="x-forwarded-user",
    groups_header="x-forwarded-groups",
    networks=parse_networks(("10.0.0.0/8", "fd00::/8")),
)
END_USER = ProxyRules(
    id_header="x-user-id",
    email_header="x-user-email",
    name_header="x-user-name",
    networks=parse_networks(("10.1.0.0/16",)),
)
OTHER = (b"x-other", b"1")


def pass_on(*headers: tuple[bytes, bytes], peer: str | None = "10.1.2.3", **rules: Any) -> Any:
    """Return the scope that the application gets."""
    scopes: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        scopes.append(scope)

    identity = ProxyIdentity(app, **{"remote_user": REMOTE_USER, "end_user": END_USER, **rules})
    client = None if peer is None else (peer, 1)
    call(identity, {**scope("/", client=client), "headers": [OTHER, *headers]})
    return scopes[0]


@pytest.mark.parametrize("peer", ["10.1.2.3", "fd00::1", "::ffff:10.1.2.3"])
@pytest.mark.parametrize(
    ("headers", "user"),
    [
        ([(b"x-forwarded-user", b" ann ")], RemoteUser("ann", ())),
        (
            [(b"x-forwarded-user", b"ann"), (b"x-forwarded-groups", b"desk, ,audit ")],
            RemoteUser("ann", ("desk", "audit")),
        ),
        ([(b"x-forwarded-user", "Žofie".encode())], RemoteUser("Žofie", ())),
        ([(b"x-forwarded-user", "Zoé".encode("latin-1"))], RemoteUser("Zoé", ())),
        ([(b"x-forwarded-user", b" ")], None),
        ([(b"x-forwarded-groups", b"desk")], None),
        # A proxy that appends its header lets the client name somebody else.
        ([(b"x-forwarded-user", b"ann"), (b"x-forwarded-user", b"boss")], None),
        (
            [
                (b"x-forwarded-groups", b"root"),
                (b"x-forwarded-user", b"ann"),
                (b"x-forwarded-groups", b"analysts"),
            ],
            None,
        ),
    ],
)
def test_a_trusted_proxy_names_who_is_signed_in(peer, headers, user):
    found = pass_on(*headers, peer=peer)
    assert (found.get(REMOTE_USER_KEY), found["headers"]) == (user, [OTHER])


def test_a_trusted_proxy_names_the_end_user_of_a_question():
    found = pass_on((b"X-User-Id", b"7"), (b"x-user-email", b"a@b.test"), (b"x-user-name", b"A"))
    assert get_end_user(found) == ProxyHeaders(ids=(b"7",), emails=(b"a@b.test",), names=(b"A",))
    assert found["headers"] == [OTHER]
    assert get_end_user(pass_on()) is None


@pytest.mark.parametrize("peer", ["192.0.2.1", "", None, "10.evil"])
@pytest.mark.parametrize(
    "names",
    [
        ("x-forwarded-user", "x-user-id"),
        ("X-Forwarded-User", "X-User-Id"),
        ("x_forwarded_user", "x_user_id"),
        ("X-Forwarded_User", "X_User-Id"),
    ],
)
def test_identity_headers_of_untrusted_peers_are_stripped_in_every_spelling(peer, names):
    forwarded = (b"x-forwarded-for", b"10.1.2.3")
    found = pass_on(*((name.encode(), b"boss") for name in names), forwarded, peer=peer)
    assert found["headers"] == [OTHER, forwarded]
    assert (REMOTE_USER_KEY in found, get_end_user(found)) == (False, None)


def test_without_a_setting_nothing_is_touched():
    header = (b"x-forwarded-user", b"ann")
    found = pass_on(header, remote_user=SsoProxy(), end_user=ProxyRules())
    assert (found["headers"], REMOTE_USER_KEY in found) == ([OTHER, header], False)


@pytest.mark.parametrize(
    ("trusted", "user"), [("127.0.0.1", RemoteUser("boss", ())), ("10.0.0.0/8", None)]
)
def test_over_a_real_socket_the_peer_counts_and_no_forwarded_address(trusted, user):
    """The middleware of uvicorn replaces the address of a trusted proxy by `X-Forwarded-For`."""
    seen: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            for event in ("startup", "shutdown"):
                await receive()
                await send({"type": f"lifespan.{event}.complete"})
            return
        seen.append((scope["client"][0], scope.get(REMOTE_USER_KEY)))
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    rules = SsoProxy(user_header="x-forwarded-user", networks=parse_networks((trusted,)))
    identity = ProxyIdentity(
        ProxyHeadersMiddleware(app),  # type: ignore[arg-type]  # its types are narrower
        remote_user=rules,
        end_user=ProxyRules(),
    )
    headers = {"X-Forwarded-User": "boss", "X-Forwarded-For": "10.0.0.1"}
    with live_server(identity) as server:
        requests.get(server.url, headers=headers, timeout=HANGS_SECONDS)
    assert seen == [("10.0.0.1", user)]

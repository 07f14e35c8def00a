"""Headers that name a user are believed of named proxies, and gone for everybody else."""

from typing import Any

import pytest

from copilot_admin.config.asking_users import ProxyRules
from copilot_admin.config.networks import networks
from copilot_admin.copilots.users import (
    AskingUser,
    ProxyWords,
    UserSource,
    user_of_headers,
)
from copilot_admin.errors import UnknownUser
from copilot_admin.http.proxy_headers import PEER_KEY
from copilot_admin.http.proxy_users import ProxyUsers, words_in
from tests.http.asgi_client import call

RULES = ProxyRules(
    networks=networks(["10.0.0.0/8", "2001:db8::/32", "fe80::1"], setting="X"),
    id_header="x-user-id",
    email_header="x-user-email",
    name_header="x-user-name",
)
ID, EMAIL, NAME = b"x-user-id", b"x-user-email", b"x-user-name"
OTHER = (b"accept", b"*/*")


def seen(rows: list[tuple[bytes, bytes]], *, rules: ProxyRules = RULES, **more: Any) -> Any:
    """What is left of the headers inside, and what a proxy said."""
    inside: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        inside.append((scope["headers"], words_in(scope)))

    call(ProxyUsers(app, rules), {"type": "http", "path": "/", "headers": rows, **more})
    return inside[0]


@pytest.mark.parametrize(
    "peer", ["10.1.2.3", "::ffff:10.1.2.3", "2001:db8::7", "fe80::1%eth0", "fe80::1"]
)
def test_a_named_proxy_is_believed(peer):
    rows = [OTHER, (ID, b"ada"), (EMAIL, b"a@b.example"), (NAME, "Zoë".encode())]
    assert seen(rows, **{PEER_KEY: peer}) == (
        [OTHER],
        ProxyWords(ids=(b"ada",), emails=(b"a@b.example",), names=("Zoë".encode(),)),
    )


@pytest.mark.parametrize("peer", ["127.0.0.1", "11.0.0.1", "2001:db9::7", "::1", "", "nonsense"])
def test_of_a_stranger_the_headers_are_gone(peer):
    rows = [(ID, b"ada"), (b"X-User-Email", b"a@b"), (b"x_user_name", b"A"), OTHER]
    assert seen(rows, **{PEER_KEY: peer}) == ([OTHER], None)


def test_what_a_proxy_says_of_a_strangers_address_makes_no_proxy_of_him():
    rows = [(ID, b"ada"), (b"x-forwarded-for", b"10.1.2.3")]
    left, words = seen(rows, client=("10.1.2.3", 80), **{PEER_KEY: "192.0.2.1"})
    assert (left, words) == ([(b"x-forwarded-for", b"10.1.2.3")], None)
    assert seen(rows, client=("10.1.2.3", 80))[1] is None  # a server that does not say who it is


def test_another_spelling_of_a_header_is_no_second_way_in():
    rows = [(b"x_user_id", b"eve"), (ID, b"ada")]
    assert seen(rows, **{PEER_KEY: "10.1.2.3"}) == ([], ProxyWords(ids=(b"ada",)))


def test_without_headers_or_settings_a_request_is_left_as_it_is():
    rows = [(ID, b"ada"), OTHER]
    assert seen([OTHER], **{PEER_KEY: "10.1.2.3"}) == ([OTHER], None)
    assert seen(rows, rules=ProxyRules(), **{PEER_KEY: "10.1.2.3"}) == (rows, None)
    emails = ProxyRules(networks=RULES.networks, email_header="x-user-email")
    assert seen(rows, rules=emails, **{PEER_KEY: "10.1.2.3"}) == (rows, None)


def test_sockets_of_pages_and_the_start_of_a_server():
    inside: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        inside.append(scope)

    proxy = ProxyUsers(app, RULES)
    call(proxy, {"type": "websocket", "path": "/", "headers": [(ID, b"ada")]})
    call(proxy, {"type": "lifespan"})
    assert [one.get("headers") for one in inside] == [[], None]


def test_an_address_is_an_id_in_whatever_letters():
    words = ProxyWords(emails=(b" Ada@B.example ",), names=("Zoë \u202eX".encode(),))
    assert user_of_headers(words) == AskingUser(
        id="ada@b.example", email="Ada@B.example", name="Zoë X", source=UserSource.PROXY
    )
    assert user_of_headers(ProxyWords(ids=(b"Ada",), emails=(b"",))) == AskingUser(
        id="Ada", source=UserSource.PROXY
    )


def test_a_proxy_that_names_nobody():
    for words in (ProxyWords(), ProxyWords(ids=(b"",)), ProxyWords(names=(b"Ada",))):
        assert user_of_headers(words) is None


def test_names_in_other_encodings_are_read():
    words = ProxyWords(ids=("é".encode("latin-1"),), names=("李".encode(),))
    assert user_of_headers(words) == AskingUser(id="é", name="李", source=UserSource.PROXY)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ProxyWords(ids=(b"ada", b"eve")),
            "A header that names the user came more than once. Ask an operator.",
        ),
        (
            ProxyWords(ids=(b"ada",), names=(b"Ada", b"Ada")),
            "A header that names the user came more than once. Ask an operator.",
        ),
        (
            ProxyWords(ids=("a\u2066b".encode(),)),
            "The proxy names its user with characters that cannot be seen.",
        ),
        (
            ProxyWords(ids=(b"a" * 255,)),
            "The proxy names its user in more than 254 characters.",
        ),
    ],
)
def test_what_a_proxy_says_has_to_be_one_user(words, said):
    with pytest.raises(UnknownUser) as caught:
        user_of_headers(words)
    assert caught.value.public == said

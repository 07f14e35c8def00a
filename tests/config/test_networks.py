"""The addresses of proxies, as those read them who believe what they say."""

import pytest
from uvicorn.middleware.proxy_headers import _TrustedHosts

from copilot_admin.config.networks import believed_proxies, is_everybody, networks


@pytest.mark.parametrize(
    ("text", "read", "believed", "stranger"),
    [
        ("127.0.0.1", "127.0.0.1", "127.0.0.1", "127.0.0.2"),
        ("127.0.0.1/8", "127.0.0.0/8", "127.4.4.4", "128.0.0.1"),
        (" 10.1.2.3/8 , ::1", "10.0.0.0/8,::1", "10.9.9.9", "11.0.0.1"),
        ("::ffff:127.0.0.1", "127.0.0.1", "127.0.0.1", "127.0.0.2"),
        ("::ffff:10.1.0.0/104", "10.0.0.0/8", "10.9.9.9", "11.0.0.1"),
        ("2001:db8::5/64", "2001:db8::/64", "2001:db8::9", "2001:db9::9"),
    ],
)
def test_whoever_is_named_is_believed_and_nobody_else(text, read, believed, stranger):
    found = believed_proxies(text, setting="X", production=True)
    assert found == read
    assert believed in _TrustedHosts(found)
    assert stranger not in _TrustedHosts(found)


def test_in_development_everybody_may_be_believed():
    assert believed_proxies("*", setting="X", production=False) == "*"
    assert believed_proxies("0.0.0.0/0", setting="X", production=False) == "0.0.0.0/0"


@pytest.mark.parametrize(
    ("texts", "everybody"),
    [
        ([], False),
        (["0.0.0.0/1", "128.0.0.0/2"], False),
        (["0.0.0.0/1", "128.0.0.0/2", "192.0.0.0/2"], True),
        (["10.0.0.0/8", "::/0"], True),
    ],
)
def test_networks_that_are_together_all_addresses_are_everybody(texts, everybody):
    assert is_everybody(networks(texts, setting="X")) is everybody

"""Addresses: which a provider may have, and which are private, in whatever form."""

from ipaddress import ip_address

import pytest

from copilot_admin.agent.fetching.addresses import check_base_url, is_forbidden, is_public
from copilot_admin.errors import NotReady


@pytest.mark.parametrize(
    ("url", "checked"),
    [
        ("https://api.example.com/v1", "https://api.example.com/v1"),
        (" http://127.0.0.1:9100/v1/ ", "http://127.0.0.1:9100/v1"),
        ("http://[::1]:8000", "http://[::1]:8000"),
    ],
)
def test_addresses_of_model_servers_may_be_private(url, checked):
    assert check_base_url(url) == checked


@pytest.mark.parametrize(
    "url", ["", "api.example.com", "file:///etc/passwd", "http://[::1", "http://a:b/", "http://a b"]
)
def test_address_that_is_no_url_is_explained(url):
    with pytest.raises(NotReady, match="is no URL"):
        check_base_url(url)


def test_password_in_the_address_is_not_repeated():
    with pytest.raises(NotReady) as caught:
        check_base_url("https://user:hunter2@example.com/v1")
    assert caught.value.public == (
        "The provider's address holds a password. Put the key into the key field."
    )


@pytest.mark.parametrize(
    "host",
    [
        *("169.254.169.254", "169.254.169.254.", "0251.0376.0251.0376", "0xa9fea9fe"),
        *("2852039166", "169.254.43518", "100.100.100.200", "192.0.0.192", "[fe80::1]"),
        *("[::ffff:169.254.169.254]", "[64:ff9b::a9fe:a9fe]", "[2002:a9fe:a9fe::]"),
        *("[fd00:ec2::254]", "[fd00:ec2::254%25eth0]", "[2001:4860::5efe:a9fe:a9fe]"),
        *("metadata.google.internal", "METADATA.google.internal."),
    ],
)
def test_link_local_and_metadata_addresses_are_refused(host):
    with pytest.raises(NotReady, match="link-local or metadata"):
        check_base_url(f"http://{host}/v1")


@pytest.mark.parametrize(
    ("hosts", "are_forbidden"),
    [
        (("localhost", "127.0.0.1", "::1", "8.8.8.8", "64:ff9b::808:808"), False),
        (("169\u3002254\u3002169\u3002254", "\uff11\uff16\uff19\uff0e254.169.254"), True),
        (("①⑥⑨.254\uff61169.254",), True),
    ],
)
def test_hosts_are_forbidden_in_other_digits_and_full_stops_too(hosts, are_forbidden):
    assert [is_forbidden(host) for host in hosts] == [are_forbidden] * len(hosts)


PRIVATE_IPV4 = ("10.0.0.1", "127.0.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.1")


def spelled(ipv4):
    """The IPv6 addresses that may lead to an IPv4 address."""
    number = int(ip_address(ipv4))
    high, low, negated = number >> 16, number & 0xFFFF, number ^ 0xFFFFFFFF
    return [
        f"::ffff:{ipv4}",
        f"::{ipv4}",
        f"::ffff:0:{ipv4}",
        f"64:ff9b::{ipv4}",
        f"64:ff9b:1::{ipv4}",
        f"2002:{high:x}:{low:x}::1",
        f"2001:0:808:808:0:0:{negated >> 16:x}:{negated & 0xFFFF:x}",
        f"2001:0:{high:x}:{low:x}::f7f7:f7f7",
        f"2001:4860::5efe:{ipv4}",
        f"2001:4860::200:5efe:{ipv4}",
    ]


@pytest.mark.parametrize("address", [one for ipv4 in PRIVATE_IPV4 for one in spelled(ipv4)])
def test_every_ipv6_form_of_a_private_address_is_private(address):
    assert not is_public(address)
    assert not is_public(f"{address}%eth0")


@pytest.mark.parametrize(
    "address",
    [
        *PRIVATE_IPV4,
        *("012.0.0.1", "0x7f.1", "127.1", "2130706433", "10.0.0.1.", "192.0.0.8", "192.0.0.192"),
        *("192.88.99.1", "::ffff:192.0.0.8", "64:ff9b::c058:6301", "2002:c058:6301::1"),
        *("224.0.0.1", "255.255.255.255", "::", "::1", "fe80::1", "fec0::1", "fc00::1"),
        *("fd12::1", "ff0e::1", "100::1", "2001:db8::1", "3fff::1", "5f00::1"),
        *("64:ff9b:1::808:808", "::8.8.8.8", "4000::1", "localhost", ""),
    ],
)
def test_what_is_not_for_everybody_is_not_public(address):
    assert not is_public(address)


# Of 6to4 addresses Pythons differ: since 3.11.10, and with Debian's fixes, none is for everybody.
@pytest.mark.parametrize(
    "address", ["8.8.8.8", "2001:4860:4860::8888", "::ffff:8.8.8.8", "64:ff9b::808:808"]
)
def test_what_is_for_everybody_is_public(address):
    assert is_public(address)

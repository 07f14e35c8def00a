"""Networks in settings."""

import pytest

from copilot_admin.config.variables import covers_everyone, is_in, parse_networks


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        ("127.0.0.1", "127.0.0.1", "127.0.0.2"),
        (" 10.1.2.3/8 , ::1", "10.9.9.9", "11.0.0.1"),
        ("10.0.0.0/8", "::ffff:10.9.9.9", "::ffff:11.0.0.1"),
        ("2001:db8::5/64", "2001:db8::9", "2001:db9::9"),
        ("fe80::/10", "fe80::1%eth0", ""),
    ],
)
def test_addresses_are_in_the_networks_that_are_named(text, inside, outside):
    networks = parse_networks(text)
    assert is_in(inside, networks)
    assert not is_in(outside, networks)


@pytest.mark.parametrize(
    ("texts", "everyone"),
    [
        ([], False),
        (["0.0.0.0/1", "::1"], False),
        (["0.0.0.0/0"], True),
        (["10.0.0.0/8", "::/0"], True),
    ],
)
def test_a_network_that_holds_every_address_covers_everyone(texts, everyone):
    assert covers_everyone(parse_networks(texts)) is everyone

"""Requests are counted by the network that they come from."""

import pytest

from copilot_admin.http.networks import network_of


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("203.0.113.9", "203.0.113.9"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ("2001:db8:1:2::", "2001:db8:1:2::"),
        ("::1", "::"),
        ("::ffff:203.0.113.9", "203.0.113.9"),
        ("", ""),
        ("testclient", "testclient"),
        ("x" * 60_000, "x" * 64),
    ],
)
def test_an_address_is_counted_with_its_network(address, network):
    assert network_of(address) == network

"""Failed API-key lookups are throttled by client network; valid keys never are."""

from collections.abc import Callable

import pytest

from copilot_admin.errors import InvalidKey, TooManyFailedAttempts
from copilot_admin.http.auth_throttle import MAX_FAILURES_PER_MINUTE, look_up_key
from copilot_admin.http.scope import get_client_network

ADDRESS = "192.0.2.7"


def fail() -> None:
    raise InvalidKey("Send a valid key.")


def use_up(address: str = ADDRESS) -> None:
    for _ in range(MAX_FAILURES_PER_MINUTE):
        with pytest.raises(InvalidKey):
            look_up_key(fail, address)


def is_throttled(address: str) -> bool:
    try:
        look_up_key(fail, address)
    except TooManyFailedAttempts:
        return True
    except InvalidKey:
        return False
    raise AssertionError


def test_after_too_many_failures_the_client_has_to_wait():
    use_up()
    with pytest.raises(TooManyFailedAttempts) as error:
        look_up_key(fail, ADDRESS)
    assert 0 < error.value.retry_after <= 60
    assert not is_throttled("192.0.2.8")


def test_a_valid_key_of_the_same_network_goes_on():
    use_up()
    assert is_throttled(ADDRESS)
    lookup: Callable[[], str] = lambda: "copilot"  # noqa: E731
    assert look_up_key(lookup, ADDRESS) == "copilot"


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ("2001:db8:1:2::9", "2001:db8:1:2::"),
        ("", ""),
        ("testclient", "testclient"),
        ("a" * 1000, "a" * 64),
    ],
)
def test_an_ipv6_customer_is_one_network(address, network):
    assert get_client_network(address) == network


def test_addresses_of_one_network_are_counted_together():
    use_up("2001:db8:1:2::1")
    assert is_throttled("2001:db8:1:2::ffff")
    assert not is_throttled("2001:db8:1:3::1")

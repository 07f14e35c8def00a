"""Whoever tries one endpoint key after the other is slowed, and nobody else."""

from django.test import Client
import pytest

from copilot_admin.copilots.callers import identify
from copilot_admin.http import guesses
from copilot_admin.http.guesses import MOST_GUESSES, Guesses
from tests.factories import make_key

WRONG = {"HTTP_X_API_KEY": "cak_wrong"}


class Clock:
    now = 1000.0

    def __call__(self):
        return self.now


def counted(counts, address, times):
    return [counts.count(address) for _ in range(times)][-1]


def test_the_guess_after_the_last_one_allowed_has_to_wait_for_the_minute_to_end():
    clock = Clock()
    counts = Guesses(clock)
    assert counted(counts, "192.0.2.1", MOST_GUESSES) == 0
    clock.now += 20.5
    assert counts.count("192.0.2.1") == 40
    clock.now += 39.4
    assert counts.count("192.0.2.1") == 1
    clock.now += 0.1
    assert counts.count("192.0.2.1") == 0


def test_addresses_are_counted_apart_but_those_of_one_ipv6_network_together():
    counts = Guesses(Clock())
    counted(counts, "192.0.2.1", MOST_GUESSES)
    assert counts.count("192.0.2.2") == 0
    assert counts.count("::ffff:192.0.2.1") == 60
    counted(counts, "2001:db8::1", MOST_GUESSES)
    assert counts.count("2001:db8::ffff:1%eth0") == 60
    assert counts.count("2001:db8:0:1::1") == 0
    counted(counts, "", MOST_GUESSES)
    assert counts.count("") == 60


def test_twenty_wrong_keys_of_ten_thousand_addresses_are_counted_for_a_minute():
    assert (guesses.MOST_GUESSES, guesses.SECONDS, guesses.MOST_ADDRESSES) == (20, 60.0, 10_000)


def test_who_began_anew_is_not_the_first_to_be_forgotten(monkeypatch):
    monkeypatch.setattr(guesses, "MOST_ADDRESSES", 2)
    clock = Clock()
    counts = Guesses(clock)
    for address in ("192.0.2.1", "192.0.2.2"):
        counts.count(address)
    clock.now += 60
    counted(counts, "192.0.2.1", MOST_GUESSES)
    counts.count("192.0.2.3")
    assert counts.count("192.0.2.1") == 60


def test_what_is_forgotten_is_counted_from_the_beginning():
    counts = Guesses(Clock())
    counted(counts, "192.0.2.1", MOST_GUESSES)
    counts.forget()
    assert counts.count("192.0.2.1") == 0


def test_no_more_addresses_are_remembered_than_the_limit(monkeypatch):
    monkeypatch.setattr(guesses, "MOST_ADDRESSES", 2)
    counts = Guesses(Clock())
    counted(counts, "192.0.2.1", MOST_GUESSES)
    for number in range(2, 50):
        counts.count(f"192.0.2.{number}")
    assert len(counts._counts) == 2
    assert counts.count("192.0.2.1") == 0


def test_a_key_nobody_knows_waits_once_the_guesses_are_used_up_until_the_minute_ends():
    clock = Clock()
    counts = Guesses(clock)
    assert (counts.slow("192.0.2.1"), counts.wait("192.0.2.1", b"a")) == (False, 0)
    counted(counts, "192.0.2.1", MOST_GUESSES - 1)
    assert (counts.slow("192.0.2.1"), counts.wait("192.0.2.1", b"a")) == (False, 0)
    counts.count("192.0.2.1")
    assert (counts.slow("::ffff:192.0.2.1"), counts.wait("192.0.2.1", b"a")) == (True, 60)
    assert (counts.slow("192.0.2.2"), counts.wait("192.0.2.2", b"a")) == (False, 0)
    clock.now += 59.9
    assert counts.wait("192.0.2.1", b"a") == 1
    clock.now += 0.1
    assert (counts.slow("192.0.2.1"), counts.wait("192.0.2.1", b"a")) == (False, 0)


def test_who_waited_as_he_was_told_is_let_in_once_whatever_another_has_sent_since():
    """A client that sent one wrong key without end kept out a good one, minute after minute."""
    clock = Clock()
    counts = Guesses(clock)
    counted(counts, "192.0.2.1", MOST_GUESSES)
    clock.now += 30
    assert counts.wait("192.0.2.1", b"good") == 30
    clock.now += 30
    counted(counts, "192.0.2.1", MOST_GUESSES)
    assert counts.wait("192.0.2.1", b"other") == 60
    assert counts.wait("192.0.2.1", b"good") == 0
    assert counts.take_turn("192.0.2.1", b"good") == 0
    assert counts.take_turn("192.0.2.1", b"good") == 60


def test_the_turn_of_a_key_that_stays_away_for_a_minute_more_is_gone():
    clock = Clock()
    counts = Guesses(clock)
    counted(counts, "192.0.2.1", MOST_GUESSES)
    counts.wait("192.0.2.1", b"good")
    for _ in range(2):
        clock.now += 60
        counted(counts, "192.0.2.1", MOST_GUESSES)
    assert counts.wait("192.0.2.1", b"good") == 60


def test_twenty_keys_of_an_address_have_their_turn_and_no_more(monkeypatch):
    assert guesses.MOST_TURNS == 20
    monkeypatch.setattr(guesses, "MOST_TURNS", 2)
    clock = Clock()
    counts = Guesses(clock)
    counted(counts, "192.0.2.1", MOST_GUESSES)
    assert [counts.wait("192.0.2.1", mark) for mark in (b"a", b"b", b"c")] == [60, 60, 60]
    clock.now += 60
    counted(counts, "192.0.2.1", MOST_GUESSES)
    assert [counts.wait("192.0.2.1", mark) for mark in (b"c", b"a", b"b")] == [60, 0, 0]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("path", ["/agents.json", "/v2/components"])
def test_wrong_keys_are_slowed_by_address_and_good_ones_are_not(client: Client, path: str):
    _, good = make_key()
    identify(good)
    for _ in range(MOST_GUESSES):
        assert client.get(path, **WRONG).status_code == 401
    slowed = client.get(path, **WRONG)
    assert slowed.status_code == 429
    assert 0 < int(slowed["Retry-After"]) <= 60
    assert "Too many wrong endpoint keys came from this address." in slowed.content.decode()
    assert client.get(path, HTTP_X_API_KEY=good).status_code == 200
    assert client.get(path, **WRONG, REMOTE_ADDR="192.0.2.7").status_code == 401

"""Keys that were good are known again, and nothing of them lies in memory."""

import pytest

from copilot_admin.copilots import seen_keys
from copilot_admin.copilots.callers import identify
from copilot_admin.copilots.seen_keys import SEEN_KEYS, SeenKeys
from copilot_admin.errors import InvalidKey
from tests.factories import make_key

KEY = "cak_of_a_desk"


def is_known(key: str) -> bool:
    return SEEN_KEYS.know(SEEN_KEYS.mark_of(key))


def test_a_key_is_known_until_it_is_dropped():
    keys = SeenKeys()
    keys.note(KEY)
    assert (keys.know(keys.mark_of(KEY)), keys.know(keys.mark_of("another"))) == (True, False)
    keys.drop(KEY)
    keys.drop("another")
    assert not keys.know(keys.mark_of(KEY))


def test_what_lies_in_memory_tells_no_key_and_is_another_in_each_process():
    keys = SeenKeys()
    keys.note(KEY)
    (mark,) = keys._marks
    assert len(mark) == 16
    assert mark != SeenKeys().mark_of(KEY)


def test_those_that_were_used_last_stay(monkeypatch):
    monkeypatch.setattr(seen_keys, "MOST_KEYS", 2)
    keys = SeenKeys()
    for key in ("a", "b", "a", "c"):
        keys.note(key)
    assert [keys.know(keys.mark_of(key)) for key in "abc"] == [True, False, True]


def test_a_process_remembers_ten_thousand_keys():
    assert seen_keys.MOST_KEYS == 10_000


@pytest.mark.django_db
def test_a_key_that_opened_something_is_known_and_a_wrong_one_is_not():
    _, good = make_key()
    identify(good)
    with pytest.raises(InvalidKey):
        identify("cak_wrong")
    assert (is_known(good), is_known("cak_wrong")) == (True, False)


@pytest.mark.django_db
def test_a_key_that_was_revoked_opens_nothing_and_is_forgotten():
    key, good = make_key()
    identify(good)
    type(key).objects.filter(pk=key.pk).update(revoked_at=key.created_at)
    with pytest.raises(InvalidKey):
        identify(good)
    assert not is_known(good)
